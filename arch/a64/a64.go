// Package a64 emulates single instructions of AArch64, by the Arm Architecture Reference Manual for A-profile: integer arithmetic,
// branches, loads and stores.
//
// Refused are exclusive and atomic accesses, prefetches, all of the system, of vectors and of pointer authentication, and what the
// manual calls unpredictable. So are branches to registers but for returns: what they do to the state depends on the processor
// (BTI). Addresses that are not aligned are refused, as whether they are an exception is a setting of the system's.
package a64

import (
	"encoding/binary"
	"math/bits"

	"tracewell/arch/effect"
)

// Registers are numbered as instructions number them, where 31 is the stack pointer or, in others, zero. The status is behind them.
const (
	lr     = 30
	sp     = 31
	Status = 32
)

// Longest is how many bytes an instruction has.
const Longest = 4

// Bits of the status.
const (
	negative = 1 << 31
	zero     = 1 << 30
	carry    = 1 << 29
	overflow = 1 << 28
	// Instructions are not to be emulated in a state in which one of these is set: AArch32, BTI, an illegal state, a step.
	strange = 1<<4 | 3<<10 | 1<<20 | 1<<21
)

// core is a processor in the middle of an instruction.
type core struct {
	*effect.Step
	i      uint32 // the instruction
	at     uint64 // where it is
	status uint32
}

// Emulate emulates the instruction that code begins with, at an address. It reports whether it has: otherwise s means nothing.
func Emulate(s *effect.Step, code []byte, at uint64) bool {
	if len(code) < Longest {
		return false
	}
	c := core{s, binary.LittleEndian.Uint32(code), at, uint32(s.Get(Status))}
	if c.status&strange != 0 {
		return false
	}
	s.Next = at + 4
	switch c.field(25, 4) {
	case 8, 9:
		c.constants()
	case 10, 11:
		c.branches()
	case 4, 12:
		c.accesses()
	case 5, 13:
		c.registers()
	default:
		return false
	}
	return s.OK()
}

// field is n bits of the instruction from one on.
func (c *core) field(from, n int) uint32 { return c.i >> from & (1<<n - 1) }

// is reports whether a bit of the instruction is set.
func (c *core) is(bit int) bool { return c.i>>bit&1 != 0 }

// signed is a field with its sign extended.
func (c *core) signed(from, n int) uint64 { return extended(uint64(c.field(from, n)), n) }

// extended extends the sign of a number of so many bits.
func extended(v uint64, n int) uint64 { return uint64(int64(v<<(64-n)) >> (64 - n)) }

// Registers that an instruction names.
func (c *core) d() int { return int(c.field(0, 5)) }
func (c *core) n() int { return int(c.field(5, 5)) }
func (c *core) m() int { return int(c.field(16, 5)) }

// width is how many bits the operation has.
func (c *core) width() int { return 32 << c.field(31, 1) }

// narrowed is the low bits of a value that the operation has.
func (c *core) narrowed(v uint64) uint64 { return v << (64 - c.width()) >> (64 - c.width()) }

// read reads a register of which 31 is zero.
func (c *core) read(r int) uint64 {
	if r == sp {
		return 0
	}
	return c.narrowed(c.Get(r))
}

// write writes a register of which 31 is none.
func (c *core) write(r int, v uint64) {
	if r != sp {
		c.Set(r, c.narrowed(v))
	}
}

// jump goes on elsewhere.
func (c *core) jump(offset uint64) { c.Next = c.at + offset }

// branches are those, and nop.
func (c *core) branches() {
	switch i := c.i; {
	case i>>26&31 == 5: // b, bl
		if c.is(31) {
			c.Set(lr, c.at+4)
		}
		c.jump(c.signed(0, 26) << 2)
	case i>>24 == 0x54 && !c.is(4): // b.cond
		if c.holds(c.field(0, 4)) {
			c.jump(c.signed(5, 19) << 2)
		}
	case i>>25&0x3f == 0x1a: // cbz, cbnz
		if c.read(c.d()) == 0 != c.is(24) {
			c.jump(c.signed(5, 19) << 2)
		}
	case i>>25&0x3f == 0x1b: // tbz, tbnz: the number of the bit has its highest bit where others have their width
		if c.read(c.d())>>(c.field(31, 1)<<5|c.field(19, 5))&1 != 0 == c.is(24) {
			c.jump(c.signed(5, 14) << 2)
		}
	case i&^(31<<5) == 0xd65f0000: // ret
		if c.Next = c.Get(c.n()); c.n() == sp {
			c.Next = 0
		}
		if c.Next%4 != 0 {
			c.Refuse()
		}
	case i == 0xd503201f || i&^(3<<6) == 0xd503241f: // nop; bti, which is one unless the status says otherwise
	default:
		c.Refuse()
	}
}

