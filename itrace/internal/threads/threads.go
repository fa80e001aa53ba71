// Package threads numbers the threads of a trace as they come, for dialects in which these are what executes: two runs have the
// same numbers, whatever numbers the system gives.
package threads

import (
	"encoding/binary"

	"tracewell/itrace"
)

// ID is what tells a thread from others: a number, and another that some need besides.
type ID struct{ Number, Of uint64 }

// Table has the threads of a trace; none at first.
type Table struct{ all []ID }

// most bounds them.
const most = 1 << 14

// CPU returns the number of a thread, false if there are too many.
func (t *Table) CPU(id ID) (cpu int32, ok bool) {
	for i := range t.all {
		if t.all[i] == id {
			return int32(i), true
		}
	}
	if len(t.all) == most {
		return 0, false
	}
	t.all = append(t.all, id)
	return int32(len(t.all) - 1), true
}

// AppendState appends all threads, nothing for none.
func (t *Table) AppendState(dst []byte) []byte {
	for _, id := range t.all {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, id.Number), id.Of)
	}
	return dst
}

// Restore takes the place of what AppendState has appended, which has to be all there is.
func (t *Table) Restore(state []byte) error {
	t.all = t.all[:0]
	for len(state) > 0 {
		number, n := binary.Uvarint(state)
		if n <= 0 || len(t.all) == most {
			return itrace.ErrState
		}
		of, m := binary.Uvarint(state[n:])
		if m <= 0 {
			return itrace.ErrState
		}
		t.all = append(t.all, ID{number, of})
		state = state[n+m:]
	}
	return nil
}
