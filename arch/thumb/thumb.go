// Package thumb emulates single instructions of Thumb on processors of Arm's M profile, by the ARMv7-M Architecture Reference
// Manual: integer arithmetic, branches, loads and stores.
//
// Refused are instructions inside of an IT block, what changes to another state or returns from an exception, exclusive accesses,
// everything of the system and of coprocessors, and what the manual calls unpredictable. What a load or a store does to an address
// that is not aligned depends on the processor, so it is refused, too.
package thumb

import (
	"encoding/binary"
	"math/bits"

	"tracewell/arch/effect"
)

// Registers are numbered as instructions number them, with the status behind the pc, which is not written by its number.
const (
	sp     = 13
	lr     = 14
	pc     = 15
	Status = 16
)

// Longest is how many bytes an instruction has at the most.
const Longest = 4

// Bits of the status.
const (
	negative = 1 << 31
	zero     = 1 << 30
	carry    = 1 << 29
	overflow = 1 << 28
	state    = 1 << 24          // Thumb
	block    = 0x3f<<10 | 3<<25 // an IT block, or a list of registers that an exception has interrupted
	special  = 0xf0000000       // from here on branches are returns from exceptions
	narrow   = 0b11101 << 11    // with this and more in its first halfword an instruction has a second
	returns  = uint32(1)        // the bit of a return address that says Thumb
)

// core is a processor in the middle of an instruction.
type core struct {
	*effect.Step
	at     uint32 // where the instruction is
	size   uint32
	status uint32
	keeps  bool // flags stay as they are
}

// Emulate emulates the instruction that code begins with, at an address. It reports whether it has: otherwise s means nothing.
func Emulate(s *effect.Step, code []byte, at uint64) bool {
	c := core{Step: s, at: uint32(at), size: 2}
	if len(code) < 2 {
		return false
	}
	c.status = uint32(s.Get(Status))
	first := binary.LittleEndian.Uint16(code)
	if c.status&state == 0 || c.status&block != 0 {
		return false
	}
	if first >= narrow {
		if len(code) < 4 {
			return false
		}
		c.size = 4
	}
	s.Next = uint64(c.at + c.size)
	if c.size == 2 {
		c.short(uint32(first))
	} else {
		c.long(uint32(first)<<16 | uint32(binary.LittleEndian.Uint16(code[2:])))
	}
	return s.OK()
}

// read reads a register. The pc is four bytes ahead.
func (c *core) read(n uint32) uint32 {
	if n == pc {
		return c.at + 4
	}
	return uint32(c.Get(int(n)))
}

// write writes a register other than the pc. The stack pointer has no lowest two bits.
func (c *core) write(n, v uint32) {
	switch n {
	case pc:
		c.Refuse()
		return
	case sp:
		v &^= 3
	}
	c.Set(int(n), uint64(v))
}

// jump goes on at an address of this state.
func (c *core) jump(to uint32) { c.Next = uint64(to &^ 1) }

// exchange goes on at an address whose lowest bit says which state it is of.
func (c *core) exchange(to uint32) {
	if to&1 == 0 || to >= special {
		c.Refuse()
	}
	c.jump(to)
}

// link keeps the return address.
func (c *core) link() { c.write(lr, c.at+c.size|returns) }

// load reads size bytes of memory, extended by their sign if that is wanted.
func (c *core) load(to, addr uint32, size int, signed, near bool) {
	v := uint32(c.Load(uint64(addr), size, near))
	if shift := 32 - 8*size; signed {
		v = uint32(int32(v<<shift) >> shift)
	}
	c.write(to, v)
}

// store writes the low size bytes of a register to memory.
func (c *core) store(from, addr uint32, size int, near bool) {
	c.Store(uint64(addr), size, uint64(c.read(from)), near)
}

// short executes an instruction of 16 bits.
func (c *core) short(i uint32) {
	switch i >> 12 {
	case 0, 1:
		c.shiftOrAdd(i)
	case 2, 3:
		c.immediate(i)
	case 4:
		c.registers(i)
	case 5: // a load or a store whose address is the sum of two registers
		c.access(i>>9&7, i&7, c.read(i>>3&7)+c.read(i>>6&7), false)
	case 6, 7: // of a word, or a byte
		scale := 2 - 2*(i>>12&1)
		kind := [2][2]uint32{{0, 4}, {2, 6}}[i>>12&1][i>>11&1]
		c.access(kind, i&7, c.read(i>>3&7)+i>>6&31<<scale, false)
	case 8: // of a halfword
		c.access(1+4*(i>>11&1), i&7, c.read(i>>3&7)+i>>6&31<<1, false)
	case 9: // on the stack
		c.access(4*(i>>11&1), i>>8&7, c.read(sp)+i&255<<2, true)
	case 10: // addresses
		base := c.read(pc) &^ 3
		if i>>11&1 != 0 {
			base = c.read(sp)
		}
		c.write(i>>8&7, base+i&255<<2)
	case 11:
		c.miscellaneous(i)
	case 12:
		base, list, loads := i>>8&7, i&255, i>>11&1 != 0
		c.multiple(base, list, loads, false, !loads || list>>base&1 == 0)
	case 13:
		if condition := i >> 8 & 15; condition >= 14 { // svc, udf
			c.Refuse()
		} else if c.holds(condition) {
			c.jump(c.read(pc) + uint32(int32(i<<24)>>23))
		}
	case 14:
		c.jump(c.read(pc) + uint32(int32(i<<21)>>20))
	}
}

