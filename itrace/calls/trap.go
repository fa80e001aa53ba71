package calls

import (
	"slices"

	"tracewell/arch/flow"
	"tracewell/itrace"
)

// Trap is an exception or an interrupt.
type Trap struct {
	Kind    itrace.EventKind // Exception or Interrupt; OtherEvent where the trace does not tell which
	Cause   string           // as the trace has it; "" if it does not tell
	CPU     int32
	Place   uint64 // the address of the instruction that had it, or in front of which it came
	Handler uint64 // where it went
	// Function is the number of the function that was interrupted.
	Function int32
	At       int64 // of the first instruction of the handler, its number in the trace
	Depth    int   // how many others had not ended
	Returned bool  // the handler was left before the trace ended
	// Instructions and Time are what it took until it was left, with handlers that interrupted it, and all of that processor.
	Instructions uint64
	Time         uint64

	at       int // in the stack
	slot     int // site of a jump that takes effect behind the instruction that it came in front of; negative for none
	executed uint64
	time     uint64
}

// event remembers an exception or interrupt that the trace tells, until the instruction behind it shows where it went.
func (w *Walker) event(r *itrace.Record) {
	c := w.processor(r.CPU)
	switch r.Event {
	case itrace.Exception, itrace.Interrupt:
		if c.told && c.prev >= 0 && len(r.AddrDigits) > 0 && w.Table.Narrow(r.Addr) != c.pending.Place && w.begins(r.Addr) {
			// Another came in front of the first instruction of the handler.
			w.advance(c, c.pending.Place)
			w.trap(c, w.Table.At(r.Addr), true)
			c.told, c.trapped, c.plain, c.delayed = false, false, false, -1
			c.prev, c.next = w.nothing, w.Table.Narrow(r.Addr)
		}
		if !c.told {
			c.told = true
			c.pending = Trap{Kind: r.Event, Cause: w.cause(r.Name), Place: w.Table.Narrow(r.Addr)}
			if len(r.AddrDigits) == 0 {
				c.pending.Place = w.place(c, r.Event == itrace.Exception)
			}
		}
	case itrace.Reset:
		for len(c.traps) > 0 {
			w.endTrap(c, false)
		}
		w.settle(c)
		if c.prev >= 0 {
			w.end(c, len(c.stack)+1)
		}
		c.stack, c.prev, c.delayed, c.told = c.stack[:0], -1, -1, false
	}
}

// begins reports whether a handler or a function is known to begin at an address.
func (w *Walker) begins(pc uint64) bool {
	return w.handlers[pc] || w.isEntry(&w.Table.Sites[w.Table.At(pc)])
}

// cause is the text of a cause. There are few different ones, so that none is allocated twice.
func (w *Walker) cause(name []byte) string {
	text, known := w.causes[string(name)]
	if !known {
		text = string(name)
		if len(w.causes) < maxCauses {
			w.causes[text] = text
		}
	}
	return text
}

// maxCauses is how many texts of causes are kept.
const maxCauses = 4096

// place is where the processor stands: at the instruction before, if that had an exception, or at the one that it goes on with.
func (w *Walker) place(c *processor, had bool) uint64 {
	if c.prev < 0 {
		return 0
	}
	p := &w.Table.Sites[c.prev]
	switch {
	case had:
		return p.PC
	case p.Flow.Direct && !p.Flow.Conditional:
		return p.Flow.Target
	}
	return c.next
}

// trap enters a handler at a site.
func (w *Walker) trap(c *processor, n int, told bool) {
	s := &w.Table.Sites[n]
	s.Leader = true
	t := Trap{Place: w.place(c, c.trapped)}
	if p := &w.Table.Sites[c.prev]; p.Flow.Kind == flow.TrapReturn || p.Flow.Kind == flow.Return {
		t.Place = c.back
	}
	if c.slot >= 0 {
		t.Place = w.Table.Sites[c.slot].PC + delaySlot
	}
	if c.trapped {
		t.Kind = itrace.Exception
	}
	if told {
		t = c.pending
	}
	if len(c.traps) == maxTraps { // what is taken for handlers is something else
		for len(c.traps) > 0 {
			w.endTrap(c, false)
		}
		w.end(c, len(c.stack))
		c.stack = c.stack[:0]
	}
	t.CPU, t.Handler, t.Function, t.At, t.Depth = c.number, s.PC, c.function, w.Position, len(c.traps)
	w.push(c, frame{ret: t.Place, call: t.Place, node: c.node, function: c.function, trap: true})
	t.slot = c.slot
	t.at, t.executed, t.time = len(c.stack)-1, c.executed, c.time
	c.traps = append(c.traps, t)
	handler := w.functionAt(s.PC)
	s.Function = handler
	w.handlers[s.PC] = true
	w.enter(c, handler, w.child(0, handler, true), true)
}

