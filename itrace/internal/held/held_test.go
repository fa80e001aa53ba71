package held

import (
	"bytes"
	"fmt"
	"testing"
)

// TestUnchanged has registers of two processors, and goes on from a state.
func TestUnchanged(t *testing.T) {
	var v Values
	for i, step := range []struct {
		cpu       int32
		name      string
		bits      uint64
		unchanged bool
	}{
		{0, "x1", 0, false}, {0, "x1", 0, true}, {0, "x1", 1 << 63, false}, {1, "x1", 1 << 63, false}, {0, "x1", 1 << 63, true},
		{0, "x10", 1, false}, {1, "x1", 0, false}, {0, "x10", 1, true},
	} {
		if got := v.Unchanged(step.cpu, []byte(step.name), step.bits); got != step.unchanged {
			t.Errorf("step %d: unchanged %v", i, got)
		}
		state := v.AppendState(nil)
		var again Values
		if err := again.Restore(state); err != nil || !bytes.Equal(again.AppendState(nil), state) {
			t.Errorf("step %d: the state %x is not restored: %v", i, state, err)
		}
		for n := 1; n < len(state); n++ {
			again.Restore(state[:n]) // any error, and no panic
		}
		v = again
		if err := v.Restore(state); err != nil {
			t.Error(err)
		}
	}
}

// TestBound: of more registers than there is room for the last are told each time, and all can be restored.
func TestBound(t *testing.T) {
	var v, again Values
	for i := range most + 1 {
		v.Unchanged(0, fmt.Appendf(nil, "r%d", i), 1)
	}
	if !v.Unchanged(0, []byte("r0"), 1) || v.Unchanged(0, fmt.Appendf(nil, "r%d", most), 1) {
		t.Error("the bound is another")
	}
	if err := again.Restore(v.AppendState(nil)); err != nil {
		t.Error(err)
	}
	if err := again.Restore(append(v.AppendState(nil), 0, 1, 'x', 0)); err == nil {
		t.Error("more is restored than there is room for")
	}
	name := bytes.Repeat([]byte("x"), 256)
	v.Unchanged(0, name, 1)
	if v.Unchanged(0, name, 1) {
		t.Error("a name is kept that a state has no room for")
	}
}

// TestBits: digits of any width that differ are other bits, and zeros in front of up to 16 make none.
func TestBits(t *testing.T) {
	if Bits([]byte("00ff")) != 255 || Bits([]byte("FF")) != 255 {
		t.Error("the number is another")
	}
	wide := []byte("00000000000000010000000000000000")
	before := Bits(wide)
	if wide[15] = '2'; Bits(wide) == before {
		t.Error("the upper half is left out")
	}
}
