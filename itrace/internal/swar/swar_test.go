package swar

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// texts yields texts of 1 to 16 bytes: every byte and every pair of bytes, and random ones that are numbers, nearly are, or are not.
func texts(yield func(string) bool) {
	for i := range 256 {
		if c := string([]byte{byte(i)}); !yield(c) || !yield("1"+c) || !yield(c+"1") || !yield("12345678"+c) || !yield(c+"12345678") {
			return
		}
		for j := range 256 {
			if !yield(string([]byte{byte(i), byte(j)})) {
				return
			}
		}
	}
	const alphabet = "0123456789abcdefABCDEF/:@G`gxX-.# \x00\x80\xb0\xff"
	random := rand.New(rand.NewPCG(6, 1))
	for range 200_000 {
		digits := alphabet[:[]int{10, 16, 22, len(alphabet)}[random.IntN(4)]]
		text := make([]byte, 1+random.IntN(16))
		for i := range text {
			text[i] = digits[random.IntN(len(digits))]
		}
		if random.IntN(4) == 0 {
			text[random.IntN(len(text))] = alphabet[random.IntN(len(alphabet))]
		}
		if !yield(string(text)) {
			return
		}
	}
}

// TestAsStrconv holds all functions against strconv, whatever stands around a number in memory.
func TestAsStrconv(t *testing.T) {
	const around = "0aF \n9\xff\x00:"
	i := 0
	for text := range texts {
		i++
		line := []byte("??" + text + strings.Repeat(around[i%len(around):][:1], Lookahead))
		for _, test := range []struct {
			base int
			at   func([]byte, int, int) (uint64, uint64)
			not  func(uint64, int) uint64
		}{{10, Decimal, NotDecimal}, {16, Hex, NotHex}} {
			want, err := strconv.ParseUint(text, test.base, 64)
			ok := err == nil && !strings.ContainsAny(text, "+-_")
			if got, wrong := test.at(line, 2, len(text)); (wrong == 0) != ok || ok && got != want {
				t.Fatalf("base %d, %q: got %d, wrong %#x, want %d, %v", test.base, text, got, wrong, want, ok)
			}
			if len(text) <= 8 {
				if wrong := test.not(binary.LittleEndian.Uint64(line[2:]), len(text)); (wrong == 0) != ok {
					t.Fatalf("base %d, %q: wrong %#x, want %v", test.base, text, wrong, ok)
				}
			}
		}
	}
}

// TestHexRun ends where the digits do, whatever is behind them.
func TestHexRun(t *testing.T) {
	for text := range texts {
		for _, behind := range []string{"", "0", "g", "\n"} {
			line := append([]byte(text+behind), make([]byte, Lookahead)...)
			want := 0
			for want < 16 && strings.IndexByte("0123456789abcdefABCDEF", line[want]) >= 0 {
				want++
			}
			number, _ := strconv.ParseUint("0"+string(line[:want]), 16, 64)
			if got, width := HexRun(line, 0); width != want || got != number {
				t.Fatalf("%q: got %#x of %d digits, want %#x of %d", line, got, width, number, want)
			}
		}
	}
}
