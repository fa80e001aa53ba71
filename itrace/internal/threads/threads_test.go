package threads

import (
	"bytes"
	"testing"
)

// TestTable numbers threads as they come, up to a bound, and goes on from a state.
func TestTable(t *testing.T) {
	var table, again Table
	for i, id := range []ID{{7, 0}, {1 << 63, 0}, {7, 1}, {7, 0}} {
		cpu, ok := table.CPU(id)
		if want := int32(i % 3); cpu != want || !ok {
			t.Errorf("%v is %d, %v", id, cpu, ok)
		}
	}
	state := table.AppendState(nil)
	for n := range state {
		again.Restore(state[:n]) // any error, and no panic
	}
	if err := again.Restore(state); err != nil || !bytes.Equal(again.AppendState(nil), state) {
		t.Errorf("the state %x is not restored: %v", state, err)
	}
	for i := range uint64(most) {
		table.CPU(ID{i, 2})
	}
	if _, ok := table.CPU(ID{0, 3}); ok {
		t.Error("there is no bound")
	}
	if err := again.Restore(append(table.AppendState(nil), 1, 1)); err == nil {
		t.Error("more is restored than there is room for")
	}
}
