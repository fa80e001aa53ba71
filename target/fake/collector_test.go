package fake_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// scenario is a program with tracepoints, and what happens to it: generated, so that it can be played twice.
type scenario struct {
	layout      tracepoint.Layout
	size, limit int64
	circular    bool
	late        map[arch.Addr]string // where the Collector finds out late that it cannot collect
	tracepoints []trace.Tracepoint
	parts       []part
}

// part is hits in a row, and then something that a session does while the program runs.
type part struct {
	hits []fake.Step
	what string
	key  trace.Key
	anew trace.Tracepoint
}

var sites = []arch.Addr{0x1010, 0x1020, 0x1030}

// generate makes a scenario in which the conditions for ending a run meet one another.
func generate(r *rand.Rand) scenario {
	s := scenario{size: int64(40 + r.IntN(600)), circular: r.IntN(2) == 0}
	s.layout.Tolerant = r.IntN(3) == 0
	if r.IntN(4) == 0 {
		s.limit = int64(1 + r.IntN(12))
	}
	if r.IntN(4) == 0 {
		s.late = map[arch.Addr]string{sites[r.IntN(len(sites))]: "the code has changed"}
	}
	for n := range 1 + r.IntN(5) {
		s.tracepoints = append(s.tracepoints, generateTracepoint(r, trace.Number(n+1), sites[r.IntN(len(sites))]))
	}
	for range 1 + r.IntN(5) {
		p := part{what: []string{"", "", "enable", "disable", "define", "add", "stop", "restart"}[r.IntN(8)]}
		for range r.IntN(9) {
			p.hits = append(p.hits, fake.Step{
				PC: sites[r.IntN(len(sites))], Thread: []target.ThreadID{first, second}[r.IntN(2)],
				Registers: map[string]uint64{"rax": r.Uint64N(4)},
				Memory:    map[arch.Addr][]byte{0x2000: {byte(r.IntN(256)), byte(r.IntN(2))}},
			})
		}
		old := s.tracepoints[r.IntN(len(s.tracepoints))]
		p.key, p.anew = old.Key(), generateTracepoint(r, old.Number, old.Addr)
		s.parts = append(s.parts, p)
	}
	return s
}

func generateTracepoint(r *rand.Rand, n trace.Number, at arch.Addr) trace.Tracepoint {
	t := trace.Tracepoint{Number: n, Addr: at, Enabled: r.IntN(6) > 0}
	if r.IntN(3) == 0 {
		t.Pass = uint64(1 + r.IntN(6))
	}
	if r.IntN(8) == 0 {
		t.Step = uint64(1 + r.IntN(3))
		t.StepActions = []trace.Action{{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: 0x2000, Length: 2}}
	}
	if r.IntN(3) == 0 {
		t.Condition = assemble([]string{"reg 0\n const8 2\n less_unsigned\n end", "const16 0x2001\n ref8\n end",
			"const8 1\n reg 0\n div_unsigned\n end", "getv 3\n const8 1\n add\n setv 3\n const8 2\n rem_unsigned\n end"}[r.IntN(4)])
	}
	for range r.IntN(4) {
		t.Actions = append(t.Actions, []trace.Action{
			{Kind: trace.CollectRegisters, Mask: []byte{1}},
			{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: 0x2000, Length: r.Uint64N(20)},
			{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: 0x20f0, Length: 1 + r.Uint64N(1000)},
			{Kind: trace.CollectMemory, Base: arch.Reg(r.IntN(9)), Offset: 0x2000, Length: 2},
			{Kind: trace.CollectExpression, Code: assemble("getv 2\n const8 1\n add\n setv 2\n tracev 2\n end")},
			{Kind: trace.CollectExpression, Code: assemble("const16 0x2000\n const16 300\n tracenz\n end")},
			{Kind: trace.CollectExpression, Code: assemble("const8 1\n reg 0\n div_unsigned\n end")},
			{Kind: trace.CollectExpression, Code: assemble("getv 9\n setv 8\n tracev 8\n tracev 9\n end")},
		}[r.IntN(8)])
	}
	return t
}

func assemble(text string) []byte {
	code, err := ax.Assemble(text)
	if err != nil {
		panic(err)
	}
	return code
}

