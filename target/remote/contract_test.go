package remote_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/fakestub"
	"tracewell/target"
	"tracewell/target/remote"
	"tracewell/tdesc"
	"tracewell/trace"
)

// These tests hold target.Target's contracts against stubs of several kinds.
var contractStubs = map[string]fakestub.Quirks{
	"plain": fakestub.Plain, "qemu": fakestub.QEMUSystem, "lifted": {StepStays: true, InMemory: true, Shown: true, Reasons: true},
	"old":     {NoVCont: true, Stop: fakestub.BareT, ContinuePasses: true, KeepsAcks: true},
	"written": {Software: fakestub.Unknown, Hardware: fakestub.None},
}

func everything(verb target.Verb) target.Action {
	return target.Action{Thread: target.ThreadID{PID: target.All, TID: target.All}, Verb: verb}
}

func contract(t *testing.T, c fakestub.Config, test func(r *rig)) {
	for name, quirks := range contractStubs {
		t.Run(name, func(t *testing.T) {
			c := c
			c.Quirks, c.InRAM = quirks, true
			r := open(t, c)
			test(r)
			r.clean()
		})
	}
}

func (r *rig) id() target.ThreadID { return r.target.Threads()[0] }

// pc is where the only hart is, by the target.
func (r *rig) pc() arch.Addr {
	r.Helper()
	b, err := r.target.ReadRegister(r.id(), r.target.ISA().PC)
	r.must(err)
	return arch.Addr(binary.LittleEndian.Uint64(b))
}

// none checks that no event is there.
func (r *rig) none() {
	r.Helper()
	select {
	case ev := <-r.target.Events():
		r.Errorf("another event: %+v", ev)
	default:
	}
}

// TestInterrupt interrupts a program at random times, with and without a breakpoint that it meets all the time: each resumption has
// one event.
func TestInterrupt(t *testing.T) {
	rounds := *races
	contract(t, fakestub.Config{}, func(r *rig) {
		r.must(r.target.Interrupt()) // nothing runs
		r.none()
		for i := range rounds {
			if i == rounds/2 {
				r.breakAt(r.symbol("stored"), nil)
			}
			r.must(r.target.Resume([]target.Action{everything(target.Go)}))
			if i < rounds/2 || i%3 != 0 {
				if n := rand.IntN(4); n > 0 {
					time.Sleep(time.Duration(rand.IntN(200*n)) * time.Microsecond)
				}
				r.must(r.target.Interrupt())
			}
			ev := r.wait()
			at := r.pc() == r.symbol("stored")
			switch {
			case ev.Kind != target.Stopped:
				r.Fatalf("round %d: %+v", i, ev)
			case ev.Signal == target.SignalInt && i >= rounds/2 && i%3 == 0:
				r.Fatalf("round %d: nobody has interrupted this: %+v\n%s", i, ev, r.transcript())
			case ev.Signal == target.SignalTrap && (i < rounds/2 || !at || ev.Reason == target.ReasonNone):
				r.Fatalf("round %d: at %v: %+v\n%s", i, r.pc(), ev, r.transcript())
			case ev.Signal != target.SignalTrap && ev.Signal != target.SignalInt:
				r.Fatalf("round %d: %+v", i, ev)
			}
			r.none()
		}
	})
}

