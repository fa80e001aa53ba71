package tdesc

import (
	"encoding/binary"
	"math/big"
	"slices"
	"strconv"

	"tracewell/arch"
)

// isBig tells the two byte orders apart by what they do, since an order may come from anywhere.
func isBig(order arch.ByteOrder) bool { return order.Uint16(bigOne) == 1 }

// bigOne is 1 in big-endian order. Written in place it would be allocated anew for each order that is an interface.
var bigOne = []byte{0, 1}

// bigEndian gives the bytes of a value most significant first. It may return b itself.
func bigEndian(b []byte, order arch.ByteOrder) []byte {
	if isBig(order) {
		return b
	}
	b = slices.Clone(b)
	slices.Reverse(b)
	return b
}

// unsigned reads a number of any size.
func unsigned(b []byte, order arch.ByteOrder) *big.Int {
	return new(big.Int).SetBytes(bigEndian(b, order))
}

// signed reads a number of any size in two's complement.
func signed(b []byte, order arch.ByteOrder) *big.Int {
	v := unsigned(b, order)
	if bits := 8 * len(b); bits > 0 && v.Bit(bits-1) != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(bits)))
	}
	return v
}

// lowWord reads the 64 least significant bits of a number of any size.
func lowWord(b []byte, order arch.ByteOrder) uint64 {
	var w [8]byte
	n := min(len(b), 8)
	if isBig(order) {
		copy(w[8-n:], b[len(b)-n:])
		return binary.BigEndian.Uint64(w[:])
	}
	copy(w[:], b[:n])
	return binary.LittleEndian.Uint64(w[:])
}

// appendHex writes a number of any size in hexadecimal without leading zeros.
func appendHex(dst, b []byte, order arch.ByteOrder) []byte {
	dst = append(dst, "0x"...)
	if len(b) <= 8 {
		return strconv.AppendUint(dst, lowWord(b, order), 16)
	}
	return unsigned(b, order).Append(dst, 16)
}

// reversePairs reverses the order of bytes that are written as two digits each.
func reversePairs(digits []byte) {
	for i, j := 0, len(digits)-2; i < j; i, j = i+2, j-2 {
		digits[i], digits[i+1], digits[j], digits[j+1] = digits[j], digits[j+1], digits[i], digits[i+1]
	}
}

// swapWords reverses the bytes in each 32-bit word.
func swapWords(b []byte) []byte {
	b = slices.Clone(b)
	for w := range slices.Chunk(b, 4) {
		slices.Reverse(w)
	}
	return b
}

// quoteChar writes a character as GDB does: quoted, with C's escapes, and octal for what does not print.
func quoteChar(c byte) string {
	if esc, ok := charEscapes[c]; ok {
		return "'" + esc + "'"
	}
	if c >= ' ' && c <= '~' {
		return "'" + string(c) + "'"
	}
	return "'\\" + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7}) + "'"
}

var charEscapes = map[byte]string{
	'\'': `\'`, '\\': `\\`, '\a': `\a`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\v': `\v`,
}
