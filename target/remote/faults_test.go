package remote_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/fakestub"
	"tracewell/target"
	"tracewell/target/remote"
	"tracewell/tdesc"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// What the tests here give a stub for a reply, and what a call may take beside it on a machine that is busy.
const (
	patient = 250 * time.Millisecond
	slack   = 8 * time.Second
)

// faultKinds are the faults of fakestub by name.
var faultKinds = map[string]fakestub.Kind{
	"silence": fakestub.Silence, "nonsense": fakestub.Nonsense, "damage": fakestub.Damage, "half": fakestub.Half,
	"console": fakestub.ConsoleOnly, "reset": fakestub.Reset, "reset after": fakestub.ResetAfter, "bogus": fakestub.Bogus,
}

// faultPackets are the packets at which faults go off, by their beginnings; "" is any.
var faultPackets = []string{
	"", "qSupported", "qXfer:features", "?", "Hg", "vCont?", "vCont;c", "vCont;s", "vCont", "c", "s", "g", "p", "P", "m", "M", "Z", "z",
	"qfThreadInfo", "qsThreadInfo", "qC", "qRcmd", "qThreadExtraInfo", "D", "G",
}

// faultStubs are the stubs that have them: a plain one, one with acknowledgments, one that knows little.
var faultStubs = map[string]fakestub.Quirks{
	"plain": fakestub.Plain, "qemu": fakestub.QEMUSystem, "least": {
		KeepsAcks: true, NoVCont: true, NoThreads: true, NoThreadXfer: true, Stop: fakestub.BareT, Software: fakestub.Unknown,
		Hardware: fakestub.None, NoMonitor: true, StepStays: true, Shown: true, InMemory: true,
	},
}

// faulty is one stub with a fault, and a target of it if there is one.
type faulty struct {
	name     string
	patience time.Duration
	stub     *fakestub.Stub
	target   *remote.Target
	engine   *tracepoint.Engine
	bogus    bool // the fault is an error in place of a reply
	stopped  bool // the run was stopped over a connection that was sound
	mu       sync.Mutex
	wrong    []string
}

func (f *faulty) errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

// within calls something that may take one wait for a reply. What its error says has to be fit for users.
func (f *faulty) within(name string, call func() error) error {
	start := time.Now()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		if took := time.Since(start); took > patient+slack {
			f.errorf("%s took %v", name, took)
		}
		f.readable(name, err)
		return err
	case <-time.After(20 * time.Second):
		f.errorf("%s does not return", name)
		return fmt.Errorf("%s hangs", name)
	}
}

// readable looks at an error's text.
func (f *faulty) readable(name string, err error) {
	if err == nil {
		return
	}
	text := err.Error()
	for _, bad := range []string{"%!", "<nil>", "0x0000", "panic"} {
		if text == "" || strings.Contains(text, bad) || len(text) > 600 {
			f.errorf("%s: the error says %q", name, text)
			return
		}
	}
}

// open connects. That the stub has no description is no fault.
func (f *faulty) open(c fakestub.Config) error {
	f.stub = fakestub.New(c)
	o := remote.Options{Patience: f.patience}
	d, _, err := tdesc.Parse(f.stub.Description(), nil)
	if err != nil {
		return err
	}
	o.Machine = d.Machine()
	if c.Quirks.NoFeatures {
		o.Description = d
	}
	err = f.within("Open", func() (err error) {
		f.target, err = remote.Open(f.stub.Pipe(), o)
		return err
	})
	if err != nil {
		return err
	}
	layout, err := tracepoint.LayoutOf(f.target)
	if err != nil {
		return err
	}
	layout.RegisterBlock = f.target.BlockSize()
	f.engine = tracepoint.New(layout)
	f.target.Tracer().SetHandler(f.engine.NewHandler())
	return nil
}