// TestSteps steps through a program with tracepoints, breakpoints with conditions and without: each is met once, and each step moves
// by one instruction.
func TestSteps(t *testing.T) {
	contract(t, fakestub.Config{}, func(r *rig) {
		body, inner := r.symbol("body"), r.symbol("inner")
		r.must(r.engine.Define(r.tracepoints()[2], false))
		tp := r.tracepoints()[1]
		tp.Step = 0
		r.must(r.engine.Define(tp, false))
		r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
		asked := 0
		r.breakAt(inner, func(target.Snapshot) bool { asked++; return false })
		want := make(map[arch.Addr]int)
		list := r.stub.Instructions()
		for range 120 {
			before := r.pc()
			ev := r.do(everything(target.StepOne))
			if ev.Kind != target.Stopped || ev.Signal != target.SignalTrap {
				r.Fatalf("%+v", ev)
			}
			if now := r.pc(); now == before || !slices.Contains(list, uint64(now)) {
				r.Fatalf("a step from %v to %v\n%s", before, now, r.transcript())
			}
			want[r.pc()]++
		}
		hits := func(n trace.Number, at arch.Addr) int {
			h, _, ok := r.engine.Hits(trace.Key{Number: n, Addr: at})
			if !ok {
				r.Fatalf("no tracepoint %d", n)
			}
			return int(h)
		}
		// A step that ends at a tracepoint is its hit, and the step that leaves it is not.
		if got := hits(2, body); got != want[body] || got == 0 {
			r.Errorf("%d hits by steps, %d arrivals", got, want[body])
		}
		if got := hits(3, r.tracepoints()[2].Addr); got != want[r.tracepoints()[2].Addr] {
			r.Errorf("%d hits behind another, %d arrivals", got, want[r.tracepoints()[2].Addr])
		}
		r.must(r.engine.Stop(trace.ReasonStop, ""))
	})
}

// TestRange steps in a range of addresses, until the thread leaves that or meets a breakpoint in it.
func TestRange(t *testing.T) {
	contract(t, fakestub.Config{}, func(r *rig) {
		body, stored, kept := r.symbol("body"), r.symbol("stored"), r.symbol("kept")
		r.breakAt(body, nil)
		r.do()
		rest := everything(target.StepRange)
		rest.Start, rest.End = body, kept
		for range 4 { // with a loop in it, but for the last time
			ev := r.do(rest)
			if at := r.pc(); at != kept || ev.Signal != target.SignalTrap {
				r.Fatalf("the range ends at %v: %+v\n%s", at, ev, r.transcript())
			}
			if ev := r.do(everything(target.Go)); r.pc() != body || ev.Reason == target.ReasonNone {
				r.Fatalf("%v: %+v", r.pc(), ev)
			}
		}
		asked := 0
		r.breakAt(r.symbol("inner"), func(target.Snapshot) bool { asked++; return false })
		r.breakAt(stored, nil)
		if ev := r.do(rest); r.pc() != stored || ev.Signal != target.SignalTrap {
			r.Fatalf("a breakpoint in the range: %v, %+v\n%s", r.pc(), ev, r.transcript())
		}
		if asked == 0 {
			r.Error("the condition in the range was not asked")
		}
	})
}

// TestAnew stands at a breakpoint and resumes: anew it is met again without an instruction, otherwise it is passed.
func TestAnew(t *testing.T) {
	contract(t, fakestub.Config{}, func(r *rig) {
		body := r.symbol("body")
		r.breakAt(body, nil)
		r.do()
		executed := r.stub.Executed()
		anew := everything(target.Go)
		anew.Anew = true
		if ev := r.do(anew); ev.Reason == target.ReasonNone || r.pc() != body || r.stub.Executed() != executed {
			r.Errorf("anew: %+v at %v, %d instructions", ev, r.pc(), r.stub.Executed()-executed)
		}
		passes := r.stub.Passes(0)
		if ev := r.do(everything(target.Go)); ev.Reason == target.ReasonNone || r.pc() != body || r.stub.Passes(0) != passes+1 {
			r.Errorf("otherwise: %+v at %v, %d passes", ev, r.pc(), r.stub.Passes(0)-passes)
		}
	})
}

