package remote_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/fakestub"
	"tracewell/target"
	"tracewell/target/remote"
	"tracewell/trace"
)

// TestReturn drops the line in the middle of a run, with breakpoints inserted, and has another connection remove what was left.
func TestReturn(t *testing.T) {
	for name, quirks := range fakestub.Presets {
		t.Run(name, func(t *testing.T) {
			r := open(t, fakestub.Config{Quirks: quirks, InRAM: true})
			r.must(r.engine.Define(r.tracepoints()[3], false))
			r.must(r.engine.Start(r.target.Tracer(), r.target.Threads()[0].PID))
			r.breakAt(r.symbol("stored"), func(target.Snapshot) bool { return false })
			r.must(r.target.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}, Anew: true}}))
			for r.engine.Status().Frames < 10 {
				time.Sleep(time.Millisecond)
			}
			r.stub.Leave()
			if ev := r.wait(); ev.Kind != target.Terminated {
				t.Errorf("event %+v", ev)
			}
			if s := r.engine.Status(); s.Running || s.Reason != trace.ReasonError || !strings.Contains(s.Description, "connection") {
				t.Errorf("the run is %+v", s)
			}
			r.must(r.target.Close())
			left := r.target.Left()
			if len(left) < 1 || len(left) > 2 { // one of them may be taken out for a step
				t.Fatalf("left %v", left)
			}
			if r.target.Ended() == nil {
				t.Error("nothing is left of the program")
			}
			r.stub.Return(t)
			again := r.again()
			still, err := again.target.Remove(left)
			if err != nil || len(still) > 0 {
				t.Errorf("%v remain: %v\n%s", still, err, r.transcript())
			}
			again.clean()
		})
	}
}

// again connects to the stub once more.
func (r *rig) again() *rig {
	r.Helper()
	second := &rig{TB: r.TB, stub: r.stub, address: r.address}
	o := remote.Options{Description: r.target.Description()}
	second.connect(o)
	return second
}

// lose inserts a breakpoint and drops the line, and returns what was left behind.
func (r *rig) lose(at arch.Addr) []remote.Leftover {
	r.Helper()
	r.breakAt(at, nil)
	r.stub.Leave()
	if err := r.target.WriteMemory(r.target.Threads()[0], fakestub.RAMAt+0x8000, []byte{1}); err == nil {
		r.Fatal("the line is not dropped")
	}
	left := r.target.Left()
	if len(left) != 1 || !strings.Contains(left[0].String(), "software breakpoint at "+at.String()) {
		r.Fatalf("left %v", left)
	}
	r.must(r.target.Close())
	r.stub.Return(r)
	return left
}

// TestRemoveTwice removes what is not there any more; and then has memory show a breakpoint that no stub has a record of, as behind
// a probe that has begun anew.
func TestRemoveTwice(t *testing.T) {
	r := open(t, fakestub.Config{Quirks: fakestub.Quirks{InMemory: true, Shown: true}, InRAM: true})
	at := r.symbol("body")
	own := r.stub.Memory(uint64(at), 4)
	left := r.lose(at)
	trapped := r.stub.Memory(uint64(at), 4)
	again := r.again()
	for range 2 {
		if still, err := again.target.Remove(left); err != nil || len(still) > 0 {
			t.Fatal(still, err)
		}
		if now := r.stub.Memory(uint64(at), 4); !bytes.Equal(now, own) {
			t.Fatalf("the program has %x, not %x", now, own)
		}
		again.must(again.target.WriteMemory(again.target.Threads()[0], at, trapped))
	}
	again.must(again.target.WriteMemory(again.target.Threads()[0], at, own))
	again.clean()
}

// TestRemoveRefused has a stub that does not let go of a breakpoint: it is named.
func TestRemoveRefused(t *testing.T) {
	r := open(t, fakestub.Config{InRAM: true})
	left := r.lose(r.symbol("body"))
	again := r.again()
	r.stub.Inject(fakestub.Fault{Kind: fakestub.Bogus, Packet: "z0", At: 1})
	r.stub.Inject(fakestub.Fault{Kind: fakestub.Bogus, Packet: "Z0", At: 1})
	still, err := again.target.Remove(left)
	if len(still) != 1 || err == nil || !strings.Contains(err.Error(), left[0].String()) {
		t.Errorf("%v, %v", still, err)
	}
	if still, err = again.target.Remove(still); len(still) > 0 || err != nil {
		t.Errorf("%v, %v", still, err)
	}
	again.clean()
}

// TestLeave has a stub refuse to remove a breakpoint as the program is let go.
func TestLeave(t *testing.T) {
	r := open(t, fakestub.Config{Quirks: fakestub.Quirks{DetachKeeps: true}, InRAM: true})
	r.breakAt(r.symbol("body"), nil)
	r.stub.Inject(fakestub.Fault{Kind: fakestub.Bogus, Packet: "z0", At: 1})
	if err := r.target.Detach(1); err == nil || !strings.Contains(err.Error(), "cannot be removed") {
		t.Errorf("Detach says %v", err)
	}
	left := r.target.Left()
	if len(left) != 1 {
		t.Fatalf("left %v", left)
	}
	r.must(r.target.Close())
	again := r.again()
	if still, err := again.target.Remove(left); err != nil || len(still) > 0 {
		t.Errorf("%v, %v", still, err)
	}
	again.clean()
}

// TestReconnect loses the line a hundred times at any time of a run, and comes back each time: nothing is ever left.
func TestReconnect(t *testing.T) {
	for name, quirks := range contractStubs {
		t.Run(name, func(t *testing.T) {
			r := open(t, fakestub.Config{Quirks: quirks, InRAM: true})
			for range *races / 5 {
				for _, tp := range r.tracepoints() {
					r.must(r.engine.Define(tp, false))
				}
				r.must(r.engine.Start(r.target.Tracer(), r.target.Threads()[0].PID))
				r.must(r.target.Resume([]target.Action{everything(target.Go)}))
				time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
				r.stub.Leave()
				ev := r.wait()
				if s := r.engine.Status(); s.Running || s.Reason != trace.ReasonError {
					t.Fatalf("%+v, and the run is %+v\n%s", ev, s, r.transcript())
				}
				r.must(r.target.Close())
				left := r.target.Left()
				r.stub.Return(t)
				r = r.again()
				if still, err := r.target.Remove(left); err != nil || len(still) > 0 {
					t.Fatalf("%v remain: %v\n%s", still, err, r.transcript())
				}
				if there := r.stub.Inserted(); len(there) > 0 {
					t.Fatalf("left %v, and there is %q\n%s", left, there, r.transcript())
				}
			}
			r.clean()
		})
	}
}