// constants are operations with a constant.
func (c *core) constants() {
	switch c.field(23, 6) {
	case 0x20, 0x21: // adr, adrp
		offset := c.signed(5, 19)<<2 | uint64(c.field(29, 2))
		if c.is(31) {
			c.setAddress(c.at&^0xfff + offset<<12)
		} else {
			c.setAddress(c.at + offset)
		}
	case 0x22: // add, sub
		c.add(c.pointer(c.n()), uint64(c.field(10, 12))<<(12*c.field(22, 1)), true)
	case 0x24: // and, orr, eor, ands
		mask, ok := c.mask()
		if !ok {
			c.Refuse()
			return
		}
		c.logical(c.read(c.n()), mask, true)
	case 0x25:
		c.move()
	case 0x26:
		c.bitfield()
	default:
		c.Refuse()
	}
}

// setAddress writes an address, whose width is not that of operations.
func (c *core) setAddress(v uint64) {
	if c.d() != sp {
		c.Set(c.d(), v)
	}
}

// pointer reads a register of which 31 is the stack pointer.
func (c *core) pointer(r int) uint64 { return c.narrowed(c.Get(r)) }

// move has constants of 16 bits.
func (c *core) move() {
	shift := c.field(21, 2) * 16
	v := uint64(c.field(5, 16)) << shift
	if int(shift) >= c.width() {
		c.Refuse()
		return
	}
	switch c.field(29, 2) {
	case 0: // movn
		c.write(c.d(), ^v)
	case 2: // movz
		c.write(c.d(), v)
	case 3: // movk
		c.write(c.d(), c.read(c.d())&^(0xffff<<shift)|v)
	default:
		c.Refuse()
	}
}

// mask is the constant of a logical operation: ones in a row, rotated, in each element of so many bits.
func (c *core) mask() (uint64, bool) {
	size := bits.Len32(c.field(22, 1)<<6|^c.field(10, 6)&63) - 1
	if size < 1 || 1<<size > c.width() {
		return 0, false
	}
	ones, turn := c.field(10, 6)&(1<<size-1)+1, c.field(16, 6)&(1<<size-1)
	if ones == 1<<size {
		return 0, false
	}
	element := uint64(1)<<ones - 1
	if turn > 0 {
		element = element>>turn | element<<(1<<size-turn)
	}
	mask := uint64(0)
	for at := 0; at < 64; at += 1 << size {
		mask |= element << (64 - 1<<size) >> (64 - 1<<size) << at
	}
	return mask, true
}

// bitfield has moves of fields, of which shifts by a constant are some.
func (c *core) bitfield() {
	width, turn, last := c.width(), int(c.field(16, 6)), int(c.field(10, 6))
	if c.is(22) != c.is(31) || turn >= width || last >= width {
		c.Refuse()
		return
	}
	v := c.read(c.n())
	size, to := last+1, width-turn // of the field that goes from the bottom up
	if last >= turn {              // it goes from the middle to the bottom
		v, size, to = v>>turn, last-turn+1, 0
	}
	field := v << (64 - size) >> (64 - size)
	switch c.field(29, 2) {
	case 0: // sbfm
		c.write(c.d(), extended(field, size)<<to)
	case 1: // bfm
		mask := ^uint64(0) << (64 - size) >> (64 - size) << to
		c.write(c.d(), c.read(c.d())&^mask|field<<to)
	case 2: // ubfm
		c.write(c.d(), field<<to)
	default:
		c.Refuse()
	}
}
