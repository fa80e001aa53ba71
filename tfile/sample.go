package tfile

import (
	"tracewell/arch"
	"tracewell/trace"
)

// numberSet holds tracepoint numbers as frame headers carry them. Of an empty one every number counts as a member: where no
// tracepoint is defined nothing speaks against any.
type numberSet struct {
	bits [1 << 10]uint64
	any  bool
}

func newNumberSet(tracepoints []trace.Tracepoint) *numberSet {
	s := &numberSet{any: len(tracepoints) == 0}
	for _, t := range tracepoints {
		n := uint16(t.Number)
		s.bits[n/64] |= 1 << (n % 64)
	}
	return s
}

func (s *numberSet) has(n uint16) bool { return s.any || s.bits[n/64]>>(n%64)&1 != 0 }

// header is a frame's header, where it is in the file.
type header struct {
	number     uint16
	start, end int64 // of the frame; the end may lie behind that of the file
}

// headerAt reads the header at start; ok is false if the file ends within it.
func (w *window) headerAt(order arch.ByteOrder, start int64) (h header, ok bool, err error) {
	b, err := w.at(start, FrameHeader)
	if err != nil || len(b) < FrameHeader {
		return header{}, false, err
	}
	return header{order.Uint16(b), start, start + FrameHeader + int64(order.Uint32(b[2:]))}, true, nil
}

// inside is what a walk over the blocks of a frame comes to.
type inside struct {
	registers bool // there is an R block
	whole     bool // the last block ends where the frame does
	blocks    int  // up to there or up to one that cannot be read
}

// look walks over the blocks from at to end, which lies in the file, but no more than limit of them, without keeping any.
func (w *window) look(layout Frame, at, end int64, limit int) (inside, error) {
	var in inside
	for ; at < end; in.blocks++ {
		if in.blocks == limit {
			break
		}
		rest, err := w.at(at, memoryHead)
		if err != nil {
			return in, err
		}
		rest = rest[:min(int64(len(rest)), end-at)]
		in.registers = in.registers || rest[0] == byte(BlockRegisters)
		head, length := layout.shape(rest)
		if head == 0 || int64(head+length) > end-at {
			return in, nil
		}
		at += int64(head + length)
	}
	in.whole = true
	return in, nil
}
