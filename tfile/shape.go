package tfile

import "encoding/binary"

// Shape is what frames of one layout have in common: their length, and the bytes that tell which blocks they consist of. To
// compare a frame with the shape of the one before it takes a third of the time of going through its blocks.
type Shape struct {
	length int
	words  []fixedWord
}

// fixedWord is eight bytes of which some are the same in all frames of a shape. It is little-endian whatever the frame is.
type fixedWord struct {
	at         int
	mask, want uint64
}

// wordSize is the length of a fixedWord. Shorter frames have no shape.
const wordSize = 8

// Reset makes it the shape of frames of a length of which no byte is fixed yet.
func (s *Shape) Reset(length int) { s.length, s.words = length, s.words[:0] }

// Fix has frames have certain bytes at an offset, eight at most.
func (s *Shape) Fix(at int, b []byte) {
	if s.length < wordSize {
		return
	}
	n := len(s.words)
	if n == 0 || at+len(b) > s.words[n-1].at+wordSize {
		s.words = append(s.words, fixedWord{at: min(at, s.length-wordSize)}) // within the frame
		n++
	}
	w := &s.words[n-1]
	for i, c := range b {
		shift := 8 * (at - w.at + i)
		w.mask |= 0xff << shift
		w.want |= uint64(c) << shift
	}
}

// Match reports whether a frame has the shape.
func (s *Shape) Match(frame []byte) bool {
	if len(frame) != s.length || len(s.words) == 0 {
		return false
	}
	for i := range s.words {
		if w := &s.words[i]; binary.LittleEndian.Uint64(frame[w.at:])&w.mask != w.want {
			return false
		}
	}
	return true
}
