package amd64

import "math/bits"

// arithmetic is a way to combine two numbers and set the flags. The first eight are numbered as opcodes and ModRM number
// them.
type arithmetic uint8

const (
	arithmeticAdd arithmetic = iota
	arithmeticOr
	arithmeticAdc
	arithmeticSbb
	arithmeticAnd
	arithmeticSub
	arithmeticXor
	arithmeticCmp
	arithmeticTest
	arithmeticInc
	arithmeticDec
)

// stores tells whether the result is kept, besides the flags.
func (k arithmetic) stores() bool { return k != arithmeticCmp && k != arithmeticTest }

// apply combines a and b in the operand size that mask has the bits of, and returns the result and the flags after it.
//
// Carries come from the carry into and out of each bit, which the operands and the result tell: for a sum, a bit carries
// out if both operands have it, or either has it and the result has not. The adjust flag after a logical operation, which
// the manuals leave undefined, is clear on Intel's and AMD's processors.
func (k arithmetic) apply(a, b, mask, flags uint64) (result, after uint64) {
	a, b = a&mask, b&mask
	carry := flags & flagCarry
	changed := uint64(arithmeticFlags)
	var carries, overflows uint64 // bit by bit; the topmost counts
	switch k {
	case arithmeticOr:
		result = a | b
	case arithmeticAnd, arithmeticTest:
		result = a & b
	case arithmeticXor:
		result = a ^ b
	case arithmeticAdd, arithmeticAdc, arithmeticInc:
		result = a + b
		if k == arithmeticAdc {
			result += carry
		}
		carries = a&b | (a|b)&^result
		overflows = (a ^ result) & (b ^ result)
	default:
		result = a - b
		if k == arithmeticSbb {
			result -= carry
		}
		carries = ^a&b | (^a|b)&result
		overflows = (a ^ b) & (a ^ result)
	}
	if k == arithmeticInc || k == arithmeticDec {
		changed &^= flagCarry
	}
	result &= mask
	set := resultFlags(result, mask)
	set |= carries >> 3 & 1 * flagAdjust
	top := bits.Len64(mask) - 1
	set |= carries >> top & 1 * flagCarry
	set |= overflows >> top & 1 * flagOverflow
	return result, flags&^changed | set&changed
}

// resultFlags gives the flags that depend on the result alone: zero, sign and parity, which is that of the low byte.
func resultFlags(result, mask uint64) uint64 {
	var set uint64
	if result == 0 {
		set |= flagZero
	}
	if result > mask>>1 {
		set |= flagSign
	}
	if bits.OnesCount8(uint8(result))%2 == 0 {
		set |= flagParity
	}
	return set
}

// holds tells whether the condition with the number that jcc, setcc and cmovcc use is true. Odd numbers negate.
func holds(condition uint8, flags uint64) bool {
	sign, overflow := flags&flagSign != 0, flags&flagOverflow != 0
	var h bool
	switch condition >> 1 {
	case 0: // o
		h = overflow
	case 1: // b
		h = flags&flagCarry != 0
	case 2: // e
		h = flags&flagZero != 0
	case 3: // be
		h = flags&(flagCarry|flagZero) != 0
	case 4: // s
		h = sign
	case 5: // p
		h = flags&flagParity != 0
	case 6: // l
		h = sign != overflow
	case 7: // le
		h = sign != overflow || flags&flagZero != 0
	}
	return h != (condition&1 != 0)
}
