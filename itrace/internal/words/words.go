// Package words finds what short words mean, such as the names of registers, faster than a map does: a word of up to seven bytes is
// compared as one number.
package words

import (
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"tracewell/itrace/internal/swar"
)

// Table is what each of some words means.
type Table[V any] struct {
	slots []slot[V] // a power of two, half of them free, so that a search ends soon
	shift int
	long  map[string]V
}

type slot[V any] struct {
	word  uint64 // its bytes, the first lowest, and a 1 behind the last, so that no two words are the same number; 0 for none
	means V
}

const (
	loaded = 8          // bytes at once
	most   = loaded - 1 // bytes of a word that is compared as a number
)

// New returns a table.
func New[V any](words map[string]V) *Table[V] {
	width := bits.Len(uint(2 * len(words)))
	t := &Table[V]{slots: make([]slot[V], 1<<width), shift: 64 - width, long: make(map[string]V)}
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if len(word) > most {
			t.long[word] = words[word]
			continue
		}
		var room [loaded]byte
		room[copy(room[:], word)] = 1
		x := binary.LittleEndian.Uint64(room[:])
		at := t.first(x)
		for t.slots[at].word != 0 {
			at = (at + 1) % len(t.slots)
		}
		t.slots[at] = slot[V]{x, words[word]}
	}
	return t
}

// first is where the search for a word begins. The multiplier is 2^64 over the golden ratio.
func (t *Table[V]) first(x uint64) int { return int(x * 0x9e3779b97f4a7c15 >> t.shift) }

// Find returns what a word means. It is fastest if there is memory behind the word.
func (t *Table[V]) Find(word []byte) (means V, ok bool) {
	if len(word) > most {
		means, ok = t.long[string(word)]
		return means, ok
	}
	behind := uint64(1) << (8 * len(word))
	if cap(word) >= loaded {
		return t.find(binary.LittleEndian.Uint64(word[:loaded])&(behind-1) | behind)
	}
	x := behind
	for i, c := range word {
		x |= uint64(c) << (8 * i)
	}
	return t.find(x)
}

// FindUntil returns what the word means that a text begins with and that a byte ends, and where it ends. It finds words of up to
// seven bytes, and none where there is no memory behind; ok says whether it has.
func (t *Table[V]) FindUntil(text []byte, end byte) (means V, length int, ok bool) {
	if cap(text) < loaded {
		return means, 0, false
	}
	x := binary.LittleEndian.Uint64(text[:loaded])
	length = bits.TrailingZeros64(swar.Equal(x, end)) / 8
	if length >= min(loaded, len(text)) {
		return means, 0, false
	}
	behind := uint64(1) << (8 * length)
	means, ok = t.find(x&(behind-1) | behind)
	return means, length, ok
}

func (t *Table[V]) find(x uint64) (means V, ok bool) {
	for at := t.first(x); ; at++ {
		switch s := &t.slots[at&(len(t.slots)-1)]; s.word {
		case x:
			return s.means, true
		case 0:
			return means, false
		}
	}
}
