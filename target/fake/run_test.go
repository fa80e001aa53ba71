package fake_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/trace"
)

// other is a process beside that of first and second.
var other = target.ThreadID{PID: 7, TID: 7}

// wantEvents takes events and compares them.
func wantEvents(t *testing.T, f *fake.Target, want ...target.Event) {
	t.Helper()
	for _, w := range want {
		if diff := cmp.Diff(w, <-f.Events()); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	}
	select {
	case ev := <-f.Events():
		t.Errorf("another event: %+v", ev)
	default:
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestThreadsStopAlone(t *testing.T) {
	f := newToy(t)
	f.AddThread(target.Thread{ID: other})
	check(t, f.SetNonStop(true))
	if err := f.Resume([]target.Action{{Thread: target.ThreadID{PID: 9, TID: 9}}}); !errors.Is(err, target.ErrNoThread) {
		t.Errorf("Resume of no thread: %v", err)
	}
	check(t, f.Resume(everyone))
	check(t, f.Resume(everyone))
	f.Play(fake.Step{Thread: second, Event: &target.Event{Signal: 11}})
	wantEvents(t, f, target.Event{Thread: second, Signal: 11})
	block := make([]byte, 36)
	if err := f.ReadRegisters(first, block); !errors.Is(err, target.ErrRunning) {
		t.Errorf("ReadRegisters of a running thread: %v", err)
	}
	check(t, f.ReadRegisters(second, block))
	check(t, f.Stop(target.ThreadID{PID: 1, TID: target.All}))
	wantEvents(t, f, target.Event{Thread: first})
	check(t, f.Resume([]target.Action{{Thread: second, Verb: target.StepOne}, {Thread: first}}))
	wantEvents(t, f, target.Event{Thread: second, Signal: target.SignalTrap})
	check(t, f.Interrupt())
	wantEvents(t, f, target.Event{Thread: first, Signal: target.SignalInt})
	check(t, f.Kill(7))
	check(t, f.Resume(everyone))
	check(t, f.SetNonStop(false))
	check(t, f.ReadRegisters(first, block))
	wantEvents(t, f)
}

// TestStepsWaitForTheirThread plays a step of a thread that does not run.
func TestStepsWaitForTheirThread(t *testing.T) {
	f := newToy(t)
	check(t, f.SetNonStop(true))
	check(t, f.Resume([]target.Action{{Thread: first}}))
	f.Play(fake.Step{Thread: second, Event: &target.Event{Signal: 11}}, fake.Step{Event: &target.Event{Signal: 12}})
	f.Settle()
	wantEvents(t, f)
	check(t, f.Resume([]target.Action{{Thread: second}}))
	wantEvents(t, f, target.Event{Thread: second, Signal: 11}, target.Event{Thread: first, Signal: 12})
}

func TestChildOfForkIsHeldWhenAskedFor(t *testing.T) {
	fork := fake.Step{Event: &target.Event{Kind: target.Forked, Child: other}}
	stop := fake.Step{Event: &target.Event{Signal: 5}}
	f := newToy(t)
	e := traced(t, f)
	check(t, e.Define(trace.Tracepoint{Number: 1, Addr: 0x1002, Enabled: true}, false))
	check(t, e.Start(f, 1))
	check(t, f.InsertBreakpoint(first, target.Breakpoint{Addr: 0x1004}))
	f.Play(fork, stop)
	check(t, f.Resume(everyone))
	wantEvents(t, f, target.Event{Thread: first, Signal: 5})
	if n := len(f.Threads()); n != 2 {
		t.Errorf("%d threads, expected 2", n)
	}
	f.SetReports(target.Reports{Fork: true})
	f.Play(fork)
	check(t, f.Resume(everyone))
	wantEvents(t, f, target.Event{Kind: target.Forked, Thread: first, Child: other})
	if !f.Inserted(7, target.Software, 0x1004) {
		t.Error("the child has lost the breakpoint")
	}
	check(t, f.Detach(1))
	if n := f.Installed(7); n != 1 {
		t.Errorf("%d sites in the child, expected 1", n)
	}
	check(t, e.Stop(trace.ReasonStop, ""))
	if n := f.Installed(target.All); n != 0 {
		t.Errorf("%d sites are left", n)
	}
}

func TestLauncher(t *testing.T) {
	if newToy(t).Launcher() != nil {
		t.Error("a Launcher with nothing to launch")
	}
	f, err := fake.New(fake.Program{
		ISA: fake.Toy, Description: fake.ToyDescription(), Programs: []string{"/toy"}, Others: []target.Thread{{ID: other}},
	})
	check(t, err)
	id, err := f.Start(target.Program{Path: "/toy", Args: []string{"x"}})
	check(t, err)
	if got := f.Started().Args; id.PID <= 7 || len(got) != 1 {
		t.Errorf("started %s with %q", id, got)
	}
	if _, err := f.Start(target.Program{Path: "/none"}); err == nil {
		t.Error("started what is not there")
	}
	if id, err := f.Attach(7); id != other || err != nil {
		t.Errorf("attached to %s, %v", id, err)
	}
	if _, err := f.Attach(7); err == nil {
		t.Error("attached twice")
	}
}
