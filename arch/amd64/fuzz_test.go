package amd64

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
)

// FuzzDecode decodes anything, and checks what holds for every instruction and its copy.
func FuzzDecode(f *testing.F) {
	for _, d := range decodings {
		f.Add(mustHex(f, d.code), uint64(0x401000), uint64(0x501000))
	}
	f.Add([]byte{0x48, 0x8b, 0x05, 0, 0, 0, 0x80}, uint64(0x7fffffffe000), uint64(0xffffffff80000000))
	f.Fuzz(func(t *testing.T, code []byte, at, slot uint64) {
		in, err := Decode(code, arch.Addr(at))
		if err != nil {
			return
		}
		if in.Len() < 1 || in.Len() > min(maxLength, len(code)) || !bytes.Equal(in.Code(), code[:in.Len()]) {
			t.Fatalf("% x: length %d", code, in.Len())
		}
		alone, err := Decode(in.Code(), arch.Addr(at))
		if err != nil || *alone != *in {
			t.Errorf("% x: what follows it matters: %v", in.Code(), err)
		}
		if in.String() == "" {
			t.Errorf("% x: no text", in.Code())
		}
		checkCopy(t, in, arch.Addr(slot))
		checkDisplaced(t, in, arch.Addr(slot))
		checkRefusal(t, in)
	})
}

// checkDisplaced checks the shape of displaced code: each boundary of the map is one of instructions, in order, and no instruction
// has more code than there may be.
func checkDisplaced(t *testing.T, in *Instruction, at arch.Addr) {
	run := []*Instruction{in}
	low, high := Reach(run, MaxDisplaced)
	d, err := Displace(run, at)
	if err != nil {
		if in.CanDisplace() && low <= at && at < high {
			t.Errorf("% x: %v", in.Code(), err)
		}
		return
	}
	if !in.CanDisplace() || len(d.Code) > MaxDisplaced || d.Next != in.Next() {
		t.Errorf("% x: %+v", in.Code(), d)
	}
	for i, p := range d.Points[:len(d.Points)-1] {
		part := d.Code[p.Offset:d.Points[i+1].Offset]
		if l, cause := measure(part); cause != "" || int(l.length) != len(part) && part[0] != 0xff { // the far jump has an address behind it
			t.Errorf("% x: % x is no instruction: %s", in.Code(), part, cause)
		}
	}
	if start, ok := d.Offset(in.at); !ok || start != 0 || d.Points[0] != (Point{0, in.at, 0}) {
		t.Errorf("% x begins at %d, %+v", in.Code(), start, d.Points)
	}
	if last := d.Points[len(d.Points)-1]; last != (Point{len(d.Code), in.Next(), 0}) {
		t.Errorf("% x ends as %+v", in.Code(), last)
	}
}

// checkCopy checks that a copy is an instruction of the same kind whose operand lies where the original's does.
func checkCopy(t *testing.T, in *Instruction, slot arch.Addr) {
	code, resume, ok := in.Relocate(slot)
	if !ok {
		return
	}
	if !in.CanRelocate() || resume != in.Len() || len(code) > SlotSize {
		t.Fatalf("%v: relocated to % x, resume %d", in, code, resume)
	}
	copied, err := Decode(code, slot)
	if err != nil || copied.Len() != in.Len() || copied.dispAt != in.dispAt {
		t.Fatalf("%v: copy % x does not decode to the same: %v", in, code, err)
	}
	if in.dispAt != 0 {
		if a, b := target(in), target(copied); a != b {
			t.Errorf("%v: operand at %#x, in the copy at %#x", in, a, b)
		}
	}
	jump, err := Decode(code[resume:], slot+arch.Addr(resume))
	if err != nil {
		t.Fatalf("%v: jump back % x: %v", in, code[resume:], err)
	}
	if jump.op == opJump && jump.source == fromImmediate && jump.imm != uint64(in.Next()) {
		t.Errorf("%v: jumps back to %#x", in, jump.imm)
	}
}

// target is the address of the operand that counts from the next instruction.
func target(in *Instruction) uint64 {
	disp := int32(binary.LittleEndian.Uint32(in.code[in.dispAt:]))
	return uint64(in.Next()) + uint64(int64(disp))
}

// checkRefusal emulates with random registers and checks that a refusal changes nothing.
func checkRefusal(t *testing.T, in *Instruction) {
	regs := randomRegs(rand.New(rand.NewPCG(uint64(in.at), 0)), uint64(in.at))
	before, m := regs, newFakeMemory(in.Code(), in.at)
	if done := in.Emulate(&regs, m); !done && (regs != before || m.writes != 0) {
		t.Errorf("%v: refused, but changed %x to %x", in, before, regs)
	} else if done && !in.CanEmulate() {
		t.Errorf("%v: emulated, but CanEmulate is false", in)
	}
}
