//go:build linux

package linux_test

import (
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// TestForksToldLate inserts a breakpoint at one event and removes it at the next, while forks have happened that are told only
// afterwards. No child may have it when it is let go: it would die of it.
func TestForksToldLate(t *testing.T) {
	path := testprog.Build(t, "forkstorm", fixed).Path
	r := launch(t, path, "4", "40", "fork")
	r.quiet()
	r.target.SetReports(target.Reports{Fork: true})
	at := target.Breakpoint{Addr: symbol(t, path, "add_base"), Length: 1}
	inserted := false
	ev := r.resume(0)
	for ; ev.Kind != target.Exited; ev = r.resume(0) {
		change := r.target.InsertBreakpoint
		if inserted {
			change = r.target.RemoveBreakpoint
		}
		r.must(change(ev.Thread, at))
		inserted = !inserted
		if ev.Kind == target.Forked {
			r.must(r.target.Detach(ev.Child.PID))
		}
	}
	if out := r.output(); ev.Code != 0 || !strings.Contains(out, "done wrong=0") {
		t.Errorf("exit %d, output %q", ev.Code, out)
	}
}

// TestVforkParentDetached lets a program go whose threads are about to be created, to vfork, waiting for a child, and running
// through a breakpoint that the child needs still. All do their work.
func TestVforkParentDetached(t *testing.T) {
	path := testprog.Build(t, "forkstorm", fixed).Path
	for range 10 {
		r := launch(t, path, "24", "3", "vfork")
		r.quiet()
		r.target.SetReports(target.Reports{Vfork: true})
		ev := r.resume(0)
		if ev.Kind != target.Vforked {
			t.Fatalf("event %+v, want a vfork", ev)
		}
		r.must(r.target.InsertBreakpoint(ev.Thread, target.Breakpoint{Addr: symbol(t, path, "step"), Length: 1}))
		r.must(r.target.Detach(r.pid))
		time.Sleep(5 * time.Millisecond)
		at := r.resume(0)
		if at.Reason != target.ReasonSwBreak || at.Thread != ev.Child {
			t.Fatalf("event %+v, want the child at the breakpoint", at)
		}
		r.must(r.target.Detach(ev.Child.PID))
		if !gone(r.pid) {
			t.Fatal("the program does not end")
		}
		if out := r.output(); !strings.Contains(out, "done wrong=0") {
			t.Errorf("output %q", out)
		}
	}
}

// TestAttachToWaiting lets a program go whose threads wait for vfork children, and attaches to it again as soon as that is possible:
// when none of its threads waits any more.
func TestAttachToWaiting(t *testing.T) {
	path := testprog.Build(t, "forkstorm", fixed).Path
	for range 20 {
		r := launch(t, path, "16", "3", "vfork")
		r.quiet()
		r.target.SetReports(target.Reports{Vfork: true})
		ev := r.resume(0)
		if ev.Kind != target.Vforked {
			t.Fatalf("event %+v, want a vfork", ev)
		}
		r.must(r.target.SetNonStop(true))
		r.must(r.target.Detach(r.pid))
		if _, err := r.target.Attach(r.pid); err == nil || !strings.Contains(err.Error(), "traces it already") {
			t.Errorf("attach while threads wait: %v", err)
		}
		r.must(r.target.Resume([]target.Action{{Thread: ev.Child}}))
		_, err := r.target.Attach(r.pid)
		for err != nil && strings.Contains(err.Error(), "traces it already") {
			_, err = r.target.Attach(r.pid)
		}
		r.must(err)
		r.must(r.target.Detach(r.pid))
		r.must(r.target.Detach(ev.Child.PID))
		if !gone(r.pid) {
			t.Fatal("the program does not end")
		}
		if out := r.output(); !strings.Contains(out, "done wrong=0") {
			t.Errorf("output %q", out)
		}
	}
}

// TestForksLeftInNonStop returns to all-stop mode before anybody has heard of the forks that happened. Each child is told of then.
func TestForksLeftInNonStop(t *testing.T) {
	path := testprog.Build(t, "forkstorm", fixed).Path
	r := launch(t, path, "8", "50", "fork")
	r.quiet()
	r.target.SetReports(target.Reports{Fork: true})
	r.must(r.target.SetNonStop(true))
	r.must(r.target.Resume([]target.Action{target.Action{Thread: target.ThreadID{PID: r.pid, TID: target.All}}}))
	children := func() map[int]bool {
		pids := make(map[int]bool)
		for _, id := range r.target.Threads() {
			if id.PID != r.pid {
				pids[id.PID] = true
			}
		}
		return pids
	}
	for len(children()) == 0 { // more need not come: the thread that forks holds locks of the C library
	}
	r.must(r.target.SetNonStop(false))
	untold := children()
	for len(r.target.Events()) > 0 {
		ev := <-r.target.Events()
		if ev.Kind != target.Forked || !untold[ev.Child.PID] {
			t.Errorf("event %+v is left", ev)
		}
		delete(untold, ev.Child.PID)
	}
	if len(untold) > 0 {
		t.Errorf("nobody is told of %v", untold)
	}
}
