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
	pad     *Pad
	before  amd64.UserRegs
	want    []outcome
	after   map[uint16]int64 // variables
	reader  *Reader
	at      int          // offset in the pad at which the thread was taken out
	places  map[int]bool // all of these
	trail   []int        // where the thread is after so many instructions, as far as it has been followed
	first   map[int]int  // the first number of these for an offset
	entries []int        // places of the table of repeats
	limit   int          // instructions after which the way to the end is given up, 0 for none
}

// newWalk builds the pad of a path and puts it into the victim.
func newWalk(v *victim, p path, rng *rand.Rand) *walk {
	t := v.t
	t.Helper()
	w := &walk{victim: v, path: p, places: map[int]bool{}, trail: []int{0}, first: map[int]int{0: 0}}
	arena := v.arena
	arena.WhenFull = p.whenFull
	site := &Site{Arena: &arena, Index: 5, Addr: siteAddr, Pad: padAddr, Tracepoints: p.tracepoints, Registers: coreRegisters(t), Tag: testTag,
		Trap: p.trap, Strict: p.strict, NoRedZone: p.noRedZone,
		Builtins: map[trace.VariableNumber]Builtin{1: Timestamp, 20: Thread, 21: Process, 22: Nanoseconds}, Next: siteAddr + arch.Addr(len(moved)),
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
	if !p.nothing && !p.stops && p.counted == 0 {
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
	for done := w.runAhead(n, &regs); done < n; done++ {
		regs = w.step()
		if at := int(regs[amd64.RIP]) - padAddr; done+1 == len(w.trail) {
			w.trail = append(w.trail, at)
			if _, known := w.first[at]; !known {
				w.first[at] = done + 1
			}
		}
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

// runAhead lets the thread run to the last place to which it comes for the first time within n instructions, by a breakpoint there:
// steps from the beginning would be as many as the square of the pad's instructions. It returns the instructions up to there: none if the
// thread has gone another way at full speed, as where it waits, and has begun anew.
func (w *walk) runAhead(n int, regs *amd64.UserRegs) (done int) {
	done = min(n, len(w.trail)-1)
	for w.first[w.trail[done]] != done {
		done--
	}
	at := arch.Addr(padAddr + w.trail[done])
	if done == 0 || w.trail[done] < 0 || w.trail[done] >= len(w.pad.Code) {
		return 0
	}
	w.WriteMemory(at, []byte{0xcc})
	defer w.WriteMemory(at, w.pad.Code[w.trail[done]:][:1])
	for {
		signal, fault := 0, false
		if signal, *regs, fault = w.proceed(sys.Cont); fault {
			continue
		}
		if signal != sigTrap {
			w.t.Fatalf("signal %d at %#x of the pad on the way to %#x", signal, regs[amd64.RIP]-padAddr, w.trail[done])
		}
		if regs[amd64.RIP] != uint64(at)+1 {
			w.t.Logf("at %#x of the pad on the way to %#x", regs[amd64.RIP]-padAddr, w.trail[done])
			w.prepare()
			*regs = w.before
			regs[amd64.RIP] = padAddr
			w.setRegisters(*regs)
			return 0
		}
		regs[amd64.RIP]--
		w.setRegisters(*regs)
		return done
	}
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
	w.control.SetClock(Clock{Nanoseconds: microseconds * 1000})
	w.control.SetProcess(77)
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
	w.control.store(NapSpinsAt, 2)
	if w.sleeps {
		w.reader.LetSleep(AllWaits)
	}
	if w.inert {
		w.control.SwitchOff()
	}
	w.fill()
	w.enter()
}

// step executes one instruction, or deals with its fault.
func (w *walk) step() amd64.UserRegs {
	_, regs, _ := w.proceed(sys.Step)
	return regs
}

// proceed lets the thread go on until its next signal, and deals with that if it is a fault of the pad.
func (w *walk) proceed(how func(tid, signal int) error) (signal int, regs amd64.UserRegs, fault bool) {
	signal, regs = w.resume(how), w.registers()
	if fault = signal == sigSegv || signal == sigBus; fault {
		if !w.pad.Fault(&regs, w.victim, w.reader) {
			w.t.Fatalf("a fault at %#x of the pad", regs[amd64.RIP]-padAddr)
		}
		w.setRegisters(regs)
	}
	return signal, regs, fault
}

// stopped reports whether the pad has stopped the thread.
func (w *walk) stopped(regs amd64.UserRegs) bool {
	offset := int(regs[amd64.RIP]) - padAddr
	return offset > 0 && offset <= len(w.pad.Code) && w.pad.at(offset).phase == trapping
}

// leave takes the thread out, after letting it unlock.
func (w *walk) leave(regs *amd64.UserRegs) Outcome {
	for range 40_000 {
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
		signal, regs, fault := w.proceed(how)
		if fault {
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
	if _, err := w.reader.Drain(1<<20, each(func(r *Record) {
		o := outcome{key: r.Key, frame: bytes.Clone(r.Frames), printed: slices.Clone(r.Printed)}
		for _, err := range r.Failures {
			o.failures = append(o.failures, err.Error())
		}
		made = append(made, o)
	})); err != nil {
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
	w.checkCounts()
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
	names := []string{"condition true", "locked true", "several, the first false", "registers and memory, may drop",
		"printf string"}
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
