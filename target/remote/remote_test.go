package remote_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"slices"
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

// Numbers of registers of the machine behind the fake stub.
const (
	sp = 2
	a0 = 10
	a1 = 11
)

// rig is a target over a fake stub, with an engine.
type rig struct {
	testing.TB
	stub    *fakestub.Stub
	passes  uint64 // after which a hart stays where it is
	address string
	target  *remote.Target
	engine  *tracepoint.Engine
}

// open connects a target to a stub.
func open(t testing.TB, c fakestub.Config) *rig {
	t.Helper()
	return openAs(t, c, remote.Options{})
}

// openAs is the same with options.
func openAs(t testing.TB, c fakestub.Config, o remote.Options) *rig {
	t.Helper()
	r := &rig{TB: t, stub: fakestub.New(c), passes: c.Passes}
	t.Cleanup(r.stub.Close)
	if c.Quirks.NoFeatures || c.Quirks.NoSupported {
		d, _, err := tdesc.Parse(r.stub.Description(), nil)
		if err != nil {
			t.Fatal(err)
		}
		o.Description = d
	}
	r.address = r.stub.Listen(t)
	r.connect(o)
	return r
}

// connect connects to the stub.
func (r *rig) connect(o remote.Options) {
	r.Helper()
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	address, err := remote.ParseAddress(r.address)
	if err != nil {
		r.Fatal(err)
	}
	conn, err := address.Dial()
	if err != nil {
		r.Fatal(err)
	}
	if r.target, err = remote.Open(conn, o); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { r.target.Close() })
	layout, err := tracepoint.LayoutOf(r.target)
	if err != nil {
		r.Fatal(err)
	}
	layout.RegisterBlock = r.target.BlockSize()
	r.engine = tracepoint.New(layout)
	r.target.Tracer().SetHandler(r.engine.NewHandler())
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("%v\n%s", err, r.transcript())
	}
}

// transcript is the end of what the stub has seen.
func (r *rig) transcript() string {
	list := r.stub.Transcript()
	list = list[max(0, len(list)-*keep):]
	text := ""
	for _, line := range list {
		text += line + "\n"
	}
	return text
}

func (r *rig) symbol(name string) arch.Addr { return arch.Addr(r.stub.Symbol(name)) }

// wait waits for the event of a resumption.
func (r *rig) wait() target.Event {
	r.Helper()
	select {
	case ev := <-r.target.Events():
		return ev
	case <-time.After(2 * time.Minute):
		r.Fatalf("no event\n%s", r.transcript())
		return target.Event{}
	}
}

// do resumes and waits.
func (r *rig) do(actions ...target.Action) target.Event {
	r.Helper()
	if len(actions) == 0 {
		actions = []target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}, Anew: true}}
	}
	r.must(r.target.Resume(actions))
	return r.wait()
}

// breakAt inserts a breakpoint of whatever kind there is.
func (r *rig) breakAt(addr arch.Addr, check func(target.Snapshot) bool) {
	r.Helper()
	id := r.target.Threads()[0]
	err := r.target.InsertBreakpoint(id, target.Breakpoint{Kind: target.Software, Addr: addr, Length: 2, Check: check})
	if err != nil {
		err = r.target.InsertBreakpoint(id, target.Breakpoint{Kind: target.Hardware, Addr: addr, Length: 2, Check: check})
	}
	r.must(err)
}

// frames are the frames of a run, as texts, by the stack of the hart that made them.
func (r *rig) frames() map[uint64][]string {
	r.Helper()
	all := make(map[uint64][]string)
	layout, err := r.target.Description().Layout()
	r.must(err)
	for f := range r.engine.Frames() {
		registers := f.Registers()
		value := func(n arch.Reg) uint64 {
			return binary.LittleEndian.Uint64(registers[layout.ByNumber(n).Offset:])
		}
		b := make([]byte, 16)
		n := f.ReadMemory(arch.Addr(value(sp)), b)
		stack := value(sp) &^ 0xfff
		all[stack] = append(all[stack], fmt.Sprintf("%d at %v: a0 %d a1 %d pc %x, %x", f.Tracepoint(), f.PC, value(a0), value(a1),
			value(r.target.ISA().PC), b[:n]))
	}
	return all
}

// whenOdd is the condition a0 & 3 == 1.
var whenOdd = []byte{0x26, 0, a0, 0x22, 3, 0x0f, 0x22, 1, 0x13, 0x27}

// tracepoints are those of TestQuirks: one with a condition, two at one address, one that steps, one right behind another.
func (r *rig) tracepoints() []trace.Tracepoint {
	registers := trace.Action{Kind: trace.CollectRegisters, Mask: []byte{0xff}}
	stack := trace.Action{Kind: trace.CollectMemory, Base: sp, Length: 16}
	actions := []trace.Action{registers, stack}
	instructions := r.stub.Instructions()
	body := slices.Index(instructions, r.stub.Symbol("body"))
	return []trace.Tracepoint{
		{Number: 1, Addr: r.symbol("body"), Enabled: true, Condition: whenOdd, Actions: actions},
		{Number: 2, Addr: r.symbol("body"), Enabled: true, Actions: actions, Step: 3, StepActions: actions},
		{Number: 3, Addr: arch.Addr(instructions[body+1]), Enabled: true, Actions: actions},
		{Number: 4, Addr: r.symbol("inner"), Enabled: true, Actions: actions},
		{Number: 5, Addr: r.symbol("stored"), Enabled: true, Actions: actions, Condition: whenOdd},
	}
}

