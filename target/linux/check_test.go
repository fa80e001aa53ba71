//go:build linux

package linux_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/needs"
	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// rdi is the number that GDB gives the register of a first argument.
const rdi arch.Reg = 5

// counting is a Check that counts its calls and stops at the one with the given first argument.
func counting(calls *int, argument uint64) func(target.Snapshot) bool {
	return func(s target.Snapshot) bool {
		*calls++
		v, err := s.Register(rdi)
		return err != nil || v == argument
	}
}

// leader is the id of the program's first thread.
func (r *run) leader() target.ThreadID { return target.ThreadID{PID: r.pid, TID: r.pid} }

func (r *run) insert(b target.Breakpoint) {
	r.t.Helper()
	if err := r.target.InsertBreakpoint(r.leader(), b); err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) remove(b target.Breakpoint) {
	r.t.Helper()
	if err := r.target.RemoveBreakpoint(r.leader(), b); err != nil {
		r.t.Fatal(err)
	}
}

// TestCheckedBreakpoint asks at each of many hits, on instructions that are emulated and that need a slot, and in debug
// registers. The program checks that each call does what it should.
func TestCheckedBreakpoint(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	for _, test := range []struct {
		site   string
		kind   target.BreakKind
		reason target.Reason
	}{
		{"mov", target.Software, target.ReasonSwBreak},
		{"push", target.Software, target.ReasonSwBreak},
		{"nop", target.Software, target.ReasonSwBreak},
		{"nop5", target.Software, target.ReasonSwBreak},
		{"mov", target.Hardware, target.ReasonHwBreak},
		{"push", target.Hardware, target.ReasonHwBreak},
	} {
		t.Run(fmt.Sprintf("%s %d", test.site, test.kind), func(t *testing.T) {
			if test.kind == target.Hardware {
				needs.DebugRegisters(t)
			}
			r := launch(t, p.Path, "3000", test.site)
			calls := 0
			b := target.Breakpoint{Kind: test.kind, Addr: symbol(t, p.Path, "tick_"+test.site), Length: 1, Check: counting(&calls, 2000)}
			r.insert(b)
			if ev := r.resume(0); ev.Reason != test.reason || calls != 2001 {
				t.Errorf("%+v after %d calls of Check, want 2001 and reason %d", ev, calls, test.reason)
			}
			// Another in its place: the old one is not asked any more.
			again := 0
			b.Check = counting(&again, 2500)
			r.insert(b)
			if ev := r.resume(0); ev.Reason != test.reason || calls != 2001 || again != 500 {
				t.Errorf("%+v after %d and %d calls of Check, want 2001 and 500", ev, calls, again)
			}
			r.remove(b)
			if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || again != 500 {
				t.Errorf("%+v after %d calls of Check, want exit with status 0 after 500", ev, again)
			}
		})
	}
}

// TestCheckedWithTracepoint has a tracepoint, which counts, where a breakpoint is asked.
func TestCheckedWithTracepoint(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	r := launch(t, p.Path, "100", "mov")
	at := symbol(t, p.Path, "tick_mov")
	calls := 0
	r.insert(target.Breakpoint{Addr: at, Length: 1, Check: counting(&calls, 60)})
	r.trace(1, at)
	if err := r.engine.Start(r.target, r.pid); err != nil {
		t.Fatal(err)
	}
	if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || calls != 61 || r.hits() != 61 {
		t.Errorf("%+v after %d calls of Check and %d hits, want 61 of each", ev, calls, r.hits())
	}
	if ev := r.resume(0); ev.Kind != target.Exited || calls != 100 || r.hits() != 100 {
		t.Errorf("%+v after %d calls of Check and %d hits, want 100 of each", ev, calls, r.hits())
	}
}

