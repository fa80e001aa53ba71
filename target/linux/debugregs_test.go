//go:build linux

package linux_test

import (
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/needs"
	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// TestWatchpointsComeAndGo has threads that write all the time stop at two watchpoints at once, of which one is told. The other
// is not to be told as anything else when its watchpoint has gone before its turn, or has another debug register.
func TestWatchpointsComeAndGo(t *testing.T) {
	needs.DebugRegisters(t)
	r, _ := hammer(t)
	workers := symbol(t, testprog.Build(t, "hammer", fixed).Path, "workers")
	watch := func(i int) target.Breakpoint {
		const size = 16
		return target.Breakpoint{Kind: target.WriteWatch, Addr: workers + arch.Addr(i*size), Length: 8}
	}
	for i := range 100 {
		kept, other := i%2, 1-i%2
		r.insert(watch(kept))
		r.insert(watch(other))
		if ev := r.resume(0); ev.Reason != target.ReasonWatch {
			t.Fatalf("round %d: %+v, want one of the watchpoints", i, ev)
		}
		r.remove(watch(other))
		if ev := r.resume(0); ev.Reason != target.ReasonWatch || ev.Addr != watch(kept).Addr {
			t.Fatalf("round %d: %+v, want the watchpoint that was kept", i, ev)
		}
		r.remove(watch(kept))
	}
}
