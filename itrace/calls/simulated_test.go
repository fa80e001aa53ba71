package calls

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/program"
	"tracewell/itrace/sites"
)

// The simulated program: functions of random instructions at fixed addresses, executed by an interpreter that knows its own calls.
// What it executes is written as records of a processor with opcodes of RISC-V.

type operation uint8

const (
	plain    operation = iota
	call               // of a function, if there is room, by its address
	indirect           // the same through a register
	skip               // a branch over the next operation
	tail               // the last: a jump to another function
	ret                // the last
	mret               // the last of a handler
	mark               // a call of setjmp
	escape             // a call of longjmp
)

type simulatedFunction struct {
	begin uint64
	code  []struct {
		operation
		to int // another function
	}
}

const (
	step       = 4
	space      = 0x400
	functions  = 12
	setjmp     = functions
	longjmp    = functions + 1
	handlers   = functions + 2 // two
	helper     = functions + 4 // of the handlers
	all        = functions + 5
	mostActive = 20
)

type count struct{ calls, self uint64 }

type simulation struct {
	*rand.Rand
	functions [all]simulatedFunction
	records   []itrace.Record
	tree      map[string]*count
	path      []int
	marked    []uint64 // for each of path, where longjmp goes on in it; 0 for nowhere
	handling  int
	told      bool // interrupts are events of the trace
	rate      int  // one interrupt in so many instructions, 0 for none
	traps     int
	budget    int
	unclear   bool // an interrupt here cannot be told from where the instruction before leads
}

func newSimulation(seed uint64, told bool, rate int) *simulation {
	s := &simulation{Rand: rand.New(rand.NewPCG(seed, 1)), tree: map[string]*count{}, told: told, rate: rate, budget: 3000}
	for i := range s.functions {
		f := &s.functions[i]
		f.begin = 0x80000000 + uint64(i)*space
		add := func(o operation, to int) {
			f.code = append(f.code, struct {
				operation
				to int
			}{o, to})
		}
		add(plain, 0)
		for range s.IntN(12) {
			switch o := operation(s.IntN(int(escape) + 1)); {
			case i >= handlers && (o == call || o == indirect) && i != helper:
				add(o, helper)
			case i < functions && (o == call || o == indirect):
				add(skip, 0)
				add(o, s.IntN(functions))
			case i < functions && (o == mark || o == escape && s.IntN(3) == 0):
				add(o, 0)
			default:
				add(plain, 0)
			}
		}
		switch {
		case i == handlers || i == handlers+1:
			add(mret, 0)
		case i < functions-1 && s.IntN(4) == 0:
			add(tail, s.IntN(functions))
		default:
			add(ret, 0)
		}
	}
	return s
}

func name(function int) string { return fmt.Sprintf("f%d", function) }

func (s *simulation) here() *count {
	names := make([]string, len(s.path))
	for i, f := range s.path {
		names[i] = name(f)
	}
	key := strings.Join(names, ";")
	if s.tree[key] == nil {
		s.tree[key] = &count{}
	}
	return s.tree[key]
}

// emit executes an instruction; before it an interrupt may come.
func (s *simulation) emit(pc uint64, opcode uint32) {
	if s.rate > 0 && s.handling < 3 && s.IntN(s.rate) == 0 && len(s.records) > 0 &&
		(!s.unclear || s.told && s.handling < 2) {
		s.interrupt(pc)
	}
	s.unclear = false
	s.records = append(s.records, itrace.Record{Kind: itrace.Instruction, Addr: pc, Value: uint64(opcode), Digits: []byte("00000013")})
	s.here().self++
	s.budget--
}

func (s *simulation) interrupt(pc uint64) {
	s.handling++
	s.traps++
	if s.told {
		s.records = append(s.records, itrace.Record{Kind: itrace.Event, Addr: pc, AddrDigits: []byte("0"), Name: []byte("timer"),
			Extra: itrace.Extra{Event: itrace.Interrupt}})
	}
	path, marked := s.path, s.marked
	s.path, s.marked, s.unclear = nil, nil, true
	s.enter(handlers + s.IntN(2))
	s.path, s.marked = path, marked
	s.handling--
}

// enter calls a function. It returns how many calls longjmp leaves, and where it goes on; 0 for a return.
func (s *simulation) enter(function int) (leave int, at uint64) {
	s.path, s.marked = append(slices.Clone(s.path), function), append(slices.Clone(s.marked), 0)
	s.here().calls++
	leave, at = s.run(function, s.functions[function].begin)
	s.path, s.marked = s.path[:len(s.path)-1], s.marked[:len(s.marked)-1]
	return leave, at
}