// TestAtOneAddress has a breakpoint of each kind with a condition, and a tracepoint, at one address, comes and goes by them in any
// order, and writes over them.
func TestAtOneAddress(t *testing.T) {
	contract(t, fakestub.Config{}, func(r *rig) {
		body := r.symbol("body")
		own := r.stub.Memory(uint64(body), 8)
		asked := map[target.BreakKind]int{}
		kinds := []target.BreakKind{target.Software, target.Hardware}
		b := func(kind target.BreakKind) target.Breakpoint {
			return target.Breakpoint{Kind: kind, Addr: body, Length: 4, Check: func(target.Snapshot) bool { asked[kind]++; return false }}
		}
		tp := r.tracepoints()[1]
		tp.Step = 0
		r.must(r.engine.Define(tp, false))
		r.breakAt(r.symbol("end"), nil)
		r.breakAt(r.symbol("kept"), nil) // one pass each time
		has := map[target.BreakKind]bool{}
		tracing := false
		for round := range 60 {
			switch kind := kinds[rand.IntN(2)]; rand.IntN(3) {
			case 0:
				if err := r.target.InsertBreakpoint(r.id(), b(kind)); err == nil {
					has[kind] = true
				}
			case 1:
				r.must(r.target.RemoveBreakpoint(r.id(), b(kind)))
				has[kind] = false
			case 2:
				if tracing {
					r.must(r.engine.Stop(trace.ReasonStop, ""))
				} else {
					r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
				}
				tracing = !tracing
			}
			got := make([]byte, 8)
			if n, err := r.target.ReadMemory(r.id(), body, got); n < 8 || !bytes.Equal(got, own) {
				r.Fatalf("round %d: memory is %x, %v, not %x\n%s", round, got, err, own, r.transcript())
			}
			r.must(r.target.WriteMemory(r.id(), body-2, append(slices.Clone(r.stub.Memory(uint64(body)-2, 2)), own...)))
			clear(asked)
			var before uint64
			if tracing {
				before, _, _ = r.engine.Hits(trace.Key{Number: 2, Addr: body})
			}
			r.do(everything(target.Go))
			for _, kind := range kinds {
				if want := map[bool]int{true: 1}[has[kind]]; asked[kind] != want {
					r.Fatalf("round %d: kind %d was asked %d times, not %d\n%s", round, kind, asked[kind], want, r.transcript())
				}
			}
			if tracing {
				if now, _, _ := r.engine.Hits(trace.Key{Number: 2, Addr: body}); now != before+1 {
					r.Fatalf("round %d: %d hits\n%s", round, now-before, r.transcript())
				}
			}
		}
		if tracing {
			r.must(r.engine.Stop(trace.ReasonStop, ""))
		}
	})
}

// TestInstallWhileRunning starts and ends trace runs in a program that runs: the frames of each run are of passes that follow one
// another, without a gap.
func TestInstallWhileRunning(t *testing.T) {
	rounds := *races / 5
	contract(t, fakestub.Config{}, func(r *rig) {
		tp := r.tracepoints()[3]
		tp.Addr, tp.Condition = r.symbol("stored"), nil
		r.must(r.engine.Define(tp, false))
		r.must(r.target.Resume([]target.Action{everything(target.Go)}))
		layout, err := r.target.Description().Layout()
		r.must(err)
		for round := range rounds {
			passes := r.stub.Passes(0)
			r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
			for r.engine.Status().Frames < 3 {
				time.Sleep(50 * time.Microsecond)
			}
			r.must(r.engine.Stop(trace.ReasonStop, ""))
			last := uint64(0)
			for f := range r.engine.Frames() {
				a := func(n arch.Reg) uint64 { return binary.LittleEndian.Uint64(f.Registers()[layout.ByNumber(n).Offset:]) }
				pass := a(a0)
				if want := fakestub.Expected(0, pass); a(a1) != want.A1 || a(12) != want.Sum || last != 0 && pass != last+1 || pass < passes {
					r.Fatalf("round %d: pass %d behind %d, not before %d: %d %d, want %+v", round, pass, last, passes, a(a1), a(12), want)
				}
				last = pass
			}
			r.none()
		}
		r.must(r.target.Interrupt())
		if ev := r.wait(); ev.Signal != target.SignalInt {
			r.Errorf("%+v", ev)
		}
	})
}

