package asm

import (
	"encoding/binary"
	"math"
)

// Mov copies w bytes of a register or of memory into dst.
func (a *Assembler) Mov(w Width, dst Reg, src Operand) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", 0x8a), field: dst, rm: src, bytes: bytesOf(w, byteField|byteRM)})
}

// Store copies w bytes of src into memory.
func (a *Assembler) Store(w Width, dst Mem, src Reg) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", 0x88), field: src, rm: dst, bytes: bytesOf(w, byteField)})
}

// StoreImm stores the low w bytes of v, which is sign-extended for 8.
func (a *Assembler) StoreImm(w Width, dst Mem, v int32) {
	a.general(w)
	size := min(int(w), 4)
	a.encode(plain{width: w, opcode: sized(w, "", 0xc6), rm: dst, tail: size})
	a.immediate(size, v)
}

// MovImm loads a constant, in the shortest form that leaves the flags alone.
func (a *Assembler) MovImm(dst Reg, v int64) {
	switch {
	case v >= 0 && v <= math.MaxUint32: // writing the lower half clears the upper one
		a.short(0xb8, dst, 4)
		a.immediate(4, int32(uint32(v)))
	case fits32(v):
		a.encode(plain{width: 8, opcode: "\xc7", rm: dst, tail: 4})
		a.immediate(4, int32(v))
	default:
		a.short(0xb8, dst, 8)
		a.code = binary.LittleEndian.AppendUint64(a.code, uint64(v))
	}
}

// short appends an opcode that has a register in its low three bits.
func (a *Assembler) short(opcode byte, r Reg, w Width) {
	if r > R15 {
		a.fail("%v is no operand", r)
	}
	var rex byte
	if r&8 != 0 {
		rex = rexB
	}
	if w == 8 {
		rex |= rexW
	}
	if rex != 0 {
		a.Bytes(rexEmpty | rex)
	}
	a.Bytes(opcode | byte(r&lowRegister))
}

// Load reads w bytes into dst, sign- or zero-extended to 64 bits: movsx, movsxd, movzx or mov. The source may be a register, dst
// itself included.
func (a *Assembler) Load(w Width, signed bool, dst Reg, src Operand) {
	a.general(w)
	switch {
	case w == 8, w == 4 && !signed:
		a.Mov(w, dst, src)
	case w == 4:
		a.encode(plain{width: 8, opcode: "\x63", field: dst, rm: src})
	case signed:
		a.encode(plain{width: 8, opcode: sized(w, "\x0f", 0xbe), field: dst, rm: src, bytes: bytesOf(w, byteRM)})
	default: // 32 bits suffice: the upper half becomes 0 by itself
		a.encode(plain{width: 4, opcode: sized(w, "\x0f", 0xb6), field: dst, rm: src, bytes: bytesOf(w, byteRM)})
	}
}

// Lea loads the address of src. It leaves the flags alone.
func (a *Assembler) Lea(dst Reg, src Mem) {
	a.encode(plain{width: 8, opcode: "\x8d", field: dst, rm: src})
}

// MovSeg copies a segment register into the lower half of dst and clears the upper one.
func (a *Assembler) MovSeg(dst Reg, src Seg) {
	if src > GS {
		a.fail("there is no segment register %d", src)
	}
	a.encode(plain{width: 4, opcode: "\x8c", field: Reg(src), rm: dst})
}

// Push pushes 8 bytes of a register or of memory.
func (a *Assembler) Push(src Operand) {
	if r, ok := src.(Reg); ok {
		a.short(0x50, r, 4)
		return
	}
	a.encode(plain{width: 4, opcode: "\xff", field: 6, rm: src})
}

// PushImm pushes v, sign-extended to 8 bytes.
func (a *Assembler) PushImm(v int32) {
	if fits8(int64(v)) {
		a.Bytes(0x6a, byte(v))
		return
	}
	a.Bytes(0x68)
	a.immediate(4, v)
}

// Pop pops 8 bytes into a register or into memory. An address relative to RSP is taken after the pop, as the processor does.
func (a *Assembler) Pop(dst Operand) {
	if r, ok := dst.(Reg); ok {
		a.short(0x58, r, 4)
		return
	}
	a.encode(plain{width: 4, opcode: "\x8f", rm: dst})
}

// Xchg exchanges a register with a register or with memory. With memory it is atomic without Lock.
func (a *Assembler) Xchg(w Width, x Operand, y Reg) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "", 0x86), field: y, rm: x, bytes: bytesOf(w, byteField|byteRM)})
}

// Xadd adds y to x and puts what x was into y. It is atomic with Lock only.
func (a *Assembler) Xadd(w Width, x Mem, y Reg) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "\x0f", 0xc0), field: y, rm: x, bytes: bytesOf(w, byteField)})
}

// Cmpxchg stores y in x if x equals RAX, and else loads x into RAX; the zero flag tells which. It is atomic with Lock only.
func (a *Assembler) Cmpxchg(w Width, x Mem, y Reg) {
	a.general(w)
	a.encode(plain{width: w, opcode: sized(w, "\x0f", 0xb0), field: y, rm: x, bytes: bytesOf(w, byteField)})
}

// Lock makes the next instruction atomic. It returns a, so that the two can be written as one: a.Lock().Xadd(…). The prefix is a
// part of that instruction, which begins where Lock was called.
func (a *Assembler) Lock() *Assembler {
	a.Bytes(0xf0)
	return a
}

// Bswap reverses the order of the w bytes of a register; w is 4 or 8.
func (a *Assembler) Bswap(w Width, r Reg) {
	if w != 4 && w != 8 {
		a.fail("bswap has no width of %d bytes", w)
	}
	if r > R15 {
		a.fail("%v is no operand", r)
	}
	rex := byte(0)
	if w == 8 {
		rex = rexW
	}
	if r&8 != 0 {
		rex |= rexB
	}
	if rex != 0 {
		a.Bytes(rexEmpty | rex)
	}
	a.Bytes(0x0f, 0xc8|byte(r&lowRegister))
}