// run executes a function from an address on.
func (s *simulation) run(function int, pc uint64) (leave int, at uint64) {
	f := &s.functions[function]
	for i := int(pc-f.begin) / step; ; i++ {
		pc := f.begin + uint64(i)*step
		o := f.code[i]
		busy := len(s.path) >= mostActive || s.budget < 0
		callee, marked := o.to, false
		switch o.operation {
		case plain:
			s.emit(pc, 0x13)
			continue
		case skip:
			taken := busy || s.IntN(3) == 0
			s.emit(pc, 0x00001463) // bnez x0, pc+8
			if taken {
				i++
			}
			continue
		case tail:
			if busy || callee == function {
				callee = functions - 1
			}
			s.emit(pc, jal(0, s.functions[callee].begin-pc))
			s.path[len(s.path)-1], s.marked[len(s.marked)-1] = callee, 0
			s.here().calls++
			return s.run(callee, s.functions[callee].begin)
		case ret:
			s.emit(pc, 0x8067)
			s.unclear = true
			return 0, 0
		case mret:
			s.emit(pc, 0x30200073)
			s.unclear = true
			return 0, 0
		case mark:
			callee, marked = setjmp, true
		case escape:
			if leave, at := s.escape(pc); leave > 0 {
				return leave, at
			}
			s.emit(pc, 0x13)
			continue
		}
		if o.operation == indirect {
			s.emit(pc, 0x000300e7) // jalr ra, t1
			s.unclear = true
		} else {
			s.emit(pc, jal(1, s.functions[callee].begin-pc))
		}
		leave, at := s.enter(callee)
		if leave > 1 {
			return leave - 1, at
		}
		if leave == 1 {
			i = int(at-f.begin)/step - 1
		}
		if marked {
			s.marked[len(s.marked)-1] = pc + step
		}
	}
}

// escape calls longjmp if a function is active that has called setjmp, and no other call of the same one is inside of it.
func (s *simulation) escape(pc uint64) (leave int, at uint64) {
	for i := len(s.path) - 2; i >= 0; i-- {
		if s.marked[i] == 0 || slices.Contains(s.path[i+1:], s.path[i]) || s.budget < 0 {
			continue
		}
		target := s.marked[i]
		s.emit(pc, jal(1, s.functions[longjmp].begin-pc))
		s.path, s.marked = append(s.path, longjmp), append(s.marked, 0)
		s.here().calls++
		s.emit(s.functions[longjmp].begin, 0x13)
		s.emit(s.functions[longjmp].begin+step, 0x8067)
		s.unclear = true
		s.path, s.marked = s.path[:len(s.path)-1], s.marked[:len(s.marked)-1]
		return len(s.path) - 1 - i, target
	}
	return 0, 0
}

func jal(rd uint32, offset uint64) uint32 {
	o := uint32(offset)
	return 0x6f | rd<<7 | o&0xff000 | o>>11&1<<20 | o>>1&0x3ff<<21 | o>>20&1<<31
}

// program is the symbols of the simulated program.
func (s *simulation) program() *program.Program {
	p := &program.Program{}
	for i, f := range s.functions {
		p.Functions = append(p.Functions, program.Function{Name: name(i), Begin: f.begin, End: f.begin + space, Whole: i})
	}
	return p
}

// found is the tree that a walker has found, by paths.
func found(w *Walker) map[string]*count {
	tree := map[string]*count{}
	for i := range w.Nodes {
		if i == 0 {
			continue
		}
		var names []string
		for _, n := range w.Path(i) {
			names = append(names, w.Functions[w.Nodes[n].Function].Name)
		}
		key := strings.Join(names, ";")
		if tree[key] == nil {
			tree[key] = &count{}
		}
		tree[key].calls += w.Nodes[i].Calls
		tree[key].self += w.Nodes[i].Self
	}
	return tree
}

