package calls

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/sites"
)

// setOf is an instruction set by its title.
func setOf(t *testing.T, title string) *flow.Set {
	for _, s := range flow.Sets() {
		if s.Title == title {
			return s
		}
	}
	t.Fatal(title)
	return nil
}

// executed makes a record of an instruction.
func executed(pc, opcode uint64, digits int) itrace.Record {
	return itrace.Record{Kind: itrace.Instruction, Addr: pc, Value: opcode, Digits: []byte(fmt.Sprintf("%0*x", digits, opcode)), State: 'T'}
}

// TestHandlersThatReturn: on processors without an instruction that leaves handlers these end as functions do, by a jump to a special
// address, which the trace does not show. The program: main calls f, which is interrupted in front of its pop.
func TestHandlersThatReturn(t *testing.T) {
	records := []itrace.Record{
		executed(0x100, 0xf000f87e, 8), // bl 0x200
		executed(0x200, 0xb500, 4),     // push {lr}
		{Kind: itrace.Event, Name: []byte("SysTick"), Addr: 0x202, AddrDigits: []byte("202"), Extra: itrace.Extra{Event: itrace.Interrupt}},
		executed(0x300, 0xb510, 4), // push {r4, lr}
		executed(0x302, 0xf000f87d, 8),
		executed(0x400, 0x4770, 4), // bx lr
		executed(0x306, 0xbd10, 4), // pop {r4, pc}
		executed(0x202, 0xbd00, 4), // pop {pc}
		executed(0x104, 0xbf00, 4), // nop
	}
	w := New(sites.New(nil, setOf(t, "T32")))
	var trap Trap
	w.OnTrap = func(t *Trap) { trap = *t }
	w.Add(records)
	w.Finish()
	if got := lines(w); got != "100:2 100;200:2 [300]:3 [300];400:1" {
		t.Error(got)
	}
	if !trap.Returned || trap.Cause != "SysTick" || trap.Place != 0x202 || trap.Handler != 0x300 || trap.Instructions != 4 || trap.At != 2 {
		t.Errorf("%+v", trap)
	}
}

// lines are the paths of a walker by addresses, with the instructions of each. Handlers are in brackets.
func lines(w *Walker) string {
	var all []string
	for i := range w.Nodes {
		var path []string
		for _, n := range w.Path(i) {
			name := fmt.Sprintf("%x", w.Functions[w.Nodes[n].Function].Begin)
			if w.Nodes[n].Handler {
				name = "[" + name + "]"
			}
			path = append(path, name)
		}
		if w.Nodes[i].Self > 0 {
			all = append(all, fmt.Sprintf("%s:%d", strings.Join(path, ";"), w.Nodes[i].Self))
		}
	}
	return strings.Join(all, " ")
}

// TestShapes is what programs do besides calling and returning.
func TestShapes(t *testing.T) {
	const nop, link = 0x13, 0x300e7 // jalr ra, t1
	for name, test := range map[string]struct {
		records []itrace.Record
		want    string
		returns uint64 // to no caller
	}{
		// A trace that begins in a function that returns: its callers were active before.
		"middle": {[]itrace.Record{executed(0x104, 0x8067, 8), executed(0x208, 0x8067, 8), executed(0x30c, nop, 8)}, "104:1 208:1 30c:1", 0},
		// What finds out its own address by a call of the next instruction calls nothing.
		"next": {[]itrace.Record{executed(0x100, link, 8), executed(0x104, nop, 8), executed(0x108, nop, 8)}, "100:3", 0},
		// A function that is entered by a save routine, as compilers for small code make it: jal t0.
		"save": {[]itrace.Record{executed(0x100, link, 8), executed(0x200, 0x302e7, 8), executed(0x300, 0x28067, 8),
			executed(0x204, 0x8067, 8), executed(0x104, nop, 8)}, "100:2 100;200:2 100;200;300:1", 0},
		// An instruction that is repeated, or waits, is neither.
		"repeated": {[]itrace.Record{executed(0x100, 0x10500073, 8), executed(0x100, 0x10500073, 8), executed(0x104, nop, 8)}, "100:3", 0},
		// A compressed instruction that the producer writes in its long form.
		"expanded": {[]itrace.Record{executed(0x100, nop, 8), executed(0x102, link, 8), executed(0x200, 0x8067, 8), executed(0x104, nop, 8)},
			"100:3 100;200:1", 0},
		// A coroutine that another goes on in.
		"switched": {[]itrace.Record{
			executed(0x100, link, 8), executed(0x900, nop, 8), executed(0x904, 0x8067, 8), // main calls switch, which returns to ...
			executed(0x204, link, 8), executed(0x900, nop, 8), executed(0x904, 0x8067, 8), // ... another, which does the same
			executed(0x104, nop, 8)}, "100:2 100;900:2 204:1 204;900:2", 1},
	} {
		w := New(sites.New(nil, setOf(t, "RISC-V")))
		w.Add(test.records)
		w.Finish()
		if got := lines(w); got != test.want || w.Unmatched != test.returns {
			t.Errorf("%s: %s, %d unmatched, not %s", name, got, w.Unmatched, test.want)
		}
	}
}

