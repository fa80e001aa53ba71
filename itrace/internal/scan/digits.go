package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"tracewell/itrace"
	"tracewell/itrace/internal/swar"
)

// ParseHex is itrace.ParseHex, which reads digits one by one, for those of a line that a Batch has: up to 16 are read eight at
// once, whatever stands behind them.
func ParseHex(digits []byte) (value uint64, ok bool) {
	if value, ok = known(digits); ok {
		return value, true
	}
	return itrace.ParseHex(digits)
}

// ParseDigits is itrace.ParseDigits in the same way.
func ParseDigits(digits []byte) (value uint64, wild, ok bool) {
	if value, ok = known(digits); ok {
		return value, false, true
	}
	return itrace.ParseDigits(digits)
}

// ParseDecimal is itrace.ParseDecimal in the same way.
func ParseDecimal(digits []byte) (value uint64, ok bool) {
	if uint(len(digits)-1) < swar.Lookahead && cap(digits) >= swar.Lookahead {
		if value, wrong := swar.Decimal(digits[:cap(digits)], 0, len(digits)); wrong == 0 {
			return value, true
		}
	}
	return itrace.ParseDecimal(digits)
}

// known is the value of up to 16 digits that are all known and have enough bytes behind them; ok is false for all others.
func known(digits []byte) (value uint64, ok bool) {
	if uint(len(digits)-1) >= swar.Lookahead || cap(digits) < swar.Lookahead {
		return 0, false
	}
	value, wrong := swar.Hex(digits[:cap(digits)], 0, len(digits))
	return value, wrong == 0
}

// IndexByte returns where a byte is first from a place of a line on, the end of the line if it is not there. It is for what is
// near: a call of bytes.IndexByte takes longer than a few steps of eight bytes.
func IndexByte(line []byte, at int, c byte) int {
	for room := line[:cap(line)]; at < len(line) && at+8 <= len(room); at += 8 {
		if same := swar.Equal(binary.LittleEndian.Uint64(room[at:at+8]), c); same != 0 {
			return min(at+bits.TrailingZeros64(same)/8, len(line))
		}
	}
	for at < len(line) && line[at] != c {
		at++
	}
	return min(at, len(line))
}

// FieldEnd is IndexByte for the separator of fields of which many are empty.
func FieldEnd(line []byte, at int, separator byte) int {
	if at < len(line) && line[at] == separator {
		return at
	}
	return IndexByte(line, at, separator)
}

// Cut is bytes.Cut at a byte that is near.
func Cut(text []byte, separator byte) (before, after []byte, found bool) {
	if at := IndexByte(text, 0, separator); at < len(text) {
		return text[:at], text[at+1:], true
	}
	return text, nil, false
}

// LastIndex is bytes.LastIndex for what most texts have once at most: bytes.Index is many times as fast.
func LastIndex(text, part []byte) int {
	first := bytes.Index(text, part)
	if first < 0 {
		return -1
	}
	return first + bytes.LastIndex(text[first:], part)
}

// Again has the next records of a batch be of a line that its Line has returned for a place, as a second Line would, but does not
// look for the end of the line.
func Again(b *itrace.Batch, at int, line []byte, last bool) {
	if at == 0 { // there may be a byte order mark
		b.Line(at, last)
		return
	}
	b.Place(at, at+len(line))
}