// begin starts a trace run with tracepoints that make frames of every pass, and a breakpoint whose condition is false until the end.
func (f *faulty) begin(passes uint64, label string) error {
	registers := trace.Action{Kind: trace.CollectRegisters, Mask: []byte{0xff}}
	stack := trace.Action{Kind: trace.CollectMemory, Base: sp, Length: 16}
	actions := []trace.Action{registers, stack}
	for _, tp := range []trace.Tracepoint{
		{Number: 1, Addr: arch.Addr(f.stub.Symbol("body")), Enabled: true, Actions: actions, Step: 2, StepActions: actions},
		{Number: 2, Addr: arch.Addr(f.stub.Symbol("stored")), Enabled: true, Actions: actions},
	} {
		if err := f.engine.Define(tp, false); err != nil {
			return err
		}
	}
	id := f.target.Threads()[0]
	return f.within("Start", func() error {
		if err := f.engine.Start(f.target.Tracer(), id.PID); err != nil {
			return err
		}
		return f.target.InsertBreakpoint(id, target.Breakpoint{Addr: arch.Addr(f.stub.Symbol(label)), Length: 2,
			Check: func(target.Snapshot) bool { return f.stub.Passes(0) >= passes }})
	})
}

// frames are all frames that there are, in order.
func (f *faulty) frames() (list []string) {
	for frame := range f.engine.Frames() {
		b := make([]byte, 16)
		n := f.engineFrame(frame, b)
		list = append(list, fmt.Sprintf("%d at %v: %d registers %08x, %x", frame.Tracepoint(), frame.PC, len(frame.Registers()),
			crc32.ChecksumIEEE(frame.Registers()), b[:n]))
	}
	return list
}

func (f *faulty) engineFrame(frame target.Traceframe, b []byte) int {
	layout, err := f.target.Description().Layout()
	registers := frame.Registers()
	if err != nil || len(registers) < f.target.BlockSize() {
		return 0
	}
	at := f.target.ISA().Order.Uint64(registers[layout.ByNumber(sp).Offset:])
	return frame.ReadMemory(arch.Addr(at), b)
}

// resume resumes everything and waits for the event, which has to come even if the stub is mute: then by an interrupt.
func (f *faulty) resume() (target.Event, bool) {
	everything := []target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}, Anew: true}}
	if err := f.within("Resume", func() error { return f.target.Resume(everything) }); err != nil {
		return target.Event{}, false
	}
	var ev target.Event
	wait := func(limit time.Duration) bool {
		select {
		case ev = <-f.target.Events():
			return true
		case <-time.After(limit):
			return false
		}
	}
	if wait(5 * f.patience) {
		return ev, true
	}
	_ = f.within("Interrupt", f.target.Interrupt)
	if !wait(patient + slack) {
		f.errorf("no event follows a resumption, even after an interrupt")
		return ev, false
	}
	return ev, true
}

// calls calls everything once.
func (f *faulty) calls() {
	id := f.target.Threads()
	if len(id) == 0 {
		id = []target.ThreadID{{PID: 1, TID: 1}}
	}
	block := make([]byte, f.target.BlockSize())
	b := make([]byte, 16)
	at := arch.Addr(fakestub.RAMAt + 0x8000)
	body := target.Breakpoint{Addr: arch.Addr(f.stub.Symbol("work")), Length: 2}
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"ReadRegisters", func() error { return f.target.ReadRegisters(id[0], block) }},
		{"ReadRegister", func() error { _, err := f.target.ReadRegister(id[0], sp); return err }},
		{"WriteRegister", func() error { return f.target.WriteRegister(id[0], 31, make([]byte, 8)) }},
		{"WriteRegisters", func() error { return f.target.WriteRegisters(id[0], block) }},
		{"ReadMemory", func() error { _, err := f.target.ReadMemory(id[0], at, b); return err }},
		{"WriteMemory", func() error { return f.target.WriteMemory(id[0], at, b) }},
		{"InsertBreakpoint", func() error { return f.target.InsertBreakpoint(id[0], body) }},
		{"RemoveBreakpoint", func() error { return f.target.RemoveBreakpoint(id[0], body) }},
		{"Thread", func() error { _, err := f.target.Thread(id[0]); return err }},
		{"Pass", func() error { _, err := f.target.Pass(id[0], []byte("qRcmd,68656c70"), nil); return err }},
		{"Probe", func() error { _, err := f.target.Probe(); return err }},
		{"Advice", func() error { f.target.Advice(); return nil }},
		{"PassSignals", func() error { f.target.PassSignals([]target.Signal{14}); return nil }},
		{"Left", func() error { f.target.Left(); return nil }},
		{"Ended", func() error { f.target.Ended(); return nil }},
		{"Stop", func() error {
			f.stopped = f.target.Err() == nil
			return f.engine.Stop(trace.ReasonStop, "")
		}},
	} {
		_ = f.within(c.name, c.call)
	}
}

