package generate

import (
	"fmt"

	"tracewell/arch"
)

// The registers that the program uses, by their numbers.
const (
	zero = 0
	v0   = 2
	a0   = 4
	a1   = 5
	t0   = 8
	t1   = 9
	t2   = 10
	t3   = 11
	s0   = 16
	s1   = 17
	s2   = 18
	s3   = 19
	s7   = 23
	k0   = 26
	k1   = 27
	sp   = 29
	ra   = 31
)

// operation is how an instruction is encoded, executed and written.
type operation struct {
	name   string
	opcode uint32 // bits 31 to 26
	funct  uint32 // bits 5 to 0 if the opcode is 0
	form   form
	run    func(m *machine, in instruction)
}

// form is the operands of an instruction, in the order of the assembler.
type form uint8

const (
	formRRR     form = iota // rd, rs, rt
	formShift               // rd, rt, amount
	formRRI                 // rt, rs, signed immediate
	formRRU                 // rt, rs, unsigned immediate
	formRI                  // rt, immediate
	formMemory              // rt, offset(rs)
	formBranch              // rs, rt, target
	formJump                // target
	formReturn              // rs
	formNothing             // none
)

// instruction is one instruction with its operands.
type instruction struct {
	op         *operation
	rs, rt, rd uint32
	imm        uint32 // 16 bits, or a shift amount
	target     uint32 // address
	words      []byte // as the assembler writes it
}

// encode gives the instruction as it stands in memory at pc.
func (in instruction) encode(pc uint32) uint32 {
	word := in.op.opcode << 26
	switch in.op.form {
	case formJump:
		return word | in.target>>2&0x3ffffff
	case formBranch:
		return word | in.rs<<21 | in.rt<<16 | (in.target-pc-4)>>2&0xffff
	case formRRR, formShift, formReturn, formNothing:
		return word | in.rs<<21 | in.rt<<16 | in.rd<<11 | in.imm<<6 | in.op.funct
	}
	return word | in.rs<<21 | in.rt<<16 | in.imm&0xffff
}

// registerNames are the assembler's.
var registerNames = func() (names [32]string) {
	for i := range names {
		names[i] = arch.MIPS.Registers[i].ABI
	}
	return names
}()

// text gives the instruction in the assembler's words.
func (in instruction) text() string {
	rs, rt, rd := registerNames[in.rs], registerNames[in.rt], registerNames[in.rd]
	signed := int16(in.imm)
	switch in.op.form {
	case formRRR:
		return fmt.Sprintf("%s %s,%s,%s", in.op.name, rd, rs, rt)
	case formShift:
		return fmt.Sprintf("%s %s,%s,%d", in.op.name, rd, rt, in.imm)
	case formRRI:
		return fmt.Sprintf("%s %s,%s,%d", in.op.name, rt, rs, signed)
	case formRRU:
		return fmt.Sprintf("%s %s,%s,0x%x", in.op.name, rt, rs, in.imm)
	case formRI:
		return fmt.Sprintf("%s %s,0x%x", in.op.name, rt, in.imm&0xffff)
	case formMemory:
		return fmt.Sprintf("%s %s,%d(%s)", in.op.name, rt, signed, rs)
	case formBranch:
		return fmt.Sprintf("%s %s,%s,0x%x", in.op.name, rs, rt, in.target)
	case formJump:
		return fmt.Sprintf("%s 0x%x", in.op.name, in.target)
	case formReturn:
		return fmt.Sprintf("%s %s", in.op.name, rs)
	}
	return in.op.name
}
