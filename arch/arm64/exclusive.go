package arm64

import (
	"encoding/binary"

	"tracewell/arch"
)

// MaxSequence is how far apart, in bytes, an exclusive load and its store are looked for. Sequences of compilers and libraries have
// up to eight instructions, and the manual asks for no more than 128 bytes.
const MaxSequence = 128

// exclusiveAccess reports whether an instruction is an exclusive load or store, by bit 22. Bit 21 makes a pair of it or, in the
// narrow sizes, a compare-and-swap, which is neither.
func exclusiveAccess(word uint32) (load, store bool) {
	const unprivileged = 1 << 24 // FEAT_LSUI
	if word&^unprivileged&0x3f800000 != 0x08000000 || word&(1<<21) != 0 && word>>31 == 0 {
		return false, false
	}
	return word&(1<<22) != 0, word&(1<<22) == 0
}

// endsSequence reports whether control never comes to the next instruction from the one in front of it, or whether what is
// monitored is given up (clrex).
func endsSequence(word uint32) bool {
	const b, ret, br, clrex = 0x14000000, 0xd65f0000, 0xd61f0000, 0xd503305f
	return word&0xfc000000 == b || word&^(31<<5) == ret || word&^(31<<5) == br || word&^(15<<8) == clrex
}

// Exclusive finds the sequence around an address in which a trap would never let the store succeed: from behind an exclusive load,
// first, to its store, last, which belongs to it. code is what lies around, with before bytes in front of the address. A trap on
// the load itself does no harm as long as the load is executed without another one behind it.
func Exclusive(code []byte, before int, at arch.Addr) (first, last arch.Addr, found bool) {
	word := func(offset int) uint32 { return binary.LittleEndian.Uint32(code[before+offset:]) }
	for back := Length; ; back += Length {
		if back > before || back > MaxSequence {
			return 0, 0, false
		}
		load, store := exclusiveAccess(word(-back))
		if store || endsSequence(word(-back)) {
			return 0, 0, false
		}
		if load {
			first = at - arch.Addr(back)
			break
		}
	}
	for on := 0; before+on+Length <= len(code) && on <= MaxSequence; on += Length {
		load, store := exclusiveAccess(word(on))
		switch {
		case store:
			return first, at + arch.Addr(on), true
		case load, endsSequence(word(on)):
			return 0, 0, false
		}
	}
	return 0, 0, false
}
