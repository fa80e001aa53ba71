package tfile

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
	"tracewell/trace"
)

// TestChecker holds a Checker against ParseFrame and Check, in both byte orders, by frames of all kinds of block of which most have
// a byte changed, a length wrong, or an end cut off.
func TestChecker(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole, damaged := 0, 0
	for range 20000 {
		var order arch.ByteOrder = binary.LittleEndian
		if r.IntN(2) == 0 {
			order = binary.BigEndian
		}
		size := []int{0, 8, 40}[r.IntN(3)]
		frame := randomFrame(r, order, size)
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
		checker := NewChecker(order, size)
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
	if whole < 5000 || damaged < 5000 {
		t.Errorf("%d frames were whole, %d damaged", whole, damaged)
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
