package asm

import (
	"fmt"
	"math/bits"

	"tracewell/arch"
)

// Reg is a general register by the number that instructions have for it, which is not the number that GDB has for it.
type Reg uint8

// The general registers.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	NoReg Reg = 0xff
)

var regNames = [16]string{
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
}

// String gives the name of the whole register, without a percent sign.
func (r Reg) String() string {
	if int(r) < len(regNames) {
		return regNames[r]
	}
	return fmt.Sprintf("Reg(%d)", uint8(r))
}

// Vec is a vector register by its number, 0 to 31: xmm, ymm or zmm by the instruction.
type Vec uint8

// Mask is a mask register, k0 to k7.
type Mask uint8

// Seg is a segment register by the number that instructions have for it.
type Seg uint8

// The segment registers.
const (
	ES Seg = iota
	CS
	SS
	DS
	FS
	GS
)

// Width is the size of an operand in bytes: 1, 2, 4 or 8, and for vectors 16, 32 or 64. As the processor has it, writing 4 bytes
// of a general register clears the upper half, and writing 1 or 2 leaves the rest of it alone.
type Width uint8

// Operand is a Reg or a Mem.
type Operand interface{ operand() }

func (Reg) operand() {}
func (Mem) operand() {}

// place is how a Mem is reached.
type place uint8

const (
	byRegisters place = iota
	byAddress         // relative to rip: an address anywhere within 2 GiB of the code
	byLabel           // relative to rip: a place in the code itself
)

// Mem is an operand in memory. It is made by At, Index, Abs or Near.
type Mem struct {
	place       place
	base, index Reg   // NoReg for none
	scale       uint8 // binary logarithm
	disp        int32 // for a label: from there
	factor      uint8 // as it was given, for the error if it is none
	target      arch.Addr
	label       Label
}

// At is the memory at base + disp. A base of NoReg makes disp an address in the lowest or the highest 2 GiB.
func At(base Reg, disp int32) Mem { return Mem{base: base, index: NoReg, factor: 1, disp: disp} }

// Index is the memory at base + index*factor + disp. The factor is 1, 2, 4 or 8, the index any register but RSP, and the base may
// be NoReg.
func Index(base, index Reg, factor uint8, disp int32) Mem {
	return Mem{base: base, index: index, factor: factor, scale: uint8(bits.TrailingZeros8(factor)), disp: disp}
}

// Abs is the memory at an address, which is encoded relative to the instruction. Finish fails if it is beyond the reach of 2 GiB.
func Abs(addr arch.Addr) Mem {
	return Mem{place: byAddress, base: NoReg, index: NoReg, factor: 1, target: addr}
}

// Near is the memory disp bytes behind a label of the code, which may be bound later.
func Near(l Label, disp int32) Mem {
	return Mem{place: byLabel, base: NoReg, index: NoReg, factor: 1, label: l, disp: disp}
}

// Plus is the memory n bytes behind m. The sum of displacements must stay within 32 bits.
func (m Mem) Plus(n int32) Mem {
	if m.place == byAddress {
		m.target += arch.Addr(int64(n))
	} else {
		m.disp += n
	}
	return m
}

// check says what of m cannot be encoded.
func (m Mem) check() error {
	switch {
	case m.base != NoReg && m.base > R15, m.index != NoReg && m.index > R15:
		return fmt.Errorf("%v or %v is no register to address with", m.base, m.index)
	case m.index == RSP:
		return fmt.Errorf("%v cannot be an index", m.index)
	case m.factor != 1<<m.scale || m.scale > 3:
		return fmt.Errorf("an index cannot be multiplied by %d", m.factor)
	}
	return nil
}
