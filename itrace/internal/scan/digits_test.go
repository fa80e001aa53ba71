package scan

import (
	"bytes"
	"testing"

	"tracewell/itrace"
)

// TestDigits compares with what reads byte by byte, also where there are no bytes behind.
func TestDigits(t *testing.T) {
	for _, text := range []string{
		"", "0", "1f", "00000000DEADbeef", "123456789abcdef01", "00123456789abcdef", "12 4", "xx12", "g", "1:", "12345678901234567890123",
	} {
		for _, behind := range []string{"", "0123456789abcdef", "\x00\xff        \n      "} {
			digits := append([]byte(text), behind...)[:len(text)]
			value, ok := ParseHex(digits)
			if want, wantOK := itrace.ParseHex(digits); ok != wantOK || ok && value != want {
				t.Errorf("%q: %x %v, want %x %v", text, value, ok, want, wantOK)
			}
			value, ok = ParseDecimal(digits)
			if want, wantOK := itrace.ParseDecimal(digits); ok != wantOK || ok && value != want {
				t.Errorf("%q: %d %v, want %d %v", text, value, ok, want, wantOK)
			}
			value, wild, ok := ParseDigits(digits)
			if want, wantWild, wantOK := itrace.ParseDigits(digits); ok != wantOK || ok && (value != want || wild != wantWild) {
				t.Errorf("%q: %x %v %v, want %x %v %v", text, value, wild, ok, want, wantWild, wantOK)
			}
		}
	}
}

// TestIndexByte looks from every place of a line for a byte, which may stand behind the line as well.
func TestIndexByte(t *testing.T) {
	for _, text := range []string{
		"", ",", "a,b", "12345678,", "1234567,9", "12345678901234567890,", "no comma, but \x00, \x2b and \xac",
	} {
		for _, behind := range []string{"", ",", "0123,456789abcdef,"} {
			line := append([]byte(text), behind...)[:len(text)]
			for at := range len(line) + 1 {
				want := bytes.IndexByte(line[at:], ',')
				if want < 0 {
					want = len(line) - at
				}
				if got, field := IndexByte(line, at, ','), FieldEnd(line, at, ','); got != at+want || field != got {
					t.Errorf("%q from %d on: %d and %d, want %d", line, at, got, field, at+want)
				}
			}
		}
	}
}

// TestCut compares with bytes.Cut.
func TestCut(t *testing.T) {
	for _, text := range []string{"", ",", "a,b,c", "a", "12345678,"} {
		before, after, found := Cut([]byte(text), ',')
		wantBefore, wantAfter, want := bytes.Cut([]byte(text), []byte{','})
		if !bytes.Equal(before, wantBefore) || !bytes.Equal(after, wantAfter) || found != want {
			t.Errorf("%q: %q %q %v", text, before, after, found)
		}
	}
}

// TestLastIndex compares with bytes.LastIndex.
func TestLastIndex(t *testing.T) {
	for _, text := range []string{"", "a", "ab", "abab", "ab ab ", "ba"} {
		if got, want := LastIndex([]byte(text), []byte("ab")), bytes.LastIndex([]byte(text), []byte("ab")); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