// TestSimulated holds the calls that are found against those that the simulated program made.
func TestSimulated(t *testing.T) {
	for seed := range uint64(100) {
		for _, told := range []bool{false, true} {
			s := newSimulation(seed, told, int(seed%3)*20)
			s.enter(int(seed % functions))
			set := sites.Guess(s.records)
			if set != flow.Sets()[0] {
				t.Fatalf("seed %d: the instruction set is %v", seed, set)
			}
			w := New(sites.New(s.program(), set))
			traps := 0
			w.OnTrap = func(trap *Trap) {
				if traps++; !trap.Returned || told && trap.Cause != "timer" {
					t.Errorf("seed %d: %+v", seed, *trap)
				}
			}
			w.Add(s.records)
			w.Finish()
			compare(t, fmt.Sprintf("seed %d, told %v", seed, told), s.tree, found(w))
			if traps != s.traps {
				t.Errorf("seed %d, told %v: %d interrupts, not %d", seed, told, traps, s.traps)
			}
			partly(t, s, set)
			if t.Failed() {
				return
			}
		}
	}
}

// partly reads a part of a trace: what is counted from a place on is what is counted in all without what is in front of it; and of
// a trace that begins in the middle every instruction counts for some function, with names or without.
func partly(t *testing.T, s *simulation, set *flow.Set) {
	half := len(s.records) / 2
	read := func(records []itrace.Record, from int64, p *program.Program) *Walker {
		w := New(sites.New(p, set))
		w.From = from
		w.Add(records)
		w.Finish()
		return w
	}
	front := read(s.records[:half], 0, s.program())
	want := found(read(s.records, 0, s.program()))
	for key, n := range found(front) {
		want[key] = &count{want[key].calls - n.calls, want[key].self - n.self}
	}
	compare(t, "from the middle", want, found(read(s.records, front.Position, s.program())))
	for _, p := range []*program.Program{nil, s.program()} {
		w := read(s.records[half:], 0, p)
		instructions, _ := w.Inclusive()
		if instructions[0] != uint64(w.Position) {
			t.Errorf("%d of %d instructions", instructions[0], w.Position)
		}
	}
}

func compare(t *testing.T, what string, want, got map[string]*count) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if g := got[key]; g == nil || *g != *want[key] {
			t.Errorf("%s: %s: %+v, not %+v", what, key, g, *want[key])
		}
	}
	for key, g := range got {
		if want[key] == nil && *g != (count{}) {
			t.Errorf("%s: %s: %+v, not executed", what, key, *g)
		}
	}
}

// TestTasks: several programs take turns on a processor, at every switch by an interrupt whose handler returns to another.
func TestTasks(t *testing.T) {
seeds:
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 9))
		want := map[string]*count{"f14": {}}
		var tasks []*simulation
		for i := range uint64(4) {
			s := newSimulation(seed, true, 0)
			s.Rand = rand.New(rand.NewPCG(seed, 100+i))
			s.enter(int(i))
			tasks = append(tasks, s)
			for key, n := range s.tree {
				if want[key] == nil {
					want[key] = &count{}
				}
				want[key].calls, want[key].self = want[key].calls+n.calls, want[key].self+n.self
			}
		}
		handler := tasks[0].functions[handlers].begin
		at, turn := make([]int, len(tasks)), 0
		w := New(sites.New(tasks[0].program(), flow.Sets()[0]))
		for running := len(tasks); running > 0; {
			s, from := tasks[turn], at[turn]
			to := min(from+1+r.IntN(30), len(s.records))
			w.Add(s.records[from:to])
			at[turn] = to
			if to == len(s.records) { // a task that has ended would go on in no place
				tasks, at = slices.Delete(tasks, turn, turn+1), slices.Delete(at, turn, turn+1)
				running, turn = running-1, turn-1
			}
			if running == 0 {
				break
			}
			// Tasks that wait at the same instruction cannot be told apart but by how long they wait.
			next, unclear := (turn+1)%running, false
			for i := range tasks {
				same := i != next && tasks[i].records[at[i]].Addr == tasks[next].records[at[next]].Addr
				unclear = unclear || same && (i == turn || at[next] == 0)
			}
			if unclear && to < len(s.records) {
				continue
			} else if unclear { // nothing else can go on
				continue seeds
			}
			resume := uint64(0x90000000)
			if to < len(s.records) {
				resume = s.records[to].Addr
			}
			w.Add([]itrace.Record{
				{Kind: itrace.Event, Addr: resume, AddrDigits: []byte("0"), Extra: itrace.Extra{Event: itrace.Interrupt}},
				{Kind: itrace.Instruction, Addr: handler, Value: 0x13, Digits: []byte("00000013")},
				{Kind: itrace.Instruction, Addr: handler + step, Value: 0x30200073, Digits: []byte("30200073")},
			})
			want["f14"].calls++
			want["f14"].self += 2
			turn = (turn + 1) % running
		}
		w.Finish()
		tree := found(w)
		delete(tree, "") // where the interrupted go on that have ended
		compare(t, fmt.Sprintf("seed %d", seed), want, tree)
		if t.Failed() {
			return
		}
	}
}

