//go:build linux

package linux_test

import (
	"encoding/binary"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// pc is the address at which a thread stands.
func (r *run) pc(id target.ThreadID) arch.Addr {
	r.t.Helper()
	layout, err := r.target.Description().Layout()
	if err != nil {
		r.t.Fatal(err)
	}
	block := make([]byte, layout.Size)
	if err := r.target.ReadRegisters(id, block); err != nil {
		r.t.Fatal(err)
	}
	return arch.Addr(binary.LittleEndian.Uint64(block[layout.ByNumber(r.target.ISA().PC).Offset:]))
}

// TestSignalAtBreakpoint gives a signal to a thread that stands at a breakpoint. Its handler comes first, by a step or at the
// handler's own breakpoint, and then the thread runs into the breakpoint once more.
func TestSignalAtBreakpoint(t *testing.T) {
	p := testprog.Build(t, "signals", fixed)
	step, handler := symbol(t, p.Path, "step"), symbol(t, p.Path, "on_alarm")
	const alarm target.Signal = 14
	for _, verb := range []target.Verb{target.StepOne, target.Go} {
		r := launch(t, p.Path, "2", "0")
		r.insert(target.Breakpoint{Addr: step, Length: 1})
		if ev := r.resume(0); ev.Reason != target.ReasonSwBreak {
			t.Fatalf("%+v, want the breakpoint", ev)
		}
		want := target.ReasonNone
		if verb == target.Go {
			want = target.ReasonSwBreak
			r.insert(target.Breakpoint{Addr: handler, Length: 1})
		}
		ev := r.do(target.Action{Thread: r.leader(), Verb: verb, Signal: alarm})
		if ev.Signal != target.SignalTrap || ev.Reason != want || r.pc(ev.Thread) != handler {
			t.Errorf("verb %d: %+v at %s, want the handler's first instruction, %s", verb, ev, r.pc(ev.Thread), handler)
		}
		for range 2 {
			if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || r.pc(ev.Thread) != step {
				t.Errorf("verb %d: %+v at %s, want the breakpoint, %s", verb, ev, r.pc(ev.Thread), step)
			}
		}
		if ev := r.resume(0); ev.Kind != target.Exited {
			t.Errorf("verb %d: %+v, want the end", verb, ev)
		}
	}
}

// TestMeetBreakpointAnew resumes a thread that has stopped at a breakpoint so that it is to meet that again, and so that not. One
// with a check is not asked again.
func TestMeetBreakpointAnew(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	r := launch(t, p.Path, "1", "mov")
	b := target.Breakpoint{Addr: symbol(t, p.Path, "tick_mov"), Length: 1}
	r.insert(b)
	r.resume(0)
	for _, verb := range []target.Verb{target.Go, target.StepOne} {
		if ev := r.do(target.Action{Thread: r.leader(), Verb: verb, Anew: true}); ev.Reason != target.ReasonSwBreak {
			t.Fatalf("verb %d: %+v, want the same breakpoint", verb, ev)
		}
	}
	calls := 0
	b.Check = counting(&calls, 0)
	r.insert(b)
	if ev := r.do(target.Action{Thread: r.leader(), Anew: true}); ev.Kind != target.Exited || calls != 0 {
		t.Errorf("%+v after %d calls of Check, want the end without any", ev, calls)
	}
}

// TestBreakpointOutOfCode has a breakpoint where nothing can be executed. The fault of a thread that comes by there is told,
// although faults are to be passed on.
func TestBreakpointOutOfCode(t *testing.T) {
	const fault target.Signal = 11
	p := testprog.Build(t, "spin", fixed)
	r := launch(t, p.Path, "1", "mov")
	r.target.PassSignals([]target.Signal{fault})
	r.insert(target.Breakpoint{Addr: symbol(t, p.Path, "tick_mov"), Length: 1})
	stop := r.resume(0)

	layout, err := r.target.Description().Layout()
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, layout.Size)
	if err := r.target.ReadRegisters(stop.Thread, block); err != nil {
		t.Fatal(err)
	}
	const rsp arch.Reg = 7
	stack := binary.LittleEndian.Uint64(block[layout.ByNumber(rsp).Offset:])
	binary.LittleEndian.PutUint64(block[layout.ByNumber(r.target.ISA().PC).Offset:], stack)
	if err := r.target.WriteRegisters(stop.Thread, block); err != nil {
		t.Fatal(err)
	}
	b := target.Breakpoint{Addr: arch.Addr(stack), Length: 1}
	r.insert(b)
	if ev := r.resume(0); ev.Kind != target.Stopped || ev.Signal != fault || r.pc(ev.Thread) != b.Addr {
		t.Fatalf("%+v, want a stop by signal %d", ev, fault)
	}
	r.remove(b)
	if ev := r.resume(0); ev.Kind != target.Terminated || ev.Signal != fault {
		t.Errorf("without the breakpoint: %+v, want the death of signal %d", ev, fault)
	}
}

// TestRemoveFromUnmapped removes a breakpoint from memory that the program has unmapped.
func TestRemoveFromUnmapped(t *testing.T) {
	const place arch.Addr = 0x70000000
	p := testprog.Build(t, "pages", fixed)
	r := launch(t, p.Path, "unmap", "1")
	r.insert(target.Breakpoint{Addr: symbol(t, p.Path, "ready"), Length: 1})
	r.resume(0)
	b := target.Breakpoint{Addr: place, Length: 1}
	r.insert(b)
	if ev := r.resume(0); r.pc(ev.Thread) != place {
		t.Fatalf("%+v at %s, want the breakpoint", ev, r.pc(ev.Thread))
	}
	r.resume(0)
	if err := r.target.RemoveBreakpoint(r.leader(), b); err == nil {
		t.Error("the breakpoint could be removed from where no memory is")
	}
	if err := r.target.RemoveBreakpoint(r.leader(), b); err != nil {
		t.Errorf("it is still there: %v", err)
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
}
