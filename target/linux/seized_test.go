//go:build linux

package linux

import (
	"strings"
	"testing"
	"time"

	"tracewell/internal/sys"
	"tracewell/internal/test/testtool"
	"tracewell/target"
)

// TestSignalWhileAttaching attaches in non-stop mode to a program that a signal is delivered to between being seized and being
// stopped. The session does not know of that when it resumes the program, so its Resume does not take the signal from it.
func TestSignalWhileAttaching(t *testing.T) {
	const sigusr1 = 10
	cmd := testtool.Command(t, "sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	tg, err := New(Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	tg.SetNonStop(true)
	id := target.ThreadID{PID: pid, TID: pid}
	tg.do(func() { // as attach does it, but for the signal
		var p *process
		if p, err = tg.newProcess(pid, false); err != nil {
			return
		}
		tg.procs = append(tg.procs, p)
		if err = sys.Seize(pid, options); err != nil {
			return
		}
		if err = sys.Kill(pid, sigusr1); err != nil {
			return
		}
		for state := ""; err == nil && !strings.HasPrefix(state, "t"); {
			state, err = sys.StatusField(pid, "State")
		}
		k := tg.adopt(pid, p)
		tg.stopSeized(k)
		k.wants = toStay
	})
	if err != nil {
		t.Fatal(err)
	}
	select { // the tracer has nothing else to do meanwhile than to handle the stop
	case ev := <-tg.Events():
		t.Fatalf("event %+v, and nothing has been resumed", ev)
	case <-time.After(50 * time.Millisecond):
	}
	next := func() target.Event {
		select {
		case ev := <-tg.Events():
			return ev
		case <-time.After(time.Minute):
			t.Fatal("no event within a minute")
		}
		panic("unreachable")
	}
	if err := tg.Resume([]target.Action{{Thread: id, Verb: target.StepOne}}); err != nil {
		t.Fatal(err)
	}
	ev := next()
	if ev.Kind != target.Stopped || ev.Thread != id || kernelSignal(ev.Signal) != sigusr1 {
		t.Fatalf("got %+v, want the signal", ev)
	}
	if err := tg.Resume([]target.Action{{Thread: id, Signal: ev.Signal}}); err != nil {
		t.Fatal(err)
	}
	if ev := next(); ev.Kind != target.Terminated || kernelSignal(ev.Signal) != sigusr1 {
		t.Errorf("got %+v, want the end by the signal", ev)
	}
}
