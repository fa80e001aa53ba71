package words

import (
	"fmt"
	"testing"
)

// TestFind finds words of all lengths, with memory behind them and without, and none that is not there.
func TestFind(t *testing.T) {
	words := make(map[string]int)
	for i := range 500 {
		words[fmt.Sprintf("x%d", i)] = i
		words[fmt.Sprintf("longer_than_8_%d", i)] = -i
	}
	words["eightbyt"], words["é"], words["seven_b"] = 1000, 1001, 1002
	table := New(words)
	for _, behind := range []string{"", "0", " and more"} {
		for word, want := range words {
			text := []byte(word + behind)
			for _, found := range [][]byte{text[:len(word)], text[:len(word):len(word)]} {
				if got, ok := table.Find(found); got != want || !ok {
					t.Fatalf("%q is %d, %v, want %d", word, got, ok, want)
				}
			}
		}
		for _, word := range []string{"", "x", "x500", "X1", "eightby", "longer_than_8_500",
			"\x00", "x1\x00", "x1\x01", "x1\x00\x00\x00\x00\x00\x00"} {
			if got, ok := table.Find([]byte(word + behind)[:len(word)]); ok || got != 0 {
				t.Fatalf("%q is %d", word, got)
			}
		}
	}
	for _, test := range []struct {
		text   string
		length int // 0 if there is none
	}{{"x1=0", 2}, {"x499==", 4}, {"x1=", 2}, {"seven_b=", 7}, {"x1\x00=", 0}, {"=x1", 0}, {"x1", 0}, {"x500=", 0},
		{"eightbyt=", 0}, {"longer_than_8_1=", 0}} {
		for _, room := range []int{0, 8} {
			text := append(make([]byte, 0, len(test.text)+room), test.text+"========"[:room]...)
			want, length, found := 0, 0, false
			if test.length > 0 && cap(text) >= loaded {
				want, length, found = words[test.text[:test.length]], test.length, true
			}
			got, at, ok := table.FindUntil(text[:len(test.text)], '=')
			if ok != found || ok && (got != want || at != length) {
				t.Errorf("%q is %d of %d bytes, %v", test.text, got, at, ok)
			}
		}
	}
	if _, ok := New(map[string]bool{}).Find([]byte("x")); ok {
		t.Error("a word is in a table of none")
	}
}
