//go:build linux && amd64

package linux

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// mapped is what a program has mapped and opened, but for its heap and stack, which it changes itself.
func mapped(t *testing.T, pid int) (all []string) {
	maps, err := sys.Mappings(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range maps {
		if m.Path != "[heap]" && m.Path != "[stack]" {
			all = append(all, fmt.Sprintf("%#x-%#x %s", m.Start, m.End, m.Path))
		}
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range open {
		all = append(all, "file "+f.Name())
	}
	return all
}

// refusingKernel is a kernel's answers, and what the reason must say for which a tracepoint is a trap then.
type refusingKernel struct {
	name, why string
	kernel    otherKernel
}

// refusingKernels are those with SELinux or shadow stacks, and one that has no memory at each of the calls.
func refusingKernels() []refusingKernel {
	const protExec, accessDenied, notPermitted, noMemory = 4, 13, 1, 12
	nth := func(n int, errno int, call ...uint64) func(uint64, []uint64) int {
		made := 0
		return func(number uint64, _ []uint64) int {
			if len(call) > 0 && !slices.Contains(call, number) || number == sys.CallMunmap || number == sys.CallClose {
				return 0
			}
			if made++; made == n {
				return errno
			}
			return 0
		}
	}
	tests := []refusingKernel{
		{"executable memory", "SELinux", otherKernel{errno: func(number uint64, args []uint64) int {
			if number == sys.CallMmap && args[2]&protExec != 0 {
				return accessDenied
			}
			return 0
		}}},
		{"shared memory", "SELinux", otherKernel{errno: func(number uint64, args []uint64) int {
			if number == sys.CallMmap && args[2]&protExec == 0 && args[3]&sys.OwnMemory != sys.OwnMemory {
				return accessDenied
			}
			return 0
		}}},
		{"files in memory", "operation not permitted", otherKernel{errno: func(number uint64, _ []uint64) int {
			if number == sys.CallMemfdCreate {
				return notPermitted
			}
			return 0
		}}},
		{"shadow stack", "shadow stack", otherKernel{status: map[string]string{"x86_Thread_features": "shstk"}}},
		{"actions", "cannot allocate", otherKernel{errno: nth(2, noMemory, sys.CallSigaction)}},
	}
	for n := range 6 { // at every call that comes first, second and so on
		why := "cannot allocate"
		if n == 1 {
			continue // memfd_create is tried twice
		}
		tests = append(tests, refusingKernel{fmt.Sprintf("call %d", n), why, otherKernel{errno: nth(n+1, noMemory)}})
	}
	return tests
}

// TestRefusingKernels has the kernel answer as one with SELinux or shadow stacks would: the tracepoint is a trap that says why,
// every hit counts, and the program has no memory or file of the tracer's.
func TestRefusingKernels(t *testing.T) {
	path := testprog.Build(t, "spin", testprog.Variant{NoPIE: true}).Path
	for _, test := range refusingKernels() {
		t.Run(test.name, func(t *testing.T) {
			const calls = 100
			tg, engine, out := startSpin(t, path, calls)
			pid := tg.Threads()[0].PID
			before := mapped(t, pid)
			tg.do(func() { tg.kernel = test.kernel })
			at := functionAt(t, path, "tick_push")
			if err := engine.Define(trace.Tracepoint{Number: 1, Addr: at, Enabled: true}, false); err != nil {
				t.Fatal(err)
			}
			if err := engine.Start(tg, pid); err != nil {
				t.Fatal(err)
			}
			tally := engine.Tallies(nil)[0]
			if tally.Elsewhere || tally.Refusal == nil || !strings.Contains(tally.Refusal.Error(), test.why) {
				t.Errorf("the tracepoint is a trap, since %v; want %q", tally.Refusal, test.why)
			}
			tg.do(func() {
				if s := tg.procs[0].pads; s != nil && s.arena != nil {
					t.Error("the target has pads")
				}
			})
			// Scratch memory for the displaced instruction of the trap goes with the tracepoint.
			if err := engine.Stop(trace.ReasonStop, ""); err != nil {
				t.Fatal(err)
			}
			after := without(mapped(t, pid), before)
			if text := strings.Join(after, " "); len(after) > 1 || strings.Contains(text, "/") || strings.Contains(text, "file") {
				t.Errorf("the program has %q besides what it had", after)
			}
			if err := engine.Start(tg, pid); err != nil {
				t.Fatal(err)
			}
			if err := tg.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}); err != nil {
				t.Fatal(err)
			}
			select {
			case ev := <-tg.Events():
				if ev.Kind != target.Exited || ev.Code != 0 {
					t.Errorf("%+v, want exit with status 0", ev)
				}
			case <-time.After(time.Minute):
				t.Fatal("no event within a minute")
			}
			if printed, err := io.ReadAll(out); err != nil || !strings.Contains(string(printed), "wrong=0") {
				t.Errorf("the program printed %q, %v", printed, err)
			}
			if hits, _, _ := engine.Hits(trace.Key{Number: 1, Addr: at}); hits != calls {
				t.Errorf("%d hits, want %d", hits, calls)
			}
		})
	}
}

