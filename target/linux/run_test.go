//go:build linux

package linux_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/needs"
	"tracewell/internal/test/testprog"
	"tracewell/internal/trial"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// run is a program under test with its engine.
type run struct {
	t       testing.TB
	target  *linux.Target
	engine  *tracepoint.Engine
	output  func() string
	nonStop bool
	pid     int
}

// everywhere has all tests of this package use pads, whatever they are about (TRACEWELL_PADS=1 go test): what a tracepoint does must
// not depend on how it is collected.
var everywhere = os.Getenv("TRACEWELL_PADS") != ""

// launch starts a test program with nothing to read, its standard output going to a pipe.
func launch(t testing.TB, program string, args ...string) *run {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	return launchReading(t, null, program, args...)
}

// launchReading starts a test program that reads from in.
func launchReading(t testing.TB, in *os.File, program string, args ...string) *run {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := linux.New(linux.Streams{In: in, Out: w})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	if everywhere {
		tg.UsePads(linux.Pads{})
	}
	_, err = tg.Start(target.Program{Path: program, Args: args})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(r)
		r.Close()
		text <- string(b)
	}()
	layout, err := tg.Description().Layout()
	if err != nil {
		t.Fatal(err)
	}
	engine := tracepoint.New(tracepoint.Layout{
		Order: tg.ISA().Order, RegisterBlock: layout.Size, PCOffset: layout.ByNumber(tg.ISA().PC).Offset,
	})
	tg.SetHandler(engine.NewHandler())
	return &run{t: t, target: tg, engine: engine, output: func() string { return <-text }, pid: tg.Threads()[0].PID}
}

// resume lets everything go and waits for what ends it.
func (r *run) resume(signal target.Signal) target.Event {
	r.t.Helper()
	return r.do(target.Action{Thread: target.ThreadID{PID: target.All, TID: target.All}, Signal: signal})
}

func (r *run) do(a ...target.Action) target.Event {
	r.t.Helper()
	if err := r.target.Resume(a); err != nil {
		r.t.Fatal(err)
	}
	select {
	case ev := <-r.target.Events():
		return ev
	case <-time.After(5 * time.Minute):
		r.t.Fatal("no event within five minutes")
		panic("unreachable")
	}
}

// symbol finds the address of a symbol of a program that is linked to a fixed address.
func symbol(t testing.TB, path, name string) arch.Addr {
	t.Helper()
	for _, s := range symbols(t, path) {
		if s.Name == name {
			return arch.Addr(s.Value)
		}
	}
	t.Fatalf("%s has no symbol %s", path, name)
	return 0
}

func symbols(t testing.TB, path string) []elf.Symbol {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return symbols
}

func (r *run) trace(n trace.Number, addr arch.Addr, change ...func(*trace.Tracepoint)) {
	r.t.Helper()
	tp := trace.Tracepoint{Number: n, Addr: addr, Enabled: true, Actions: []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}}}
	for _, c := range change {
		c(&tp)
	}
	if err := r.engine.Define(tp, false); err != nil {
		r.t.Fatal(err)
	}
}

var fixed = testprog.Variant{NoPIE: true}

func TestExitCode(t *testing.T) {
	r := launch(t, testprog.Build(t, "threads", fixed).Path, "3")
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("got %+v, want exit with code 0", ev)
	}
	if out := r.output(); !strings.Contains(out, "done calls=6") {
		t.Errorf("output %q", out)
	}
}

func TestTracepointHits(t *testing.T) {
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "500")
	r.trace(1, symbol(t, p.Path, "work"))
	if err := r.engine.Start(r.target, r.pid); err != nil {
		t.Fatal(err)
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("got %+v, want exit with code 0", ev)
	}
	if out := r.output(); !strings.Contains(out, "done calls=1000") {
		t.Errorf("output ends %q", out[max(0, len(out)-100):])
	}
	if n := r.engine.Status().Created; n != 1000 {
		t.Errorf("%d frames, want 1000", n)
	}
}

// Every kind of first instruction must have its effect under a tracepoint, whichever way it happens.
func TestEveryInstruction(t *testing.T) {
	for _, variant := range []testprog.Variant{fixed, {NoPIE: true, Static: true}} {
		t.Run(variant.String(), func(t *testing.T) {
			p := testprog.Build(t, "insns", variant)
			plain := launch(t, p.Path, "20")
			if ev := plain.resume(0); ev.Kind != target.Exited {
				t.Fatalf("untraced: %+v", ev)
			}
			r := launch(t, p.Path, "20")
			n := 0
			for _, s := range symbols(t, p.Path) {
				if strings.HasPrefix(s.Name, "site_") {
					n++
					r.trace(trace.Number(n), arch.Addr(s.Value))
				}
			}
			if err := r.engine.Start(r.target, r.pid); err != nil {
				t.Fatal(err)
			}
			if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
				t.Fatalf("traced: %+v\n%s", ev, r.output())
			}
			if got, want := r.output(), plain.output(); got != want {
				t.Errorf("traced output differs:\n%s\nwant\n%s", got, want)
			}
			for _, tp := range r.engine.Tracepoints() {
				if tp.Hits != 20 {
					t.Errorf("tracepoint %d at %s: %d hits, want 20", tp.Number, tp.Addr, tp.Hits)
				}
			}
		})
	}
}

