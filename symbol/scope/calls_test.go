package scope

import (
	"encoding/binary"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/debuginfo"
)

// TestReaches: what a function was passed cannot be told by its return address if it may have jumped to itself.
func TestReaches(t *testing.T) {
	all := &calls{
		tails: map[debuginfo.Offset][]callee{
			1: {{root: 2}, {name: "elsewhere"}},
			2: {{root: 3}, {root: 2}},
			3: {{root: 4}},
			5: {{root: 50}, {name: "five"}},
			6: {{root: 7}},
		},
		unknown: map[debuginfo.Offset]bool{7: true},
	}
	for function, want := range map[callee]bool{
		{1, "one"}: false, {2, "two"}: true, {3, "three"}: false, {5, "five"}: true, {6, "six"}: true, {7, "seven"}: true, {8, ""}: false,
	} {
		if got := all.reaches([]callee{{root: function.root}, {name: function.name}}); got != want {
			t.Errorf("function %d %s: %v", function.root, function.name, got)
		}
	}
}

// returned is a frame whose return address is at 0x500.
type returned struct {
	ax.Env
	address uint64
}

func (r returned) Ref(addr arch.Addr, size int) (uint64, error) {
	if addr != 0x500 {
		return 0, ax.ErrMemory
	}
	return r.address, nil
}

// TestChoose: the return address says which call passed the value. Of one that is not known there is none.
func TestChoose(t *testing.T) {
	constant := func(n int64) emit { return func(b *ax.Builder) error { b.Const(n); return nil } }
	code := choose(saved(constant(0x508), -8), []passing{{0x1000, constant(7)}, {0x2000, constant(8)}})
	for address, want := range map[uint64]uint64{0x1000: 7, 0x2000: 8} {
		var b ax.Builder
		if err := code(&b); err != nil {
			t.Fatal(err)
		}
		b.Emit(ax.OpEnd)
		p, err := b.Program()
		if err != nil {
			t.Fatal(err)
		}
		var m ax.Machine
		if got, err := m.Value(p, returned{address: address}); err != nil || uint64(got) != want {
			t.Errorf("from %#x: %d, %v", address, got, err)
		}
		if got, err := m.Value(p, returned{address: address + 1}); err == nil {
			t.Errorf("from nowhere: %d", got)
		}
	}
}

// TestCallRegisters compares how the operators of registers in calls are written.
func TestCallRegisters(t *testing.T) {
	if got := binary.BigEndian.Uint16(registerLocation(40)); got != opRegx<<8|40 {
		t.Errorf("%#x", got)
	}
	if got := registerLocation(5); len(got) != 1 || got[0] != opReg0+5 {
		t.Errorf("% x", got)
	}
}
