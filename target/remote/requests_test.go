package remote_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/fakestub"
	"tracewell/rsp/client"
	"tracewell/target"
)

// TestDeclined has programs that want files of a client which is not there: each request fails, and the frames are those of a program
// that wants none.
func TestDeclined(t *testing.T) {
	want := open(t, fakestub.Config{InRAM: true, Passes: passes}).trace(1)
	for name, q := range fakestub.Presets {
		t.Run(name, func(t *testing.T) {
			q.FilesEach = 3
			r := open(t, fakestub.Config{Quirks: q, InRAM: true, Passes: passes})
			if got := r.trace(1); !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("frames\n%s\nwant\n%s\n%s", lines(got), lines(want), r.transcript())
			}
			answers := r.stub.Answers()
			if len(answers) < passes || slices.ContainsFunc(answers, func(a string) bool { return a != "F-1,58" }) {
				t.Errorf("answers %q", answers)
			}
			r.clean()
		})
	}
}

// requested waits for a request.
func (r *rig) requested() {
	r.Helper()
	r.isRequest(r.wait())
}

// isRequest checks an event, and that memory can be read meanwhile.
func (r *rig) isRequest(ev target.Event) {
	r.Helper()
	if ev.Kind != target.Requesting || !strings.HasPrefix(ev.Request, "write,1,") {
		r.Fatalf("%+v\n%s", ev, r.transcript())
	}
	var at, n uint64
	if _, err := fmt.Sscanf(ev.Request, "write,1,%x,%x", &at, &n); err != nil {
		r.Fatal(err)
	}
	text := make([]byte, n)
	got, err := r.target.ReadMemory(r.id(), arch.Addr(at), text)
	r.must(err)
	if got != len(text) || string(text) != fakestub.FileText {
		r.Errorf("the text is %q", text[:got])
	}
}

// filed is contract at stubs whose program wants a file each time that it is resumed, of a client who is there.
func filed(t *testing.T, test func(r *rig)) {
	for name, quirks := range contractStubs {
		t.Run(name, func(t *testing.T) {
			quirks.FilesEach = 1
			r := open(t, fakestub.Config{Quirks: quirks, InRAM: true})
			r.target.SetConsole(func([]byte) {})
			test(r)
			r.clean()
		})
	}
}

// TestRequests hands requests to a client, in resumptions of it and in the steps that pass its breakpoint.
func TestRequests(t *testing.T) {
	filed(t, func(r *rig) {
		r.breakAt(r.symbol("stored"), nil)
		for range 3 {
			r.must(r.target.Resume([]target.Action{everything(target.Go)}))
			ev := r.wait()
			for n := 0; n == 0 || ev.Kind == target.Requesting; n++ { // a step off the breakpoint is a resumption, too
				r.isRequest(ev)
				if err := r.target.Resume([]target.Action{everything(target.Go)}); err != target.ErrRunning {
					r.Errorf("resuming behind a request: %v", err)
				}
				r.must(r.target.Answer([]byte("F17")))
				ev = r.wait()
			}
			if ev.Kind != target.Stopped || r.pc() != r.symbol("stored") {
				r.Fatalf("%+v at %v\n%s", ev, r.pc(), r.transcript())
			}
			if err := r.target.Answer([]byte("F0")); err == nil {
				r.Error("an answer without a request is taken")
			}
		}
	})
}

// TestInterruptedRequest has the user press Ctrl-C while a request is under way. GDB says so in its answer; one that came before the
// request is not forgotten either.
func TestInterruptedRequest(t *testing.T) {
	filed(t, func(r *rig) {
		for _, answer := range []string{"F-1,4,C", "F0"} {
			r.must(r.target.Resume([]target.Action{everything(target.Go)}))
			r.requested()
			if answer == "F0" {
				r.must(r.target.Interrupt())
			}
			r.must(r.target.Answer([]byte(answer)))
			if ev := r.wait(); ev.Kind != target.Stopped || ev.Signal != target.SignalInt {
				r.Fatalf("%s: %+v\n%s", answer, ev, r.transcript())
			}
			r.none()
		}
	})
}

// TestLeaveInRequest has the client detach, and the connection end, while a request is under way.
func TestLeaveInRequest(t *testing.T) {
	filed(t, func(r *rig) {
		r.breakAt(r.symbol("stored"), nil)
		r.must(r.target.Resume([]target.Action{everything(target.Go)}))
		r.requested()
		r.must(r.target.Detach(r.id().PID))
		if got := r.stub.Answers(); !slices.Equal(got, []string{"F-1,58,C"}) {
			r.Errorf("answers %q", got)
		}
	})
	filed(t, func(r *rig) {
		r.must(r.target.Resume([]target.Action{everything(target.Go)}))
		r.requested()
		r.stub.Drop()
		if err := r.target.With(func(c *client.Client) error { _, err := c.Exchange([]byte("qC")); return err }); err == nil {
			r.Error("the connection lives")
		}
		if ev := r.wait(); ev.Kind != target.Terminated {
			r.Errorf("%+v", ev)
		}
	})
}

// TestRequestRaces interrupts at random times a program that wants a file at each resumption: each resumption has one stop.
func TestRequestRaces(t *testing.T) {
	filed(t, func(r *rig) {
		for range *races {
			r.must(r.target.Resume([]target.Action{everything(target.Go)}))
			r.must(r.target.Interrupt())
			ev := r.wait()
			for ev.Kind == target.Requesting {
				r.must(r.target.Answer([]byte("F0")))
				ev = r.wait()
			}
			if ev.Kind != target.Stopped || ev.Signal != target.SignalInt && ev.Signal != target.SignalNone {
				r.Fatalf("%+v\n%s", ev, r.transcript())
			}
			r.none()
		}
	})
}
