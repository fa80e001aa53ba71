package calls

import (
	"math"

	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/sites"
)

// Listener is shown calls as they begin and end, each in order of time for its processor: slices that lie within one another.
type Listener interface {
	// Begin and End are given the place in the trace, as the number of an instruction, and the trace's time.
	Begin(cpu, function int32, handler bool, at int64, time uint64)
	End(cpu int32, at int64, time uint64)
}

// Walker reads the instructions of a trace in their order. Use it by one goroutine.
type Walker struct {
	Tree
	Table     *sites.Table
	Functions []Function
	// OnTrap is told of each exception and interrupt when its handler has ended, or the trace has; nil for none. The Trap is valid
	// during the call.
	OnTrap   func(*Trap)
	Listener Listener // nil for none
	Only     *int32   // the only processor that is looked at; nil for all
	// From is the number of the instruction from which on is counted: what comes before only tells which calls are active.
	From int64
	// Position is the number of the next instruction in the trace.
	Position int64
	// Untold counts instructions of which nothing told what they do, and that did not go on behind themselves.
	Untold uint64
	// Missed counts places where instructions must be missing, and Unmatched returns that no active call explains.
	Missed, Unmatched uint64

	guessed  bool
	early    []itrace.Record  // kept until the instruction set is known
	nothing  int              // a site that stands for an instruction before the next one of which nothing is known
	symbols  int              // the first of Functions are those of the program
	entries  map[uint64]int32 // of the others, by address
	cpus     map[int32]*processor
	causes   map[string]string
	handlers map[uint64]bool // addresses at which handlers have begun
	last     *processor
}

// processor is what a processor is doing.
type processor struct {
	number   int32
	prev     int    // site of the instruction before; negative in front of the first
	next     uint64 // the address behind it
	plain    bool   // it goes on there
	delayed  int    // site of a jump that takes effect behind the instruction that follows; negative for none
	slot     int    // site of a jump that would have taken effect behind this instruction, but for an exception; negative for none
	trapped  bool   // it had an exception
	back     uint64 // where the latest return, or end of a handler, led
	gaps     bool   // instructions may be missing behind it
	executed uint64

	function int32 // in which it is
	node     int32
	since    uint64 // when the node was entered, by executed
	time     uint64 // the latest
	sinceT   uint64
	stack    []frame
	traps    []Trap
	pending  Trap // an event that has been told, and whose handler follows
	told     bool // there is one
	aside    []task
}

// frame is a call that is active: what to go on with when it returns.
type frame struct {
	ret      uint64 // where it returns to
	call     uint64 // the address of the call
	node     int32
	function int32
	trap     bool // it is a handler
}

// New returns a walker over a table without sites.
func New(t *sites.Table) *Walker {
	w := &Walker{Tree: newTree(), Table: t, entries: make(map[uint64]int32), cpus: make(map[int32]*processor),
		causes: make(map[string]string), handlers: make(map[uint64]bool)}
	if t.Program != nil {
		for _, f := range t.Program.Functions {
			w.Functions = append(w.Functions, Function{f.Name, f.Begin})
		}
	}
	w.symbols = len(w.Functions)
	w.nothing = t.At(math.MaxUint64)
	t.Sites[w.nothing].Told = true
	return w
}

// Add reads records. The first are kept until it is known what instruction set they are of.
func (w *Walker) Add(records []itrace.Record) {
	if w.Table.Set == nil && !w.guessed {
		for i := range records {
			w.early = append(w.early, records[i].Clone())
		}
		if len(w.early) >= enough {
			w.guess()
		}
		return
	}
	for i := range records {
		r := &records[i]
		if r.Kind != itrace.Instruction && r.Kind != itrace.Event {
			continue
		}
		if r.Kind == itrace.Instruction && w.Position == w.From {
			w.reset()
		}
		switch {
		case w.Only != nil && r.CPU != *w.Only:
			if r.Kind == itrace.Instruction {
				w.Position++
			}
		case r.Kind == itrace.Instruction:
			w.instruction(r)
		default:
			w.event(r)
		}
	}
}

// enough is how many records tell the instruction set.
const enough = 4096

// guess finds the instruction set, and reads the records that were kept for it.
func (w *Walker) guess() {
	w.Table.Set, w.guessed = sites.Guess(w.early), true
	early := w.early
	w.early = nil
	w.Add(early)
}

// reset forgets all counts, and keeps what calls are active.
func (w *Walker) reset() {
	for _, c := range w.cpus {
		w.settle(c)
	}
	for i := range w.Nodes {
		w.Nodes[i].Calls, w.Nodes[i].Self, w.Nodes[i].Time = 0, 0, 0
	}
	w.Untold, w.Missed, w.Unmatched, w.Elided = 0, 0, 0, 0
	w.Table.Reset()
}