// play plays a scenario and says what there is to see of it: after each part that ends a run, and in the end. With a batch the
// program collects by itself; spoil changes what it deposits.
func (s *scenario) play(t *testing.T, batch int, spoil func(deposit) deposit) string {
	t.Helper()
	f := newToyWith(t, func(p *fake.Program) { p.Batch, p.RefusedLate = batch, s.late })
	layout := s.layout
	clock := time.Unix(1000, 0)
	layout.Now = func() time.Time { return clock }
	e := tracedBy(t, f, layout)
	var tracer target.Tracer = f
	if spoil != nil {
		tracer = spoiled{f, spoil}
	}
	check(t, e.SetBufferSize(s.size))
	e.SetCircular(s.circular)
	e.SetFrameLimit(s.limit)
	check(t, e.DefineVariable(trace.Variable{Number: 2, Initial: 5, Name: "n"}))
	check(t, e.DefineVariable(trace.Variable{Number: 8, Name: "pid"}))
	check(t, e.DefineVariable(trace.Variable{Number: 9, Name: "tid"}))
	for _, tp := range s.tracepoints {
		check(t, e.Define(tp, false))
	}
	check(t, e.Start(tracer, 1))
	check(t, f.Resume([]target.Action{{Thread: first}}))
	var seen strings.Builder
	exact := s.limit == 0 // no run ended by itself; otherwise hits behind its end may have changed variables
	for _, p := range s.parts {
		f.Play(p.hits...)
		f.Settle()
		check(t, p.do(e, tracer))
		if p.what == "stop" || p.what == "restart" {
			seen.WriteString(observe(t, e))
			exact = exact && e.Status().Reason == trace.ReasonStop
		}
		if p.what == "restart" {
			check(t, e.Start(tracer, 1))
		}
	}
	f.Play(fake.Step{Event: &target.Event{Signal: 5}})
	<-f.Events()
	check(t, e.Stop(trace.ReasonStop, ""))
	seen.WriteString(observe(t, e))
	if exact && e.Status().Reason == trace.ReasonStop {
		v2, _ := e.Variable(2)
		v3, _ := e.Variable(3)
		fmt.Fprintln(&seen, "variables", v2, v3, e.Variables())
	}
	if n := f.Installed(target.All); n > 0 {
		t.Errorf("%d locations are left", n)
	}
	return seen.String()
}

// do is what a session does.
func (p *part) do(e *tracepoint.Engine, tracer target.Tracer) error {
	switch p.what {
	case "enable", "disable":
		return e.Enable(p.key, p.what == "enable")
	case "define":
		return e.Define(p.anew, false)
	case "add":
		return e.AddActions(p.key, false, p.anew.Actions, false)
	case "stop", "restart":
		return e.Stop(trace.ReasonStop, "")
	}
	return nil
}

// observe tells status, counts and all bytes of a trace file.
func observe(t *testing.T, e *tracepoint.Engine) string {
	t.Helper()
	var file bytes.Buffer
	check(t, e.Save(&file, ""))
	tallies := ""
	for _, tally := range e.Tallies(nil) {
		tallies += fmt.Sprintf("%+v\n", tally.Tally)
	}
	_, bytes, _ := strings.Cut(file.String(), "\n\n")
	return fmt.Sprintf("%+v\n%s%x\n", e.Status(), tallies, bytes)
}

// deposit is what a Collector calls with what it has collected.
type deposit = func([]target.Deposit) target.Verdict

// spoiled is a target whose Collector makes a mistake.
type spoiled struct {
	*fake.Target
	spoil func(deposit) deposit
}

func (s spoiled) Collector() target.Collector { return spoiledCollector{s.Target.Collector(), s.spoil} }

type spoiledCollector struct {
	target.Collector
	spoil func(deposit) deposit
}

func (c spoiledCollector) Begin(run target.Run) {
	run.Deposit = c.spoil(run.Deposit)
	c.Collector.Begin(run)
}

// TestCollectedAsTrapped plays generated scenarios with every hit stopping a thread, and with a target that collects by itself
// and deposits one or more hits at a time. There must be no difference: not in why and where runs end, nor in a byte of what
// is saved.
func TestCollectedAsTrapped(t *testing.T) {
	ends := make(map[string]int)
	for seed := range uint64(500) {
		s := generate(rand.New(rand.NewPCG(seed, 1)))
		trapped := s.play(t, 0, nil)
		for _, batch := range []int{1, 2 + int(seed%5), 1000} {
			if diff := cmp.Diff(trapped, s.play(t, batch, nil)); diff != "" {
				t.Fatalf("scenario %d in batches of %d (-trapped +collected):\n%s\n%+v", seed, batch, diff, s)
			}
		}
		for _, reason := range []trace.StopReason{trace.ReasonPassCount, trace.ReasonFull, trace.ReasonError, trace.ReasonStop} {
			if strings.Contains(trapped, ";"+string(reason)+":") {
				ends[string(reason)]++
			}
		}
	}
	for reason, n := range ends {
		if n < 20 {
			t.Errorf("only %d runs ended by %s", n, reason)
		}
	}
	if len(ends) != 4 {
		t.Errorf("ends of runs: %v", ends)
	}
}