// traced starts a program with one tracepoint on a function and runs it to its end.
func traced(t *testing.T, name string, args []string, function string, change ...func(*trace.Tracepoint)) (*run, target.Event) {
	t.Helper()
	p := testprog.Build(t, name, fixed)
	r := launch(t, p.Path, args...)
	r.trace(1, symbol(t, p.Path, function), change...)
	if err := r.engine.SetBufferSize(1 << 27); err != nil {
		t.Fatal(err)
	}
	if err := r.engine.Start(r.target, r.pid); err != nil {
		t.Fatal(err)
	}
	return r, r.resume(0)
}

// passAll makes the run go on through signals, as a session does that is to ignore them.
func (r *run) passAll(ev target.Event) target.Event {
	for ev.Kind == target.Stopped {
		ev = r.do(target.Action{Thread: ev.Thread, Signal: ev.Signal}, target.Action{Thread: target.ThreadID{PID: target.All, TID: target.All}})
	}
	return ev
}

// hits is how often the only tracepoint was hit; its frames must be as many.
func (r *run) hits() int64 {
	r.t.Helper()
	hits := int64(r.engine.Tracepoints()[0].Hits)
	if n := r.engine.Status().Created; n != hits {
		r.t.Errorf("%d frames for %d hits", n, hits)
	}
	return hits
}

// A child that kept a breakpoint byte would die of SIGTRAP, which its line would show; the parent's hits are all counted.
func TestForkedChildrenRunFree(t *testing.T) {
	r, ev := traced(t, "forks", []string{"4", "25"}, "step")
	ev = r.passAll(ev)
	if ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("got %+v, want exit with code 0", ev)
	}
	if got := r.hits(); got != 50 {
		t.Errorf("%d hits, want the parent's 50", got)
	}
	out := r.output()
	children := testprog.OfKind(testprog.Records(out), "child")
	if len(children) == 0 {
		t.Fatalf("no children in %q", out)
	}
	if strings.Contains(out, "signal=5") {
		t.Errorf("a child died of SIGTRAP:\n%s", out)
	}
}

func TestDeathInMidRun(t *testing.T) {
	for how, want := range map[string]target.Event{
		"segv":  {Kind: target.Terminated, Signal: 11},
		"kill":  {Kind: target.Terminated, Signal: 9},
		"abort": {Kind: target.Terminated, Signal: 6},
		"trap":  {Kind: target.Terminated, Signal: 5},
	} {
		t.Run(how, func(t *testing.T) {
			r, ev := traced(t, "dies", []string{"30", how}, "step")
			if how != "kill" && (ev.Kind != target.Stopped || ev.Signal != want.Signal) {
				t.Errorf("first event %+v, want a stop by signal %d", ev, want.Signal)
			}
			ev = r.passAll(ev)
			if ev.Kind != want.Kind || ev.Signal != want.Signal {
				t.Errorf("got %+v, want %+v", ev, want)
			}
			if got := r.hits(); got != 30 {
				t.Errorf("%d hits, want 30", got)
			}
			if f, ok := r.engine.Frame(29); !ok || f.Tracepoint() != 1 {
				t.Error("the last frame is not readable after the end")
			}
		})
	}
}

func TestExitWhileThreadsRun(t *testing.T) {
	r, ev := traced(t, "exits", []string{"50000"}, "other_step")
	ev = r.passAll(ev)
	if ev.Kind != target.Exited || ev.Code != 7 {
		t.Errorf("got %+v, want exit with code 7", ev)
	}
	if r.hits() == 0 {
		t.Error("no hits")
	}
}

// Signals catch threads at every place of the trap path. No hit may be lost or doubled, and no result spoilt.
func TestSignalsInTheTrapPath(t *testing.T) {
	const calls = 20000
	for _, function := range []string{"step", "handled_step"} {
		for _, pass := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/pass=%v", function, pass), func(t *testing.T) {
				p := testprog.Build(t, "signals", fixed)
				interval := "2000" // a signal that a session is told of may cost more than the time to the next at a faster rate
				if pass {
					interval = "200"
				}
				r := launch(t, p.Path, fmt.Sprint(calls), interval)
				if pass {
					r.target.PassSignals([]target.Signal{14})
				}
				r.trace(1, symbol(t, p.Path, function))
				if err := r.engine.SetBufferSize(1 << 27); err != nil {
					t.Fatal(err)
				}
				if err := r.engine.Start(r.target, r.pid); err != nil {
					t.Fatal(err)
				}
				if ev := r.passAll(r.resume(0)); ev.Kind != target.Exited || ev.Code != 0 {
					t.Errorf("got %+v, want exit with code 0", ev)
				}
				done := testprog.OfKind(testprog.Records(r.output()), "done")
				if len(done) != 1 {
					t.Fatal("no summary")
				}
				want := int64(calls)
				if function == "handled_step" {
					want = done[0].Int(t, "handled")
				}
				if got := r.hits(); got != want {
					t.Errorf("%d hits, want %d", got, want)
				}
				if n := done[0].Int(t, "wrong"); n != 0 {
					t.Errorf("%d wrong results", n)
				}
			})
		}
	}
}

