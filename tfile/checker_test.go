package tfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
	"tracewell/trace"
)

// TestChecker holds a Checker against ParseFrame and Check, in both byte orders, by frames of all kinds of block of which most have
// a byte changed, a length wrong, or an end cut off. One Checker has frames of a few tracepoints, most of which come again and again
// with other contents, so that it knows their shapes.
func TestChecker(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole, damaged, matched := 0, 0, 0
	var checker Checker
	var frames [][]byte
	for i := range 40000 {
		if i%40 == 0 {
			var order arch.ByteOrder = binary.LittleEndian
			if r.IntN(2) == 0 {
				order = binary.BigEndian
			}
			checker, frames = NewChecker(order, []int{0, 8, 40}[r.IntN(3)]), nil
		}
		order, size := checker.order, checker.registerSize
		if len(frames) < 3 || r.IntN(8) == 0 {
			frames = append(frames, randomFrame(r, order, size))
		}
		frame := bytes.Clone(frames[r.IntN(len(frames))])
		switch r.IntN(4) {
		case 0:
			frame[r.IntN(len(frame))] ^= 1 << r.IntN(8)
		case 1:
			frame = frame[:r.IntN(len(frame))]
		case 2:
			if n := len(frame) - FrameHeader - 1; n >= 0 { // cut off within a block, as the header has it
				frame = frame[:FrameHeader+r.IntN(n+1)]
				order.PutUint32(frame[2:], uint32(len(frame)-FrameHeader))
			}
		}
		if len(frame) >= FrameHeader && checker.known[order.Uint16(frame)%uint16(len(checker.known))].Match(frame) {
			matched++
		}
		n, kinds, err := checker.Check(frame)
		f, want := ParseFrame(frame, order, size)
		if want == nil {
			want = f.Check()
		}
		if fmt.Sprint(err) != fmt.Sprint(want) {
			t.Fatalf("% x: %v, want %v", frame, err, want)
		}
		if want != nil {
			damaged++
			continue
		}
		whole++
		var has Kinds
		for b := range f.Blocks() {
			has |= 1 << (b.Kind - 'A')
		}
		if n != f.Tracepoint() || kinds != has || kinds.Has(BlockStatic) != (len(f.Static()) > 0) {
			t.Fatalf("% x: tracepoint %d with kinds %b, want %d with %b", frame, n, kinds, f.Tracepoint(), has)
		}
	}
	if whole < 5000 || damaged < 5000 || matched < 2000 {
		t.Errorf("%d frames were whole, %d damaged, %d had a known shape", whole, damaged, matched)
	}
}

// randomFrame makes a whole frame; of R blocks there are none if they have no length.
func randomFrame(r *rand.Rand, order arch.ByteOrder, registers int) []byte {
	b := Builder{Order: order}
	b.Begin(nil, trace.Number(1+r.IntN(trace.MaxNumber)))
	for range r.IntN(5) {
		switch r.IntN(4) {
		case 0:
			if registers > 0 {
				b.Registers(registers)
			}
		case 1:
			b.AppendMemory(arch.Addr(r.Uint64()), make([]byte, r.IntN(300)))
		case 2:
			b.Variable(trace.VariableNumber(r.IntN(1<<16)), r.Int64())
		case 3:
			b.AppendStatic(make([]byte, 1+r.IntN(40)))
		}
	}
	return b.Finish()
}
