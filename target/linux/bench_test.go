//go:build linux

package linux_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// never is the bytecode of an expression that is false: a constant and the end.
var never = []byte{0x22, 0, 0x27}

// hitKinds are what there is to do at a hit, each put at an address of a program that is about to run.
var hitKinds = map[string]func(r *run, at arch.Addr){
	"regs+16": func(r *run, at arch.Addr) {
		r.startTrace(at, func(tp *trace.Tracepoint) {
			tp.Actions = append(tp.Actions, trace.Action{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: uint64(at), Length: 16})
		})
	},
	"false": func(r *run, at arch.Addr) {
		r.startTrace(at, func(tp *trace.Tracepoint) { tp.Condition = never })
	},
	"static": func(r *run, at arch.Addr) {
		r.engine.SetMarkers(func(arch.Addr) tracepoint.Marker { return argument{} })
		r.startTrace(at, func(tp *trace.Tracepoint) {
			tp.Static, tp.Actions = true, []trace.Action{{Kind: trace.CollectStatic}}
		})
	},
	"break-false": func(r *run, at arch.Addr) {
		agent, err := r.engine.CompileBreakpoint(at, [][]byte{never}, nil)
		if err != nil {
			r.t.Fatal(err)
		}
		r.insert(target.Breakpoint{Addr: at, Length: 1, Check: agent.Hit})
	},
}

// argument is a marker whose static trace data is a function's first argument.
type argument struct{}

func (argument) AppendStatic(dst []byte, s target.Snapshot) []byte {
	v, _ := s.Register(rdi)
	return append(dst, byte(v))
}

func (argument) Semaphores() []arch.Addr { return nil }

// startTrace begins a run with one tracepoint, in a circular buffer.
func (r *run) startTrace(at arch.Addr, change func(*trace.Tracepoint)) {
	r.t.Helper()
	r.trace(1, at, change)
	r.engine.SetCircular(true)
	if err := r.engine.Start(r.target, r.pid); err != nil {
		r.t.Fatal(err)
	}
}

// BenchmarkHit is the cost of a hit as the program feels it. The locations differ in how the displaced instruction happens. make
// bench sets it against gdbserver and the floor.
func BenchmarkHit(b *testing.B) {
	p := testprog.Build(b, "spin", testprog.Variant{NoPIE: true, Optimised: true})
	for _, site := range []string{"mov", "push", "nop", "nop5"} {
		for kind, begin := range hitKinds {
			b.Run(site+"/"+kind, func(b *testing.B) {
				r := launch(b, p.Path, fmt.Sprint(b.N), site)
				begin(r, symbol(b, p.Path, "tick_"+site))
				b.ReportAllocs()
				b.ResetTimer()
				if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
					b.Fatalf("got %+v, want exit with code 0", ev)
				}
				b.StopTimer()
				if list := r.engine.Tracepoints(); len(list) > 0 && list[0].Condition == nil && list[0].Hits != uint64(b.N) {
					b.Fatalf("%d hits, want %d", list[0].Hits, b.N)
				}
			})
		}
	}
}

// TestCostOfHit has a hit stop the program once and allocate nothing. What the run allocates, and whatever else goes on in
// this process, is a small part of one allocation a hit; so are the stops at the beginning and end.
func TestCostOfHit(t *testing.T) {
	if everywhere {
		t.Skip("a hit of a pad stops nothing")
	}
	const hits = 4000
	p := testprog.Build(t, "spin", testprog.Variant{NoPIE: true, Optimised: true})
	for _, site := range []string{"mov", "push", "nop", "nop5"} {
		for kind, begin := range hitKinds {
			t.Run(site+"/"+kind, func(t *testing.T) {
				r := launch(t, p.Path, fmt.Sprint(hits), site)
				at := symbol(t, p.Path, "tick_"+site)
				end := target.Breakpoint{Addr: symbol(t, p.Path, "spun"), Length: 1}
				r.insert(end)
				begin(r, at)
				var before, after runtime.MemStats
				stops := r.switches()
				runtime.ReadMemStats(&before)
				if ev := r.resume(0); ev.Reason != target.ReasonSwBreak {
					t.Fatalf("got %+v, want the breakpoint", ev)
				}
				runtime.ReadMemStats(&after)
				if n := after.Mallocs - before.Mallocs; n > hits/2 {
					t.Errorf("%d allocations in %d hits", n, hits)
				}
				if n := r.switches() - stops; n < hits || n > hits+hits/20 {
					t.Errorf("the program was taken off its processor %d times for %d hits", n, hits)
				}
			})
		}
	}
}

// switches is how often the program was taken off a processor because it had to wait, as it has at each stop.
func (r *run) switches() int {
	r.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.pid))
	if err != nil {
		r.t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
	var n int
	if _, err := fmt.Sscan(line, &n); err != nil {
		r.t.Fatalf("no voluntary_ctxt_switches in %q: %v", status, err)
	}
	return n
}