// TestSpoiledIsFound: each mistake that a Collector can make with its deposits shows in the scenarios.
func TestSpoiledIsFound(t *testing.T) {
	// each changes the list of deposits, which is the whole of a batch; it may keep a state.
	each := func(change func([]target.Deposit) []target.Deposit) func(deposit) deposit {
		return func(to deposit) deposit {
			return func(list []target.Deposit) target.Verdict { return to(change(slices.Clone(list))) }
		}
	}
	n := 0
	for name, spoil := range map[string]func(deposit) deposit{
		"more is not told": each(func(list []target.Deposit) []target.Deposit {
			for i := range list {
				list[i].More = false
			}
			return list
		}),
		"one is lost": each(func(list []target.Deposit) []target.Deposit {
			if n++; n%3 == 0 {
				return list[1:]
			}
			return list
		}),
		"one comes twice": each(func(list []target.Deposit) []target.Deposit {
			if n++; n%3 == 0 {
				return append(list, list[len(list)-1])
			}
			return list
		}),
		"failures are not told": each(func(list []target.Deposit) []target.Deposit {
			for i := range list {
				list[i].Failures = nil
			}
			return list
		}),
		"two are in the wrong order": each(func(list []target.Deposit) []target.Deposit {
			if len(list) > 1 {
				list[0], list[1] = list[1], list[0]
			}
			return list
		}),
		"a byte is wrong": each(func(list []target.Deposit) []target.Deposit {
			for i, d := range list {
				if d.Frames != nil {
					list[i].Frames = append(bytes.Clone(d.Frames), 0)
				}
			}
			return list
		}),
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(300) {
				s := generate(rand.New(rand.NewPCG(seed, 1)))
				if s.play(t, 0, nil) != s.play(t, 3, spoil) {
					return
				}
			}
			t.Error("not found")
		})
	}
}

// TestRefusedIsATrap: what a Collector does not take stops threads, the reason is kept, and the others are offloaded.
func TestRefusedIsATrap(t *testing.T) {
	f := newToyWith(t, func(p *fake.Program) {
		p.Batch, p.Refused = 4, map[arch.Addr]string{0x1010: "the instruction is too short"}
	})
	e := tracedBy(t, f, tracepoint.Layout{})
	stepping := trace.Tracepoint{Number: 3, Addr: 0x1020, Enabled: true, Step: 1}
	for _, tp := range []trace.Tracepoint{
		{Number: 1, Addr: 0x1010, Enabled: true}, {Number: 2, Addr: 0x1020, Enabled: true}, stepping, {Number: 4, Addr: 0x1030, Enabled: true},
	} {
		check(t, e.Define(tp, false))
	}
	check(t, e.Start(f, 1))
	want := []string{
		"1 false the instruction is too short",
		"2 false tracepoint 3 at the same address: while-stepping follows a thread instruction by instruction",
		"3 false while-stepping follows a thread instruction by instruction",
		"4 true <nil>",
	}
	var got []string
	for _, tally := range e.Tallies(nil) {
		got = append(got, fmt.Sprint(tally.Key.Number, " ", tally.Elsewhere, " ", tally.Refusal))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tallies (-want +got):\n%s", diff)
	}
}

// TestCollectorLost: the run ends with the reason, and what was deposited until then is there.
func TestCollectorLost(t *testing.T) {
	f := newToyWith(t, func(p *fake.Program) { p.Batch = 2 })
	e := tracedBy(t, f, tracepoint.Layout{})
	check(t, e.Define(trace.Tracepoint{Number: 1, Addr: 0x1010, Enabled: true}, false))
	check(t, e.Start(f, 1))
	check(t, f.Resume([]target.Action{{Thread: first}}))
	f.Play(fake.Step{PC: 0x1010}, fake.Step{PC: 0x1010}, fake.Step{PC: 0x1010})
	f.Settle()
	if s := e.Status(); s.Frames != 3 || e.NumFrames() != 2 {
		t.Errorf("%d frames, %d of them deposited; want 3 and 2", s.Frames, e.NumFrames())
	}
	f.Lose(errors.New("the probe does not answer"))
	s := e.Status()
	if s.Running || s.Reason != trace.ReasonError || s.Description != "the probe does not answer" || s.Frames != 2 {
		t.Errorf("status %+v", s)
	}
	if n := f.Installed(target.All); n > 0 {
		t.Errorf("%d locations are left", n)
	}
}

// newToyWith is a toy with code at 0x1000 and data at 0x2000, changed.
func newToyWith(t *testing.T, change func(*fake.Program)) *fake.Target {
	t.Helper()
	p := fake.Program{
		ISA: fake.Toy, Description: fake.ToyDescription(),
		Threads: []target.Thread{{ID: first, Name: "main"}, {ID: second, Name: "other"}},
		Memory:  []fake.Region{{Start: 0x1000, Bytes: make([]byte, 0x40)}, {Start: 0x2000, Bytes: make([]byte, 0x100)}},
	}
	change(&p)
	f, err := fake.New(p)
	check(t, err)
	return f
}

// tracedBy gives the toy an engine of a layout that need not know the registers.
func tracedBy(t *testing.T, f *fake.Target, layout tracepoint.Layout) *tracepoint.Engine {
	t.Helper()
	registers, err := f.Description().Layout()
	check(t, err)
	pc := registers.ByNumber(f.ISA().PC)
	layout.Order, layout.RegisterBlock, layout.PCOffset, layout.PCSize = f.ISA().Order, registers.Size, pc.Offset, pc.Size
	e := tracepoint.New(layout)
	f.SetHandler(e.NewHandler())
	return e
}
