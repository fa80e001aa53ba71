// Package riscv emulates single instructions of RISC-V, with 32 or 64 bits: the integer instructions of the base and their
// compressed forms, by The RISC-V Instruction Set Manual, volume I.
//
// Refused are all others, and encodings of these that newer extensions have given another meaning: what writes to x0, but for nop
// (hints, landing pads), and jumps through registers that are not those of a return or of a guarded branch, which have effects of
// their own where landing pads are on (Zicfilp).
//
// An Instruction is what a tracer displaces: emulated where that is certain, or else copied to a place of its own, from where the
// thread goes on behind the original. An exclusive sequence is copied as one piece.
package riscv

import (
	"encoding/binary"

	"tracewell/arch/effect"
)

// Registers are numbered as instructions number them.
const (
	ra = 1
	sp = 2
	t0 = 5
	t2 = 7
)

// Longest is how many bytes an instruction has at the most.
const Longest = 4

// core is a processor in the middle of an instruction. Values are sign-extended from its width to 64 bits, by which all
// comparisons come out right.
type core struct {
	*effect.Step
	Processor
	pc   uint64
	size uint64 // of the instruction
}

// Processor is what is known of a processor.
type Processor struct {
	Wide       bool // registers of 64 bits
	Compressed bool // it has compressed instructions for certain
	Unguarded  bool // landing pads are not on, or need not be minded
}

// Emulate emulates the instruction that code begins with, at pc, of a processor of which only the width is known: 64 bits (wide) or
// 32. It reports whether it has: otherwise s means nothing.
func Emulate(s *effect.Step, code []byte, pc uint64, wide bool) bool {
	return Processor{Wide: wide}.Emulate(s, code, pc)
}

// Emulate emulates the instruction that code begins with, at pc. It reports whether it has: otherwise s means nothing.
func (p Processor) Emulate(s *effect.Step, code []byte, pc uint64) bool {
	c := core{s, p, pc, 2}
	if len(code) < 2 {
		return false
	}
	low := binary.LittleEndian.Uint16(code)
	i, ok := expand(low, p.Wide)
	if low&3 == 3 {
		if ok = len(code) >= 4; ok {
			i, c.size = binary.LittleEndian.Uint32(code), 4
		}
	}
	if !ok {
		return false
	}
	s.Next = c.narrowed(pc + c.size)
	if i != nop {
		c.perform(i)
	}
	return s.OK()
}

// nop is the one instruction that may write to x0.
const nop = 0x13

// Fields of instructions, as the manual calls them.
func rd(i uint32) int     { return int(i >> 7 & 31) }
func rs1(i uint32) int    { return int(i >> 15 & 31) }
func rs2(i uint32) int    { return int(i >> 20 & 31) }
func funct3(i uint32) int { return int(i >> 12 & 7) }
func funct7(i uint32) int { return int(i >> 25) }

// Immediates, sign-extended.
func immI(i uint32) uint64 { return uint64(int32(i) >> 20) }
func immS(i uint32) uint64 { return uint64(int32(i)>>25<<5 | int32(rd(i))) }
func immU(i uint32) uint64 { return uint64(int32(i &^ 0xfff)) }
func immB(i uint32) uint64 {
	return uint64(int32(i)>>31<<12 | int32(i>>7&1)<<11 | int32(i>>25&63)<<5 | int32(i>>8&15)<<1)
}
func immJ(i uint32) uint64 {
	return uint64(int32(i)>>31<<20 | int32(i>>12&255)<<12 | int32(i>>20&1)<<11 | int32(i>>21&1023)<<1)
}

// perform executes an instruction of 32 bits.
func (c *core) perform(i uint32) {
	switch i & 0x7f {
	case 0x37: // lui
		c.write(rd(i), immU(i))
	case 0x17: // auipc
		c.write(rd(i), c.pc+immU(i))
	case 0x6f: // jal
		c.link(rd(i))
		c.jump(c.pc + immJ(i))
	case 0x67: // jalr
		if from := rs1(i); funct3(i) != 0 || !c.Unguarded && from != ra && from != t0 && from != t2 {
			c.Refuse()
			return
		}
		c.link(rd(i))
		c.jump((c.read(rs1(i)) + immI(i)) &^ 1)
	case 0x63:
		c.branch(i)
	case 0x03:
		c.load(i)
	case 0x23: // stores
		size := 1 << funct3(i)
		if size > c.bytes() {
			c.Refuse()
			return
		}
		c.Store(c.narrowed(c.read(rs1(i))+immS(i)), size, c.read(rs2(i)), rs1(i) == sp)
	case 0x13:
		c.write(rd(i), c.immediate(i))
	case 0x33:
		c.write(rd(i), c.arithmetic(i, c.Wide))
	case 0x1b: // addiw and its like: the operation in 32 bits
		if !c.Wide || funct3(i) != 0 && funct3(i) != 1 && funct3(i) != 5 {
			c.Refuse()
		}
		narrow := core{c.Step, Processor{}, c.pc, c.size}
		c.write(rd(i), narrow.immediate(i))
	case 0x3b: // addw and its like
		if !c.Wide || funct3(i) != 0 && funct3(i) != 1 && funct3(i) != 5 {
			c.Refuse()
		}
		c.write(rd(i), c.arithmetic(i, false))
	default:
		c.Refuse()
	}
}

