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
