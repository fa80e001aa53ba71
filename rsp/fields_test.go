package rsp

import (
	"errors"
	"io"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everything has a field of every kind.
type everything struct {
	Plain    uint64
	Padded   int
	Digits   byte
	Text     string
	Code     []byte
	Until    string
	Last     string
	Flag     bool
	Thread   Thread
	There    bool
	List     []int
	Ended    []int
	Some     []int
	Parsed   int
	HexTail  []byte
	PlainEnd string
}

func hexItem(f *Fields, n *int) { Hex(f, n, math.MaxInt32) }

// grammars are texts with the content that they are read as. Each is written as it was read.
var grammars = map[string]struct {
	fields func(f *Fields, e *everything)
	want   map[string]everything
}{
	"in order": {func(f *Fields, e *everything) {
		Hex(f, &e.Plain, math.MaxUint64)
		f.Literal(',')
		HexPadded(f, &e.Padded, 0xffff, 3)
		f.Literal(';')
		HexDigits(f, &e.Digits, 2)
		HexBytes(f, &e.Text)
		f.Literal('-')
		f.Flag(&e.Flag)
		f.Thread(&e.Thread)
		e.There = f.Option("=yes", e.There)
	}, map[string]everything{
		"0,001;056869-1p1.2=yes":       {Padded: 1, Digits: 5, Text: "hi", Flag: true, Thread: Thread{1, 2, true}, There: true},
		"ffffffffffffffff,ffff;ff-0-1": {Plain: math.MaxUint64, Padded: 0xffff, Digits: 0xff, Thread: Thread{TID: AllThreads}},
	}},
	"code": {func(f *Fields, e *everything) {
		f.Code(&e.Code)
		f.Until(':', &e.Until)
		f.Literal(':')
		f.UntilLast(':', &e.Last)
		f.Literal(':')
		Rest(f, &e.PlainEnd)
	}, map[string]everything{
		"X2,2700abc:d:e:f:g": {Code: []byte{0x27, 0}, Until: "abc", Last: "d:e:f", PlainEnd: "g"},
		"X0,::":              {},
		"X0,:b::":            {Last: "b:"},
	}},
	"list":   {func(f *Fields, e *everything) { List(f, &e.List, ';', hexItem) }, map[string]everything{"1;2;ff": {List: []int{1, 2, 0xff}}, "": {}}},
	"ended":  {func(f *Fields, e *everything) { Ended(f, &e.Ended, ';', hexItem) }, map[string]everything{"1;2;": {Ended: []int{1, 2}}, "": {}}},
	"some":   {func(f *Fields, e *everything) { Some(f, &e.Some, ',', hexItem) }, map[string]everything{"1": {Some: []int{1}}, "1,2,3": {Some: []int{1, 2, 3}}}},
	"digits": {func(f *Fields, e *everything) { HexRest(f, &e.HexTail) }, map[string]everything{"": {}, "00ff": {HexTail: []byte{0, 0xff}}}},
	"choice": {func(f *Fields, e *everything) {
		if e.There = !f.Next('-', !e.There); e.There {
			Hex(f, &e.Plain, 0xff)
		} else {
			f.Literal('-')
		}
		if e.Flag = f.More(e.Flag); e.Flag {
			f.Literal('!')
		}
	}, map[string]everything{"-": {}, "-!": {Flag: true}, "1f": {There: true, Plain: 0x1f}, "1f!": {There: true, Plain: 0x1f, Flag: true}}},
	"parsed": {func(f *Fields, e *everything) {
		f.Literal('=')
		f.Parsed(func(rest string) (err error) {
			e.Parsed, err = strconv.Atoi(rest)
			return err
		}, func(dst []byte) []byte { return strconv.AppendInt(dst, int64(e.Parsed), 10) })
	}, map[string]everything{"=-12": {Parsed: -12}}},
}

// TestFields reads every text and writes it again behind other bytes.
func TestFields(t *testing.T) {
	for name, g := range grammars {
		for text, want := range g.want {
			var got everything
			in := ReadFields(text)
			g.fields(in, &got)
			if diff := cmp.Diff(want, got); diff != "" || in.End() != nil || !in.Reading() {
				t.Errorf("%s: %q: %v (-want +got):\n%s", name, text, in.End(), diff)
			}
			out := WriteFields([]byte("before "))
			if g.fields(out, &got); string(out.Written()) != "before "+text || out.End() != nil || out.Reading() {
				t.Errorf("%s: %q is written as %q, %v", name, text, out.Written(), out.End())
			}
		}
	}
}

// TestFieldsRejects has texts that do not fit, with where and what was expected there.
func TestFieldsRejects(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"in order", "", "offset 0: found the end, expected a hexadecimal number"},
		{"in order", "1;", `offset 1: found ";", expected ','`},
		{"in order", "1,10000;", `offset 2: found "10000;", expected a hexadecimal number up to ffff`},
		{"in order", "1,1;0-", `offset 4: found "0-", expected 2 hexadecimal digits`},
		{"in order", "1,1;001-", `offset 7: found "-", expected a hexadecimal digit`},
		{"in order", "1,1;00-2", `offset 7: found "2", expected 0 or 1`},
		{"in order", "1,1;00-1p1.2=no", `offset 12: found "=no", expected the end`},
		{"code", "X3,2700", "offset 7: found the end, expected 3 bytes in hexadecimal"},
		{"code", "X0,a", "offset 4: found the end, expected ':'"},
		{"code", "X0,a:b", `offset 5: found "b", expected ':'`},
		{"list", ";", `offset 0: found ";", expected a hexadecimal number`},
		{"list", "1,2", `offset 1: found ",2", expected ';'`},
		{"some", "", "offset 0: found the end, expected a hexadecimal number"},
		{"some", "1,", "offset 2: found the end, expected a hexadecimal number"},
		{"digits", "0", `offset 0: found "0", expected two hexadecimal digits`},
		{"choice", "-?", `offset 1: found "?", expected '!'`},
		{"choice", "100", `offset 0: found "100", expected a hexadecimal number up to ff`},
		{"parsed", "=x", `strconv.Atoi: parsing "x": invalid syntax`},
		{"parsed", "x", `offset 0: found "x", expected '='`},
	} {
		f, e := ReadFields(test.text), everything{}
		if grammars[test.name].fields(f, &e); errorText(f.End()) != test.want {
			t.Errorf("%s: %q: %v, want %s", test.name, test.text, f.End(), test.want)
		}
	}
	f := WriteFields(nil)
	if f.Fail("anything"); f.End() != nil {
		t.Errorf("writing fails: %v", f.End())
	}
}

// broken is a connection that cannot be written.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestClientCannotWrite(t *testing.T) {
	c := NewClient(broken{})
	_, exchanged := c.Exchange("g")
	for _, err := range []error{exchanged, c.Send([]byte("g")), c.SendAll([]byte("g"))} {
		if !errors.Is(err, errBroken) || errorText(err) != "send: broken" {
			t.Errorf("%v, want that the connection cannot be written", err)
		}
	}
	if err := c.Interrupt(); !errors.Is(err, errBroken) {
		t.Errorf("Interrupt: %v", err)
	}
	if err := NewClient(&breaks{reply: "$OK#9a"}).Send([]byte("g")); !errors.Is(err, errBroken) {
		t.Errorf("a packet that comes instead of an acknowledgment, and cannot be acknowledged: %v", err)
	}
}

// breaks is a connection that cannot be written a second time, and is read once.
type breaks struct {
	broken
	reply   string
	written bool
}

func (b *breaks) Write(p []byte) (int, error) {
	if b.written {
		return 0, errBroken
	}
	b.written = true
	return len(p), nil
}

func (b *breaks) Read(p []byte) (int, error) {
	n := copy(p, b.reply)
	if b.reply = b.reply[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
