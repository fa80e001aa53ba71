package rsp

import (
	"errors"
	"fmt"
	"testing"
)

// field is one way to read a number or bytes, its value as text.
type field func(s *Scanner) string

var (
	lenient  field = func(s *Scanner) string { return fmt.Sprintf("%x", s.Hex()) }
	strict   field = func(s *Scanner) string { return fmt.Sprintf("%x", s.HexField()) }
	limited  field = func(s *Scanner) string { return fmt.Sprintf("%x", s.HexUpTo(0x7fff)) }
	signed   field = func(s *Scanner) string { return fmt.Sprintf("%x", s.SignedHex()) }
	someHex  field = func(s *Scanner) string { return fmt.Sprintf("%q", s.HexBytes()) }
	threeHex field = func(s *Scanner) string { return fmt.Sprintf("%q", s.HexBytesN(3)) }
	manyHex  field = func(s *Scanner) string { return fmt.Sprintf("%q", s.HexBytesN(1<<63)) }
)

func TestScannerFields(t *testing.T) {
	tests := []struct {
		name string
		read field
		text string
		want string // value, and behind | what was left
		err  string
	}{
		{"lenient", lenient, "401131,4", "401131|,4", ""},
		{"lenient, upper case", lenient, "ABcd", "abcd|", ""},
		{"lenient, nothing", lenient, "", "0|", ""},
		{"lenient, no digit", lenient, "-1", "0|-1", ""},
		{"lenient, too long", lenient, "1000000000000000f", "f|", ""},

		{"strict", strict, "401131,4", "401131|,4", ""},
		{"strict, leading zeros", strict, "000000000000000000ff", "ff|", ""},
		{"strict, largest", strict, "ffffffffffffffff", "ffffffffffffffff|", ""},
		{"strict, nothing", strict, "", "0|", "offset 0: found the end, expected a hexadecimal number"},
		{"strict, no digit", strict, "-1", "0|", `offset 0: found "-1", expected a hexadecimal number`},
		{"strict, 0x is no prefix", strict, "0x4", "0|x4", ""},
		{"strict, too long", strict, "10000000000000000", "0|",
			`offset 0: found "10000000000000000", expected a hexadecimal number up to ffffffffffffffff`},

		{"limited", limited, "7fff", "7fff|", ""},
		{"limited, over", limited, "8000", "0|", `offset 0: found "8000", expected a hexadecimal number up to 7fff`},

		{"signed", signed, "1f", "1f|", ""},
		{"signed, negative", signed, "-1,", "-1|,", ""},
		{"signed, least", signed, "-8000000000000000", "-8000000000000000|", ""},
		{"signed, too small", signed, "-8000000000000001", "0|",
			`offset 1: found "8000000000000001", expected a hexadecimal number up to 8000000000000000`},
		{"signed, too big", signed, "8000000000000000", "0|",
			`offset 0: found "8000000000000000", expected a hexadecimal number up to 7fffffffffffffff`},
		{"signed, no digits", signed, "-", "0|", "offset 1: found the end, expected a hexadecimal number"},

		{"bytes", someHex, "6279;", `"by"|;`, ""},
		{"bytes, none", someHex, ";", `""|;`, ""},
		{"bytes, odd", someHex, "627;", `""|`, `offset 3: found ";", expected a hexadecimal digit`},

		{"counted bytes", threeHex, "26000622", `"&\x00\x06"|22`, ""},
		{"counted bytes, too few", threeHex, "2600", `""|`, "offset 4: found the end, expected 3 bytes in hexadecimal"},
		{"counted bytes, no digit", threeHex, "26000x", `""|`, `offset 5: found "x", expected 3 bytes in hexadecimal`},
		{"counted bytes, absurdly many", manyHex, "26", `""|`,
			"offset 2: found the end, expected 9223372036854775808 bytes in hexadecimal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewScanner(tt.text)
			got := tt.read(s)
			err := s.Err()
			if got += "|" + s.Rest(); got != tt.want || errorText(err) != tt.err {
				t.Errorf("%q: got %s, error %q\nwant %s, error %q", tt.text, got, errorText(err), tt.want, tt.err)
			}
		})
	}
}

