package ax

import (
	"errors"
	"fmt"
)

// Builder makes a program instruction by instruction, for compilers and for Assemble. Its methods do not fail: the first
// mistake is kept, and Program returns it. The zero value is an empty program.
type Builder struct {
	code   []byte
	labels []int   // by label: the offset it is bound to, or unbound
	fixups []fixup // jumps, whose operands are filled in at the end
	err    error
}

// Label is a place in the program that a Builder makes, for jumps to name before it is known where it is.
type Label int

// unbound is the offset of a label before Bind.
const unbound = -1

// fixup is a jump to a label.
type fixup struct {
	offset int // of the jump
	label  Label
}

// Emit appends an instruction. It takes one operand if the opcode has one in the bytecode, and none otherwise. The operand
// of a jump is an offset; see Jump for labels and Printf for printf.
func (b *Builder) Emit(op Op, operand ...uint64) {
	want := 1
	if opcodes[op].operand == none {
		want = 0
	}
	switch {
	case op == OpPrintf:
		b.fail(fmt.Errorf("%v needs a format", op))
	case len(operand) != want:
		b.fail(fmt.Errorf("%v takes %d operands, %d given", op, want, len(operand)))
	case want == 0:
		b.append(Instruction{Op: op})
	default:
		b.append(Instruction{Op: op, Operand: operand[0]})
	}
}

// Const appends the shortest code that pushes v: constants are never sign-extended, so a small negative number is the
// constant of its low bits and an ext, as in GDB's own code.
func (b *Builder) Const(v int64) {
	if v >= 0 {
		b.Emit(constOp(func(bits int) bool { return uint64(v)>>bits == 0 }), uint64(v))
		return
	}
	op := constOp(func(bits int) bool { return v>>(bits-1) == -1 })
	bits := uint64(8 * opcodes[op].operand.width())
	b.Emit(op, uint64(v)&(1<<bits-1))
	if op != OpConst64 {
		b.Emit(OpExt, bits)
	}
}

// constOp is the shortest constant opcode whose number of bits fits.
func constOp(fits func(bits int) bool) Op {
	for _, op := range [...]Op{OpConst8, OpConst16, OpConst32} {
		if fits(8 * opcodes[op].operand.width()) {
			return op
		}
	}
	return OpConst64
}

// Printf appends a printf of nargs arguments. The format is recorded as it is: C escapes in it are for the target to decode.
func (b *Builder) Printf(nargs int, format string) {
	if nargs < 0 {
		b.fail(fmt.Errorf("%v of %d arguments", OpPrintf, nargs))
		return
	}
	b.append(Instruction{Op: OpPrintf, Operand: uint64(nargs), Format: format})
}

// NewLabel makes a label that is bound to no place yet.
func (b *Builder) NewLabel() Label {
	b.labels = append(b.labels, unbound)
	return Label(len(b.labels) - 1)
}

// Bind makes label the place of the instruction that is appended next.
func (b *Builder) Bind(label Label) { b.bindTo(label, len(b.code)) }

// bindTo makes label the place at offset.
func (b *Builder) bindTo(label Label, offset int) {
	if b.labels[label] != unbound {
		b.fail(fmt.Errorf("label is bound twice, to offsets %d and %d", b.labels[label], offset))
		return
	}
	b.labels[label] = offset
}

// Jump appends a goto or if_goto to label, which may be bound later.
func (b *Builder) Jump(op Op, label Label) {
	if opcodes[op].operand != target {
		b.fail(fmt.Errorf("%v is no jump", op))
		return
	}
	b.fixups = append(b.fixups, fixup{len(b.code), label})
	b.append(Instruction{Op: op})
}

// Offset is the offset of the instruction that is appended next.
func (b *Builder) Offset() int { return len(b.code) }

// Program resolves the labels and decodes what was built. The error is the first mistake, or that of Decode.
func (b *Builder) Program() (*Program, error) {
	for _, f := range b.fixups {
		b.resolve(f)
	}
	if b.err != nil {
		return nil, b.err
	}
	return Decode(b.code)
}

// resolve fills in the operand of a jump.
func (b *Builder) resolve(f fixup) {
	offset := b.labels[f.label]
	fault := &Error{Kind: ErrInvalidGoto, Op: Op(b.code[f.offset]), Offset: f.offset}
	switch {
	case offset == unbound:
		fault.Cause = errors.New("the label is bound nowhere")
		b.fail(fault)
		return
	case offset > 0xffff:
		fault.Cause = fmt.Errorf("target %d is beyond the reach of 65535", offset)
		b.fail(fault)
		return
	}
	b.code[f.offset+1], b.code[f.offset+2] = byte(offset>>8), byte(offset)
}

func (b *Builder) append(in Instruction) {
	in.Offset = len(b.code)
	code, err := in.Append(b.code)
	if err != nil {
		b.fail(err)
	}
	b.code = code
}

// fail keeps the first mistake.
func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}
