package fake_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/trace"
	"tracewell/tracepoint"
)

var (
	first    = target.ThreadID{PID: 1, TID: 1}
	second   = target.ThreadID{PID: 1, TID: 2}
	everyone = []target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}
)

func newToy(t testing.TB) *fake.Target {
	f, err := fake.New(fake.Program{
		ISA: fake.Toy, Description: fake.ToyDescription(),
		Threads: []target.Thread{{ID: first, Name: "main"}, {ID: second, Name: "other"}},
		Memory: []fake.Region{
			{Start: 0x1000, Bytes: make([]byte, 16), ReadOnly: true}, {Start: 0x1010, Bytes: make([]byte, 16)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// traced gives the toy an engine.
func traced(t testing.TB, f *fake.Target) *tracepoint.Engine {
	layout, err := f.Description().Layout()
	if err != nil {
		t.Fatal(err)
	}
	pc := layout.ByNumber(f.ISA().PC)
	e := tracepoint.New(tracepoint.Layout{
		Order: f.ISA().Order, RegisterBlock: layout.Size, PCOffset: pc.Offset, PCSize: pc.Size,
	})
	f.SetHandler(e.NewHandler())
	return e
}

func TestScript(t *testing.T) {
	f := newToy(t)
	if err := f.InsertBreakpoint(first, target.Breakpoint{Kind: target.Software, Addr: 0x1004, Length: 1}); err != nil {
		t.Fatal(err)
	}
	f.Play(
		fake.Step{PC: 0x1002, Registers: map[string]uint64{"rax": 5}},
		fake.Step{PC: 0x1004, Thread: second},
		fake.Step{Event: &target.Event{Signal: 11}},
	)
	for _, want := range []target.Event{
		{Thread: second, Signal: target.SignalTrap, Reason: target.ReasonSwBreak},
		{Thread: first, Signal: 11},
	} {
		if err := f.Resume(everyone); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, <-f.Events()); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	}
	block := make([]byte, 36)
	if err := f.ReadRegisters(first, block); err != nil || block[0] != 5 {
		t.Errorf("rax is %d, %v", block[0], err)
	}
}

func TestOneEventForEachResume(t *testing.T) {
	for name, end := range map[string]func(*fake.Target) error{
		"interrupt": func(f *fake.Target) error { return f.Interrupt() },
		"kill":      func(f *fake.Target) error { return f.Kill(1) },
		"detach":    func(f *fake.Target) error { return f.Detach(1) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newToy(t)
			if err := f.Interrupt(); err != nil { // means nothing yet
				t.Fatal(err)
			}
			if err := f.Resume(everyone); err != nil {
				t.Fatal(err)
			}
			if err := f.Resume(everyone); !errors.Is(err, target.ErrRunning) {
				t.Errorf("Resume while running: %v", err)
			}
			if err := f.ReadRegisters(first, make([]byte, 36)); !errors.Is(err, target.ErrRunning) {
				t.Errorf("ReadRegisters while running: %v", err)
			}
			if err := end(f); err != nil {
				t.Fatal(err)
			}
			<-f.Events()
			select {
			case ev := <-f.Events():
				t.Errorf("another event: %+v", ev)
			default:
			}
		})
	}
}

func TestMemory(t *testing.T) {
	f := newToy(t)
	if err := f.WriteMemory(first, 0x100e, []byte{1, 2, 3, 4}); err != nil {
		t.Error("across mappings:", err)
	}
	p := make([]byte, 4)
	if n, err := f.ReadMemory(first, 0x100e, p); n != 4 || err != nil || p[3] != 4 {
		t.Errorf("read %x, %d, %v", p, n, err)
	}
	if n, err := f.ReadMemory(first, 0x101e, p); n != 2 || err == nil {
		t.Errorf("read %d bytes at the end, %v", n, err)
	}
	if err := f.WriteMemory(first, 0x101e, p); err == nil {
		t.Error("wrote behind the end")
	}
	for _, test := range []struct {
		addr arch.Addr
		n    int
		want bool
	}{{0x1000, 16, true}, {0x100f, 2, false}, {0x1010, 1, false}, {0x900, 1, false}} {
		if got := f.ReadOnly().ReadOnly(first, test.addr, test.n); got != test.want {
			t.Errorf("%d bytes at %v read-only: %v", test.n, test.addr, got)
		}
	}
}

func TestTracepointsAreHitAndGoWithTheRun(t *testing.T) {
	f := newToy(t)
	e := traced(t, f)
	if err := e.Define(trace.Tracepoint{Number: 1, Addr: 0x1002, Enabled: true, Step: 2, Pass: 2}, false); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(f, 1); err != nil {
		t.Fatal(err)
	}
	f.Play(fake.Step{PC: 0x1002}, fake.Step{PC: 0x1002}, fake.Step{PC: 0x1002}, fake.Step{Event: &target.Event{Signal: 5}})
	if err := f.Resume(everyone); err != nil {
		t.Fatal(err)
	}
	<-f.Events()
	// The script gives the steps: each of the hits but the first is a step of the one before it as well.
	if status := e.Status(); status.Running || status.Reason != trace.ReasonPassCount {
		t.Errorf("status %v", status)
	}
	if n := f.Installed(1); n != 0 {
		t.Errorf("%d sites are left", n)
	}
}

// A program is scripted, resumed, and looked at.
func Example() {
	program, err := fake.New(fake.Program{
		ISA: fake.Toy, Description: fake.ToyDescription(),
		Threads: []target.Thread{{ID: first, Name: "main"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	program.Play(fake.Step{PC: 0x1000}, fake.Step{Event: &target.Event{Kind: target.Exited, Code: 3}})
	if err := program.Resume(everyone); err != nil {
		fmt.Println(err)
		return
	}
	event := <-program.Events()
	fmt.Println(event.Thread, "exited with", event.Code)
	// Output: p1.1 exited with 3
}