// TestWatch has watchpoints with conditions.
func TestWatch(t *testing.T) {
	for _, name := range []string{"plain", "old", "lifted"} {
		t.Run(name, func(t *testing.T) {
			r := open(t, fakestub.Config{Quirks: contractStubs[name], InRAM: true})
			r.breakAt(r.symbol("work"), nil)
			r.do()
			at := arch.Addr(r.stub.Register(0, 3)) // where the passes are counted
			asked := 0
			w := target.Breakpoint{Kind: target.WriteWatch, Addr: at, Length: 8, Check: func(target.Snapshot) bool { asked++; return asked%3 == 0 }}
			r.must(r.target.InsertBreakpoint(r.id(), w))
			r.must(r.target.RemoveBreakpoint(r.id(), target.Breakpoint{Addr: r.symbol("work"), Length: 2}))
			for i := 1; i <= 4; i++ {
				ev := r.do(everything(target.Go))
				if ev.Reason != target.ReasonWatch || ev.Addr != at || asked != 3*i || r.stub.Passes(0) != uint64(3*i) {
					r.Fatalf("%+v, asked %d times in %d passes\n%s", ev, asked, r.stub.Passes(0), r.transcript())
				}
			}
			r.must(r.target.RemoveBreakpoint(r.id(), w))
			r.clean()
		})
	}
}

// TestClose closes targets at random times of a run with tracepoints.
func TestClose(t *testing.T) {
	for name, quirks := range contractStubs {
		for range *races / 25 {
			r := open(t, fakestub.Config{Quirks: quirks, InRAM: true, Harts: 2})
			for _, tp := range r.tracepoints() {
				r.must(r.engine.Define(tp, false))
			}
			r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
			r.must(r.target.Resume([]target.Action{everything(target.Go)}))
			time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
			done := make(chan bool)
			go func() { // whoever calls meanwhile gets an error
				_, _ = r.target.ReadMemory(target.ThreadID{PID: 1, TID: 1}, fakestub.RAMAt, make([]byte, 4))
				_ = r.target.Interrupt()
				close(done)
			}()
			if err := r.target.Close(); err != nil {
				t.Errorf("%s: %v\n%s", name, err, r.transcript())
			}
			<-done
			if left := r.stub.Inserted(); len(left) > 0 {
				t.Errorf("%s: left %q\n%s", name, left, r.transcript())
			}
			r.stub.Close()
		}
	}
	nobody(t)
}

// TestKill ends the program, and what is called then says so.
func TestKill(t *testing.T) {
	contract(t, fakestub.Config{}, func(r *rig) {
		r.breakAt(r.symbol("body"), nil)
		r.do()
		id := r.id()
		r.must(r.target.Kill(1))
		if err := r.target.Resume([]target.Action{everything(target.Go)}); err == nil {
			r.Error("a program that was killed goes on")
		}
		if _, err := r.target.ReadMemory(id, r.symbol("body"), make([]byte, 4)); err == nil {
			r.Error("it has memory")
		}
		if list := r.target.Threads(); len(list) > 0 {
			r.Errorf("it has threads %v", list)
		}
		r.none()
	})
}

// races is how often what depends on time is tried.
var races = flag.Int("races", 100, "rounds of tests of races")

// TestSemaphores raises counters while tracepoints are installed, and leaves them as they were, whatever the end is.
func TestSemaphores(t *testing.T) {
	counter := arch.Addr(fakestub.RAMAt + 0x9000)
	contract(t, fakestub.Config{Harts: 2}, func(r *rig) {
		value := func(want uint16) {
			r.Helper()
			if got := binary.LittleEndian.Uint16(r.stub.Memory(uint64(counter), 2)); got != want {
				r.Fatalf("the semaphore is %d, not %d\n%s", got, want, r.transcript())
			}
		}
		tracer, body, inner := r.target.Tracer(), r.symbol("body"), r.symbol("inner")
		tracer.SetHandler(nil) // that of an engine without a run would end all of it
		r.must(tracer.Install(1, body, []arch.Addr{counter, counter}))
		value(2)
		r.must(r.target.Resume([]target.Action{everything(target.Go)}))
		r.must(tracer.Install(1, inner, []arch.Addr{counter}))
		value(3)
		if err := tracer.Install(1, 0x1234, []arch.Addr{counter}); err == nil && r.stub.Memory(0x1234, 2) == nil {
			r.must(tracer.Uninstall(1, 0x1234)) // a stub may take an address without memory
		}
		value(3)
		r.must(tracer.Uninstall(1, body))
		value(1)
		r.must(tracer.Uninstall(1, body))
		r.must(r.target.Interrupt())
		r.wait()
		r.must(r.target.Detach(1))
		value(0)
	})
}

