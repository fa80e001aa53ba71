//go:build linux && amd64

package fast

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/sys"
	"tracewell/trace"
)

// coreBlock is that block as it should be.
func coreBlock(regs *amd64.UserRegs) []byte {
	var b []byte
	for n := range arch.Reg(24) {
		i, _ := amd64.RemoteIndex(n)
		v := regs[i]
		if i == amd64.RIP {
			v = siteAddr
		}
		if n <= 16 {
			b = binary.LittleEndian.AppendUint64(b, v)
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	return b
}

// path is a way through a pad.
type path struct {
	name        string
	tracepoints []Tracepoint
	disabled    []int // indexes
	trap        bool  // Site.Trap
	stops       bool  // the hit ends in Trapped
	regs        func(*amd64.UserRegs)
	variables   map[uint16]int64
	hits        uint64 // that the first tracepoint has had
	all         bool   // of the registers are collected
	noRedZone   bool
	spin        bool
	whenFull    WhenFull
	full        bool // the ring is full until the thread is taken out, or has been waiting for a while
	inert       bool // the pads are off
	abandons    bool // the same, and patience is short: the thread goes on, and the run is over
	nothing     bool // no record is made, whatever the oracle says
}

// microseconds is what the clock says: it stands still.
const microseconds = 1700000000_000000

// builtins are the values of the built-in variables, which the oracle takes for those of others.
func builtins(v *victim) map[uint16]int64 {
	return map[uint16]int64{1: microseconds, 20: int64(v.pid), 21: 77, 7: 0}
}

// paths are all ways through pads of all kinds.
func paths(t testing.TB, v *victim) []path {
	tp := func(number int, condition string, actions ...string) Tracepoint {
		return tracepoint(t, number, condition, actions...)
	}
	rsi := func(v uint64) func(*amd64.UserRegs) { return func(r *amd64.UserRegs) { r[amd64.RSI] = v } }
	counted := func(t Tracepoint) Tracepoint { t.Pass = 2; return t }
	one := func(t Tracepoint) []Tracepoint { return []Tracepoint{t} }
	const increments = "getv 7\nconst8 1\nadd\nsetv 7\nconst8 1\nbit_and\nend"
	all := []path{
		{name: "registers and memory", tracepoints: one(tp(1, "", "R", "M 4 0 16"))},
		{name: "no red zone", tracepoints: one(tp(1, "", "R", "M 4 0 16")), noRedZone: true},
		{name: "all registers", tracepoints: one(tp(1, "", "M 2 0 8", "R", "M 3 0 8")), all: true},
		{name: "empty frame", tracepoints: one(tp(1, ""))},
		{name: "inert", tracepoints: one(tp(1, "", "R")), inert: true, nothing: true},
		{name: "disabled", tracepoints: one(tp(1, "", "R")), disabled: []int{1}, nothing: true},
		{name: "condition true", tracepoints: one(tp(1, "reg 4\nref8\nconst8 0\nequal\nlog_not\nend", "R"))},
		{name: "condition false", tracepoints: one(tp(1, "reg 5\nconst8 77\nequal\nend", "R"))},
		{name: "condition false by memory", tracepoints: one(tp(1, "reg 4\nref64\nconst8 77\nequal\nend", "R"))},
		{name: "condition null", tracepoints: one(tp(1, "reg 4\nconst8 8\nadd\nref64\nconst8 77\nequal\nend", "R")), regs: rsi(0)},
		{name: "condition faults", tracepoints: one(tp(1, "reg 4\nref64\nconst8 77\nequal\nend", "R")), regs: rsi(nowhere - 3)},
		{name: "condition divides", tracepoints: one(tp(1, "reg 4\nreg 5\ndiv_signed\nend", "R"))},
		{name: "condition divides by zero", tracepoints: one(tp(1, "reg 4\nconst8 0\ndiv_signed\nend", "R"))},
		{name: "pad registers as bases", tracepoints: one(tp(1, "", "M 0 0 8", "M 8 1 8", "M 9 2 8", "M 3 3 5", "M 7 -8 32")),
			regs: func(r *amd64.UserRegs) {
				r[amd64.RAX], r[amd64.R8], r[amd64.R9], r[amd64.RDX] = dataRegion, dataRegion+64, dataRegion+128, dataRegion+256
			}},
		{name: "sizes", tracepoints: one(tp(1, "", "M 4 0 1", "M 4 0 2", "M 4 0 3", "M 4 0 7", "M 4 0 13", "M 4 0 128", "M 4 0 129",
			"M 4 0 700", "R"))},
		{name: "direction flag", tracepoints: one(tp(1, "", "M 4 0 200")),
			regs: func(r *amd64.UserRegs) { r[amd64.EFlags] |= flagDirection }},
		{name: "absolute", tracepoints: one(tp(1, "", fmt.Sprintf("M -1 %d 16", dataRegion+8), "R"))},
		{name: "block of nothing", tracepoints: one(tp(1, "", "M 4 0 16", "R", "M 4 0 16")), regs: rsi(8)},
		{name: "block not canonical", tracepoints: one(tp(1, "", "M 4 0 16", "R")), regs: rsi(0xdead_0000_0000_0000)},
		{name: "block faults", tracepoints: one(tp(1, "", "M 4 0 16", "R", "M 4 0 160")), regs: rsi(nowhere)},
		{name: "block faults in part", tracepoints: one(tp(1, "", "M 4 0 16", "R", "M 4 0 160")), regs: rsi(nowhere - 9)},
		{name: "expression", tracepoints: one(tp(1, "", "R", "reg 4\nconst8 8\nadd\ntrace_quick 8\nref64\npop\nend",
			"reg 4\nconst16 512\nadd\nref64\nconst8 8\ntrace\nend"))},
		{name: "expression at a constant", tracepoints: one(tp(1, "",
			fmt.Sprintf("const32 %d\ntrace_quick 8\nref32\npop\nend", dataRegion)))},
		{name: "stack and pc", tracepoints: one(tp(1, "reg 7\nref64\nreg 16\nless_unsigned\nlog_not", "M 7 0 32",
			"reg 7\nconst8 16\nadd\ntrace_quick 8\nref64\nreg 7\ntrace_quick 200\nreg 7\nconst8 50\ntracenz\npop\npop",
			"reg 7\nreg 16\nreg 16\nsub\nadd\nconst8 9\ntrace"))},
		{name: "expression null", tracepoints: one(tp(1, "",
			"reg 4\ntrace_quick 8\nref64\ntrace_quick 4\nref32\ntrace_quick 2\npop\nend", "R")), regs: rsi(dataRegion + 0x208)},
		{name: "expression faults",
			tracepoints: one(tp(1, "", "reg 4\ntrace_quick 8\nref64\ntrace_quick 4\nref64\ntrace_quick 2\npop\nend",
				"R")), regs: rsi(dataRegion + 0x210)},
		{name: "expression divides by zero", tracepoints: one(tp(1, "",
			"reg 4\ntrace_quick 8\nconst8 0\nrem_signed\ntrace_quick 2\nend", "R"))},
		{name: "branches", tracepoints: one(tp(1, "", "reg 5\nif_goto there\nreg 4\ntrace_quick 8\npop\ngoto done\n"+
			"there: reg 4\ntrace_quick 4\npop\ndone: tracev 9\nend", "R"))},
		{name: "string", tracepoints: one(tp(1, "", "reg 4\nconst8 100\ntracenz\nend", "R")), regs: rsi(dataRegion + 0x100)},
		{name: "string at its limit", tracepoints: one(tp(1, "", "reg 4\nconst8 5\ntracenz\nend", "R")), regs: rsi(dataRegion + 0x100)},
		{name: "string faults", tracepoints: one(tp(1, "", "reg 4\nconst8 100\ntracenz\nend", "R")), regs: rsi(nowhere - 6)},
		{name: "string of nothing", tracepoints: one(tp(1, "", "reg 4\nconst8 100\ntracenz\nend", "R")), regs: rsi(0)},
		{name: "computed size", tracepoints: one(tp(1, "", "reg 4\nreg 4\nconst16 520\nadd\nref32\nconst8 10\nadd\ntrace\nend", "R"))},
		{name: "computed size 0", tracepoints: one(tp(1, "", "reg 4\nreg 4\nconst16 520\nadd\nref32\nconst8 20\nsub\ntrace\nend", "R"))},
		{name: "computed size too large", tracepoints: one(tp(1, "",
			"reg 4\nreg 4\nconst16 520\nadd\nref32\nconst32 70000\nadd\ntrace\nend", "R")), stops: true},
		{name: "variables", tracepoints: one(tp(1, "getv 7\nconst8 5\nless_signed\nend", "tracev 7", "R")),
			variables: map[uint16]int64{7: 3}},
		{name: "locked true", tracepoints: one(tp(1, increments, "tracev 7", "R")), variables: map[uint16]int64{7: 2}},
		{name: "locked false", tracepoints: one(tp(1, increments, "tracev 7", "R")), variables: map[uint16]int64{7: 3}},
		{name: "locked action faults", tracepoints: one(tp(1, "", "getv 7\nconst8 1\nadd\nsetv 7\nreg 4\nref64\nend", "tracev 7")),
			regs: rsi(nowhere), variables: map[uint16]int64{7: 3}},
		{name: "flags", tracepoints: one(tp(1, "reg 17\nconst16 0x8d5\nbit_and\nconst8 1\nadd\nend", "reg 17\nreg 4\nadd\nreg 17\nsub\n"+
			"trace_quick 8\npop\nend"))},
		{name: "several", tracepoints: []Tracepoint{tp(1, "", "R", "M 4 0 16"), tp(2, "reg 5\nconst8 77\nequal\nend", "R"),
			tp(3, "", "reg 4\ntrace_quick 8\npop\nend")}},
		{name: "several, the first false", tracepoints: []Tracepoint{tp(1, "reg 5\nconst8 77\nequal\nend", "R", "M 4 0 16"),
			tp(2, "reg 4\nref64\nend", "R", "tracev 5")}},
		{name: "several, all false", tracepoints: []Tracepoint{tp(1, "reg 5\nconst8 77\nequal\nend", "R", "M 4 0 16"),
			tp(2, "const8 0\nend", "R")}},
		{name: "several, one disabled", tracepoints: []Tracepoint{tp(1, "", "R"), tp(2, "", "R"), tp(3, "", "M 4 0 8")},
			disabled: []int{2}},
		{name: "several, conditions fail", tracepoints: []Tracepoint{tp(1, "reg 4\nref64\nend", "R"), tp(2, "", "R"),
			tp(3, "reg 4\nconst8 0\nrem_unsigned\nend", "R"), tp(4, "reg 4\nref8\nend", "R")}, regs: rsi(nowhere)},
		{name: "several, variables in order", tracepoints: []Tracepoint{tp(1, "", "getv 7\nconst8 1\nadd\nsetv 7\npop\nend"),
			tp(2, "getv 7\nconst8 4\nequal\nend", "tracev 7", "R")}, variables: map[uint16]int64{7: 3}},
		{name: "pass count", tracepoints: one(counted(tp(1, "", "R", "M 4 0 16"))), hits: 1},
		{name: "pass count reached", tracepoints: one(counted(tp(1, increments, "R", "M 4 0 16"))), hits: 2, nothing: true},
		{name: "several, pass counts", tracepoints: []Tracepoint{counted(tp(1, "", "R")), tp(2, "", "M 4 0 16"),
			counted(tp(3, "reg 5\nconst8 77\nequal\nend", "R"))}, hits: 1},
		{name: "built-in variables", tracepoints: one(tp(1, "getv 20\nconst8 0\nequal\nlog_not\ngetv 21\nconst8 77\nequal\nbit_and",
			"tracev 1", "tracev 20", "getv 1\ngetv 21\nadd\nsetv 7\ntracev 7", "tracev 21", "R")), variables: builtins(v)},
		{name: "built-in variable in a register", tracepoints: one(tp(1, "reg 2\nreg 3\nreg 0\ngetv 1\nadd\nadd\nadd\ngetv 20\nadd",
			"tracev 20")), variables: builtins(v)},
		{name: "trap", trap: true, stops: true, tracepoints: one(tp(1, "reg 4\nref8\nend", "R"))},
		{name: "trap not taken", trap: true, nothing: true, tracepoints: one(tp(1, "reg 5\nconst8 77\nequal\nend", "R"))},
		{name: "trap, condition fails", trap: true, stops: true, tracepoints: one(tp(1, "reg 4\nref8\nend", "R")), regs: rsi(nowhere)},
	}
	for _, p := range []path{all[0], all[5], all[9]} {
		p.full = true
		for _, spin := range []bool{false, true} {
			p.spin = spin
			full := p
			full.name += fmt.Sprintf(", full, spin %v", spin)
			all = append(all, full)
		}
		p.spin = false
		abandoned := p
		abandoned.abandons, abandoned.nothing = true, true
		abandoned.name += ", abandoned"
		all = append(all, abandoned)
		p.whenFull = Drop
		dropped := p
		dropped.nothing = true
		dropped.name += ", dropped"
		all = append(all, dropped)
		p.full = false
		p.name += ", may drop"
		all = append(all, p)
	}
	return all
}

// allRegisters are those that this processor has.
func allRegisters(t testing.TB) *Registers {
	t.Helper()
	layout := layoutHere(t)
	r, err := NewRegisters(layout, layout.Size, Processor{AVX512BW: has(t, "avx512bw"), RDFSBase: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEveryInstruction executes each pad one instruction at a time and takes the thread out at every place that it comes to. From
// there it goes on as it would in a program. In the end registers, flags and memory must be as without a pad, and the records
// those of the oracle, once each.
func TestEveryInstruction(t *testing.T) {
	v := newVictim(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range paths(t, v) {
		n := &named{TB: t, name: p.name}
		v.t = n
		w := newWalk(v, p, rng)
		for steps, stride, ends := 0, 1, false; !ends && !n.failed; {
			known := len(w.places)
			if ends = w.takeOut(steps); steps > 4000 {
				n.Errorf("the pad does not come to an end")
			}
			if p.full && !p.abandons && len(w.places) < steps-100 { // it goes round in circles
				ends = true
			}
			if n.failed {
				n.Errorf("after %d instructions, at %#x of the pad", steps, w.at)
			}
			switch fresh := len(w.places) > known; {
			case !fresh: // in a loop
				stride = 7
			case stride > 1: // what was passed over may be new, too
				steps -= stride
				stride = 1
			}
			steps += stride
		}
		t.Logf("%s: %d bytes, slots of %d, out of it at %d places", p.name, len(w.pad.Code), w.pad.Slots.size, len(w.places))
	}
}

// named is a test that says which of its cases has failed. There are no subtests, because a tracer is one thread.
type named struct {
	testing.TB
	name   string
	failed bool
}

func (n *named) Errorf(format string, args ...any) {
	n.Helper()
	n.failed = true
	n.TB.Errorf(n.name+": "+format, args...)
}

func (n *named) Error(args ...any) { n.Helper(); n.Errorf("%s", fmt.Sprint(args...)) }

func (n *named) Fatalf(format string, args ...any) {
	n.Helper()
	n.TB.Fatalf(n.name+": "+format, args...)
}

func (n *named) Fatal(args ...any) { n.Helper(); n.Fatalf("%s", fmt.Sprint(args...)) }

// walk is a path through one pad.
type walk struct {
	*victim
	path
	pad    *Pad
	before amd64.UserRegs
	want   []outcome
	after  map[uint16]int64 // variables
	reader *Reader
	at     int          // offset in the pad at which the thread was taken out
	places map[int]bool // all of these
	limit  int          // instructions after which the way to the end is given up, 0 for none
}

// newWalk builds the pad of a path and puts it into the victim.
func newWalk(v *victim, p path, rng *rand.Rand) *walk {
	t := v.t
	t.Helper()
	w := &walk{victim: v, path: p, places: map[int]bool{}}
	arena := v.arena
	arena.Spin, arena.WhenFull = p.spin, p.whenFull
	site := &Site{Arena: &arena, Index: 5, Addr: siteAddr, Pad: padAddr, Tracepoints: p.tracepoints, Registers: coreRegisters(t),
		Trap: p.trap, NoRedZone: p.noRedZone, Process: 77,
		Builtins: map[trace.VariableNumber]Builtin{1: Timestamp, 20: Thread, 21: Process}, Next: siteAddr + arch.Addr(len(moved)),
		Displace: func(arch.Addr) ([]byte, error) { return moved, nil }}
	if p.all {
		site.Registers = allRegisters(t)
	}
	var err error
	if w.pad, err = Build(site); err != nil {
		t.Fatal(err)
	}
	v.WriteMemory(padAddr, w.pad.Code)
	v.WriteMemory(siteAddr, append(slices.Clone(moved), 0xcc))
	w.before = v.registers()
	for i := range w.before[:amd64.RSI+2] {
		w.before[i] = rng.Uint64()
	}
	w.before[amd64.OrigRAX] = ^uint64(0)
	w.before[amd64.RSI] = dataRegion + 0x10
	w.before[amd64.RDI] = 1000 + rng.Uint64N(1000)
	w.before[amd64.RSP] = stackRegion + stackSize/2
	w.before[amd64.EFlags] = 0x202 | rng.Uint64()&(flagsOfLahf|flagOverflow)
	if p.regs != nil {
		p.regs(&w.before)
	}
	v.fill()
	w.after = map[uint16]int64{}
	for n, value := range p.variables {
		w.after[n] = value
	}
	o := oracle{site: siteAddr, regs: w.before, memory: v, variables: w.after, registers: coreBlock(&w.before)}
	if p.all {
		layout := layoutHere(t)
		o.registers = blockOf(t, layout, layout.Size, &w.before, v.extendedState())
	}
	enabled := slices.DeleteFunc(slices.Clone(p.tracepoints), func(t Tracepoint) bool { return slices.Contains(p.disabled, t.Index) })
	if !p.nothing && !p.stops {
		w.want = o.hit(enabled)
	}
	return w
}

// takeOut executes n instructions, takes the thread out, and lets it go on. It reports whether the hit was over before.
func (w *walk) takeOut(n int) (over bool) {
	w.prepare()
	regs := w.before
	regs[amd64.RIP] = padAddr
	w.setRegisters(regs)
	for range n {
		regs = w.step()
		if regs[amd64.RIP] == uint64(siteAddr+len(moved)) {
			over = true
			break
		}
		if w.stopped(regs) {
			break
		}
	}
	w.at = int(regs[amd64.RIP] - padAddr)
	w.places[w.at] = true
	out := w.leave(&regs)
	if w.full && !w.abandons {
		w.control.store(LimitAt, firstPosition+uint64(w.arena.RingSize))
	}
	switch out.Exit {
	case Elsewhere:
		if !over {
			w.t.Errorf("elsewhere")
		}
	case Trapped:
		if !w.stops {
			w.t.Errorf("a trap")
		}
		w.compareRegisters("trapped", regs, siteAddr, w.before)
		w.setRegisters(regs)
		w.finishAtSite()
		w.check(regs, true)
		return true
	case Again:
		w.compareRegisters("again", regs, siteAddr, w.before)
		regs[amd64.RIP] = padAddr
	case Past:
		w.compareRegisters("past", regs, uint64(w.pad.Addr)+uint64(w.pad.Displaced), w.before)
	}
	w.setRegisters(regs)
	trapped := false
	if !over {
		trapped = w.finish()
	}
	w.check(w.registers(), trapped)
	return over
}

// prepare gives memory the contents that it has before a hit.
func (w *walk) prepare() {
	w.reader = w.begin()
	w.reader.Define(w.pad.Slots)
	w.reader.Thread = func(base uint64) int64 {
		if base != w.before[amd64.FSBase] {
			w.t.Errorf("thread-local storage at %#x, want %#x", base, w.before[amd64.FSBase])
		}
		return int64(w.pid)
	}
	w.control.SetClock(Clock{Microseconds: microseconds})
	w.control.SwitchOn()
	w.control.store(OwnerAt, w.control.load(OwnerAt)|1)
	for i := range w.tracepoints {
		w.control.Enable(w.tracepoints[i].Index, true)
		w.control.ResetHits(w.tracepoints[i].Index, 0)
	}
	w.control.ResetHits(w.tracepoints[0].Index, w.hits)
	for _, i := range w.disabled {
		w.control.Enable(i, false)
	}
	for n, value := range w.variables {
		w.control.SetVariable(trace.VariableNumber(n), value)
	}
	if w.full {
		w.control.store(LimitAt, firstPosition)
	}
	if w.abandons {
		w.control.store(PatienceAt, 2)
	}
	if w.inert {
		w.control.SwitchOff()
	}
	w.fill()
}

// step executes one instruction, or deals with its fault.
func (w *walk) step() amd64.UserRegs {
	signal := w.resume(sys.Step)
	regs := w.registers()
	if signal == sigSegv || signal == sigBus {
		if !w.pad.Fault(&regs, w.victim, w.reader) {
			w.t.Fatalf("a fault at %#x of the pad", regs[amd64.RIP]-padAddr)
		}
		w.setRegisters(regs)
	}
	return regs
}

// stopped reports whether the pad has stopped the thread.
func (w *walk) stopped(regs amd64.UserRegs) bool {
	offset := int(regs[amd64.RIP]) - padAddr
	return offset > 0 && offset <= len(w.pad.Code) && w.pad.at(offset).phase == trapping
}

// leave takes the thread out, after letting it unlock.
func (w *walk) leave(regs *amd64.UserRegs) Outcome {
	for range 4000 {
		out := w.pad.Leave(regs, w.victim)
		if out.Void {
			w.reader.Void(w.pad.Slots, out.Position)
		}
		if out.Exit != Busy {
			return out
		}
		if w.full {
			w.control.store(LimitAt, firstPosition+uint64(w.arena.RingSize))
		}
		*regs = w.step()
	}
	w.t.Fatal("busy for ever")
	return Outcome{}
}

// finish lets the thread go on to behind the site. It reports whether the pad has stopped it on the way: then it is at the site.
func (w *walk) finish() (trapped bool) {
	for n := 0; ; n++ {
		how := sys.Cont
		if w.limit > 0 {
			how = sys.Step
		}
		signal := w.resume(how)
		regs := w.registers()
		if signal == sigSegv || signal == sigBus {
			if !w.pad.Fault(&regs, w.victim, w.reader) {
				w.t.Fatalf("a fault at %#x of the pad", regs[amd64.RIP]-padAddr)
			}
			w.setRegisters(regs)
			continue
		}
		if regs[amd64.RIP] == uint64(siteAddr+len(moved)+1) { // behind the int3
			return false
		}
		if w.limit > 0 && signal == sigTrap && !w.stopped(regs) {
			if n == w.limit {
				w.t.Fatalf("no end after %d instructions", n)
			}
			continue
		}
		out := w.leave(&regs)
		if out.Exit != Trapped || !w.stops {
			w.t.Fatalf("signal %d at %#x of the pad, outcome %+v", signal, regs[amd64.RIP]-padAddr, out)
		}
		w.compareRegisters("trapped", regs, siteAddr, w.before)
		w.setRegisters(regs)
		w.finishAtSite()
		return true
	}
}

// finishAtSite executes the original instructions.
func (w *walk) finishAtSite() {
	if signal := w.resume(sys.Cont); signal != sigTrap {
		w.t.Errorf("signal %d at the site", signal)
	}
}

// compareRegisters compares with what registers should be, but for the pc.
func (w *walk) compareRegisters(where string, got amd64.UserRegs, pc uint64, want amd64.UserRegs) {
	w.t.Helper()
	want[amd64.RIP] = pc
	for i := range got {
		if got[i] != want[i] && i != amd64.OrigRAX {
			w.t.Errorf("%s: register %d is %#x, want %#x", where, i, got[i], want[i])
		}
	}
}

// check compares registers, memory and records with what they should be in the end.
func (w *walk) check(_ amd64.UserRegs, trapped bool) {
	w.t.Helper()
	got, want := w.registers(), w.before
	want[amd64.R12] += 3
	want[amd64.RAX] = 42
	got[amd64.RIP], want[amd64.RIP] = 0, 0
	// The flags are those of the addition.
	got[amd64.EFlags] &^= flagsOfLahf | flagOverflow
	want[amd64.EFlags] &^= flagsOfLahf | flagOverflow
	w.compareRegisters("in the end", got, 0, want)
	stack := make([]byte, stackSize)
	w.ReadMemory(stackRegion, stack)
	kept := int(w.before[amd64.RSP]-stackRegion) - redZone
	if w.noRedZone {
		kept += redZone
	}
	if !bytes.Equal(stack[kept:], stackPattern()[kept:]) {
		w.t.Error("the stack was overwritten")
	}
	var made []outcome
	if _, err := w.reader.Drain(1<<20, func(r *Record) bool {
		o := outcome{key: r.Key, frame: bytes.Clone(r.Frame)}
		for _, err := range r.Failures {
			o.failures = append(o.failures, err.Error())
		}
		made = append(made, o)
		return true
	}); err != nil {
		w.t.Error(err)
	}
	if w.abandons {
		if len(made) > 0 || w.reader.Outstanding() != 0 && !w.control.Abandoned() {
			w.t.Errorf("%d records, %d bytes outstanding", len(made), w.reader.Outstanding())
		}
		return
	}
	if n := w.reader.Outstanding(); n != 0 {
		w.t.Errorf("%d bytes are outstanding", n)
	}
	if trapped != w.stops {
		w.t.Errorf("trapped: %v", trapped)
	}
	if w.path.whenFull == Drop && w.path.full {
		return
	}
	if diff := cmp.Diff(w.want, made, cmp.AllowUnexported(outcome{})); diff != "" {
		w.t.Errorf("records (-want +got):\n%s", diff)
	}
	// A thread that was taken out right behind its commit is not counted.
	if n := w.control.load(HitsAt + 8*w.tracepoints[0].Index); n != w.hits && (w.nothing || n != w.hits+1) {
		w.t.Errorf("%d hits after %d", n, w.hits)
	}
	if !w.stops && !w.inert && len(w.disabled) == 0 {
		for n, value := range w.after {
			if got := w.control.Variable(trace.VariableNumber(n)); got != value && (n == 7 || n == 9) {
				w.t.Errorf("variable %d is %d, want %d", n, got, value)
			}
		}
	}
}

// silent is a test that ends with the first failure and tells nobody.
type silent struct{ testing.TB }

// failure is what a silent test panics with.
type failure string

func (s silent) Errorf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }
func (s silent) Error(args ...any)                 { panic(failure(fmt.Sprint(args...))) }
func (s silent) Fatalf(format string, args ...any) { s.Errorf(format, args...) }
func (s silent) Fatal(args ...any)                 { s.Error(args...) }

// TestEveryRowCounts takes one row after the other out of the tables, which the walk above must notice: it would prove nothing
// otherwise.
func TestEveryRowCounts(t *testing.T) {
	v := newVictim(t)
	rng := rand.New(rand.NewPCG(9, 10))
	names := []string{"condition true", "locked true", "several, the first false", "registers and memory, may drop"}
	for _, p := range paths(t, v) {
		if !slices.Contains(names, p.name) {
			continue
		}
		v.t = t
		w := newWalk(v, p, rng)
		executed := w.executed()
		rows := w.pad.rows
		for i := 1; i < len(rows); i++ {
			if !executed[int(rows[i].from)] || int(rows[i].from) == w.pad.Displaced || redundant(rows[i-1].state, rows[i].state) {
				continue
			}
			w.pad.rows = slices.Delete(slices.Clone(rows), i, i+1)
			if why := w.fails(); why == "" {
				t.Errorf("%s: nothing is noticed without the row from %#x on: %+v after %+v", p.name, rows[i].from, rows[i].state,
					rows[i-1].state)
			}
		}
		w.pad.rows = rows
		v.t = t
	}
}

// redundant reports whether nothing follows from the second of two rows that does not follow from the first: they are equal, or the
// thread is only stepped on, or what they differ in tells the same in two ways until one of them is gone.
func redundant(a, b state) bool {
	if a.lock == locked || cmp.Equal(a, b, cmp.AllowUnexported(state{}, saved{})) {
		return true
	}
	same := a
	same.position = b.position
	either := func(x, y positionPlace) bool { return a.position == x && b.position == y }
	return cmp.Equal(same, b, cmp.AllowUnexported(state{}, saved{})) && (either(noPosition, positionIfSlot) ||
		either(positionIfSlot, noPosition) || either(positionInCommit, positionIfSlot) || either(positionIfZero, positionInRAX))
}

// executed are the offsets that the path comes to.
func (w *walk) executed() map[int]bool {
	for n := 0; !w.takeOut(n); n++ {
	}
	return w.places
}

// fails takes the thread out at every instruction until something is wrong, and says what.
func (w *walk) fails() (why string) {
	w.t, w.limit = silent{w.t}, 1000
	defer func() {
		if f, ok := recover().(failure); ok {
			why = string(f)
		}
	}()
	for n := 0; !w.takeOut(n); n++ {
	}
	return ""
}
