//go:build linux && amd64

package linux_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/ax"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tfile"
	"tracewell/trace"
)

// launchPads is launch for a target that makes pads.
func launchPads(t testing.TB, program string, args ...string) *run {
	t.Helper()
	r := launch(t, program, args...)
	r.target.UsePads(linux.Pads{})
	return r
}

// TestPads collects without a stop at each kind of first instruction, in programs that compute what each call should return.
func TestPads(t *testing.T) {
	for _, variant := range testprog.Linkages[1:2] {
		for _, site := range []string{"mov", "push", "nop", "nop5"} {
			t.Run(variant.String()+" "+site, func(t *testing.T) {
				p := testprog.Build(t, "spin", variant)
				r := launchPads(t, p.Path, "2000", site)
				r.trace(1, symbol(t, p.Path, "tick_"+site))
				r.must(r.engine.Start(r.target, r.pid))
				for _, tp := range r.engine.Tracepoints() {
					t.Logf("%+v", tp)
				}
				if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
					t.Errorf("%+v, want exit with status 0", ev)
				}
				out := r.output()
				t.Log(out)
				if !strings.Contains(out, "wrong=0") {
					t.Errorf("the program printed %q", out)
				}
				if n := r.count(1); n != 2000 {
					t.Errorf("%d frames, want 2000", n)
				}
			})
		}
	}
}

// TestPadClock has pads tell the time, which goes on with that of this process, and who makes the hit.
func TestPadClock(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	r := launchPads(t, p.Path, "2000", "mov")
	var times []int64
	take := func(deposits []target.Deposit) target.Verdict {
		for _, d := range singles(deposits) {
			f, err := tfile.ParseFrame(d.Frames, binary.LittleEndian, placesInBlock*8)
			if v, ok := f.Variable(trace.Timestamp); err == nil && ok {
				times = append(times, v)
			}
			tid, _ := f.Variable(2)
			if pid, _ := f.Variable(3); tid != int64(r.pid) || pid != int64(r.pid) {
				t.Errorf("thread %d of process %d, want %d of the same", tid, pid, r.pid)
			}
		}
		return target.Continue
	}
	code, err := ax.Assemble("tracev 1\ntracev 2\ntracev 3\nend")
	r.must(err)
	before := time.Now().UnixMicro()
	r.offload(symbol(t, p.Path, "tick_mov"), take, func(tp *trace.Tracepoint) {
		tp.Actions = append(tp.Actions, trace.Action{Kind: trace.CollectExpression, Code: code})
	})
	if ev := r.resume(0); ev.Kind != target.Exited {
		t.Errorf("%+v, want the end", ev)
	}
	const tolerance = 1000
	after := time.Now().UnixMicro()
	if len(times) != 2000 || times[0] < before-tolerance || times[1999] > after+tolerance || !slices.IsSorted(times) {
		t.Errorf("%d times, from %d to %d, between %d and %d", len(times), times[0], times[len(times)-1], before, after)
	}
}

// TestBreakpointInPatch has a breakpoint on an instruction that a jump covers, inserted between hits, and steps over the site: the
// program stops there each time, and the engine hears of each hit once, whichever way it is collected.
func TestBreakpointInPatch(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	const calls = 300
	r := launchPads(t, p.Path, fmt.Sprint(calls), "push")
	at := symbol(t, p.Path, "tick_push")
	r.trace(1, at)
	r.must(r.engine.Start(r.target, r.pid))
	if how := r.target.Collector().Explain(r.pid, at); how != "pad, by overlap" {
		t.Fatalf("the tracepoint is collected by %q", how)
	}
	inner := target.Breakpoint{Addr: at + 1, Length: 1}
	r.insert(inner)
	for i := range int64(20) {
		if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || r.pc(ev.Thread) != at+1 || r.hits() != i+1 {
			t.Fatalf("stop %d: %+v at %s after %d hits", i, ev, r.pc(ev.Thread), r.hits())
		}
	}
	r.remove(inner)
	if how := r.target.Collector().Explain(r.pid, at); how != "pad, by overlap" {
		t.Errorf("behind the breakpoint the tracepoint is collected by %q", how)
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || r.count(1) != calls {
		t.Errorf("%+v after %d hits, want %d", ev, r.count(1), calls)
	}
}

// TestStepOverPad steps through whole calls with a pad in them: each step is one instruction of the program, and no pc is shown that
// is in none of it.
func TestStepOverPad(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	for _, site := range []string{"mov", "push", "nop", "nop5"} {
		t.Run(site, func(t *testing.T) {
			const calls = 20
			r := launchPads(t, p.Path, fmt.Sprint(calls), site)
			at := symbol(t, p.Path, "tick_"+site)
			before := target.Breakpoint{Addr: at, Length: 1}
			r.insert(before)
			r.resume(0)
			r.remove(before)
			r.trace(1, at)
			r.must(r.engine.Start(r.target, r.pid))
			// The program's own code, or that of a library; pads lie in between, or below.
			first, last := symbol(t, p.Path, "tick_mov")-0x2000, symbol(t, p.Path, "main")+0x1000
			for range 60 * calls {
				ev := r.do(target.Action{Thread: r.leader(), Verb: target.StepOne})
				if ev.Kind == target.Exited {
					t.Fatal("the program has ended")
				}
				if pc := r.pc(ev.Thread); pc < first || pc > last && pc < 0x7f0000000000 {
					t.Fatalf("a step to %s", pc)
				}
				if r.hits() == 10 {
					break
				}
			}
			if r.hits() != 10 {
				t.Errorf("%d hits by steps, want 10", r.hits())
			}
			if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || r.count(1) < calls-1 {
				t.Errorf("%+v after %d hits, want %d", ev, r.count(1), calls)
			}
		})
	}
}
