package tracepoint

import (
	"errors"
	"slices"
	"testing"

	"tracewell/arch"
	"tracewell/trace"
)

// TestBatches defines, disables and enables many tracepoints during a run: the Collector is asked to apply once for each, what one
// is refused for leaves the others, and traps follow.
func TestBatches(t *testing.T) {
	r := newRig(t)
	c := &fakeCollector{refused: map[trace.Number]error{5: errors.New("no room for a jump")}}
	r.target.collector = c
	r.target.refused = map[arch.Addr]error{0x60: errors.New("no memory there")}
	r.start(tracepointAt(1, 0x10))
	c.wantCalls(t, "offload 1", "apply")
	errs := r.DefineAll([]trace.Tracepoint{
		tracepointAt(4, 0x40), tracepointAt(2, 0x20), tracepointAt(3, 0x20), tracepointAt(5, 0x50), {Number: 7, Addr: 0x70, Condition: []byte{0xff}},
	})
	c.wantCalls(t, "offload 2", "offload 3", "offload 4", "offload 5", "recall 0x50", "apply")
	if len(errs) != 5 || errs[4] == nil || slices.ContainsFunc(errs[:4], func(err error) bool { return err != nil }) {
		t.Errorf("errors %v, want one about the last", errs)
	}
	if !slices.Equal(r.target.addresses(), []arch.Addr{0x50}) {
		t.Errorf("traps at %v, want 0x50", r.target.addresses())
	}
	keys := []trace.Key{{Number: 2, Addr: 0x20}, {Number: 3, Addr: 0x20}, {Number: 5, Addr: 0x50}}
	r.must(r.EnableAll(keys, false))
	c.wantCalls(t, "recall 0x20", "apply")
	if len(r.target.addresses()) > 0 {
		t.Errorf("traps at %v, want none", r.target.addresses())
	}
	r.must(r.EnableAll(keys, true))
	c.wantCalls(t, "offload 2", "offload 3", "offload 5", "recall 0x50", "apply")
	// One that the target refuses is not defined, and those beside it are.
	c.refused[6] = errors.New("no")
	errs = r.DefineAll([]trace.Tracepoint{tracepointAt(6, 0x60), tracepointAt(8, 0x80), tracepointAt(6, 0x90)})
	if len(errs) != 3 || errs[0] == nil || errs[1] != nil || errs[2] != nil {
		t.Errorf("errors %v, want one about the first", errs)
	}
	if !slices.Equal(r.target.addresses(), []arch.Addr{0x50, 0x90}) {
		t.Errorf("traps at %v, want 0x50 and 0x90", r.target.addresses())
	}
	for _, d := range r.Tracepoints() {
		if d.Addr == 0x60 || d.Addr == 0x70 || !d.Enabled {
			t.Errorf("there is tracepoint %d at %s, enabled: %v", d.Number, d.Addr, d.Enabled)
		}
	}
	if err := r.EnableAll([]trace.Key{{Number: 6, Addr: 0x60}}, true); err == nil {
		t.Error("a tracepoint is enabled that there is not")
	}
	r.must(r.Stop(trace.ReasonStop, ""))
	if errs := r.DefineAll([]trace.Tracepoint{tracepointAt(9, 0x90)}); errs != nil || len(r.target.addresses()) > 0 {
		t.Errorf("after the run: %v, traps at %v", errs, r.target.addresses())
	}
}

// TestCancelled cancels runs while their tracepoints are installed, here or elsewhere: the rest is left out, and the end of the run
// removes what there is.
func TestCancelled(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		for after := range 7 {
			r := newRig(t)
			c := &fakeCollector{}
			if elsewhere {
				r.target.collector = c
			}
			asked := 0
			r.layout.Cancelled = func() bool { asked++; return asked > after }
			r.start(tracepointAt(1, 0x10), tracepointAt(2, 0x20), tracepointAt(3, 0x30))
			here, offloaded := len(r.target.addresses()), len(c.calls)-1
			want := max(after-3, 0) // they are gone through twice
			if elsewhere {
				here, want = max(offloaded, 0), min(after, 3)
			}
			if here != want {
				t.Errorf("elsewhere %v, cancelled at question %d: %d locations, want %d", elsewhere, after, here, want)
			}
			c.calls = nil
			r.must(r.Stop(trace.ReasonStop, ""))
			if n := len(r.target.addresses()); n != 0 || elsewhere && want > 0 && len(c.calls) != want+1 {
				t.Errorf("elsewhere %v, cancelled at question %d: %d traps left, %v", elsewhere, after, n, c.calls)
			}
		}
	}
}
