package asm

import (
	"encoding/binary"
	"fmt"

	"tracewell/arch"
)

// Assembler appends instructions. It keeps the first mistake, which Finish returns, so that callers need not look after each
// instruction; what is appended after a mistake has no meaning.
type Assembler struct {
	org    arch.Addr
	code   []byte
	labels []int // offset by label, unbound while it is not known
	fixups []fixup
	err    error
}

// unbound is the offset of a label that is bound nowhere yet.
const unbound = -1

// Label is a place in the code that instructions may name before it is known. Labels belong to the Assembler that made them.
type Label int

// fixup is a displacement that waits for its label.
type fixup struct {
	at    int // offset of the displacement
	size  int // of the displacement in bytes, 1 or 4
	end   int // offset from which the processor counts: that of the next instruction
	plus  int32
	label Label
}

// usual is the room for code that an Assembler begins with, in bytes: enough for most pads.
const usual = 512

// New returns an Assembler of code that will be executed at org.
func New(org arch.Addr) *Assembler { return &Assembler{org: org, code: make([]byte, 0, usual)} }

// PC is the address of the next instruction.
func (a *Assembler) PC() arch.Addr { return a.org + arch.Addr(len(a.code)) }

// Len is the number of bytes so far, which is the offset of the next instruction.
func (a *Assembler) Len() int { return len(a.code) }

// NewLabel returns a label that is bound nowhere yet.
func (a *Assembler) NewLabel() Label {
	a.labels = append(a.labels, unbound)
	return Label(len(a.labels) - 1)
}

// Bind binds a label to the next instruction. A label is bound once.
func (a *Assembler) Bind(l Label) {
	if a.labels[l] != unbound {
		a.fail("label %d is bound at offset %#x already", l, a.labels[l])
		return
	}
	a.labels[l] = len(a.code)
}

// Here returns a new label bound to the next instruction.
func (a *Assembler) Here() Label {
	l := a.NewLabel()
	a.Bind(l)
	return l
}

// Offset is where a label is bound, from the start of the code. It is negative for one that is not bound yet.
func (a *Assembler) Offset(l Label) int { return a.labels[l] }

// Finish resolves the labels and returns the code. The error is the first mistake: an operand that does not exist, a label
// without a place, or a target out of reach.
func (a *Assembler) Finish() ([]byte, error) {
	for _, f := range a.fixups {
		to := a.labels[f.label]
		if to == unbound {
			a.fail("label %d is named at offset %#x and bound nowhere", f.label, f.at)
			break
		}
		d := int64(to) + int64(f.plus) - int64(f.end)
		switch {
		case f.size == 1 && fits8(d):
			a.code[f.at] = byte(d)
		case f.size == 4 && fits32(d):
			binary.LittleEndian.PutUint32(a.code[f.at:], uint32(d))
		default:
			a.fail("label %d at offset %#x is out of reach of offset %#x", f.label, to, f.at)
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	return a.code, nil
}

// Bytes appends bytes as they are: data, or an instruction that was assembled elsewhere.
func (a *Assembler) Bytes(b ...byte) { a.code = append(a.code, b...) }

// fail keeps the first mistake.
func (a *Assembler) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

// immediate appends a little-endian constant of 1, 2 or 4 bytes.
func (a *Assembler) immediate(size int, v int32) {
	for range size {
		a.code = append(a.code, byte(v))
		v >>= 8
	}
}

// refer appends a displacement that will lead to a label; tail bytes of the instruction follow it.
func (a *Assembler) refer(size, tail int, l Label, plus int32) {
	a.fixups = append(a.fixups, fixup{at: len(a.code), size: size, end: len(a.code) + size + tail, plus: plus, label: l})
	a.immediate(size, 0)
}

func fits8(v int64) bool  { return v == int64(int8(v)) }
func fits32(v int64) bool { return v == int64(int32(v)) }
