package asm

// Arith is one of the eight operations that share an encoding.
type Arith uint8

// The operations of Arith, by the number that the encoding has for them. Cmp is Sub without a result.
const (
	Add Arith = iota
	Or
	Adc
	Sbb
	And
	Sub
	Xor
	Cmp
)

// Arith computes dst = dst op src.
func (a *Assembler) Arith(op Arith, w Width, dst Reg, src Operand) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", byte(op)<<3|2), field: dst, rm: src, bytes: bytesOf(w, byteField|byteRM)})
}

// ArithMem computes dst = dst op src in memory.
func (a *Assembler) ArithMem(op Arith, w Width, dst Mem, src Reg) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", byte(op)<<3), field: src, rm: dst, bytes: bytesOf(w, byteField)})
}

// ArithImm computes dst = dst op v, with v cut to w bytes or sign-extended to them.
func (a *Assembler) ArithImm(op Arith, w Width, dst Operand, v int32) {
	a.general(w)
	size, opcode := 1, sized(w, "", 0x80)
	if w > 1 && fits8(int64(v)) {
		opcode = "\x83"
	} else {
		size = min(int(w), 4)
	}
	a.encode(plain{width: w, opcode: opcode, field: Reg(op), rm: dst, bytes: bytesOf(w, byteRM), tail: size})
	a.immediate(size, v)
}

// Test sets the flags by x & y.
func (a *Assembler) Test(w Width, x Operand, y Reg) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", 0x84), field: y, rm: x, bytes: bytesOf(w, byteField|byteRM)})
}

// TestImm sets the flags by x & v, with v cut to w bytes or sign-extended to them.
func (a *Assembler) TestImm(w Width, x Operand, v int32) {
	a.general(w)
	size := min(int(w), 4)
	a.encode(plain{width: w, opcode: sized(w, "", 0xf6), rm: x, bytes: bytesOf(w, byteRM), tail: size})
	a.immediate(size, v)
}

// Unary is an operation on one operand. Mul, Imul, Div and Idiv have RDX:RAX as the other one and as their result.
type Unary uint8

// The operations of Unary, by the number that the encoding has for them. Not is the only one that leaves the flags alone.
const (
	Not Unary = iota + 2
	Neg
	Mul
	Imul
	Div
	Idiv
)

// Unary computes x = op x, or RDX:RAX from RAX or RDX:RAX and x. Division by zero, and a quotient that does not fit, raise #DE.
func (a *Assembler) Unary(op Unary, w Width, x Operand) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", 0xf6), field: Reg(op), rm: x, bytes: bytesOf(w, byteRM)})
}

// Imul computes dst = dst * src; w is not 1.
func (a *Assembler) Imul(w Width, dst Reg, src Operand) {
	a.wide(w)
	a.encode(plain{width: w, opcode: "\x0f\xaf", field: dst, rm: src})
}

// ImulImm computes dst = src * v; w is not 1.
func (a *Assembler) ImulImm(w Width, dst Reg, src Operand, v int32) {
	a.wide(w)
	size, opcode := min(int(w), 4), "\x69"
	if fits8(int64(v)) {
		size, opcode = 1, "\x6b"
	}
	a.encode(plain{width: w, opcode: opcode, field: dst, rm: src, tail: size})
	a.immediate(size, v)
}

// wide checks the width of an instruction that has no form for bytes.
func (a *Assembler) wide(w Width) {
	if w == 1 {
		a.fail("the instruction has no form for bytes")
	}
	a.general(w)
}

// Inc adds 1 and leaves the carry flag alone.
func (a *Assembler) Inc(w Width, x Operand) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", 0xfe), rm: x, bytes: bytesOf(w, byteRM)})
}

// Dec subtracts 1 and leaves the carry flag alone.
func (a *Assembler) Dec(w Width, x Operand) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", 0xfe), field: 1, rm: x, bytes: bytesOf(w, byteRM)})
}

// Shift is one of the shifts and rotations.
type Shift uint8

// The operations of Shift, by the number that the encoding has for them.
const (
	Rol Shift = 0
	Ror Shift = 1
	Rcl Shift = 2
	Rcr Shift = 3
	Shl Shift = 4
	Shr Shift = 5
	Sar Shift = 7
)

// Shift shifts x by n bits. The processor takes n modulo 32, or modulo 64 for a width of 8.
func (a *Assembler) Shift(op Shift, w Width, x Operand, n uint8) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", 0xc0), field: Reg(op), rm: x, bytes: bytesOf(w, byteRM), tail: 1})
	a.Bytes(n)
}

// ShiftCL shifts x by as many bits as cl says, modulo 32, or modulo 64 for a width of 8.
func (a *Assembler) ShiftCL(op Shift, w Width, x Operand) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", 0xd2), field: Reg(op), rm: x, bytes: bytesOf(w, byteRM)})
}

// Shrd shifts dst right by n bits and fills it from the low bits of src; w is not 1.
func (a *Assembler) Shrd(w Width, dst Operand, src Reg, n uint8) {
	a.wide(w)
	a.encode(plain{width: w, opcode: "\x0f\xac", field: src, rm: dst, tail: 1})
	a.Bytes(n)
}

// Cond is a condition of the flags, by the number that the encoding has for it.
type Cond uint8

// The conditions, by the letters of Intel's mnemonics: CondB and CondA compare unsigned numbers, CondL and CondG signed ones.
const (
	CondO Cond = iota
	CondNO
	CondB
	CondAE
	CondE
	CondNE
	CondBE
	CondA
	CondS
	CondNS
	CondP
	CondNP
	CondL
	CondGE
	CondLE
	CondG
)

// Not is the opposite condition.
func (c Cond) Not() Cond { return c ^ 1 }

// Setcc sets a byte to 1 if the condition holds and to 0 if not. It leaves the flags and the rest of a register alone.
func (a *Assembler) Setcc(c Cond, dst Operand) {
	a.encode(plain{width: 1, opcode: "\x0f" + string([]byte{0x90 | byte(c)}), rm: dst, bytes: byteRM})
}

// Cmov copies src into dst if the condition holds; w is not 1. Memory is read in any case, and with a width of 4 the upper half of
// dst is cleared in any case.
func (a *Assembler) Cmov(c Cond, w Width, dst Reg, src Operand) {
	a.wide(w)
	a.encode(plain{width: w, opcode: "\x0f" + string([]byte{0x40 | byte(c)}), field: dst, rm: src})
}

// Cqo sign-extends RAX into RDX.
func (a *Assembler) Cqo() { a.Bytes(0x48, 0x99) }

// Cdq sign-extends the lower half of RAX into the lower half of RDX and clears the upper one.
func (a *Assembler) Cdq() { a.Bytes(0x99) }