// TestBreakpointInSteps has a client's breakpoint in the middle of the steps of a tracepoint: it stops the thread, and the steps go on
// when that does.
func TestBreakpointInSteps(t *testing.T) {
	contract(t, fakestub.Config{}, func(r *rig) {
		list := r.stub.Instructions()
		body := slices.Index(list, uint64(r.symbol("body")))
		tp := r.tracepoints()[1] // three steps
		r.must(r.engine.Define(tp, false))
		r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
		middle := arch.Addr(list[body+2])
		r.breakAt(middle, nil)
		for round := range 6 {
			frames := r.engine.Status().Frames
			if ev := r.do(everything(target.Go)); r.pc() != middle || ev.Reason == target.ReasonNone {
				r.Fatalf("round %d: %+v at %v\n%s", round, ev, r.pc(), r.transcript())
			}
			// Of this hit: itself and two steps; of the last one the third step.
			want := frames + 3
			if round > 0 {
				want++
			}
			if got := r.engine.Status().Frames; got != want {
				r.Fatalf("round %d: %d frames, not %d\n%s", round, got, want, r.transcript())
			}
		}
		r.must(r.engine.Stop(trace.ReasonStop, ""))
	})
}

// TestBehindBlock has a register that the stub's block lacks: it is read and written alone, and asked for by nobody else.
func TestBehindBlock(t *testing.T) {
	plain := fakestub.New(fakestub.Config{})
	plain.Close()
	text := bytes.Replace(plain.Description(), []byte("</target>"),
		[]byte(`<feature name="more"><reg name="more" bitsize="64" regnum="4096"/></feature></target>`), 1)
	d, _, err := tdesc.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := openAs(t, fakestub.Config{Quirks: fakestub.Quirks{
		Replies: map[string]string{"p1000": "0102030405060708", "P1000=": "OK", "p1001": "E01"},
	}, InRAM: true}, remote.Options{Description: d})
	layout, err := d.Layout()
	r.must(err)
	if r.target.BlockSize() != layout.Size-8 {
		r.Fatalf("the block has %d bytes of %d", r.target.BlockSize(), layout.Size)
	}
	block := make([]byte, layout.Size)
	r.must(r.target.ReadRegisters(r.id(), block))
	r.must(r.target.WriteRegisters(r.id(), block))
	if n := r.stub.Received("p"); n > 0 {
		r.Errorf("%d registers were read alone", n)
	}
	if b, err := r.target.ReadRegister(r.id(), 4096); err != nil || !bytes.Equal(b, []byte{1, 2, 3, 4, 5, 6, 7, 8}) {
		r.Errorf("%x, %v", b, err)
	}
	r.must(r.target.WriteRegister(r.id(), 4096, make([]byte, 8)))
	for _, n := range []arch.Reg{4097, -1} {
		if _, err := r.target.ReadRegister(r.id(), n); err == nil {
			r.Errorf("register %d has a value", n)
		}
	}
	for _, size := range []int{0, 4, 9} {
		if err := r.target.WriteRegister(r.id(), 4096, make([]byte, size)); err == nil {
			r.Errorf("a value of %d bytes is taken for a register of 8", size)
		}
	}
	if err := r.target.WriteRegister(r.id(), sp, make([]byte, 4)); err == nil {
		r.Error("half a register is written")
	}
	r.clean()
}

// TestThreadsAgain has a stub whose list of threads begins again and again.
func TestThreadsAgain(t *testing.T) {
	r := open(t, fakestub.Config{Quirks: fakestub.Quirks{Replies: map[string]string{"qsThreadInfo": "m1,2"}}, Harts: 2})
	if list := r.target.Threads(); len(list) != 2 {
		r.Errorf("threads %v", list)
	}
	r.clean()
}
