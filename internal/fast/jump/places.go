package jump

import (
	"math/bits"

	"tracewell/arch"
)

// Range is the addresses from Start up to but not including End.
type Range struct{ Start, End arch.Addr }

// contains reports whether all of [start, end) is in the range.
func (r Range) contains(start, end arch.Addr) bool { return r.Start <= start && end <= r.End }

// overlaps reports whether the ranges have an address in common.
func (r Range) overlaps(o Range) bool { return r.Start < o.End && o.Start < r.End }

// byteSet is a set of values of a byte.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

// from returns the smallest member that is at least b.
func (s *byteSet) from(b int) (member byte, ok bool) {
	for ; b < 256; b = b&^63 + 64 {
		if rest := s[b>>6] >> (b & 63); rest != 0 {
			return byte(b + bits.TrailingZeros64(rest)), true
		}
	}
	return 0, false
}

// anyByte is the set of all values.
var anyByte = byteSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// only returns the set of one value.
func only(b byte) (s byteSet) {
	s.add(b)
	return s
}

// Places is the set of addresses that a jump can go to, if each byte of its displacement has to be of a set of its own.
type Places struct {
	from  arch.Addr  // behind the jump, where displacements count from
	width int        // bytes of the displacement, 1 or 4
	bytes [4]byteSet // from the lowest to the highest, whose sign bit is inverted so that values are in the order of addresses
}

// top is the number of the highest byte.
func (p *Places) top() int { return p.width - 1 }

// restrict has byte i of the displacement be of a set.
func (p *Places) restrict(i int, s byteSet) {
	if i == p.top() {
		s[0], s[1], s[2], s[3] = s[2], s[3], s[0], s[1]
	}
	p.bytes[i] = s
}

// low and high are the first and the last address in reach, whatever the sets.
func (p *Places) low() int64  { return int64(p.from) - 1<<(8*p.width-1) }
func (p *Places) high() int64 { return int64(p.from) + 1<<(8*p.width-1) - 1 }

// Allows reports whether the jump can go to an address.
func (p *Places) Allows(to arch.Addr) bool {
	next, ok := p.Next(to)
	return ok && next == to
}

// Next returns the lowest address, not below at, that the jump can go to.
func (p *Places) Next(at arch.Addr) (arch.Addr, bool) {
	if int64(at) > p.high() {
		return 0, false
	}
	v, ok := p.successor(uint32(max(int64(at), p.low()) - p.low()))
	return arch.Addr(p.low() + int64(v)), ok
}

// successor returns the smallest number, not less than v, whose bytes are all of their sets.
func (p *Places) successor(v uint32) (uint32, bool) {
	bad := p.top() // the highest byte that is not of its set
	for bad >= 0 && p.bytes[bad].has(byte(v>>(8*bad))) {
		bad--
	}
	if bad < 0 {
		return v, true
	}
	for i := bad; i <= p.top(); i++ { // the lowest byte, from there upwards, that can be larger
		if next, ok := p.bytes[i].from(int(byte(v>>(8*i))) + 1); ok {
			return p.smallest(v>>(8*i)>>8<<8|uint32(next), i), true
		}
	}
	return 0, false
}

// smallest appends the smallest members for the lower n bytes to the upper part of a number.
func (p *Places) smallest(upper uint32, n int) uint32 {
	for i := n - 1; i >= 0; i-- {
		first, _ := p.bytes[i].from(0)
		upper = upper<<8 | uint32(first)
	}
	return upper
}

// anywhere is the places of a near jump that ends in front of an address, with no byte restricted.
func anywhere(from arch.Addr) Places {
	return Places{from: from, width: 4, bytes: [4]byteSet{anyByte, anyByte, anyByte, anyByte}}
}

// free reports whether no byte is restricted.
func (p *Places) free() bool {
	for _, s := range p.bytes[:p.width] {
		if s != anyByte {
			return false
		}
	}
	return true
}