// TestDelayedJumps: where the instruction behind a jump is executed first, calls begin and end behind that, also when an interrupt comes
// in between.
func TestDelayedJumps(t *testing.T) {
	const nop, jal, ret, kernel, taken = 0, 0x0c000080, 0x03e00008, 0x03400008, 0x10000003
	handler := []itrace.Record{executed(0x800, nop, 8), executed(0x804, kernel, 8), executed(0x808, nop, 8)}
	called := []itrace.Record{executed(0x200, nop, 8), executed(0x204, ret, 8), executed(0x208, nop, 8), executed(0x108, nop, 8)}
	for name, test := range map[string]struct {
		records [][]itrace.Record
		want    string
	}{
		"none":   {[][]itrace.Record{{executed(0x100, jal, 8), executed(0x104, nop, 8)}, called}, "100:3 200:3"},
		"before": {[][]itrace.Record{{executed(0x100, jal, 8)}, handler, {executed(0x104, nop, 8)}, called}, "100:3 [800]:3 200:3"},
		"behind": {[][]itrace.Record{{executed(0x100, jal, 8), executed(0x104, nop, 8)}, handler, called}, "100:3 200:3 [800]:3"},
		"branch": {[][]itrace.Record{{executed(0x100, taken, 8)}, handler, {executed(0x104, nop, 8), executed(0x110, nop, 8)}}, "100:3 [800]:3"},
	} {
		w := New(sites.New(nil, setOf(t, "MIPS")))
		traps := 0
		w.OnTrap = func(trap *Trap) {
			if traps++; !trap.Returned || trap.Place != 0x104 && trap.Place != 0x200 {
				t.Errorf("%s: %+v", name, trap)
			}
		}
		for _, records := range test.records {
			w.Add(records)
		}
		w.Finish()
		if got := strings.ReplaceAll(lines(w), "100;200", "200"); got != test.want || w.Missed+w.Unmatched+w.Untold > 0 {
			t.Errorf("%s: %s, not %s; %d missing", name, got, test.want, w.Missed)
		}
	}
}

// TestProcessors: each has calls of its own.
func TestProcessors(t *testing.T) {
	var sims []*simulation
	want := map[string]*count{}
	for i := range uint64(3) {
		s := newSimulation(21, true, 30)
		s.enter(int(i))
		for j := range s.records {
			s.records[j].CPU = int32(i)
		}
		sims = append(sims, s)
		for key, n := range s.tree {
			if want[key] == nil {
				want[key] = &count{}
			}
			want[key].calls, want[key].self = want[key].calls+n.calls, want[key].self+n.self
		}
	}
	read := func(only *int32) *Walker {
		w := New(sites.New(sims[0].program(), flow.Sets()[0]))
		w.Only = only
		for i, left := 0, true; left; i++ {
			left = false
			for _, s := range sims {
				if i < len(s.records) {
					w.Add(s.records[i : i+1])
					left = true
				}
			}
		}
		w.Finish()
		return w
	}
	compare(t, "all", want, found(read(nil)))
	one := int32(1)
	compare(t, "one of them", sims[1].tree, found(read(&one)))
}