// TestHardwareBreakpointWithTracepoint stops at each call, and the tracepoint in the same place counts them all.
func TestHardwareBreakpointWithTracepoint(t *testing.T) {
	needs.DebugRegisters(t)
	p := testprog.Build(t, "spin", fixed)
	r := launch(t, p.Path, "5", "push")
	at := symbol(t, p.Path, "tick_push")
	r.insert(target.Breakpoint{Kind: target.Hardware, Addr: at, Length: 1})
	r.trace(1, at)
	if err := r.engine.Start(r.target, r.pid); err != nil {
		t.Fatal(err)
	}
	for call := int64(1); call <= 5; call++ {
		if ev := r.resume(0); ev.Reason != target.ReasonHwBreak || r.hits() != call {
			t.Errorf("%+v after %d hits, want call %d", ev, r.hits(), call)
		}
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || r.hits() != 5 {
		t.Errorf("%+v after %d hits, want exit with status 0 after 5", ev, r.hits())
	}
}

// TestCheckedThreads asks for two threads at once, in a function whose calls hold no lock.
func TestCheckedThreads(t *testing.T) {
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "500")
	calls := make(map[int64]int)
	r.insert(target.Breakpoint{Addr: symbol(t, p.Path, "work"), Length: 1, Check: func(s target.Snapshot) bool {
		calls[s.Thread()]++
		return false
	}})
	ev := r.resume(0)
	total := 0
	for _, n := range calls {
		total += n
	}
	if ev.Kind != target.Exited || ev.Code != 0 || len(calls) != 2 || total != 1000 {
		t.Errorf("%+v after calls of Check %v, want exit with status 0 after 500 by each of two threads", ev, calls)
	}
}

// TestCheckedStep steps a thread onto a breakpoint that does not want it, and onto one that does: it is asked once, when the
// thread arrives, and not when it goes on.
func TestCheckedStep(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	r := launch(t, p.Path, "3", "push")
	at := symbol(t, p.Path, "tick_push")
	r.insert(target.Breakpoint{Addr: at, Length: 1})
	if ev := r.resume(0); ev.Reason != target.ReasonSwBreak {
		t.Fatalf("%+v, want a stop at the breakpoint", ev)
	}
	const pushLength = 1
	for _, test := range []struct {
		argument uint64
		reason   target.Reason
	}{
		{0, target.ReasonSwBreak}, // that of the first call
		{7, target.ReasonNone},
	} {
		calls := 0
		next := target.Breakpoint{Addr: at + pushLength, Length: 1, Check: counting(&calls, test.argument)}
		r.insert(next)
		ev := r.do(target.Action{Thread: r.leader(), Verb: target.StepOne})
		if ev.Signal != target.SignalTrap || ev.Reason != test.reason || calls != 1 {
			t.Errorf("%+v after %d calls of Check, want reason %d after 1", ev, calls, test.reason)
		}
		if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || calls != 1 {
			t.Errorf("%+v after %d calls of Check, want the next call of the function", ev, calls)
		}
		r.remove(next)
	}
}

// TestCheckedStepRange steps through a range with a breakpoint in it that does not want the thread.
func TestCheckedStepRange(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	r := launch(t, p.Path, "1", "push")
	at := symbol(t, p.Path, "tick_push")
	r.insert(target.Breakpoint{Addr: at, Length: 1})
	r.resume(0)
	calls := 0
	r.insert(target.Breakpoint{Addr: at + 1, Length: 1, Check: counting(&calls, 7)})
	ev := r.do(target.Action{Thread: r.leader(), Verb: target.StepRange, Start: at, End: at + 2})
	if ev.Reason != target.ReasonNone || calls != 1 {
		t.Errorf("%+v after %d calls of Check, want the end of the range after 1", ev, calls)
	}
}

// TestCheckedWatchpoint watches a counter of two threads for a value, without a stop for the others, and while stepping.
func TestCheckedWatchpoint(t *testing.T) {
	needs.DebugRegisters(t)
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "50")
	watched := symbol(t, p.Path, "totals")
	calls := 0
	b := target.Breakpoint{Kind: target.WriteWatch, Addr: watched, Length: 8, Check: func(s target.Snapshot) bool {
		calls++
		var b [8]byte
		return s.ReadMemory(watched, b[:]) < len(b) || b[0] == 70
	}}
	r.insert(b)
	if ev := r.resume(0); ev.Reason != target.ReasonWatch || ev.Addr != watched || calls != 70 {
		t.Errorf("%+v after %d calls of Check, want a stop for the watchpoint after 70", ev, calls)
	}
	r.remove(b)
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || calls != 70 {
		t.Errorf("%+v after %d calls of Check, want exit with status 0 after 70", ev, calls)
	}
}

// TestCheckedWatchpointWhileStepping steps over a write that nobody wants: the step is finished all the same.
func TestCheckedWatchpointWhileStepping(t *testing.T) {
	needs.DebugRegisters(t)
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "1")
	calls := 0
	r.insert(target.Breakpoint{Addr: symbol(t, p.Path, "account"), Length: 1})
	r.insert(target.Breakpoint{Kind: target.WriteWatch, Addr: symbol(t, p.Path, "totals"), Length: 8, Check: func(target.Snapshot) bool {
		calls++
		return false
	}})
	ev := r.resume(0)
	for range 40 {
		ev = r.do(target.Action{Thread: ev.Thread, Verb: target.StepOne})
		if ev.Kind != target.Stopped || ev.Signal != target.SignalTrap || ev.Reason != target.ReasonNone {
			t.Fatalf("%+v, want the end of a step", ev)
		}
	}
	if calls != 1 {
		t.Errorf("%d calls of Check, want 1", calls)
	}
}

