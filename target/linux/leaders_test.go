//go:build linux

package linux_test

import (
	"testing"

	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// outlive starts that program with a breakpoint at step.
func outlive(t *testing.T, how string) (*run, target.Breakpoint) {
	t.Helper()
	path := testprog.Build(t, "outlive", fixed).Path
	r := launch(t, path, how)
	r.target.SetReports(target.Reports{NoneResumed: true})
	at := target.Breakpoint{Addr: symbol(t, path, "step"), Length: 1}
	r.insert(at)
	return r, at
}

// TestLeaderEndsFirst stops a thread whose leader is gone, again and again, asks of it, and interrupts it.
func TestLeaderEndsFirst(t *testing.T) {
	r, at := outlive(t, "leader")
	for range 5 {
		ev := r.resume(0)
		if threads := r.target.Threads(); ev.Reason != target.ReasonSwBreak || len(threads) != 1 || threads[0] != ev.Thread {
			t.Fatalf("%+v with threads %+v, want one that is at the breakpoint", ev, threads)
		}
		if err := r.target.ReadRegisters(r.leader(), r.block()); err == nil {
			t.Error("the leader has registers still")
		}
		if exec, err := r.target.ReadExecFile(r.pid); err != nil || exec == "" {
			t.Errorf("executable %q, %v", exec, err)
		}
		if auxv, err := r.target.ReadAuxv(r.pid); err != nil || len(auxv) == 0 {
			t.Errorf("auxiliary vector of %d bytes, %v", len(auxv), err)
		}
	}
	r.remove(at)
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || r.output() != "done calls=10\n" {
		t.Errorf("%+v, want exit with status 0 after ten calls", ev)
	}
}

// TestLeaderEndsAlone lets only the leader go on, so that there is nothing to wait for when it has ended.
func TestLeaderEndsAlone(t *testing.T) {
	for _, nonStop := range []bool{false, true} {
		r, at := outlive(t, "leader")
		r.remove(at)
		path := testprog.Build(t, "outlive", fixed).Path
		thread := target.Breakpoint{Addr: symbol(t, path, "thread"), Length: 1}
		r.insert(thread)
		if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || ev.Thread == r.leader() {
			t.Fatalf("%+v, want the thread at its beginning", ev)
		}
		r.remove(thread)
		r.must(r.target.SetNonStop(nonStop))
		ev := r.do(target.Action{Thread: r.leader()})
		if ev.Kind != target.NoneResumed {
			t.Errorf("%+v, want that nothing is left to wait for", ev)
		}
		if threads := r.target.Threads(); len(threads) != 1 || threads[0] == r.leader() {
			t.Errorf("threads %+v, want the one beside the leader", threads)
		}
		if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
			t.Errorf("%+v, want exit with status 0", ev)
		}
	}
}

// TestCloneIsThread stops a task that shares the program's memory and is no thread of its process. It is one to the session, even
// when the process itself has ended.
func TestCloneIsThread(t *testing.T) {
	for how, threads := range map[string]int{"clone": 2, "last": 1} {
		t.Run(how, func(t *testing.T) {
			r, at := outlive(t, how)
			for range 5 {
				ev := r.resume(0)
				if n := len(r.target.Threads()); ev.Reason != target.ReasonSwBreak || ev.Thread.PID != r.pid || ev.Thread.TID == r.pid || n != threads {
					t.Fatalf("%+v with %d threads, want a second one at the breakpoint, of %d", ev, n, threads)
				}
			}
			r.remove(at)
			if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || ev.Thread.PID != r.pid || r.output() != "done calls=10\n" {
				t.Errorf("%+v, want exit with status 0 after ten calls", ev)
			}
		})
	}
}

// TestCloneIsKilled kills a process and lets one go that have such a task.
func TestCloneIsKilled(t *testing.T) {
	for _, how := range []string{"clone", "last"} {
		r, _ := outlive(t, how)
		clone := r.resume(0).Thread.TID
		r.must(r.target.Kill(r.pid))
		if !gone(clone) || len(r.target.Threads()) != 0 {
			t.Errorf("%s: %d is there still, or %d threads", how, clone, len(r.target.Threads()))
		}
		r, _ = outlive(t, how)
		r.resume(0)
		r.must(r.target.Detach(r.pid))
		if text := r.output(); text != "done calls=10\n" {
			t.Errorf("%s: after it was let go the program printed %q", how, text)
		}
	}
}
