//go:build linux

package linux_test

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
)

// landing is where the program traps has its function for indirect branches.
const landing arch.Addr = 0x10000000

// TestLandingPad has a tracepoint on every instruction of a function on a guarded page, which an indirect branch leads to: the
// first is the one for that, and the second is executed from a buffer.
func TestLandingPad(t *testing.T) {
	const calls = 50
	p := testprog.Build(t, "traps", fixed)
	r := launch(t, p.Path, "landing", fmt.Sprint(calls))
	r.insert(target.Breakpoint{Addr: symbol(t, p.Path, "ready"), Length: 4})
	r.resume(0)
	for i := range 4 {
		r.trace(trace.Number(i+1), landing+arch.Addr(4*i))
	}
	r.must(r.engine.Start(r.target, r.pid))
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Fatalf("got %+v, want exit with code 0", ev)
	}
	for _, tp := range r.engine.Tracepoints() {
		if tp.Hits != calls {
			t.Errorf("tracepoint at %s: %d hits, want %d", tp.Addr, tp.Hits, calls)
		}
	}
}

// TestExclusiveSequence sets tracepoints around and inside an exclusive sequence. Inside the program would never get on, so that is
// refused with the range; the load itself is executed elsewhere with no trap behind it, and its store succeeds.
func TestExclusiveSequence(t *testing.T) {
	const rounds = 50
	p := testprog.Build(t, "traps", fixed)
	at := func(name string) arch.Addr { return symbol(t, p.Path, "exclusive_"+name) }
	for _, inside := range []string{"between", "store"} {
		r := launch(t, p.Path, "exclusive", fmt.Sprint(rounds))
		r.trace(1, at(inside))
		err := r.engine.Start(r.target, r.pid)
		wanted := fmt.Sprintf("(%s-%s)", at("load"), at("store"))
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%s: error %v, want one with the range %s", inside, err, wanted)
		}
	}
	r := launch(t, p.Path, "exclusive", fmt.Sprint(rounds))
	r.trace(1, at("load"))
	r.trace(2, at("end"))
	r.must(r.engine.Start(r.target, r.pid))
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Fatalf("got %+v, want exit with code 0", ev)
	}
	if out, want := r.output(), fmt.Sprintf("done number=%d\n", rounds); out != want {
		t.Errorf("the program printed %q, want %q", out, want)
	}
	for _, tp := range r.engine.Tracepoints() {
		if tp.Hits < rounds || tp.Addr == at("end") && tp.Hits != rounds {
			t.Errorf("tracepoint at %s: %d hits, want %d", tp.Addr, tp.Hits, rounds)
		}
	}
}

// TestStepFromHardwareBreakpoint goes on from a hardware breakpoint, by steps and freely: it is there again at the next call only,
// though it traps before its instruction.
func TestStepFromHardwareBreakpoint(t *testing.T) {
	const calls = 10
	p := testprog.Build(t, "spin", fixed)
	r := launch(t, p.Path, fmt.Sprint(calls), "mov")
	at := symbol(t, p.Path, "tick_mov")
	r.insert(target.Breakpoint{Kind: target.Hardware, Addr: at, Length: 4})
	for call := range calls {
		ev := r.resume(0)
		if ev.Reason != target.ReasonHwBreak || r.pc(ev.Thread) != at {
			t.Fatalf("call %d: got %+v at %s, want a stop at %s", call, ev, r.pc(ev.Thread), at)
		}
		for step := range call % 3 {
			ev = r.do(target.Action{Thread: ev.Thread, Verb: target.StepOne})
			if want := at + arch.Addr(4*(step+1)); r.pc(ev.Thread) != want || ev.Reason != target.ReasonNone {
				t.Fatalf("call %d: got %+v at %s, want a step to %s", call, ev, r.pc(ev.Thread), want)
			}
		}
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("got %+v, want exit with code 0", ev)
	}
}
