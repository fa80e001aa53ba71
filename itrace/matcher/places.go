package matcher

import (
	"encoding/binary"

	"tracewell/itrace/internal/swar"
)

// Programs go round in loops. What the digits of an address and of the opcode there come to is kept of the last instructions by
// their addresses, and is not converted again.

// place is an address with the opcode there.
type place struct {
	digits          [3]uint64 // the bytes of both as they are written: the beginning and the end of the address, and the opcode
	address, opcode uint64
}

const placeBits = 8

// places is a place by a hash of the digits of the address.
type places [1 << placeBits]place

// Direct-mapped: an instruction whose hash is the same replaces the one before, which only costs time. The key is the digits as
// they stand, not their value, so a hit means that they are the same bytes, and no check of digits is needed.

// find returns the address and the opcode whose digits are at two parts of a text, and 0 for wrong if digits is what is there.
// What it has not seen as digits before it converts.
func (p *places) find(text []byte, address, opcode span) (addr, code, wrong uint64) {
	var digits [3]uint64
	switch address.width() {
	case 16:
		digits[0] = binary.LittleEndian.Uint64(text[address.from : address.from+8])
		digits[1] = binary.LittleEndian.Uint64(text[address.from+8 : address.from+16])
	case 8:
		digits[1] = binary.LittleEndian.Uint64(text[address.from : address.from+8])
	default: // other widths are rare: the producers write addresses of 32 or 64 bits in full
		return convert(text, address, opcode)
	}
	digits[2] = binary.LittleEndian.Uint64(text[opcode.from:opcode.from+8]) & (1<<(8*opcode.width()) - 1)
	// Fibonacci hashing of the last eight digits: the multiplier is 2^64 over the golden ratio, the top bits are the slot.
	seen := &p[digits[1]*0x9e3779b97f4a7c15>>(64-placeBits)]
	// A slot that is empty is all zeros, as is a line with NUL bytes for digits.
	if opcode.width() > 8 || seen.digits != digits || digits[1] == 0 {
		if addr, code, wrong = convert(text, address, opcode); wrong == 0 && opcode.width() <= 8 {
			*seen = place{digits, addr, code}
		}
		return addr, code, wrong
	}
	return seen.address, seen.opcode, 0
}

// convert reads both numbers by their digits.
func convert(text []byte, address, opcode span) (addr, code, wrong uint64) {
	addr, wrong = swar.Hex(text, address.from, address.width())
	code, wrongCode := swar.Hex(text, opcode.from, opcode.width())
	return addr, code, wrong | wrongCode
}
