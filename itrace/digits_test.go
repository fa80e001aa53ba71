package itrace

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// roomy returns text with other bytes behind it in memory, as a line has the next; at its end are as many as WordEnd looks at.
func roomy(text, behind string) []byte {
	all := []byte(text + behind + strings.Repeat("\xff", 8))
	return all[:len(text)]
}

// numbers yields texts that are numbers, nearly are, or are not, with what stands behind them in memory.
func numbers(yield func(text, behind string) bool) {
	const alphabet = "0123456789abcdefABCDEF/:@G`gxX-.# \x00\x80\xb0\xff"
	for i := range 256 {
		if c := string([]byte{byte(i)}); !yield(c, "") || !yield("1"+c, "7") || !yield(c+"1", "\n") {
			return
		}
		for j := range 256 {
			if !yield(string([]byte{byte(i), byte(j)}), " 9") {
				return
			}
		}
	}
	random := rand.New(rand.NewPCG(6, 1))
	for range 200_000 {
		digits := alphabet[:[]int{10, 16, 22, len(alphabet)}[random.IntN(4)]]
		text := make([]byte, random.IntN(22))
		for i := range text {
			text[i] = digits[random.IntN(len(digits))]
		}
		if len(text) > 0 && random.IntN(4) == 0 {
			text[random.IntN(len(text))] = alphabet[random.IntN(len(alphabet))]
		}
		if !yield(string(text), alphabet[random.IntN(len(alphabet)):]) {
			return
		}
	}
	for _, text := range []string{"", "18446744073709551615", "18446744073709551616", "99999999999999999999", "000000000000000000000000001"} {
		if !yield(text, "") {
			return
		}
	}
}

// parsed is what strconv makes of a text, which knows neither signs nor underscores here.
func parsed(text string, base int) (uint64, bool) {
	if strings.ContainsAny(text, "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(text, base, 64)
	return n, err == nil
}

// TestNumbers holds ParseDecimal and ParseHex against strconv, whatever is behind a number in memory.
func TestNumbers(t *testing.T) {
	for text, behind := range numbers {
		for _, test := range []struct {
			name  string
			base  int
			parse func([]byte) (uint64, bool)
		}{
			{"decimal", 10, ParseDecimal},
			{"hexadecimal", 16, ParseHex},
		} {
			want, ok := parsed(text, test.base)
			for _, line := range [][]byte{[]byte(text)[:len(text):len(text)], roomy(text, behind)} {
				if got, gotOK := test.parse(line); gotOK != ok || ok && got != want {
					t.Fatalf("%s %q, %q behind: got %d, %v, want %d, %v", test.name, text, behind, got, gotOK, want, ok)
				}
			}
		}
	}
}

// TestParseDigits holds digits of which some are not known against the definition.
func TestParseDigits(t *testing.T) {
	for text, behind := range numbers {
		ok, wild := text != "", false
		known := strings.Map(func(r rune) rune {
			switch {
			case strings.ContainsRune("xX-.#", r):
				wild = true
				return '0'
			case !strings.ContainsRune("0123456789abcdefABCDEF", r):
				ok = false
			}
			return r
		}, text)
		want, _ := parsed(known[max(0, len(known)-16):], 16)
		got, gotWild, gotOK := ParseDigits(roomy(text, behind))
		if gotOK != ok || ok && (got != want || gotWild != wild) {
			t.Fatalf("%q: got %x, %v, %v, want %x, %v, %v", text, got, gotWild, gotOK, want, wild, ok)
		}
	}
}

func TestWordEnd(t *testing.T) {
	for text, behind := range numbers {
		for at := range len(text) + 1 {
			want := at
			for want < len(text) && text[want] > ' ' {
				want++
			}
			for _, line := range [][]byte{[]byte(text)[:len(text):len(text)], roomy(text, behind)} {
				if got := WordEnd(line, at); got != want {
					t.Fatalf("%q from %d, %q behind: got %d, want %d", text, at, behind, got, want)
				}
			}
		}
	}
}

func TestDigitsMatch(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"1", "1", true},
		{"1", "2", false},
		{"abcdef", "ABCDEF", true},
		{"00ff", "ff", true},
		{"01ff", "ff", false},
		{"x1ff", "ff", false},
		{"x0ff", "ff", true},
		{"", "000", true},
		{"", "001", false},
		{"1x", "17", true},
		{"1x", "27", false},
		{"--", "##", true},
		{"xx", "1", true},
		{"x", "10", false},
		{"0000000000000001000000000000000a", "1000000000000000A", true},
		{"0000000000000001000000000000000a", "000000000000000a", false},
	} {
		if got := DigitsMatch([]byte(test.a), []byte(test.b)); got != test.want {
			t.Errorf("%q and %q: got %v", test.a, test.b, got)
		}
		if got := DigitsMatch([]byte(test.b), []byte(test.a)); got != test.want {
			t.Errorf("%q and %q: got %v", test.b, test.a, got)
		}
	}
}

// TestDigitsMatchKnown: digits that are all known match if their numbers are the same.
func TestDigitsMatchKnown(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 2))
	for range 100_000 {
		a, b := random.Uint64()>>random.IntN(64), random.Uint64()>>random.IntN(64)
		if random.IntN(2) == 0 {
			b = a
		}
		x, y := fmt.Appendf(nil, "%0*x", random.IntN(20), a), bytes.ToUpper(fmt.Appendf(nil, "%0*x", random.IntN(20), b))
		if got := DigitsMatch(x, y); got != (a == b) {
			t.Fatalf("%s and %s: got %v", x, y, got)
		}
	}
}

// TestDigitsFit holds what is said of digits against what they come to.
func TestDigitsFit(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	fit := 0
	for range 20_000 {
		size := uint32(1 + random.IntN(10))
		digits := make([]byte, random.IntN(24))
		for i := range digits {
			digits[i] = "0000000f"[random.IntN(8)]
		}
		n, _ := new(big.Int).SetString("0"+string(digits), 16)
		want := n.BitLen() <= 8*int(size)
		if DigitsFit(digits, size) != want {
			t.Fatalf("%s in %d bytes: want %v", digits, size, want)
		}
		if want {
			fit++
		}
	}
	if fit < 5000 || fit > 15_000 {
		t.Errorf("%d of 20000 fit", fit)
	}
	if !DigitsFit([]byte("x-0.ff"), 1) || DigitsFit([]byte("1xff"), 1) || !DigitsFit([]byte("ffff"), math.MaxUint32) {
		t.Error("digits that are not known, or a size beyond all digits")
	}
}
