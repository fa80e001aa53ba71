//go:build linux

package linux_test

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
)

// TestWarnings has a program seal the page that a tracepoint is in. Whether the program is detached from or the run ends, its
// user is warned that the breakpoint stays there.
func TestWarnings(t *testing.T) {
	if everywhere {
		t.Skip("a jump that stays leads to a pad, which stays as well")
	}
	p := testprog.Build(t, "sealed", fixed)
	at := symbol(t, p.Path, "sealed_add")
	for _, detach := range []bool{false, true} {
		t.Run(fmt.Sprintf("detach=%v", detach), func(t *testing.T) {
			r := launch(t, p.Path, "3")
			r.trace(1, at, func(tp *trace.Tracepoint) {
				if !detach {
					tp.Pass = 1
				}
			})
			r.must(r.engine.Start(r.target, r.pid))
			r.insert(target.Breakpoint{Addr: symbol(t, p.Path, "ready"), Length: 1})
			r.resume(0)
			if detach {
				r.must(r.target.Detach(r.pid))
			} else if ev := r.resume(0); ev.Signal != target.SignalTrap || ev.Reason != target.ReasonNone || r.pc(ev.Thread) != at+1 {
				t.Errorf("%+v at %s, want SIGTRAP behind the breakpoint", ev, r.pc(ev.Thread))
			}
			r.must(r.target.Close())
			var got []string
			for err := range r.target.Warnings() {
				got = append(got, err.Error())
			}
			want := fmt.Sprintf("process %d: cannot put back the program's own code at %s: write /proc/", r.pid, at)
			if len(got) != 1 || !strings.HasPrefix(got[0], want) || !strings.Contains(got[0], "restart the program") {
				t.Errorf("warnings %q, want %s", got, want)
			}
		})
	}
}