func TestThreadsComeAndGo(t *testing.T) {
	r, ev := traced(t, "manythreads", []string{"200", "50", "16"}, "step")
	ev = r.passAll(ev)
	if ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("got %+v, want exit with code 0", ev)
	}
	if got := r.hits(); got != 200*50 {
		t.Errorf("%d hits, want %d", got, 200*50)
	}
}

// before is 1 where a watchpoint stops in front of the access, as debuggers know of those processors, and 0 where it does behind.
var before = map[string]byte{"arm64": 1}[runtime.GOARCH]

// A watchpoint stops every thread that writes, also where a displaced instruction does it.
func TestWatchpoint(t *testing.T) {
	needs.DebugRegisters(t)
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "5")
	id := target.ThreadID{PID: r.pid, TID: r.pid}
	calls := symbol(t, p.Path, "totals")
	if err := r.target.InsertBreakpoint(id, target.Breakpoint{Kind: target.WriteWatch, Addr: calls, Length: 8}); err != nil {
		t.Fatal(err)
	}
	r.trace(1, symbol(t, p.Path, "account"))
	if err := r.engine.Start(r.target, r.pid); err != nil {
		t.Fatal(err)
	}
	ev := r.resume(0)
	for want := byte(1); want <= 10; want++ {
		if ev.Kind != target.Stopped || ev.Reason != target.ReasonWatch || ev.Addr != calls {
			t.Fatalf("got %+v, want a stop for the watchpoint at %s", ev, calls)
		}
		var b [8]byte
		if _, err := r.target.ReadMemory(id, calls, b[:]); err != nil || b[0] != want-before {
			t.Errorf("at write %d the counter is %d (%v)", want, b[0], err)
		}
		ev = r.resume(0)
	}
	if ev.Kind != target.Exited {
		t.Errorf("got %+v, want exit", ev)
	}
	if got := r.hits(); got != 10 {
		t.Errorf("%d hits, want 10", got)
	}
}

// TestWatchedInVain has what no debug register would stop at refused, instead of a program run past it.
func TestWatchedInVain(t *testing.T) {
	if r := trial.Machine(); r.Err != nil || r.DebugRegisters {
		t.Skip("the debug registers of this machine stop programs")
	}
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "1")
	b := target.Breakpoint{Kind: target.Hardware, Addr: symbol(t, p.Path, "account"), Length: 1}
	if err := r.target.InsertBreakpoint(r.leader(), b); err == nil {
		t.Error("a hardware breakpoint was inserted")
	}
}

func TestDebugRegistersRunOut(t *testing.T) {
	needs.DebugRegisters(t)
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "1")
	id := target.ThreadID{PID: r.pid, TID: r.pid}
	at := symbol(t, p.Path, "totals")
	if err := r.target.InsertBreakpoint(id, target.Breakpoint{Kind: target.WriteWatch, Addr: at, Length: 32}); err != nil {
		t.Errorf("four registers for 32 bytes: %v", err)
	}
	if err := r.target.InsertBreakpoint(id, target.Breakpoint{Kind: target.Hardware, Addr: at, Length: 1}); err == nil {
		t.Error("a fifth register was there")
	}
	if err := r.target.RemoveBreakpoint(id, target.Breakpoint{Kind: target.WriteWatch, Addr: at, Length: 32}); err != nil {
		t.Error(err)
	}
	if err := r.target.InsertBreakpoint(id, target.Breakpoint{Kind: target.AccessWatch, Addr: at + 1, Length: 3}); err != nil {
		t.Errorf("two registers for three bytes: %v", err)
	}
	err := r.target.InsertBreakpoint(id, target.Breakpoint{Kind: target.ReadWatch, Addr: at, Length: 8})
	if has := runtime.GOARCH == "arm64"; has != (err == nil) || !has && !errors.Is(err, target.ErrUnsupported) {
		t.Errorf("reads alone: %v, on %s", err, runtime.GOARCH)
	}
}

func TestSiginfoOfTheFirstStop(t *testing.T) {
	r := launch(t, testprog.Build(t, "spin", fixed).Path)
	const sigtrap = 5
	info, err := r.target.ReadSiginfo(target.ThreadID{PID: r.pid, TID: r.pid})
	if err != nil {
		t.Fatal(err)
	}
	if signo := info[0]; signo != sigtrap {
		t.Errorf("si_signo is %d, want that of SIGTRAP", signo)
	}
}