// Finish counts what is still active at the end of the trace.
func (w *Walker) Finish() {
	if len(w.early) > 0 {
		w.guess()
	}
	for _, c := range w.cpus {
		w.settle(c)
		for len(c.traps) > 0 {
			w.endTrap(c, false)
		}
	}
}

// Now is the latest time of the trace.
func (w *Walker) Now() (now uint64) {
	for _, c := range w.cpus {
		now = max(now, c.time)
	}
	return now
}

func (w *Walker) processor(number int32) *processor {
	if c := w.last; c != nil && c.number == number {
		return c
	}
	c := w.cpus[number]
	if c == nil {
		c = &processor{number: number, prev: -1, delayed: -1, function: -1}
		w.cpus[number] = c
	}
	w.last = c
	return c
}

func (w *Walker) instruction(r *itrace.Record) {
	c := w.processor(r.CPU)
	n := w.Table.Number(r)
	s := &w.Table.Sites[n]
	c.time = max(c.time, r.Time)
	if !c.plain || c.next != s.PC || s.Function != c.function || c.told {
		w.turn(c, n)
		s = &w.Table.Sites[n]
	}
	c.executed++
	w.Position++
	if c.delayed >= 0 { // this is the instruction in between
		c.prev, c.next, c.plain = c.delayed, w.Table.Sites[c.delayed].PC+uint64(w.Table.Sites[c.delayed].Flow.Len), false
		c.delayed = -1
		return
	}
	c.prev, c.next = n, s.PC+uint64(s.Flow.Len) // which may leave 32 bits only at their end
	c.plain = s.Flow.Kind == flow.Next && s.Flow.Len != 0
	c.trapped, c.gaps = r.Trapped, r.Scope&itrace.Gaps != 0
	if c.trapped || c.gaps {
		c.plain = false
	}
	if s.Flow.Delayed && !c.trapped {
		c.delayed, c.next, c.plain = n, s.PC+delaySlot, true
	}
}

// delaySlot is how far behind a jump the instruction lies that is executed before it takes effect.
const delaySlot = 4

// longest is the most bytes that an instruction has.
const longest = 15

// turn finds out how the processor got to a site, where it did not simply go on within a function.
func (w *Walker) turn(c *processor, n int) {
	if c.prev < 0 {
		w.begin(c, n)
		return
	}
	s, pc := &w.Table.Sites[n], w.Table.Sites[n].PC
	c.slot = -1
	if c.delayed >= 0 && pc != c.next { // the instruction in between was left out, or an exception came in front of it
		c.slot = c.delayed
		c.prev, c.next = c.delayed, w.Table.Sites[c.delayed].PC+uint64(w.Table.Sites[c.delayed].Flow.Len)
		c.delayed = -1
	}
	p := &w.Table.Sites[c.prev]
	told := c.told
	c.told = false
	switch kind := p.Flow.Kind; {
	case c.slot >= 0 && pc != c.next && !(p.Flow.Direct && p.Flow.Target == pc):
		w.trap(c, n, told)
	case kind == flow.TrapReturn && pc != c.next:
		s.Leader = true
		w.leaveAndTrap(c, n, told)
	case c.trapped, told && (pc != c.next || c.prev == w.nothing):
		if told && (c.pending.Kind == itrace.Interrupt || c.pending.Place != p.PC) {
			w.advance(c, c.pending.Place)
		}
		w.trap(c, n, told)
	case pc == c.next && (kind != flow.Call || !p.Flow.Direct || p.Flow.Target != pc || c.delayed >= 0):
		if kind != flow.Next && c.delayed < 0 {
			p.Past++
			s.Leader = true
		}
		w.cross(c, n)
	case c.delayed >= 0:
		w.cross(c, n)
	case c.gaps:
		s.Leader = true
		w.cross(c, n)
	case kind == flow.Next || kind == flow.Trap:
		w.stray(c, n)
	default:
		w.jump(c, n)
	}
}

// jump is a jump, a call or a return that has been taken.
func (w *Walker) jump(c *processor, n int) {
	p, s := &w.Table.Sites[c.prev], &w.Table.Sites[n]
	pc := s.PC
	f := p.Flow
	s.Leader = true
	p.Taken++
	if f.Direct && pc != f.Target {
		p.Taken--
		w.stray(c, n)
		return
	}
	switch f.Kind {
	case flow.Call:
		w.call(c, n)
	case flow.Swap:
		if len(c.stack) > c.base() && c.stack[len(c.stack)-1].ret == pc {
			w.popTo(c, len(c.stack)-1, n)
		} else {
			w.call(c, n)
		}
	case flow.Return:
		w.ret(c, n)
	default:
		top := len(c.stack) - 1
		switch {
		case f.Direct:
			w.cross(c, n)
		case top >= c.base() && c.stack[top].ret == pc && s.Function != c.function:
			w.popTo(c, top, n)
		case s.Function == c.function || s.Function < 0 || w.isEntry(s):
			w.cross(c, n)
		default:
			w.ret(c, n)
		}
	}
}

