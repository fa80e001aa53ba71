//go:build linux

package linux_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
)

// hammer starts that program with four threads, which work until end is called.
func hammer(t *testing.T) (r *run, end func()) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	t.Cleanup(func() { in.Close() })
	return launchReading(t, out, testprog.Build(t, "hammer", fixed).Path, "4"), func() { in.Close() }
}

// TestNonStop stops threads one by one while the others run on.
func TestNonStop(t *testing.T) {
	r, _ := hammer(t)
	path := testprog.Build(t, "hammer", fixed).Path
	at := target.Breakpoint{Addr: symbol(t, path, "main"), Length: 1}
	first := target.ThreadID{PID: r.pid, TID: r.pid}
	r.must(r.target.InsertBreakpoint(first, at))
	r.resume(0)
	r.must(r.target.RemoveBreakpoint(first, at))
	r.must(r.target.SetNonStop(true))
	r.must(r.target.Resume([]target.Action{{Thread: everything}}))
	for deadline := time.Now().Add(time.Minute); len(r.target.Threads()) < 5; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the threads do not start")
		}
	}
	block := r.block()
	stopped := make(map[target.ThreadID]bool)
	for _, id := range r.target.Threads() {
		if err := r.target.ReadRegisters(id, block); !errors.Is(err, target.ErrRunning) {
			t.Errorf("registers of %v, which runs: %v", id, err)
		}
		r.must(r.target.Stop(id))
		ev := r.next()
		if ev.Thread != id || ev.Kind != target.Stopped || ev.Signal != target.SignalNone {
			t.Fatalf("got %+v, want a stop of %v", ev, id)
		}
		stopped[id] = true
		r.must(r.target.ReadRegisters(id, block))
		r.must(r.target.Stop(id)) // nothing more comes of it
	}
	// A step of one leaves the others where they are.
	one := r.target.Threads()[2]
	for range 50 {
		r.must(r.target.Resume([]target.Action{{Thread: one, Verb: target.StepOne}}))
		if ev := r.next(); ev.Thread != one || ev.Signal != target.SignalTrap {
			t.Fatalf("got %+v, want a step of %v", ev, one)
		}
	}
	// Ctrl-C stops one of those that run.
	r.must(r.target.Resume([]target.Action{{Thread: one}}))
	r.must(r.target.Interrupt())
	if ev := r.next(); ev.Thread != one || ev.Signal != target.SignalInt {
		t.Fatalf("got %+v, want %v interrupted", ev, one)
	}
	// Back in all-stop mode everything is stopped without a word.
	r.must(r.target.Resume([]target.Action{{Thread: everything}}))
	r.must(r.target.SetNonStop(false))
	for _, id := range r.target.Threads() {
		r.must(r.target.ReadRegisters(id, block))
	}
	select {
	case ev := <-r.target.Events():
		t.Errorf("event %+v", ev)
	default:
	}
}

// TestNonStopTracepoints traces all threads while a session stops, steps and resumes some of them.
func TestNonStopTracepoints(t *testing.T) {
	r, end := hammer(t)
	path := testprog.Build(t, "hammer", fixed).Path
	for i, name := range []string{"tick_emulated", "tick_slot", "site_stepped"} {
		r.trace(trace.Number(i+1), symbol(t, path, name))
	}
	r.must(r.engine.Start(r.target, r.pid))
	r.must(r.target.SetNonStop(true))
	r.must(r.target.Resume([]target.Action{{Thread: everything}}))
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; {
		select {
		case ev := <-r.target.Events():
			if ev.Kind == target.Exited {
				if ev.Code != 0 {
					t.Errorf("exit code %d", ev.Code)
				}
				if out := r.output(); !strings.Contains(out, "wrong=0") {
					t.Errorf("output %q", out)
				}
				return
			}
			verb := target.Verb(0)
			if i%3 == 0 {
				verb = target.StepOne
			}
			r.must(r.target.Resume([]target.Action{{Thread: ev.Thread, Verb: verb}}))
		case <-tick.C:
			if i++; i == 500 {
				end()
			}
			if threads := r.target.Threads(); len(threads) > 0 {
				r.must(r.target.Stop(threads[i%len(threads)]))
			}
		}
	}
}

func TestNonStopAttach(t *testing.T) {
	cmd := exec.Command(testprog.Build(t, "manythreads", fixed).Path, "1000000000", "2000") // more than it can get through
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	r := launch(t, testprog.Build(t, "threads", fixed).Path, "3")
	r.must(r.target.SetNonStop(true))
	for range 20 {
		id, err := r.target.Attach(cmd.Process.Pid)
		r.must(err)
		r.must(r.target.Resume([]target.Action{of(id.PID)}))
		r.must(r.target.Stop(target.ThreadID{PID: id.PID, TID: target.All}))
		stopped := make(map[target.ThreadID]bool)
		for !allStopped(r.target.Threads(), id.PID, stopped) {
			select {
			case ev := <-r.target.Events():
				if ev.Kind != target.Stopped {
					t.Fatalf("got %+v", ev)
				}
				stopped[ev.Thread] = true
			case <-time.After(10 * time.Millisecond): // a thread that ends has no event
			}
			r.must(r.target.Stop(target.ThreadID{PID: id.PID, TID: target.All}))
		}
		r.must(r.target.Detach(id.PID))
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil || strings.Contains(string(status), "State:\tZ") {
		t.Errorf("the program has not survived: %v, %s", err, status)
	}
}

func allStopped(threads []target.ThreadID, pid int, stopped map[target.ThreadID]bool) bool {
	for _, id := range threads {
		if id.PID == pid && !stopped[id] {
			return false
		}
	}
	return true
}
