package remote_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/fakestub"
	"tracewell/rsp/client"
	"tracewell/target"
	"tracewell/trace"
)

// until waits for something that the program does.
func (r *rig) until(what string, holds func() bool) {
	r.Helper()
	for limit := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			r.Fatalf("no %s\n%s", what, r.transcript())
		}
	}
}

// TestReset presses a board's reset button in the middle of a run, with which the program is loaded into RAM anew: while the program
// runs, and while it is halted for a hit. The interrupt of the client finds that the breakpoints have vanished, as does a trap that is
// not one of theirs any more, and puts them in again; the end of a run writes no old code back.
func TestReset(t *testing.T) {
	for name, q := range map[string]fakestub.Quirks{
		"shown": {InMemory: true, Shown: true}, "written": {Software: fakestub.Unknown, Hardware: fakestub.None},
	} {
		for _, running := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/running=%t", name, running), func(t *testing.T) {
				r := open(t, fakestub.Config{Quirks: q, InRAM: true})
				said := make(chan string, 10)
				r.target.SetConsole(func(text []byte) { said <- string(text) })
				r.traced()
				frames := func() int { return int(r.engine.Status().Frames) }
				r.must(r.target.Resume([]target.Action{everything(target.Go)}))
				r.until("frames", func() bool { return frames() > 10 })
				r.until("moment for the button", func() bool { return r.stub.Reset(running) })
				r.until("end of the breakpoints", func() bool { return r.stub.Passes(0) > 1000 || len(r.target.Events()) > 0 })
				if len(r.target.Events()) == 0 {
					r.must(r.target.Interrupt())
				}
				if ev := r.wait(); ev.Signal != target.SignalInt && (running || ev.Signal != target.SignalTrap || ev.Reason != target.ReasonNone) {
					t.Fatalf("%+v", ev)
				}
				select {
				case text := <-said:
					if !strings.Contains(text, "vanished") || !strings.Contains(text, r.symbol("work").String()) {
						t.Errorf("said %q", text)
					}
				default:
					t.Error("nothing is said of the breakpoint")
				}
				before := frames()
				r.must(r.target.Resume([]target.Action{everything(target.Go)}))
				r.until("frames again", func() bool { return frames() > before+10 })
				r.until("moment for the button", func() bool { return r.stub.Reset(running) })
				r.must(r.engine.Stop(trace.ReasonStop, "")) // in which the breakpoint is not there
				if len(r.target.Events()) == 0 {
					r.must(r.target.Interrupt())
				}
				r.wait()
				r.clean()
			})
		}
	}
}

// TestOverwritten has other code where a breakpoint was written: with its end the code stays.
func TestOverwritten(t *testing.T) {
	r := open(t, fakestub.Config{Quirks: fakestub.Quirks{Software: fakestub.Unknown, Hardware: fakestub.None}, InRAM: true})
	r.traced()
	code := []byte{0x41, 0x11}
	r.must(r.target.With(func(c *client.Client) error { return c.WriteMemory(r.symbol("work"), []byte{0x13, 0x00}) }))
	r.must(r.engine.Stop(trace.ReasonStop, ""))
	if got := r.stub.Memory(r.stub.Symbol("work"), 2); !bytes.Equal(got, []byte{0x13, 0x00}) {
		t.Errorf("the code is %x", got)
	}
	r.must(r.target.With(func(c *client.Client) error { return c.WriteMemory(r.symbol("work"), code) }))
	r.clean()
}

// TestMonitorReset resets the board by a command of its stub, which forgets the breakpoints: all are there again, watchpoints too.
func TestMonitorReset(t *testing.T) {
	for name, q := range map[string]fakestub.Quirks{
		"beside": {}, "shown": {InMemory: true, Shown: true}, "written": {Software: fakestub.Unknown, Hardware: fakestub.None, Watchpoints: 1},
	} {
		for _, clears := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				q.ResetClears = clears
				r := open(t, fakestub.Config{Quirks: q, InRAM: true})
				r.traced()
				r.breakAt(r.symbol("stored"), nil)
				r.must(r.target.InsertBreakpoint(r.id(), target.Breakpoint{Kind: target.WriteWatch, Addr: fakestub.RAMAt + 0x90000, Length: 8}))
				want := r.stub.Inserted()
				if len(want) != 3 {
					t.Fatalf("inserted %q", want)
				}
				r.do()
				command := []byte("qRcmd," + hex.EncodeToString([]byte("reset")))
				if text, err := r.target.Pass(r.id(), command, func([]byte) {}); err != nil || text != "OK" {
					t.Fatalf("%q, %v", text, err)
				}
				if got := r.stub.Inserted(); !slices.Equal(got, want) {
					t.Errorf("inserted %q, before %q\n%s", got, want, r.transcript())
				}
				before := r.engine.Status().Frames
				if ev := r.do(); ev.Reason != target.ReasonSwBreak || r.pc() != r.symbol("stored") || r.engine.Status().Frames != before+1 {
					t.Errorf("%+v at %v, %d frames", ev, r.pc(), r.engine.Status().Frames)
				}
				r.must(r.engine.Stop(trace.ReasonStop, ""))
				r.clean()
			})
		}
	}
}

// TestResetEndsRun has no room for the breakpoint of a run after the reset: the run ends with the reason.
func TestResetEndsRun(t *testing.T) {
	r := open(t, fakestub.Config{Quirks: fakestub.Quirks{ResetClears: true}, InRAM: true})
	r.traced()
	r.do(everything(target.StepOne))
	r.stub.Inject(fakestub.Fault{Kind: fakestub.Bogus, Packet: "Z0", At: 1})
	r.stub.Inject(fakestub.Fault{Kind: fakestub.Bogus, Packet: "Z1", At: 1})
	if _, err := r.target.Pass(r.id(), []byte("qRcmd,"+hex.EncodeToString([]byte("reset"))), func([]byte) {}); err == nil {
		t.Error("the reset hides what it has done")
	}
	if s := r.engine.Status(); s.Running || !strings.Contains(s.Description, "cannot be inserted again") {
		t.Errorf("the run is %+v", s)
	}
	r.clean()
}