// call enters the function at a site.
func (w *Walker) call(c *processor, n int) {
	s, p := &w.Table.Sites[n], &w.Table.Sites[c.prev]
	if s.PC == c.next && !w.isEntry(s) { // a call to find out the pc
		w.cross(c, n)
		return
	}
	callee := w.functionAt(s.PC)
	s.Function = callee
	w.push(c, frame{ret: c.next, call: p.PC, node: c.node, function: c.function})
	w.enter(c, callee, w.child(c.node, callee, false), false)
}

// advance goes where the instruction before leads, which is known to be a place, though what was executed next is something else:
// an exception came in front of it.
func (w *Walker) advance(c *processor, place uint64) {
	if c.prev < 0 || c.trapped || place == c.next {
		return
	}
	p := &w.Table.Sites[c.prev]
	if kind := p.Flow.Kind; kind != flow.Next && kind < flow.TrapReturn && (!p.Flow.Direct || p.Flow.Target == place) {
		w.jump(c, w.Table.At(place))
	}
}

// cross goes on at a site in the same call, which may be in another function: that takes the place of the one before.
func (w *Walker) cross(c *processor, n int) {
	s := &w.Table.Sites[n]
	switch {
	case s.Function == c.function:
		return
	case s.Function < 0, int(s.Function) >= w.symbols && !w.isEntry(s):
		if int(c.function) >= w.symbols { // code without symbols is of the function that leads to it
			s.Function = c.function
			return
		}
		if s.Function < 0 {
			s.Function = w.functionAt(s.PC)
		}
	}
	w.replace(c, s.Function, w.isEntry(s))
}

// replace has a function go on in place of the one that the processor is in.
func (w *Walker) replace(c *processor, function int32, entered bool) {
	parent, handler := int32(0), false
	if c.node > 0 {
		parent, handler = w.Nodes[c.node].Parent, w.Nodes[c.node].Handler
	}
	w.end(c, 1)
	node := w.child(max(parent, 0), function, handler)
	w.visit(c, function, node)
	if entered {
		w.Nodes[node].Calls++
	}
	w.show(c, function, handler)
}

// isEntry reports whether a function begins at a site.
func (w *Walker) isEntry(s *sites.Site) bool {
	return s.Function >= 0 && w.Functions[s.Function].Begin == s.PC
}

// functionAt is the function of the program that has an address, else the one that begins there.
func (w *Walker) functionAt(pc uint64) int32 {
	if p := w.Table.Program; p != nil {
		if i := p.At(pc); i >= 0 {
			return int32(p.Functions[i].Whole)
		}
	}
	f, known := w.entries[pc]
	if !known {
		f = int32(len(w.Functions))
		w.Functions = append(w.Functions, Function{Begin: pc})
		w.entries[pc] = f
	}
	return f
}

// begin is the first instruction of a processor.
func (w *Walker) begin(c *processor, n int) {
	s := &w.Table.Sites[n]
	s.Leader = true
	c.sinceT = c.time
	if s.Function < 0 {
		s.Function = w.functionAt(s.PC)
	}
	handler := c.told
	c.told = false
	w.enter(c, s.Function, w.child(0, s.Function, handler), handler)
	if !w.isEntry(s) {
		w.Nodes[c.node].Calls--
	}
}

// enter goes on in a function that has been called.
func (w *Walker) enter(c *processor, function, node int32, handler bool) {
	w.visit(c, function, node)
	w.Nodes[node].Calls++
	w.show(c, function, handler)
}

// visit goes on in a node.
func (w *Walker) visit(c *processor, function, node int32) {
	w.settle(c)
	c.function, c.node = function, node
}

// settle counts for a node what has been executed since it was entered.
func (w *Walker) settle(c *processor) {
	if c.node > 0 {
		n := &w.Nodes[c.node]
		n.Self += c.executed - c.since
		n.Time += c.time - c.sinceT
	}
	c.since, c.sinceT = c.executed, c.time
}

func (w *Walker) show(c *processor, function int32, handler bool) {
	if w.Listener != nil {
		w.Listener.Begin(c.number, function, handler, w.Position, c.time)
	}
}

// end tells the listener that so many calls end.
func (w *Walker) end(c *processor, n int) {
	if w.Listener != nil {
		for ; n > 0; n-- {
			w.Listener.End(c.number, w.Position, c.time)
		}
	}
}