// TestFilterNotSuspended has the kernel refuse to suspend the filter of system calls of a program that is killed for mmap. It is made to
// call nothing: the tracepoint is a trap that says why, every hit counts, and the program lives.
func TestFilterNotSuspended(t *testing.T) {
	const calls = 100
	path := testprog.Build(t, "filtered", testprog.Variant{NoPIE: true}).Path
	tg, engine, out := startSpin(t, path, calls)
	thread := tg.Threads()[0]
	next := func() target.Event {
		t.Helper()
		if err := tg.Resume([]target.Action{{Thread: thread}}); err != nil {
			t.Fatal(err)
		}
		select {
		case ev := <-tg.Events():
			return ev
		case <-time.After(time.Minute):
			t.Fatal("no event within a minute")
			panic("unreachable")
		}
	}
	begun := target.Breakpoint{Addr: functionAt(t, path, "filtered"), Length: 1}
	if err := tg.InsertBreakpoint(thread, begun); err != nil {
		t.Fatal(err)
	}
	next()
	if err := tg.RemoveBreakpoint(thread, begun); err != nil {
		t.Fatal(err)
	}
	tg.do(func() {
		tg.kernel.option = func(options int) error {
			if options&sys.SuspendSeccomp != 0 {
				return fs.ErrPermission
			}
			return nil
		}
	})
	at := functionAt(t, path, "step")
	if err := engine.Define(trace.Tracepoint{Number: 1, Addr: at, Enabled: true}, false); err != nil {
		t.Fatal(err)
	}
	if err := engine.Start(tg, thread.PID); err != nil {
		t.Fatal(err)
	}
	const why = "filters its system calls, and this tracer may not suspend that"
	tally := engine.Tallies(nil)[0]
	if tally.Elsewhere || tally.Refusal == nil || !strings.Contains(tally.Refusal.Error(), why) {
		t.Errorf("the tracepoint is a trap, since %v; want %q", tally.Refusal, why)
	}
	if ev := next(); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
	if printed, err := io.ReadAll(out); err != nil || !strings.Contains(string(printed), "wrong=0") {
		t.Errorf("the program printed %q, %v", printed, err)
	}
	if hits, _, _ := engine.Hits(trace.Key{Number: 1, Addr: at}); hits != calls {
		t.Errorf("%d hits, want %d", hits, calls)
	}
}

// without returns what of a list another has not got.
func without(list, other []string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return slices.Contains(other, s) })
}

// startSpin launches spin with pads, and an engine for it.
func startSpin(t *testing.T, path string, calls int) (*Target, *tracepoint.Engine, io.Reader) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	tg, err := New(Streams{Out: w})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	tg.UsePads(Pads{})
	_, err = tg.Start(target.Program{Path: path, Args: []string{fmt.Sprint(calls), "push"}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	layout, err := tg.Description().Layout()
	if err != nil {
		t.Fatal(err)
	}
	engine := tracepoint.New(tracepoint.Layout{
		Order: tg.ISA().Order, RegisterBlock: layout.Size, PCOffset: layout.ByNumber(tg.ISA().PC).Offset,
	})
	tg.SetHandler(engine.NewHandler())
	return tg, engine, r
}

// functionAt is the address of a function of a program at a fixed address.
func functionAt(t *testing.T, path, name string) arch.Addr {
	s, ok := testprog.Symbols(t, path)[name]
	if !ok {
		t.Fatalf("no function %s", name)
	}
	return arch.Addr(s.Value)
}
