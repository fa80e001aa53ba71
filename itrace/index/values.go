package index

import (
	"encoding/binary"
	"slices"
)

// Value is what a register was written.
type Value struct {
	CPU    int32
	Name   uint32 // its number among the names of the trace
	Digits []byte // hexadecimal; other characters stand for digits that are not known
	Line   int64  // where it was written
}

// appendValues appends what the registers of some slots hold.
func (b *builder) appendValues(dst []byte, slots []int) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(slots)))
	for _, i := range slots {
		dst = b.slots[i].append(dst)
	}
	return dst
}

// append appends key, line and digits: two to a byte unless some are not known.
func (s *slot) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, s.key)
	dst = binary.AppendUvarint(dst, uint64(s.line))
	packed, ok := packDigits(nil, s.digits)
	if !ok {
		dst = binary.AppendUvarint(dst, uint64(len(s.digits))<<1|1)
		return append(dst, s.digits...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.digits))<<1)
	return append(dst, packed...)
}

// packDigits puts two digits into a byte, the last two into the last.
func packDigits(dst, digits []byte) ([]byte, bool) {
	odd := len(digits) & 1
	var b byte
	for i, c := range digits {
		v, ok := digitValue(c)
		if !ok {
			return nil, false
		}
		b = b<<4 | v
		if (i+odd)&1 == 1 {
			dst, b = append(dst, b), 0
		}
	}
	return dst, true
}

func digitValue(c byte) (byte, bool) {
	switch {
	case c-'0' <= 9:
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// parseValues reads what appendValues has written.
func parseValues(text []byte) ([]Value, error) {
	in := decoder{rest: text}
	var values []Value
	for range in.count(3) {
		key := in.uvarint()
		v := Value{CPU: int32(key >> 32), Name: uint32(key), Line: int64(in.uvarint())}
		n := in.uvarint()
		digits := n >> 1
		if n&1 == 0 {
			digits = (digits + 1) / 2
		}
		if digits > uint64(len(in.rest)) {
			in.failed = true
			break
		}
		if v.Digits = in.rest[:digits]; n&1 == 0 {
			v.Digits = unpackDigits(v.Digits, int(n>>1))
		}
		in.rest = in.rest[digits:]
		values = append(values, v)
	}
	return values, in.end("values of registers")
}

func unpackDigits(packed []byte, n int) []byte {
	const alphabet = "0123456789abcdef"
	digits := make([]byte, 0, 2*len(packed))
	for _, b := range packed {
		digits = append(digits, alphabet[b>>4], alphabet[b&15])
	}
	return slices.Clip(digits[len(digits)-n:])
}
