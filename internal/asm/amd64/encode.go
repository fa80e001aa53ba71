package asm

import "fmt"

// plain is an instruction in the encoding that is as old as the processor: [66] [prefix] [REX] opcode ModRM [SIB] [displacement].
// The immediate bytes are for the caller to append.
type plain struct {
	width  Width // 2 has a prefix, 8 has REX.W
	prefix byte  // F2 or F3 that belongs to the opcode, 0 for none
	opcode string
	field  Reg     // register or part of the opcode in ModRM.reg
	rm     Operand // register or memory in ModRM.rm
	bytes  byteRegs
	tail   int // number of immediate bytes
}

// byteRegs tells which of the operands are byte registers: spl, bpl, sil and dil need an empty REX, without which their numbers
// are those of ah, ch, dh and bh.
type byteRegs uint8

const (
	byteField byteRegs = 1 << iota
	byteRM
)

// The bits of REX.
const (
	rexB     = 1 << iota // of ModRM.rm, the base or the register in the opcode
	rexX                 // of the index
	rexR                 // of ModRM.reg
	rexW                 // 64 bits
	rexEmpty = 0x40
)

// encode appends i without its immediate bytes.
func (a *Assembler) encode(i plain) {
	if i.width == 2 {
		a.Bytes(0x66)
	}
	if i.prefix != 0 {
		a.Bytes(i.prefix)
	}
	if i.field > R15 {
		a.fail("%v is no operand", i.field)
	}
	rex := extension(i.field, i.rm)
	if i.width == 8 {
		rex |= rexW
	}
	rm, isReg := i.rm.(Reg)
	if rex != 0 || i.bytes&byteField != 0 && hidden(i.field) || i.bytes&byteRM != 0 && isReg && hidden(rm) {
		a.Bytes(rexEmpty | rex)
	}
	a.code = append(a.code, i.opcode...)
	a.modrm(i.field, i.rm, 1, i.tail)
}

// hidden reports whether the low byte of a register can be named with REX only.
func hidden(r Reg) bool { return r >= RSP && r <= RDI }

// extension is the bits R, X and B for the operands of ModRM.
func extension(field Reg, rm Operand) (rex byte) {
	if field&8 != 0 {
		rex |= rexR
	}
	switch o := rm.(type) {
	case Reg:
		if o&8 != 0 {
			rex |= rexB
		}
	case Mem:
		if o.base != NoReg && o.base&8 != 0 {
			rex |= rexB
		}
		if o.index != NoReg && o.index&8 != 0 {
			rex |= rexX
		}
	}
	return rex
}

// Kinds of ModRM, and what numbers of registers mean in it.
const (
	modNone     = 0x00 // no displacement
	mod8        = 0x40
	mod32       = 0x80
	modRegister = 0xc0

	rmSIB       = 4 // a SIB byte follows
	rmRIP       = 5 // without displacement: relative to rip
	sibNoIndex  = 4
	sibNoBase   = 5 // without displacement: 32 bits of displacement and no base
	needsDisp   = 5 // the low bits of rbp and r13, whose place without displacement is taken by the two above
	lowRegister = 7
)

// modrm appends ModRM, SIB and displacement. A displacement of one byte is in units of scale, which EVEX makes larger than 1; tail
// immediate bytes will follow, which displacements relative to rip must account for.
func (a *Assembler) modrm(field Reg, rm Operand, scale int32, tail int) {
	high := byte(field&lowRegister) << 3
	switch o := rm.(type) {
	case Reg:
		if o > R15 {
			a.fail("%v is no operand", o)
		}
		a.Bytes(modRegister | high | byte(o&lowRegister))
	case Mem:
		if err := o.check(); err != nil {
			a.fail("%v", err)
		}
		switch o.place {
		case byAddress:
			a.Bytes(high | rmRIP)
			a.relative(o, tail)
		case byLabel:
			a.Bytes(high | rmRIP)
			a.refer(4, tail, o.label, o.disp)
		default:
			a.indirect(high, o, scale)
		}
	default:
		panic(fmt.Sprintf("asm: operand %v", rm))
	}
}

// relative appends the displacement from the end of the instruction to an address.
func (a *Assembler) relative(m Mem, tail int) {
	d := int64(m.target - (a.PC() + 4))
	d -= int64(tail)
	if !fits32(d) {
		a.fail("%v is out of reach of %v", m.target, a.PC())
	}
	a.immediate(4, int32(d))
}

// indirect appends ModRM, SIB and displacement of memory that is addressed by registers.
func (a *Assembler) indirect(high byte, m Mem, scale int32) {
	var mod byte
	short := m.disp%scale == 0 && fits8(int64(m.disp/scale))
	switch {
	case m.base == NoReg, m.disp == 0 && m.base&lowRegister != needsDisp:
		mod = modNone
	case short:
		mod = mod8
	default:
		mod = mod32
	}
	if m.index == NoReg && m.base != NoReg && m.base&lowRegister != rmSIB {
		a.Bytes(mod | high | byte(m.base&lowRegister))
	} else {
		index, base := byte(sibNoIndex), byte(sibNoBase)
		if m.index != NoReg {
			index = byte(m.index & lowRegister)
		}
		if m.base != NoReg {
			base = byte(m.base & lowRegister)
		}
		a.Bytes(mod|high|rmSIB, m.scale<<6|index<<3|base)
	}
	switch {
	case m.base == NoReg || mod == mod32:
		a.immediate(4, m.disp)
	case mod == mod8:
		a.immediate(1, m.disp/scale)
	}
}

// sized chooses between the opcode for bytes and that for the other widths, which is the next number.
func sized(w Width, prefix string, forBytes byte) string {
	if w != 1 {
		forBytes++
	}
	return prefix + string([]byte{forBytes})
}

// general checks the width of an operation on general registers.
func (a *Assembler) general(w Width) {
	if w != 1 && w != 2 && w != 4 && w != 8 {
		a.fail("no operation on general registers has %d bytes", w)
	}
}

// bytesOf is all for the width of a byte, and none for others.
func bytesOf(w Width, all byteRegs) byteRegs {
	if w == 1 {
		return all
	}
	return 0
}
