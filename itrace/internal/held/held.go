// Package held is what registers held when a trace told them the last time. Producers that write the state of registers, and not
// what an instruction wrote, are read as ones that tell changes.
package held

import (
	"encoding/binary"
	"math"

	"tracewell/itrace"
)

// Values are those of the registers of all processors; none at first.
type Values struct {
	all  []value
	next int // of all: the one behind that which was told last, as producers keep to an order
}

type value struct {
	cpu  int32
	name string
	bits uint64
}

// most bounds them. Those of which there is no room are told each time.
const most = 1 << 12

// Unchanged notes what a register holds, and reports whether it is what it held before.
func (v *Values) Unchanged(cpu int32, name []byte, bits uint64) bool {
	for i, at := 0, v.next; i < len(v.all); i, at = i+1, at+1 {
		if at >= len(v.all) {
			at = 0
		}
		if h := &v.all[at]; h.cpu == cpu && h.name == string(name) {
			same := h.bits == bits
			h.bits, v.next = bits, at+1
			return same
		}
	}
	if len(v.all) < most && len(name) <= math.MaxUint8 {
		v.all = append(v.all, value{cpu, string(name), bits})
	}
	return false
}

// Bits is what Unchanged is to be told of digits, which are the same number if it is the same: of more than 16 it is a checksum,
// that of FNV.
func Bits(digits []byte) (bits uint64) {
	if value, ok := itrace.ParseHex(digits); ok {
		return value
	}
	const offset, prime = 14695981039346656037, 1099511628211
	bits = offset
	for _, c := range digits {
		bits = (bits ^ uint64(c)) * prime
	}
	return bits
}

// AppendFlagged appends the state of a decoder that remembers flags besides: these and all values, nothing without flags.
func (v *Values) AppendFlagged(dst []byte, flags byte) []byte {
	if flags == 0 {
		return dst
	}
	return v.AppendState(append(dst, flags))
}

// RestoreFlagged takes the place of what AppendFlagged has appended, which has to be all there is, with no other flags than all.
func (v *Values) RestoreFlagged(state []byte, all byte) (flags byte, err error) {
	if len(state) == 0 {
		return 0, v.Restore(nil)
	}
	if state[0] == 0 || state[0] > all {
		return 0, itrace.ErrState
	}
	return state[0], v.Restore(state[1:])
}

// AppendState appends all values, nothing for none.
func (v *Values) AppendState(dst []byte) []byte {
	for i := range v.all {
		h := &v.all[i]
		dst = binary.AppendUvarint(dst, uint64(h.cpu))
		dst = append(append(dst, byte(len(h.name))), h.name...)
		dst = binary.AppendUvarint(dst, h.bits)
	}
	return dst
}

// Restore takes the place of what AppendState has appended, which has to be all there is.
func (v *Values) Restore(state []byte) error {
	v.all = v.all[:0]
	for at := 0; at < len(state); {
		cpu, n := binary.Uvarint(state[at:])
		if n <= 0 || cpu > math.MaxInt32 || len(v.all) == most || at+n >= len(state) {
			return itrace.ErrState
		}
		at += n
		name := state[at+1:]
		if len(name) < int(state[at]) {
			return itrace.ErrState
		}
		name = name[:state[at]]
		at += 1 + len(name)
		bits, n := binary.Uvarint(state[at:])
		if n <= 0 {
			return itrace.ErrState
		}
		at += n
		v.all = append(v.all, value{int32(cpu), string(name), bits})
	}
	return nil
}
