//go:build linux && amd64

package linux_test

import (
	"os"
	"testing"

	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
)

// sigusr1 is SIGUSR1 in GDB's numbers.
const sigusr1 target.Signal = 30

// TestSignalBesideStep resumes a thread with a signal beside one whose step ends at once, for it stands at a tracepoint whose
// instruction is emulated: the first has not run when that is told. It has its signal all the same, which nobody gives it again.
func TestSignalBesideStep(t *testing.T) {
	p := testprog.Build(t, "busy", fixed)
	for _, verb := range []target.Verb{target.Go, target.StepOne} {
		for _, detach := range []bool{false, true} {
			out, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { in.Close() })
			r := launchReading(t, out, p.Path, "2")
			out.Close()
			tick := symbol(t, p.Path, "tick")
			ev := r.resume(0)
			for all := r.target.Threads(); len(all) < 3 || ev.Thread != all[2]; all = r.target.Threads() {
				ev = r.do(target.Action{Thread: ev.Thread, Signal: ev.Signal}, target.Action{Thread: everything})
			}
			other, signal := ev.Thread, ev.Signal
			stepper := r.target.Threads()[1]
			r.trace(1, tick)
			r.must(r.engine.Start(r.target, r.pid))
			for ev = (target.Event{}); r.pc(stepper) != tick; {
				step := target.Action{Thread: stepper, Verb: target.StepOne}
				if ev.Signal != target.SignalTrap {
					step.Signal = ev.Signal
				}
				ev = r.do(step)
			}
			ev = r.do(target.Action{Thread: stepper, Verb: target.StepOne}, target.Action{Thread: other, Verb: verb, Signal: signal})
			if ev.Thread != stepper || ev.Signal != target.SignalTrap || r.pc(stepper) != tick+1 {
				t.Fatalf("got %+v, want a step of %v", ev, stepper)
			}
			r.must(r.engine.Stop(trace.ReasonStop, ""))
			if detach {
				r.must(r.target.Detach(r.pid))
			} else {
				r.target.PassSignals([]target.Signal{signal})
			}
			in.Close()
			if !detach {
				if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
					t.Errorf("got %+v, want exit with code 0", ev)
				}
			}
			done := testprog.OfKind(testprog.Records(r.output()), "done")
			if len(done) != 1 || done[0].Int(t, "lost")+done[0].Int(t, "disorder")+done[0].Int(t, "other") != 0 {
				t.Errorf("verb %v, detach %v: signals are lost, or come twice: %v", verb, detach, done)
			}
		}
	}
}

// TestSignalAtJudged gives a thread a signal that stands at a breakpoint with a condition, and is to make a step from there. The
// signal comes first, whether the breakpoint has a pad or not.
func TestSignalAtJudged(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	for _, vain := range []int{5, 1000} {
		r := launchJudging(t, vain, p.Path, "400", "push")
		calls := 0
		r.insert(r.judged(symbol(t, p.Path, "tick_push"), &calls, isCall(100)))
		if ev := r.resume(0); ev.Reason != target.ReasonSwBreak {
			t.Fatalf("got %+v, want the breakpoint", ev)
		}
		if padded := calls < 99; padded != (vain == 5) {
			t.Errorf("%d calls of Check before, with a pad after %d", calls, vain)
		}
		ev := r.do(target.Action{Thread: r.leader(), Verb: target.StepOne, Signal: sigusr1})
		if ev.Kind != target.Terminated || ev.Signal != sigusr1 {
			t.Errorf("got %+v, want an end by SIGUSR1", ev)
		}
	}
}

// TestSignalAtHandler gives a thread a signal that a step has taken to the first instruction of the handler of another: a stop at
// which the kernel takes none, though it looks like those at which it does.
func TestSignalAtHandler(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	p := testprog.Build(t, "busy", fixed)
	r := launchReading(t, out, p.Path, "2")
	out.Close()
	ev := r.resume(0)
	signal := ev.Signal
	ev = r.do(target.Action{Thread: ev.Thread, Verb: target.StepOne, Signal: signal})
	if at := r.pc(ev.Thread); at != symbol(t, p.Path, "numbered") {
		t.Fatalf("got %+v at %s, want the handler", ev, at)
	}
	r.target.PassSignals([]target.Signal{signal, sigusr1})
	in.Close()
	if ev = r.do(target.Action{Thread: ev.Thread, Signal: sigusr1}, target.Action{Thread: everything}); ev.Kind != target.Exited {
		t.Errorf("got %+v, want the end", ev)
	}
	done := testprog.OfKind(testprog.Records(r.output()), "done")
	if len(done) != 1 || done[0].Int(t, "other") != 1 || done[0].Int(t, "lost")+done[0].Int(t, "disorder") != 0 {
		t.Errorf("want one other signal: %v", done)
	}
}
