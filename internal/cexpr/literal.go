package cexpr

import (
	"strconv"
	"strings"

	"tracewell/symbol/ctype"
)

// ParseInteger reads an integer literal: decimal, hexadecimal after 0x, octal after 0 or binary after 0b, with the suffixes of
// C. Its type is the first of int, unsigned int, long and unsigned long that holds it, as C has it: an unsigned one is left
// out for a decimal literal, a signed one behind the suffix u, and what is shorter than long behind l. A decimal literal that
// is too large for a long is unsigned, as in GDB.
func ParseInteger(text string, abi ctype.ABI) (uint64, *ctype.Type, bool) {
	digits := strings.ToLower(text)
	base := 10
	switch {
	case strings.HasPrefix(digits, "0x"):
		digits, base = digits[2:], 16
	case strings.HasPrefix(digits, "0b"):
		digits, base = digits[2:], 2
	case strings.HasPrefix(digits, "0"):
		base = 8
	}
	digits, suffix := cutSuffix(digits)
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, nil, false
	}
	size := 4
	if strings.Contains(suffix, "l") {
		size = abi.Long
	}
	if strings.Contains(suffix, "ll") {
		size = 8
	}
	// From int to unsigned long, by size and then by sign. Size 8 ends the loop: whatever is left is unsigned.
	unsigned := strings.Contains(suffix, "u")
	for ; ; size = 8 {
		top := uint64(1) << (8*size - 1)
		switch {
		case n < top && !unsigned:
			return n, ctype.Int(size, true), true
		case n <= top-1+top && (unsigned || base != 10), size == 8:
			return n, ctype.Int(size, false), true
		}
	}
}

// suffixes are those of C, longer ones first.
var suffixes = []string{"ull", "llu", "ul", "lu", "ll", "u", "l"}

// cutSuffix splits a number in lower case at its suffix.
func cutSuffix(digits string) (number, suffix string) {
	for _, s := range suffixes {
		if number, found := strings.CutSuffix(digits, s); found {
			return number, s
		}
	}
	return digits, ""
}

// escapes are the characters that stand for others behind a backslash: those of C, and \e of GNU.
var escapes = map[byte]byte{
	'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11, 'e': 27, '\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ParseCharacter reads a literal of one character of one byte, quotes included: false for any other. The value is extended by the
// sign that plain char has on the machine: '\xff' is -1 on x86-64 and 255 on ARM.
func ParseCharacter(text string, abi ctype.ABI) (uint64, bool) {
	body := text[1 : len(text)-1]
	typ := charType(!abi.UnsignedChar)
	switch {
	case len(body) == 1:
		return typ.Extend(uint64(body[0])), true
	case len(body) < 2 || body[0] != '\\':
		return 0, false
	}
	if c, ok := escapes[body[1]]; ok {
		return uint64(c), len(body) == 2
	}
	digits, base := body[1:], 8
	if hex, found := strings.CutPrefix(digits, "x"); found {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 8)
	return typ.Extend(n), err == nil
}