// maxTraps is how many handlers may be active.
const maxTraps = 64

// endTrap takes away the latest handler, and tells of it.
func (w *Walker) endTrap(c *processor, returned bool) frame {
	t := &c.traps[len(c.traps)-1]
	f := c.stack[t.at]
	t.Returned, t.Instructions, t.Time = returned, c.executed-t.executed, c.time-t.time
	if w.OnTrap != nil {
		w.OnTrap(t)
	}
	c.traps = c.traps[:len(c.traps)-1]
	return f
}

// leave leaves the latest handler for a site. If that is not where the handler was entered from, it is another task.
func (w *Walker) leave(c *processor, n int) {
	c.back = w.Table.Sites[n].PC
	if len(c.traps) == 0 { // the trace began in the handler, or nothing but this is how a program is started
		if top := len(c.stack) - 1; top >= 0 && c.stack[top].ret == w.Table.Sites[n].PC {
			w.popTo(c, top, n)
			return
		}
		w.cross(c, n)
		return
	}
	at, slot := c.traps[len(c.traps)-1].at, c.traps[len(c.traps)-1].slot
	f := w.endTrap(c, true)
	w.end(c, len(c.stack)-at)
	c.stack = c.stack[:at]
	w.visit(c, f.function, f.node)
	s := &w.Table.Sites[n]
	back := func(distance uint64) func(*task) bool {
		return func(t *task) bool { return t.interrupted && s.PC-t.resume <= distance }
	}
	// Handlers step over an instruction, or go on elsewhere in the function, unless that is where another task was left.
	here := s.PC-f.ret <= longest || s.Function >= 0 && s.Function == f.function && !w.isEntry(s)
	if s.PC == f.ret || here && !slices.ContainsFunc(c.aside, func(t task) bool { return t.interrupted && t.resume == s.PC }) {
		w.cross(c, n)
		if slot >= 0 && s.PC == w.Table.Sites[slot].PC+delaySlot {
			c.delayed = slot
		}
		return
	}
	left := w.park(c, c.base())
	left.interrupted, left.resume = true, f.ret
	if !w.resume(c, back(0)) && !w.resume(c, back(longest)) {
		if s.Function < 0 {
			s.Function = w.functionAt(s.PC)
		}
		w.start(c, s.Function)
		if w.isEntry(s) {
			w.Nodes[c.node].Calls++
		}
	}
	w.cross(c, n)
}

// leaveAndTrap leaves the latest handler, and enters the next at once if a site is where that begins.
func (w *Walker) leaveAndTrap(c *processor, n int, told bool) {
	pc := w.Table.Sites[n].PC
	switch last := len(c.traps) - 1; {
	case told && (c.pending.Place != pc || w.handlers[pc]):
		w.leave(c, w.Table.At(c.pending.Place))
	case !told && w.handlers[pc] && last >= 0 && c.stack[c.traps[last].at].ret != pc:
		w.leave(c, w.Table.At(c.stack[c.traps[last].at].ret))
	default:
		w.leave(c, n)
		return
	}
	w.trap(c, n, told)
}

// stray is an instruction that does not follow from the one before: the beginning of a handler, unless instructions are missing.
func (w *Walker) stray(c *processor, n int) {
	p, s := &w.Table.Sites[c.prev], &w.Table.Sites[n]
	if s.PC == p.PC && !w.handlers[s.PC] { // repeated: an instruction of several accesses, or one that waits
		return
	}
	if d := s.PC - p.PC; d <= longest && (p.Flow.Len == 0 || !w.isEntry(s)) { // its length is another
		if !p.Told || p.Flow.Len == 0 {
			p.Flow.Len = uint8(d)
		}
		w.cross(c, n)
		return
	}
	s.Leader = true
	base := c.base()
	switch {
	case base > 0 && s.PC-c.stack[base-1].ret <= longest && p.Flow.Kind == 0 && s.Function == c.stack[base-1].function:
		w.leave(c, n)
	case !p.Told:
		w.Untold++
		w.cross(c, n)
	case w.active(c, n):
		w.Missed++
		w.unmatched(c, n, base)
	default:
		w.advance(c, w.place(c, false))
		w.trap(c, n, false)
	}
}

// active reports whether a site is in the middle of a function that is active, where no handler begins.
func (w *Walker) active(c *processor, n int) bool {
	s := &w.Table.Sites[n]
	if s.Function < 0 || w.isEntry(s) {
		return false
	}
	if s.Function == c.function {
		return true
	}
	for i := len(c.stack) - 1; i >= c.base(); i-- {
		if c.stack[i].function == s.Function {
			return true
		}
	}
	return false
}
