package rsp

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"testing"
)

func TestAppendHex(t *testing.T) {
	tests := []struct {
		value  uint64
		width  int
		plain  string
		padded string
	}{
		{0, 0, "0", "0"},
		{0, 2, "0", "00"},
		{5, 2, "5", "05"},
		{0xab, 2, "ab", "ab"},
		{0xabc, 2, "abc", "abc"},
		{0x401131, 16, "401131", "0000000000401131"},
		{math.MaxUint64, 16, "ffffffffffffffff", "ffffffffffffffff"},
	}
	for _, tt := range tests {
		if got := string(AppendHex(nil, tt.value)); got != tt.plain {
			t.Errorf("AppendHex(%#x) = %q, want %q", tt.value, got, tt.plain)
		}
		if got := string(AppendHexPadded(nil, tt.value, tt.width)); got != tt.padded {
			t.Errorf("AppendHexPadded(%#x, %d) = %q, want %q", tt.value, tt.width, got, tt.padded)
		}
	}
}

// TestAppendHexWidths has every bit as the highest one, at every width.
func TestAppendHexWidths(t *testing.T) {
	for bit := range 64 {
		for width := range 20 {
			v := uint64(1) << bit
			if got, want := string(AppendHexPadded(nil, v, width)), fmt.Sprintf("%0*x", width, v); got != want {
				t.Errorf("AppendHexPadded(%#x, %d) = %q, want %q", v, width, got, want)
			}
		}
	}
}

func TestHexBytes(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	text := string(AppendHexBytes([]byte(nil), all))
	if want := hex.EncodeToString(all); text != want {
		t.Errorf("AppendHexBytes of all bytes = %q, want %q", text, want)
	}
	if got := string(AppendHexBytes([]byte("T"), "by")); got != "T6279" {
		t.Errorf("AppendHexBytes of a string = %q, want %q", got, "T6279")
	}
	if got, err := ParseHexBytes(text); err != nil || !bytes.Equal(got, all) {
		t.Errorf("ParseHexBytes of all bytes = %x, %v", got, err)
	}
}

func TestParseHexBytes(t *testing.T) {
	tests := []struct{ text, want, err string }{
		{"", "", ""},
		{"6279", "by", ""},
		{"4aFa", "J\xfa", ""},
		{"627", "b", `offset 2: found "7", expected two hexadecimal digits`},
		{"6g79", "", `offset 0: found "6g79", expected two hexadecimal digits`},
		{"62 79", "b", `offset 2: found " 79", expected two hexadecimal digits`},
	}
	for _, tt := range tests {
		got, err := ParseHexBytes(tt.text)
		if string(got) != tt.want || errorText(err) != tt.err {
			t.Errorf("ParseHexBytes(%q) = %q, %q, want %q, %q", tt.text, got, errorText(err), tt.want, tt.err)
		}
	}
}

func TestHexAllocations(t *testing.T) {
	memory := make([]byte, 1000)
	text := string(AppendHexBytes(nil, memory))
	buf := make([]byte, 0, 3000)
	n := testing.AllocsPerRun(100, func() {
		buf = AppendHexPadded(AppendHex(buf[:0], 0x401131), 5, 2)
		buf = AppendHexBytes(buf, memory)
		buf, _ = AppendFromHex(buf[:0], text)
	})
	if n != 0 {
		t.Errorf("hexadecimal both ways into enough room allocates %v times, want 0", n)
	}
}

func BenchmarkAppendHexBytes(b *testing.B) {
	memory := make([]byte, 8<<10)
	buf := make([]byte, 0, 2*len(memory))
	b.SetBytes(int64(len(memory)))
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendHexBytes(buf[:0], memory)
	}
}

func BenchmarkAppendFromHex(b *testing.B) {
	text := string(AppendHexBytes(nil, make([]byte, 8<<10)))
	buf := make([]byte, 0, len(text)/2)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = AppendFromHex(buf[:0], text)
	}
}