// trace runs the program to its end under the tracepoints and returns the frames.
func (r *rig) trace(harts int) map[uint64][]string { return r.some(harts, len(r.tracepoints())) }

// some is the same with the first of the tracepoints only.
func (r *rig) some(harts, most int) map[uint64][]string {
	r.Helper()
	list := r.tracepoints()
	for _, tp := range list[:min(most, len(list))] {
		r.must(r.engine.Define(tp, false))
	}
	r.must(r.engine.Start(r.target.Tracer(), r.target.Threads()[0].PID))
	r.breakAt(r.symbol("end"), func(target.Snapshot) bool {
		for hart := range harts {
			if r.stub.Passes(hart) < r.passes {
				return false
			}
		}
		return true
	})
	if ev := r.do(); ev.Kind != target.Stopped || ev.Signal != target.SignalTrap || ev.Reason == target.ReasonNone {
		r.Fatalf("%+v, %v, %+v\n%s", ev, r.target.Err(), r.engine.Status(), r.transcript())
	}
	r.must(r.engine.Stop(trace.ReasonStop, ""))
	return r.frames()
}

// passes is how often the program calls what is traced.
const passes = 12

// TestQuirks traces one program over stubs with the habits of all that are known, and wants the same frames of each.
func TestQuirks(t *testing.T) {
	for _, harts := range []int{1, 2} {
		want := open(t, fakestub.Config{Harts: harts, InRAM: true, Passes: passes}).trace(harts)
		if len(want) != harts || len(slices.Collect(maps.Values(want))[0]) < 4*passes {
			t.Fatalf("%d harts:\n%s", harts, lines(want))
		}
		for name, quirks := range fakestub.Presets {
			t.Run(fmt.Sprintf("%s/%d", name, harts), func(t *testing.T) {
				r := open(t, fakestub.Config{Quirks: quirks, Harts: harts, InRAM: true, Passes: passes})
				got := r.trace(harts)
				if !maps.EqualFunc(got, want, slices.Equal) {
					t.Errorf("frames\n%s\nwant\n%s\n%s", lines(got), lines(want), r.transcript())
				}
				r.clean()
			})
		}
	}
}

// clean ends the connection and looks at what it leaves.
func (r *rig) clean() {
	r.Helper()
	r.must(r.target.Close())
	if left := r.stub.Inserted(); len(left) > 0 {
		r.Errorf("left behind: %q", left)
	}
	if breaches := r.stub.Breaches(); len(breaches) > 0 {
		r.Errorf("the stub cannot stand %q", breaches)
	}
	if reads := r.stub.DeviceReads(); reads > 0 {
		r.Errorf("the device was read %d times", reads)
	}
}

func lines(frames map[uint64][]string) (text string) {
	for _, stack := range slices.Sorted(maps.Keys(frames)) {
		for _, f := range frames[stack] {
			text += f + "\n"
		}
	}
	return text
}

var keep = flag.Int("keep", 40, "packets of a transcript that are printed")

// seeds is how many stubs TestRandomQuirks makes.
var (
	seeds = flag.Int("seeds", 20, "how many stubs with random habits")
	seed  = flag.Uint64("seed", 0, "the first of them; 0 for another one each time")
)

// TestRandomQuirks traces the program over stubs whose habits are chosen by chance.
func TestRandomQuirks(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	wants := make(map[string]map[uint64][]string)
	for i := range uint64(*seeds) {
		t.Run(fmt.Sprint(first+i), func(t *testing.T) {
			c := fakestub.Random(first + i)
			c.Passes = passes
			key := fmt.Sprint(c.Harts, c.InRAM)
			most := room(c)
			if most < 1 {
				t.Skip("its breakpoints are too few")
			}
			if wants[key+fmt.Sprint(most)] == nil {
				plain := open(t, fakestub.Config{Harts: c.Harts, InRAM: c.InRAM, Passes: passes})
				wants[key+fmt.Sprint(most)] = plain.some(c.Harts, most)
				plain.must(plain.target.Close())
			}
			unknown, _ := remote.ProfileByName("unknown") // what they announce may be what a known one does
			r := openAs(t, c, remote.Options{Profile: &unknown})
			got := r.some(c.Harts, most)
			if want := wants[key+fmt.Sprint(most)]; !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%+v: frames\n%s\nwant\n%s\n%s", c, lines(got), lines(want), r.transcript())
			}
			r.clean()
		})
	}
}

// room is how many tracepoints a stub has breakpoints for, beside the one at the end.
func room(c fakestub.Config) int {
	q := c.Quirks
	if q.Software == fakestub.Anywhere || c.InRAM && (q.Software == fakestub.InRAM || q.Software == fakestub.Unknown) {
		return 5
	}
	if q.Hardware == fakestub.None {
		return 0
	}
	if q.Hardware == 0 {
		return 5
	}
	return int(q.Hardware) - 1
}
