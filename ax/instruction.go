package ax

import (
	"fmt"
	"math/bits"
	"strconv"
)

// Instruction is one instruction of an expression.
type Instruction struct {
	Offset  int    // from the start of the expression
	Op      Op     // a known opcode
	Operand uint64 // 0 without an operand; the offset of the target for jumps; the count of arguments for printf
	Format  string // printf's format without the NUL that ends it; C escapes are as the user wrote them
}

// Size is the number of bytes that the instruction occupies.
func (in Instruction) Size() int {
	size := 1 + opcodes[in.Op].operand.width()
	if in.Op == OpPrintf {
		size += 2 + len(in.Format) + 1
	}
	return size
}

// effect is the number of cells that the instruction must find on the stack and the number it leaves in their place.
func (in Instruction) effect() (pops, pushes int) {
	row := &opcodes[in.Op]
	switch row.unit {
	case picking: // the cells from the one picked to the top, then the same and the one picked
		return row.pops + int(in.Operand), row.pushes + int(in.Operand)
	case printing:
		return row.pops + int(in.Operand), row.pushes
	default:
		return row.pops, row.pushes
	}
}

// instructionAt decodes the instruction of code at offset, which must lie within code.
func instructionAt(code []byte, offset int) (Instruction, error) {
	in := Instruction{Offset: offset, Op: Op(code[offset])}
	if !in.Op.Known() {
		return in, &Error{Kind: ErrUnknownOp, Op: in.Op, Offset: offset}
	}
	rest := code[offset+1:]
	width := opcodes[in.Op].operand.width()
	if len(rest) < width {
		return in, in.truncated("operand", width, len(rest))
	}
	in.Operand = number(rest[:width])
	if in.Op == OpPrintf {
		return in.withFormat(rest[width:])
	}
	return in, nil
}

// withFormat adds the format that starts with its length at the start of b.
func (in Instruction) withFormat(b []byte) (Instruction, error) {
	if len(b) < 2 {
		return in, in.truncated("format length", 2, len(b))
	}
	length := int(number(b[:2]))
	if b = b[2:]; len(b) < length {
		return in, in.truncated("format", length, len(b))
	}
	if length == 0 || b[length-1] != 0 {
		return in, &Error{Kind: ErrFormat, Op: in.Op, Offset: in.Offset,
			Cause: fmt.Errorf("%q does not end in NUL", b[:length])}
	}
	in.Format = string(b[:length-1])
	return in, nil
}

func (in Instruction) truncated(part string, want, have int) error {
	return &Error{Kind: ErrTruncated, Op: in.Op, Offset: in.Offset,
		Cause: fmt.Errorf("%s needs %d bytes, %d left", part, want, have)}
}

// number is the big-endian number that is all of b.
func number(b []byte) (v uint64) {
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// Append appends the bytecode of the instruction to dst. The error says that the opcode is not known, that the operand does
// not fit its form, or that the format is too long.
func (in Instruction) Append(dst []byte) ([]byte, error) {
	if !in.Op.Known() {
		return dst, &Error{Kind: ErrUnknownOp, Op: in.Op, Offset: in.Offset}
	}
	width := opcodes[in.Op].operand.width()
	if bits.Len64(in.Operand) > 8*width {
		return dst, fmt.Errorf("operand %d of %v does not fit into %d bytes", in.Operand, in.Op, width)
	}
	if in.Op != OpPrintf {
		return appendNumber(append(dst, byte(in.Op)), in.Operand, width), nil
	}
	length := len(in.Format) + 1
	if length > 0xffff {
		return dst, fmt.Errorf("printf format of %d bytes, at most %d can be encoded", len(in.Format), 0xfffe)
	}
	dst = append(dst, byte(in.Op), byte(in.Operand))
	dst = appendNumber(dst, uint64(length), 2)
	return append(append(dst, in.Format...), 0), nil
}

func appendNumber(dst []byte, v uint64, width int) []byte {
	for shift := 8 * (width - 1); shift >= 0; shift -= 8 {
		dst = append(dst, byte(v>>shift))
	}
	return dst
}

// String gives the instruction in the text form, without its offset.
func (in Instruction) String() string { return string(in.appendText(nil)) }

func (in Instruction) appendText(dst []byte) []byte {
	dst = append(dst, in.Op.String()...)
	if opcodes[in.Op].operand == none {
		return dst
	}
	dst = strconv.AppendUint(append(dst, ' '), in.Operand, 10)
	if in.Op != OpPrintf {
		return dst
	}
	// A format is mostly C escapes, which a raw literal shows as they are.
	dst = append(dst, ' ')
	if strconv.CanBackquote(in.Format) {
		return append(append(append(dst, '`'), in.Format...), '`')
	}
	return strconv.AppendQuote(dst, in.Format)
}