// close ends everything.
func (f *faulty) close() {
	if f.target != nil {
		_ = f.within("Close", f.target.Close)
		_ = f.within("Close again", f.target.Close)
	}
	f.stub.Close()
}

// moments are when faults go off.
var moments = map[string]func(f *faulty, c fakestub.Config, fault fakestub.Fault, whole []string){
	"connecting": func(f *faulty, c fakestub.Config, fault fakestub.Fault, whole []string) {
		c.Faults = []fakestub.Fault{fault}
		if f.open(c) == nil && f.begin(passes, "end") == nil {
			f.run(whole)
		}
	},
	"running": func(f *faulty, c fakestub.Config, fault fakestub.Fault, whole []string) {
		if f.open(c) == nil && f.begin(passes, "end") == nil {
			fault.At = 9
			f.stub.Inject(fault)
			f.run(whole)
		}
	},
	"stopped": func(f *faulty, c fakestub.Config, fault fakestub.Fault, whole []string) {
		if f.open(c) == nil && f.begin(4, "kept") == nil {
			f.resume()
			f.stub.Inject(fault)
			f.calls()
			f.ended(whole)
		}
	},
	"leaving": func(f *faulty, c fakestub.Config, fault fakestub.Fault, whole []string) {
		if f.open(c) == nil && f.begin(4, "kept") == nil {
			f.resume()
			f.stub.Inject(fault)
			_ = f.within("Detach", func() error { return f.target.Detach(1) })
		}
	},
}