// access is a load or a store by the number that instructions have for it.
func (c *core) access(kind, r, addr uint32, near bool) {
	switch kind {
	case 0, 1, 2: // str, strh, strb
		c.store(r, addr, 4>>kind, near)
	case 3: // ldrsb
		c.load(r, addr, 1, true, near)
	case 4, 5, 6: // ldr, ldrh, ldrb
		c.load(r, addr, 4>>(kind-4), false, near)
	case 7: // ldrsh
		c.load(r, addr, 2, true, near)
	}
}

// multiple loads or stores the registers of a list, upwards from the address in base, or downwards to it.
func (c *core) multiple(base, list uint32, loads, down, writes bool) {
	size := 4 * uint32(bits.OnesCount32(list))
	addr, end := c.read(base), c.read(base)+size
	if down {
		addr, end = c.read(base)-size, c.read(base)-size
	}
	if size == 0 || writes && list>>base&1 != 0 {
		c.Refuse()
		return
	}
	if writes {
		c.write(base, end)
	}
	for r := range uint32(16) {
		switch {
		case list>>r&1 == 0:
			continue
		case !loads:
			c.store(r, addr, 4, base == sp)
		case r == pc:
			c.exchange(uint32(c.Load(uint64(addr), 4, base == sp)))
		default:
			c.load(r, addr, 4, false, base == sp)
		}
		addr += 4
	}
}

// registers has what works on registers, of which some may be above the first eight, and loads of constants.
func (c *core) registers(i uint32) {
	n, m := i>>4&8|i&7, i>>3&15
	switch i >> 8 & 15 {
	case 0, 1, 2, 3:
		c.operation(i>>6&15, i&7, i>>3&7)
	case 4: // add, which leaves the flags alone
		c.write(n, c.read(n)+c.read(m))
	case 5: // cmp
		if n == pc || m == pc {
			c.Refuse()
		}
		c.sum(c.read(n), ^c.read(m), 1)
	case 6: // mov
		c.write(n, c.read(m))
	case 7: // bx, blx
		to := c.read(m)
		if m == pc || i&7 != 0 {
			c.Refuse()
		}
		if i>>7&1 != 0 {
			c.link()
		}
		c.exchange(to)
	default: // ldr of a constant
		c.load(i>>8&7, c.read(pc)&^3+i&255<<2, 4, false, true)
	}
}

// miscellaneous has the stack pointer, lists on the stack, extensions, and branches on zero.
func (c *core) miscellaneous(i uint32) {
	m := c.read(i >> 3 & 7)
	switch i >> 6 & 0x3f {
	case 0, 1: // add sp
		c.write(sp, c.read(sp)+i&127<<2)
	case 2, 3: // sub sp
		c.write(sp, c.read(sp)-i&127<<2)
	case 8: // sxth
		c.write(i&7, uint32(int16(m)))
	case 9: // sxtb
		c.write(i&7, uint32(int8(m)))
	case 10: // uxth
		c.write(i&7, uint32(uint16(m)))
	case 11: // uxtb
		c.write(i&7, uint32(uint8(m)))
	case 0x28: // rev
		c.write(i&7, bits.ReverseBytes32(m))
	default:
		switch i >> 8 & 15 {
		case 1, 3, 9, 11: // cbz, cbnz
			if zero, wanted := c.read(i&7) == 0, i>>11&1 == 0; zero == wanted {
				c.jump(c.read(pc) + i>>9&1<<6 + i>>3&31<<1)
			}
		case 4, 5: // push
			c.multiple(sp, i&255|i>>8&1<<lr, false, true, true)
		case 12, 13: // pop
			c.multiple(sp, i&255|i>>8&1<<pc, true, false, true)
		default:
			if i != 0xbf00 { // nop, but no other hint
				c.Refuse()
			}
		}
	}
}