// TestTwoInOneRegister has two watchpoints that share a debug register: each is asked, and one going leaves the other.
func TestTwoInOneRegister(t *testing.T) {
	needs.DebugRegisters(t)
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "5")
	at := symbol(t, p.Path, "totals")
	never := func(target.Snapshot) bool { return false }
	wide := target.Breakpoint{Kind: target.WriteWatch, Addr: at, Length: 16}
	narrow := target.Breakpoint{Kind: target.WriteWatch, Addr: at, Length: 8, Check: never}
	r.insert(narrow)
	r.insert(narrow)
	r.insert(wide)
	r.remove(wide)
	r.insert(wide)
	if ev := r.resume(0); ev.Reason != target.ReasonWatch {
		t.Errorf("%+v, want a stop for the wide watchpoint", ev)
	}
	r.remove(wide)
	if ev := r.resume(0); ev.Kind != target.Exited {
		t.Errorf("%+v, want exit", ev)
	}
}

// locations are the addresses of the test program of all kinds of instruction.
func sites(t *testing.T, path string) (list []arch.Addr) {
	for _, s := range symbols(t, path) {
		if strings.HasPrefix(s.Name, "site_") {
			list = append(list, arch.Addr(s.Value))
		}
	}
	return list
}

// TestEveryInstructionUnderCheck lets every kind of instruction pass under a breakpoint that does not stop.
func TestEveryInstructionUnderCheck(t *testing.T) {
	p := testprog.Build(t, "insns", fixed)
	plain := launch(t, p.Path, "20")
	plain.resume(0)
	r := launch(t, p.Path, "20")
	calls := make(map[arch.Addr]int)
	for _, at := range sites(t, p.Path) {
		r.insert(target.Breakpoint{Addr: at, Length: 1, Check: func(s target.Snapshot) bool {
			calls[at]++
			return s.PC() != at
		}})
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
	if got, want := r.output(), plain.output(); got != want {
		t.Errorf("output differs:\n%s\nwant\n%s", got, want)
	}
	for _, at := range sites(t, p.Path) {
		if calls[at] != 20 {
			t.Errorf("%d calls of Check at %s, want 20", calls[at], at)
		}
	}
}

// TestSlotsComeBack inserts and removes breakpoints as often as GDB does in a long session: that takes no memory of the
// program after the first time.
func TestSlotsComeBack(t *testing.T) {
	p := testprog.Build(t, "insns", fixed)
	r := launch(t, p.Path, "1")
	mappings := func() int {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", r.pid))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(maps), "\n")
	}
	before := mappings()
	for range 300 {
		for _, at := range sites(t, p.Path) {
			b := target.Breakpoint{Addr: at, Length: 1, Check: func(target.Snapshot) bool { return false }}
			r.insert(b)
			r.remove(b)
		}
	}
	if got := mappings(); got != before+1 {
		t.Errorf("%d mappings more than before, want 1", got-before)
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
}

// TestEveryThreadGetsOn has threads run into a breakpoint all the time that does not want them. None of them is to stand
// still for the others.
func TestEveryThreadGetsOn(t *testing.T) {
	const threads, most = 16, 20000
	path := testprog.Build(t, "hammer", fixed).Path
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer in.Close()
	r := launchReading(t, out, path, fmt.Sprint(threads))
	calls, total := make(map[int64]int), 0
	r.insert(target.Breakpoint{Addr: symbol(t, path, "tick_slot"), Length: 1, Check: func(s target.Snapshot) bool {
		calls[s.Thread()]++
		total++
		return total == most
	}})
	if ev := r.resume(0); ev.Reason != target.ReasonSwBreak {
		t.Fatalf("%+v, want the breakpoint", ev)
	}
	const fair = most / threads
	for thread, n := range calls {
		if n < fair/8 {
			t.Errorf("thread %d got on %d times, of %d that would be fair", thread, n, fair)
		}
	}
	if len(calls) != threads {
		t.Errorf("%d threads got on, want %d", len(calls), threads)
	}
}