// run runs the trace to its end, or that of the connection.
func (f *faulty) run(whole []string) {
	ev, ok := f.resume()
	if !ok {
		return
	}
	f.ended(whole)
	if f.target.Err() == nil && f.engine.Status().Running && ev.Reason != target.ReasonNone {
		if got := f.frames(); len(got) != len(whole) {
			f.errorf("nothing seems to be wrong, and the frames are\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(whole, "\n"))
		}
	}
	f.calls()
}

// ended looks at what a fault has left: the reason, and frames that are whole.
func (f *faulty) ended(whole []string) {
	status := f.engine.Status()
	got := f.frames()
	same := func(a, b string) bool { // an error in place of memory says that there is none
		return a == b || f.bogus && strings.HasSuffix(a, ", ") && strings.HasPrefix(b, a)
	}
	if len(got) > len(whole) || !slices.EqualFunc(got, whole[:len(got)], same) {
		f.errorf("frames\n%s\nare not the first of\n%s", strings.Join(got, "\n"), strings.Join(whole, "\n"))
	}
	lost := f.target.Err()
	f.readable("Err", lost)
	if lost != nil && !f.stopped {
		if status.Running || status.Reason != trace.ReasonError || status.Description == "" {
			f.errorf("the connection is lost (%v), and the run is %+v", lost, status)
		}
		if f.target.Ended() == nil {
			f.errorf("the connection is lost (%v), and Ended has nothing", lost)
		}
	}
}

// TestFaults has everything go wrong at each packet, at each time.
func TestFaults(t *testing.T) {
	reference := make(map[string][]string)
	for name, quirks := range faultStubs {
		f := &faulty{name: name, patience: 10 * time.Second}
		if err := f.open(fakestub.Config{Quirks: quirks, InRAM: true, Passes: passes}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := f.begin(passes, "end"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f.resume()
		reference[name] = f.frames()
		f.close()
		if len(reference[name]) != 4*passes || len(f.wrong) > 0 {
			t.Fatalf("%s: %q, %s", name, f.wrong, strings.Join(reference[name], "\n"))
		}
	}
	type fault struct{ stub, kind, moment, packet string }
	var list []fault
	for stub := range faultStubs {
		for kind := range faultKinds {
			for moment := range moments {
				for _, packet := range faultPackets {
					list = append(list, fault{stub, kind, moment, packet})
				}
			}
		}
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	var all sync.WaitGroup
	room := make(chan bool, 24)
	for _, g := range list[:min(len(list), *faults)] {
		all.Add(1)
		room <- true
		go func() {
			defer func() { <-room; all.Done() }()
			f := &faulty{name: fmt.Sprintf("%s, %s of %q, %s", g.stub, g.kind, g.packet, g.moment), patience: patient, bogus: g.kind == "bogus"}
			c := fakestub.Config{Quirks: faultStubs[g.stub], InRAM: true, Passes: passes}
			moments[g.moment](f, c, fakestub.Fault{Kind: faultKinds[g.kind], Packet: g.packet, At: 1}, reference[g.stub])
			f.close()
			if len(f.wrong) > 0 {
				list := f.stub.Transcript()
				list = list[max(0, len(list)-*keep):]
				t.Errorf("%s:\n%s\n%s", f.name, strings.Join(f.wrong, "\n"), strings.Join(list, "\n"))
			}
		}()
	}
	all.Wait()
	nobody(t)
}

// faults is how many of the faults a test has, chosen by chance.
var faults = flag.Int("faults", 120, "how many faults TestFaults has")

// TestStuck has a stub that does not even read any more, so that the interrupt cannot be written.
func TestStuck(t *testing.T) {
	f := &faulty{patience: patient, stub: fakestub.New(fakestub.Config{InRAM: true})}
	ours, middle := net.Pipe()
	theirs := f.stub.Pipe()
	stuck := make(chan bool)
	go func() {
		_, _ = io.Copy(middle, theirs)
		middle.Close()
	}()
	go func() { // one byte at a time, so that nothing is under way
		b := make([]byte, 1)
		for {
			select {
			case <-stuck:
				return
			default:
			}
			_ = middle.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			if n, err := middle.Read(b); n > 0 {
				_, _ = theirs.Write(b)
			} else if !errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
		}
	}()
	var err error
	if f.target, err = remote.Open(ours, remote.Options{Patience: time.Second}); err != nil {
		t.Fatal(err)
	}
	if err := f.target.Resume([]target.Action{everything(target.Go)}); err != nil {
		t.Fatal(err)
	}
	for f.stub.Passes(0) < 3 {
		time.Sleep(time.Millisecond)
	}
	close(stuck)
	time.Sleep(20 * time.Millisecond)
	_ = f.within("Interrupt", f.target.Interrupt)
	select {
	case ev := <-f.target.Events():
		if ev.Kind != target.Terminated {
			t.Errorf("event %+v", ev)
		}
	case <-time.After(15 * time.Second):
		t.Error("no event")
	}
	f.close()
	if len(f.wrong) > 0 {
		t.Errorf("%q", f.wrong)
	}
}

// nobody checks that no goroutine of a target's is left.
func nobody(t *testing.T) {
	t.Helper()
	var stacks string
	for range 50 {
		b := make([]byte, 4<<20)
		stacks = string(b[:runtime.Stack(b, true)])
		if !strings.Contains(stacks, "remote.(*Target)") && !strings.Contains(stacks, "remote.(*link)") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("goroutines are left:\n%.4000s", stacks)
}
