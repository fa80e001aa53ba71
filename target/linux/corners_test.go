//go:build linux

package linux_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// What the kernel does to threads at the worst moment: they vanish by another's exec, end the process while they are being stopped,
// are killed while they stand, or never come back from the instruction under a tracepoint.

// modes has a test in all-stop and in non-stop mode, and with and without events of threads.
func modes(t *testing.T, test func(t *testing.T, nonStop bool, reports target.Reports)) {
	for _, nonStop := range []bool{false, true} {
		for _, threads := range []bool{false, true} {
			t.Run(fmt.Sprintf("nonstop=%v/threads=%v", nonStop, threads), func(t *testing.T) {
				test(t, nonStop, target.Reports{Threads: threads, NoneResumed: true})
			})
		}
	}
}

// past goes through the events of threads that begin and end, which take nothing away from what a test is about.
func (r *run) past(ev target.Event) target.Event {
	r.t.Helper()
	for ev.Kind == target.ThreadCreated || ev.Kind == target.ThreadExited {
		if ev.Kind == target.ThreadCreated || !r.nonStop {
			r.must(r.target.Resume([]target.Action{{Thread: everything}}))
		}
		ev = r.next()
	}
	return ev
}

// TestExecByThreadAlone resumes one thread, which executes another program while all others stand still. The kernel ends them, and
// gives the thread the leader's id.
func TestExecByThreadAlone(t *testing.T) {
	path := testprog.Build(t, "execs", fixed).Path
	modes(t, func(t *testing.T, nonStop bool, reports target.Reports) {
		r := launch(t, path, "10", "thread")
		at := target.Breakpoint{Addr: symbol(t, path, "replace"), Length: 1}
		r.insert(at)
		ev := r.resume(0)
		if ev.Reason != target.ReasonSwBreak || ev.Thread == r.leader() || len(r.target.Threads()) != 4 {
			t.Fatalf("%+v with threads %v, want the fourth thread at the breakpoint", ev, r.target.Threads())
		}
		r.must(r.target.SetNonStop(nonStop))
		r.nonStop = nonStop
		r.target.SetReports(reports)
		alone := ev.Thread
		for ev = r.do(target.Action{Thread: alone}); ev.Kind == target.ThreadExited; ev = r.next() {
			if !nonStop {
				r.must(r.target.Resume([]target.Action{{Thread: everything}})) // alone may have its new id already
			}
		}
		if ev.Kind != target.Execed || ev.Thread != r.leader() {
			t.Fatalf("%+v, want an exec under the id of the leader", ev)
		}
		if threads := r.target.Threads(); len(threads) != 1 || threads[0] != r.leader() {
			t.Errorf("threads %v, want the leader alone", threads)
		}
		r.must(r.target.ReadRegisters(r.leader(), r.block()))
		if err := r.target.ReadRegisters(alone, r.block()); err == nil {
			t.Error("the thread that has executed the program has registers under its former id")
		}
		r.insert(target.Breakpoint{Addr: symbol(t, path, "step"), Length: 1}) // what was inserted before is gone with its memory
		for i := range 10 {
			if ev = r.resume(0); ev.Reason != target.ReasonSwBreak || ev.Thread != r.leader() {
				t.Fatalf("call %d: %+v, want the breakpoint in the new program", i, ev)
			}
		}
		if ev = r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || r.output() != "done wrong=0 calls=10\n" {
			t.Errorf("%+v, want exit with status 0 after ten calls", ev)
		}
	})
}

// TestNoReturnFromTracepoint has threads end, end the process and execute a program by the very instruction that a tracepoint
// displaces: each is a hit, and what the thread was executed from is free for the next.
func TestNoReturnFromTracepoint(t *testing.T) {
	const threads = 100
	path := testprog.Build(t, "leaves", fixed).Path
	for how, want := range map[string]int{"process": 7, "exec": 5} {
		t.Run(how, func(t *testing.T) {
			modes(t, func(t *testing.T, nonStop bool, reports target.Reports) {
				r := launch(t, path, fmt.Sprint(threads), how)
				r.trace(1, symbol(t, path, "leave_here"))
				r.must(r.engine.Start(r.target, r.pid))
				r.must(r.target.SetNonStop(nonStop))
				r.nonStop = nonStop
				r.target.SetReports(reports)
				ev := r.past(r.resume(0))
				if how == "exec" {
					if ev.Kind != target.Execed || ev.Thread != r.leader() {
						t.Fatalf("%+v, want an exec", ev)
					}
					ev = r.past(r.resume(0))
				}
				if ev.Kind != target.Exited || ev.Code != want {
					t.Errorf("%+v, want exit with status %d", ev, want)
				}
				if n := r.count(1); n != threads+1 {
					t.Errorf("%d hits, want %d", n, threads+1)
				}
			})
		})
	}
}

// TestExitWhileBeingStopped interrupts a program again and again that ends itself by one of its threads: stopping the others
// meets threads that are ending, and must neither wait for them nor lose the exit status.
func TestExitWhileBeingStopped(t *testing.T) {
	path := testprog.Build(t, "exits", fixed).Path
	stops := 0
	for round := range 20 {
		r := launch(t, path, fmt.Sprint(10*round))
		r.trace(1, symbol(t, path, "other_step"))
		r.must(r.engine.Start(r.target, r.pid))
		for {
			r.must(r.target.Resume([]target.Action{{Thread: everything}}))
			time.Sleep(time.Duration(round%5) * 100 * time.Microsecond)
			r.must(r.target.Interrupt())
			ev := r.next()
			if ev.Kind == target.Exited {
				if ev.Code != 7 || len(r.target.Threads()) != 0 {
					t.Errorf("round %d: %+v with threads %v, want exit with status 7", round, ev, r.target.Threads())
				}
				break
			}
			if ev.Kind != target.Stopped || ev.Signal != target.SignalInt {
				t.Fatalf("round %d: %+v, want an interrupt", round, ev)
			}
			stops++
		}
	}
	if stops == 0 {
		t.Error("no round was interrupted before its end")
	}
}

// TestKilledWhileStopped kills a program whose threads all stand still, some of them at a tracepoint's instruction. Nobody hears of
// that before the program is resumed.
func TestKilledWhileStopped(t *testing.T) {
	path := testprog.Build(t, "hammer", fixed).Path
	modes(t, func(t *testing.T, nonStop bool, reports target.Reports) {
		r, end := hammer(t)
		defer end()
		r.trace(1, symbol(t, path, "tick_slot"))
		at := target.Breakpoint{Addr: symbol(t, path, "tick_slot"), Length: 1}
		r.must(r.engine.Start(r.target, r.pid))
		r.insert(at)
		for range 20 {
			if ev := r.resume(0); ev.Reason != target.ReasonSwBreak {
				t.Fatalf("%+v, want the breakpoint", ev)
			}
		}
		r.must(r.target.SetNonStop(nonStop))
		r.nonStop = nonStop
		r.target.SetReports(reports)
		process, err := os.FindProcess(r.pid)
		r.must(err)
		r.must(process.Kill())
		if !gone(r.pid) {
			t.Fatal("the process has not died")
		}
		r.must(r.target.Resume([]target.Action{{Thread: everything}}))
		ev := r.past(r.next())
		if ev.Kind != target.Terminated || ev.Signal != target.SignalKill || ev.Thread.PID != r.pid {
			t.Errorf("%+v, want the end by SIGKILL", ev)
		}
		if threads := r.target.Threads(); len(threads) != 0 {
			t.Errorf("threads %v are left", threads)
		}
	})
}