func TestScannerPacket(t *testing.T) {
	s := NewScanner("QTDP:2:0000000000401131:E:0:a:X3,260006-")
	if !s.AcceptText("QTDP:") || s.AcceptText("-") {
		t.Fatal("the prefix is not as expected")
	}
	number := s.HexField()
	s.Literal(':')
	addr := s.HexField()
	s.Literal(':')
	enabled := s.Until(':')
	s.Literal(':')
	step := s.Hex()
	s.Literal(':')
	pass := s.Hex()
	s.Literal(':')
	option, at := s.Peek(), s.Pos()
	s.Take(1)
	length := s.HexField()
	s.Literal(',')
	code := s.HexBytesN(length)
	more := s.Accept('-')
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%d %x %s %d %d %c@%d %x %v", number, addr, enabled, step, pass, option, at, code, more)
	if want := "2 401131 E 0 10 X@30 260006 true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestScannerKeepsFirstError(t *testing.T) {
	s := NewScanner("12;34")
	s.HexField()
	s.Literal(',') // the first error
	s.HexField()
	s.Take(7)
	s.Fail("something else")
	if !s.Done() || s.Peek() != 0 || s.Accept(';') || s.Rest() != "" || s.HexBytes() != nil {
		t.Error("after an error the scanner is not at the end")
	}
	var syntax *SyntaxError
	if err := s.End(); !errors.As(err, &syntax) || syntax.Offset != 2 || syntax.Expected != "','" {
		t.Errorf("End() = %v, want the error at offset 2", err)
	}
}

func TestScannerEnd(t *testing.T) {
	s := NewScanner("1 and far more than an error should quote")
	s.Hex()
	want := `offset 1: found " and far more than an er"…, expected the end`
	if err := s.End(); errorText(err) != want {
		t.Errorf("End() = %v, want %s", err, want)
	}
	if got := NewScanner("").Take(-1); got != "" {
		t.Errorf("Take(-1) = %q, want nothing", got)
	}
}

func TestScannerAllocations(t *testing.T) {
	var sum uint64
	n := testing.AllocsPerRun(100, func() {
		s := NewScanner("p1a.1b:401131,4")
		id := s.Thread()
		s.Literal(':')
		sum += s.HexField()
		s.Literal(',')
		sum += s.Hex() + uint64(id.PID+id.TID)
		if s.End() != nil {
			sum = 0
		}
	})
	if n != 0 || sum == 0 {
		t.Errorf("scanning allocates %v times, want 0 (sum %d)", n, sum)
	}
}

// scannerSteps are the methods that FuzzScanner strings together.
var scannerSteps = []func(s *Scanner){
	func(s *Scanner) { s.Hex() },
	func(s *Scanner) { s.HexField() },
	func(s *Scanner) { s.HexUpTo(0xff) },
	func(s *Scanner) { s.SignedHex() },
	func(s *Scanner) { s.HexBytes() },
	func(s *Scanner) { s.HexBytesN(2) },
	func(s *Scanner) { s.HexBytesN(s.Hex()) },
	func(s *Scanner) { s.Thread() },
	func(s *Scanner) { s.Literal(':') },
	func(s *Scanner) { s.Accept(',') },
	func(s *Scanner) { s.AcceptText("-1") },
	func(s *Scanner) { s.Until(';') },
	func(s *Scanner) { s.Take(2) },
}

// FuzzScanner strings methods together in any order and checks that the scanner only moves forward, within the text, and
// that its first error stays and can be printed.
func FuzzScanner(f *testing.F) {
	f.Add("2:0000000000401131:E:0:0:X3,260006-", []byte{1, 8, 1, 8, 12, 8, 0, 8, 0, 8, 12, 6, 9, 5})
	f.Add("p1a.-1;-1:zz", []byte{7, 11, 3, 8, 4})
	f.Fuzz(func(t *testing.T, text string, steps []byte) {
		s := NewScanner(text)
		var first error
		for _, step := range steps {
			before := s.Pos()
			scannerSteps[int(step)%len(scannerSteps)](s)
			if s.Pos() < before || s.Pos() > len(text) {
				t.Fatalf("step %d moved from %d to %d of %d", step, before, s.Pos(), len(text))
			}
			if first == nil {
				first = s.Err()
			}
			if s.Err() != first {
				t.Fatalf("error %v replaced %v", s.Err(), first)
			}
			if first != nil && (!s.Done() || first.Error() == "") {
				t.Fatalf("not done after error %q", first)
			}
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	const text = "7fffffffe4a0,10:p1a.1b"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s := NewScanner(text)
		s.HexField()
		s.Literal(',')
		s.HexField()
		s.Literal(':')
		s.Thread()
		if err := s.End(); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleScanner() {
	s := NewScanner("401131;4")
	addr := s.HexField()
	s.Literal(',')
	length := s.HexField()
	fmt.Printf("%x %x %v\n", addr, length, s.End())
	// Output: 401131 0 offset 6: found ";4", expected ','
}