// TestBounds: recursion without end forgets the outermost calls, and too many paths count for their callers.
func TestBounds(t *testing.T) {
	w := New(sites.New(nil, flow.Sets()[0]))
	const deep = maxDepth + maxNodes + 1000
	record := itrace.Record{Kind: itrace.Instruction, Value: 0x000300e7, Digits: []byte("000300e7")}
	for i := range uint64(deep) {
		record.Addr = 0x1000 + i%7*0x100
		w.Add([]itrace.Record{record})
	}
	w.Finish()
	instructions, _ := w.Inclusive()
	if len(w.Nodes) != maxNodes || w.Elided == 0 || instructions[0] != deep || len(w.cpus[0].stack) > maxDepth {
		t.Errorf("%d nodes, %d elided, %d instructions, %d calls", len(w.Nodes), w.Elided, instructions[0], len(w.cpus[0].stack))
	}
}

// TestAllocations: nothing is allocated for a record.
func TestAllocations(t *testing.T) {
	s := newSimulation(8, true, 0)
	s.enter(8)
	w := New(sites.New(s.program(), flow.Sets()[0]))
	for range 3 * maxTasks { // until as many calls have been kept aside as may be
		w.Add(s.records)
	}
	if n := testing.AllocsPerRun(10, func() { w.Add(s.records) }); n > float64(len(s.records))/100 {
		t.Errorf("%v allocations for %d records", n, len(s.records))
	}
}

func BenchmarkWalk(b *testing.B) {
	s := newSimulation(8, true, 40)
	s.enter(8)
	w := New(sites.New(s.program(), flow.Sets()[0]))
	b.SetBytes(int64(len(s.records)) * 50) // a line of a log that tells little
	b.ReportAllocs()
	for b.Loop() {
		w.Add(s.records)
	}
}

// TestAnything: whatever a trace says, every instruction counts for some function, and nothing is out of bounds.
func TestAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	opcodes := []uint64{0x13, 0x8067, 0xef, 0x300e7, 0x280e7, 0x30200073, 0x73, 0x63, 0x6f, 0x67, 0xe7, 0x1, 0x8082, 0x9002}
	for round := range 300 {
		w := New(sites.New(nil, flow.Sets()[r.IntN(len(flow.Sets()))]))
		if round%2 == 0 {
			w.Table.Program = newSimulation(uint64(round), false, 0).program()
			w = New(w.Table)
		}
		begun := map[int32]int{}
		w.Listener = listener{begun}
		traps := 0
		w.OnTrap = func(*Trap) { traps++ }
		executed := [2]uint64{}
		for range 2000 {
			record := itrace.Record{Kind: itrace.Instruction, CPU: int32(r.IntN(2)), Addr: 0x80000000 + r.Uint64N(64)*space/8,
				Value: opcodes[r.IntN(len(opcodes))], Digits: []byte("00000013")}
			switch r.IntN(12) {
			case 0:
				record.Kind, record.Event, record.AddrDigits = itrace.Event, itrace.EventKind(r.IntN(5)), []byte("0")
			case 1:
				record.Kind, record.Event = itrace.Event, itrace.EventKind(r.IntN(5))
			case 2:
				record.Trapped = true
			case 3:
				record.Scope = itrace.Gaps
			case 4:
				record.Digits = nil
			}
			if record.Kind == itrace.Instruction {
				executed[record.CPU]++
			}
			w.Add([]itrace.Record{record})
		}
		w.Finish()
		instructions, _ := w.Inclusive()
		if instructions[0] != executed[0]+executed[1] {
			t.Fatalf("round %d: %d of %d instructions", round, instructions[0], executed[0]+executed[1])
		}
		for cpu, n := range begun {
			if c := w.cpus[cpu]; n != len(c.stack)+1 && c.prev >= 0 {
				t.Fatalf("round %d: %d slices are open on processor %d, with %d calls", round, n, cpu, len(c.stack))
			}
		}
	}
}

// listener counts the slices that are open.
type listener struct{ open map[int32]int }

func (l listener) Begin(cpu, _ int32, _ bool, _ int64, _ uint64) { l.open[cpu]++ }
func (l listener) End(cpu int32, _ int64, _ uint64)              { l.open[cpu]-- }
