package ax

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
)

// Program is an expression whose structure has been verified: its opcodes are known, its operands whole, its jumps land on
// instructions of its own, and its last instruction does not fall through. It is immutable and may be shared.
//
// Beside the bytecode it keeps one step for each instruction, in order. A step holds what the Machine needs and nothing
// that it would have to work out: the stack effect, and the operand in the form in which it is used.
type Program struct {
	code    []byte
	steps   []step
	offsets []int    // of the instruction of each step
	formats []string // what printf steps print, cut at the first NUL as C does
	sets    bool     // a step sets a trace state variable
}

// step is an instruction as the Machine executes it: 16 bytes, four to a cache line.
type step struct {
	op     Op
	unit   unit
	pops   uint16 // cells that must be there
	pushes uint16 // cells that take their place
	room   int16  // cells below the popped ones that leave room for the pushed ones; negative if none do
	arg    uint64 // meaning by unit, see stepArg
}

// Decode verifies the structure of code, which it copies. It fails on the first fault with the offset of the instruction at
// fault: ErrUnknownOp, ErrTruncated, ErrFormat, ErrInvalidGoto, ErrNoEnd, or ErrEmptyExpression without an offset.
func Decode(code []byte) (*Program, error) {
	if len(code) == 0 {
		return nil, ErrEmptyExpression
	}
	p := &Program{code: bytes.Clone(code)}
	index := make([]int, len(code)) // by offset: the step that starts there, plus 1; 0 inside instructions
	var last Instruction
	for offset := 0; offset < len(code); offset += last.Size() {
		in, err := instructionAt(p.code, offset)
		if err != nil {
			return nil, err
		}
		p.add(in)
		index[offset] = len(p.steps)
		last = in
	}
	if err := p.link(index); err != nil {
		return nil, err
	}
	if last.Op.fallsThrough() {
		return nil, &Error{Kind: ErrNoEnd, Op: last.Op, Offset: last.Offset,
			Cause: fmt.Errorf("control runs off the end at offset %d", len(code))}
	}
	return p, nil
}

// add appends the step of in. The target of a jump stays an offset until link.
func (p *Program) add(in Instruction) {
	pops, pushes := in.effect()
	p.sets = p.sets || in.Op == OpSetv
	p.steps = append(p.steps, step{
		op:     in.Op,
		unit:   opcodes[in.Op].unit,
		pops:   uint16(pops),
		pushes: uint16(pushes),
		room:   int16(MaxHeight - pushes),
		arg:    p.stepArg(in),
	})
	p.offsets = append(p.offsets, in.Offset)
}

// stepArg is the operand as the Machine wants it: the number of bits to shift out for the extensions, the number of bytes
// for memory references, the index of the format for printf, the plain operand for the rest.
func (p *Program) stepArg(in Instruction) uint64 {
	switch in.Op {
	case OpExt, OpZeroExt:
		return 64 - min(in.Operand, 64)
	case OpRef8, OpRef16, OpRef32, OpRef64:
		return 1 << (in.Op - OpRef8)
	case OpPrintf:
		format, _, _ := strings.Cut(in.Format, "\x00")
		p.formats = append(p.formats, format)
		return uint64(len(p.formats) - 1)
	default:
		return in.Operand
	}
}

// link turns the targets of jumps from offsets into indexes of steps.
func (p *Program) link(index []int) error {
	for i := range p.steps {
		s := &p.steps[i]
		if s.unit != jump {
			continue
		}
		fault := &Error{Kind: ErrInvalidGoto, Op: s.op, Offset: p.offsets[i]}
		switch {
		case s.arg >= uint64(len(index)):
			fault.Cause = fmt.Errorf("target %d is outside the %d bytes of the expression", s.arg, len(index))
			return fault
		case index[s.arg] == 0:
			fault.Cause = fmt.Errorf("target %d is inside an instruction", s.arg)
			return fault
		}
		s.arg = uint64(index[s.arg] - 1)
	}
	return nil
}

// SetsVariables reports whether the program has an instruction that sets a trace state variable.
func (p *Program) SetsVariables() bool { return p.sets }

// Code returns a copy of the bytecode.
func (p *Program) Code() []byte { return bytes.Clone(p.code) }

// Instructions yields the instructions in the order of the bytecode.
func (p *Program) Instructions() iter.Seq[Instruction] {
	return func(yield func(Instruction) bool) {
		for i := range p.steps {
			if !yield(p.instruction(i)) {
				return
			}
		}
	}
}

// instruction is the instruction of step i.
func (p *Program) instruction(i int) Instruction {
	in, err := instructionAt(p.code, p.offsets[i])
	if err != nil {
		panic(fmt.Sprintf("ax: verified program % x does not decode: %v", p.code, err))
	}
	return in
}

// fault is an error at step i.
func (p *Program) fault(i int, kind, cause error) *Error {
	return &Error{Kind: kind, Op: p.steps[i].op, Offset: p.offsets[i], Cause: cause}
}
