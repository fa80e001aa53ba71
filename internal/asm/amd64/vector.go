package asm

// Pads only read vector registers: to store them whole, in the parts that GDB's descriptions of a processor have. Two encodings
// serve that. VEX reaches registers 0 to 15, 16 and 32 bytes wide; EVEX reaches all 32 and 64 bytes, needs AVX-512, and has
// displacements of one byte count in units of the operand.

// Fxsave stores the state of x87 and SSE in 512 bytes at an address that is a multiple of 16, with 64-bit pointers.
func (a *Assembler) Fxsave(dst Mem) { a.encode(plain{width: 8, opcode: "\x0f\xae", rm: dst}) }

// Stmxcsr stores the control and status of SSE, 4 bytes.
func (a *Assembler) Stmxcsr(dst Mem) {
	a.encode(plain{width: 4, opcode: "\x0f\xae", field: 3, rm: dst})
}

// MovupsStore stores 16 bytes of a register, 0 to 15, at any address. It needs nothing but SSE.
func (a *Assembler) MovupsStore(dst Mem, src Vec) { a.movups("\x0f\x11", dst, src) }

// MovupsLoad loads 16 bytes into a register, 0 to 15, from any address. The rest of the register stays.
func (a *Assembler) MovupsLoad(dst Vec, src Mem) { a.movups("\x0f\x10", src, dst) }

func (a *Assembler) movups(opcode string, m Mem, v Vec) {
	if v > 15 {
		a.fail("vector register %d needs another encoding", v)
	}
	a.encode(plain{width: 4, opcode: opcode, field: Reg(v), rm: m})
}

// Xgetbv loads the extended control register that ECX names into EDX:EAX.
func (a *Assembler) Xgetbv() { a.Bytes(0x0f, 0x01, 0xd0) }

// vector is an instruction in one of the encodings of vectors, without its immediate bytes.
type vector struct {
	width  Width // of vectors; 0 where it has no meaning
	wide   bool  // the bit W
	prefix byte  // 0, 1 for 66, 2 for F3, 3 for F2
	space  byte  // 1 for 0F, 2 for 0F 38, 3 for 0F 3A
	opcode byte
	field  uint8   // register in ModRM.reg
	rm     Operand // register or memory in ModRM.rm
	unit   int32   // of displacements of one byte with EVEX: what is read or written of memory, in bytes
	tail   int
}

// Numbers of prefixes and opcode spaces in VEX and EVEX.
const (
	prefix66 = 1
	prefixF3 = 2
	prefixF2 = 3

	space0F   = 1
	space0F3A = 3
)

// vex appends i with VEX.
func (a *Assembler) vex(i vector) {
	if i.field > 15 {
		a.fail("vector register %d needs another encoding", i.field)
	}
	rex := ^extension(Reg(i.field), i.rm) // VEX has the bits inverted
	last := byte(0x78) | i.prefix         // no second source
	if i.width == 32 {
		last |= 4
	}
	if i.wide {
		last |= 0x80
	}
	if i.space == space0F && !i.wide && rex&(rexX|rexB) == rexX|rexB {
		a.Bytes(0xc5, rex&rexR<<5|last)
	} else {
		a.Bytes(0xc4, rex&(rexR|rexX|rexB)<<5|i.space, last)
	}
	a.Bytes(i.opcode)
	a.modrm(Reg(i.field), i.rm, 1, i.tail)
}

// evex appends i with EVEX, without a mask.
func (a *Assembler) evex(i vector) {
	if i.field > 31 {
		a.fail("there is no vector register %d", i.field)
	}
	first := (^extension(Reg(i.field&15), i.rm)&(rexR|rexX|rexB))<<5 | i.space
	if i.field < 16 {
		first |= 0x10
	}
	second := byte(0x7c) | i.prefix // no second source
	if i.wide {
		second |= 0x80
	}
	third := byte(0x08) | map[Width]byte{16: 0, 32: 0x20, 64: 0x40}[i.width]
	a.Bytes(0x62, first, second, third, i.opcode)
	a.modrm(Reg(i.field&15), i.rm, i.unit, i.tail)
}

// VmovdquStore stores all w bytes of a register, 16, 32 or 64, at any address. Registers from 16 on and 64 bytes need AVX-512,
// with AVX512VL for less than 64 bytes.
func (a *Assembler) VmovdquStore(w Width, dst Mem, src Vec) { a.vmovdqu(w, 0x7f, dst, src) }

// VmovdquLoad loads w bytes into a register and clears the rest of it, with the requirements of VmovdquStore.
func (a *Assembler) VmovdquLoad(w Width, dst Vec, src Mem) { a.vmovdqu(w, 0x6f, src, dst) }

func (a *Assembler) vmovdqu(w Width, opcode byte, m Mem, v Vec) {
	a.length(w, 16)
	i := vector{width: w, prefix: prefixF3, space: space0F, opcode: opcode, field: uint8(v), rm: m, unit: int32(w)}
	if w == 64 || v > 15 {
		i.wide = true // vmovdqu64, which differs from vmovdqu32 under a mask only
		a.evex(i)
		return
	}
	a.vex(i)
}

// Vextractf128 stores the lower or the upper 16 bytes of a register's low 32. It needs AVX and reaches registers 0 to 15.
func (a *Assembler) Vextractf128(dst Mem, src Vec, half uint8) {
	a.vex(vector{width: 32, prefix: prefix66, space: space0F3A, opcode: 0x19, field: uint8(src), rm: dst, tail: 1})
	a.Bytes(half)
}

// Vextracti32x4 stores one of the parts of 16 bytes of a register that is w bytes wide, 32 or 64. It needs AVX-512, with AVX512VL
// for 32 bytes.
func (a *Assembler) Vextracti32x4(w Width, dst Mem, src Vec, part uint8) {
	a.length(w, 32)
	a.evex(vector{width: w, prefix: prefix66, space: space0F3A, opcode: 0x39, field: uint8(src), rm: dst, unit: 16, tail: 1})
	a.Bytes(part)
}

// Vextracti64x4 stores the lower or the upper half of a register of 64 bytes. It needs AVX-512.
func (a *Assembler) Vextracti64x4(dst Mem, src Vec, half uint8) {
	a.evex(vector{width: 64, wide: true, prefix: prefix66, space: space0F3A, opcode: 0x3b, field: uint8(src), rm: dst,
		unit: 32, tail: 1})
	a.Bytes(half)
}

// length checks the width of vectors.
func (a *Assembler) length(w, least Width) {
	if w != 16 && w != 32 && w != 64 || w < least {
		a.fail("the instruction has no vectors of %d bytes", w)
	}
}

// KmovStore stores the low w bytes of a mask register, 2 or 8. 2 needs AVX-512, 8 needs AVX512BW.
func (a *Assembler) KmovStore(w Width, dst Mem, src Mask) { a.kmov(w, 0x91, 0, uint8(src), dst) }

// KmovLoad loads w bytes, 2 or 8, into a mask register and clears the rest of it.
func (a *Assembler) KmovLoad(w Width, dst Mask, src Mem) { a.kmov(w, 0x90, 0, uint8(dst), src) }

func (a *Assembler) kmov(w Width, opcode, prefix byte, k uint8, m Mem) {
	if w != 2 && w != 8 || k > 7 {
		a.fail("kmov of %d bytes of mask register %d", w, k)
	}
	a.vex(vector{wide: w == 8, prefix: prefix, space: space0F, opcode: opcode, field: k, rm: m})
}