// bytes is how many bytes a register has.
func (c *core) bytes() int {
	if c.Wide {
		return 8
	}
	return 4
}

// narrowed is a value as a register holds it.
func (c *core) narrowed(v uint64) uint64 {
	if c.Wide {
		return v
	}
	return uint64(uint32(v))
}

// read reads a register.
func (c *core) read(n int) uint64 {
	switch {
	case n == 0:
		return 0
	case c.Wide:
		return c.Get(n)
	}
	return uint64(int32(c.Get(n)))
}

// write writes a register.
func (c *core) write(n int, v uint64) {
	if n == 0 {
		c.Refuse()
		return
	}
	c.Set(n, c.narrowed(v))
}

// link keeps the return address.
func (c *core) link(n int) {
	if n != 0 {
		c.write(n, c.pc+c.size)
	}
}

// jump goes on at another address. One that is a multiple of 2 only is refused where the processor may have no compressed
// instructions: it would be an exception.
func (c *core) jump(to uint64) {
	if c.Next = c.narrowed(to); to%4 != 0 && !c.Compressed && c.size == 4 && c.pc%4 == 0 {
		c.Refuse()
	}
}

func (c *core) branch(i uint32) {
	a, b := c.read(rs1(i)), c.read(rs2(i))
	taken := false
	switch funct3(i) &^ 1 {
	case 0:
		taken = a == b
	case 4:
		taken = int64(a) < int64(b)
	case 6:
		taken = a < b
	default:
		c.Refuse()
	}
	if taken != (funct3(i)&1 != 0) {
		c.jump(c.pc + immB(i))
	}
}

func (c *core) load(i uint32) {
	unsigned, size := funct3(i)&4 != 0, 1<<(funct3(i)&3)
	if size > c.bytes() || unsigned && size == c.bytes() {
		c.Refuse()
		return
	}
	v := c.Load(c.narrowed(c.read(rs1(i))+immI(i)), size, rs1(i) == sp)
	if !unsigned {
		v = signed(v, size)
	}
	c.write(rd(i), v)
}

// signed extends the sign of a value of so many bytes.
func signed(v uint64, size int) uint64 {
	shift := 64 - 8*size
	return uint64(int64(v<<shift) >> shift)
}

// immediate is the result of addi and its like.
func (c *core) immediate(i uint32) uint64 {
	a, imm := c.read(rs1(i)), immI(i)
	switch funct3(i) {
	case 0:
		return c.sized(a + imm)
	case 2:
		return truth(int64(a) < int64(imm))
	case 3:
		return truth(a < imm)
	case 4:
		return a ^ imm
	case 6:
		return a | imm
	case 7:
		return a & imm
	}
	// Shifts have their amount in the low bits, and in the others which shift it is.
	amount, kind := imm&31, i>>25
	if c.Wide {
		amount, kind = imm&63, kind&^1
	}
	return c.shift(funct3(i), int(kind), a, amount)
}

// arithmetic is the result of add and its like, in 64 bits (wide) or 32.
func (c *core) arithmetic(i uint32, wide bool) uint64 {
	op := core{c.Step, Processor{Wide: wide}, c.pc, c.size}
	a, b := op.read(rs1(i)), op.read(rs2(i))
	switch funct7(i)<<3 | funct3(i) {
	case 0:
		return op.sized(a + b)
	case 0x20 << 3:
		return op.sized(a - b)
	case 2:
		return truth(int64(a) < int64(b))
	case 3:
		return truth(a < b)
	case 4:
		return a ^ b
	case 6:
		return a | b
	case 7:
		return a & b
	case 1 << 3: // mul
		return op.sized(a * b)
	}
	if funct3(i) == 1 || funct3(i) == 5 {
		return op.shift(funct3(i), funct7(i), a, b&uint64(8*op.bytes()-1))
	}
	c.Refuse()
	return 0
}

// shift shifts left (1) or right (5), with zeros or, of kind 0x20, with the sign.
func (c *core) shift(direction, kind int, a, amount uint64) uint64 {
	switch {
	case direction == 1 && kind == 0:
		return c.sized(a << amount)
	case direction == 5 && kind == 0:
		return c.sized(c.narrowed(a) >> amount)
	case direction == 5 && kind == 0x20:
		return uint64(int64(a) >> amount)
	}
	c.Refuse()
	return 0
}

// sized extends the sign from the width of the operation.
func (c *core) sized(v uint64) uint64 { return signed(v, c.bytes()) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
