package fake

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// collector is the target's Collector. It does at once what the engine puts off until a frame is whole, and shares no code with
// it, so that each is a check of the other. The target's mutex guards it; deposits are made with it held.
type collector struct {
	t         *Target
	offloaded map[place][]*compiled.Tracepoint // in force, in the order in which they came
	prepared  map[place][]*compiled.Tracepoint // what is to be in force at the places that are to change; none to end it
	run       target.Run
	deposit   func([]target.Deposit) target.Verdict // nil before the first run
	pending   [][]target.Deposit                    // those of one hit together
	tallies   []target.Tally
	machine   ax.Machine
	// The variables have a lock of their own, since hits that are not the collector's use them, too: those of tracepoints that it
	// refused call them through the engine, in the middle of a hit, with the target's mutex held.
	variables target.Variables
}

// Begin implements target.Collector.
func (c *collector) Begin(run target.Run) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.run, c.deposit = run, run.Deposit
	c.pending, c.tallies, c.prepared = nil, nil, make(map[place][]*compiled.Tracepoint)
	c.variables.Load(run.Variables)
}

// Offload implements target.Collector. Nothing is changed when it refuses.
func (c *collector) Offload(pid int, t *compiled.Tracepoint) error {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if why := c.t.program.Refused[t.Addr]; why != "" {
		return errors.New(why)
	}
	if err := c.checkOperations(t); err != nil {
		return err
	}
	at := place{pid, t.Addr}
	if err := c.t.checkPlace(at); err != nil {
		return err
	}
	list, changed := c.prepared[at]
	if !changed {
		list = slices.Clone(c.offloaded[at])
	}
	same := func(other *compiled.Tracepoint) bool { return other.Number == t.Number }
	if i := slices.IndexFunc(list, same); i >= 0 {
		list[i] = t
	} else {
		list = append(list, t)
	}
	c.prepared[at] = list
	return nil
}

// Recall implements target.Collector. The pid is not looked at: after a fork the tracepoints may have gone over to the child, of
// which the engine knows nothing.
func (c *collector) Recall(_ int, addr arch.Addr) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	for _, places := range []map[place][]*compiled.Tracepoint{c.offloaded, c.prepared} {
		for at := range maps.Clone(places) {
			if at.addr == addr {
				c.prepared[at] = nil
			}
		}
	}
}

// Apply implements target.Collector. Whatever was collected by the tracepoints as they were is deposited before they change: the
// engine reads pass counts and the like from what was in force. That may end the run, and then there is nothing to apply any more.
func (c *collector) Apply() ([]target.Refusal, error) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.drain()
	var refusals []target.Refusal
	for at, list := range c.prepared {
		c.remove(at)
		if why := c.t.program.RefusedLate[at.addr]; why != "" && list != nil {
			refusals = append(refusals, target.Refusal{PID: at.pid, Addr: at.addr, Err: errors.New(why)})
			continue
		}
		for _, t := range list {
			if err := c.t.raise(t.Semaphores); err != nil {
				c.remove(at)
				refusals = append(refusals, target.Refusal{PID: at.pid, Addr: at.addr, Err: err})
				break
			}
			c.offloaded[at] = append(c.offloaded[at], t)
		}
	}
	clear(c.prepared)
	return refusals, nil
}

// Explain implements target.Collector.
func (c *collector) Explain(pid int, at arch.Addr) string {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if c.offloaded[place{pid, at}] == nil {
		return ""
	}
	return "collected by the fake program itself"
}

// checkOperations refuses what takes the engine itself: its output and its clock.
func (c *collector) checkOperations(t *compiled.Tracepoint) error {
	for p := range t.Programs() {
		for in := range p.Instructions() {
			if in.Op == ax.OpPrintf {
				return errors.New("an expression prints")
			}
		}
	}
	for n, which := range c.run.Builtins {
		if which == trace.Timestamp && t.Uses(n) {
			return errors.New("an expression uses $" + trace.TimestampName)
		}
	}
	return nil
}

// remove stops collecting at a place.
func (c *collector) remove(at place) {
	for _, t := range c.offloaded[at] {
		c.t.lower(t.Semaphores)
	}
	delete(c.offloaded, at)
}

// removeAll stops collecting. What has not been deposited is lost.
func (c *collector) removeAll() {
	for at := range maps.Clone(c.offloaded) {
		c.remove(at)
	}
	c.pending = nil
	clear(c.prepared)
}

// count counts the addresses that have been offloaded in a process.
func (c *collector) count(pid int) (n int) {
	for at := range c.offloaded {
		if pid == target.All || at.pid == pid {
			n++
		}
	}
	return n
}

// Tallies implements target.Collector. They count from Begin and never go back, deposited or not; the engine subtracts what has
// come.
func (c *collector) Tallies(dst []target.Tally) []target.Tally {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	return append(dst, c.tallies...)
}

// Variables implements target.Collector.
func (c *collector) Variables() target.VariableStore { return &c.variables }

// hit collects what tracepoints want of a thread. All deposits of one hit are made together (More), so that a run which the
// first of several tracepoints at an address ends has the frames of all, as one has whose hits stop threads.
func (c *collector) hit(th *thread, tracepoints []*compiled.Tracepoint) target.Verdict {
	var made []target.Deposit
	for _, t := range tracepoints {
		if !t.Enabled {
			continue
		}
		if d := c.collect(th, t); d != nil {
			c.tally(d)
			made = append(made, *d)
		}
	}
	for i := range made {
		made[i].More = i < len(made)-1
	}
	if made != nil {
		c.pending = append(c.pending, made)
	}
	if len(c.pending) < c.t.program.Batch {
		return target.Continue
	}
	return c.drain()
}

// drain deposits what has piled up. The verdict counts even in the middle: with Halt everything is removed, and frames behind
// the one that has ended the run are dropped, which a Collector must be ready for however far ahead it is.
func (c *collector) drain() target.Verdict {
	pending := c.pending
	c.pending = nil
	list := slices.Concat(pending...)
	if len(list) > 0 && c.deposit(list)&target.Halt != 0 {
		c.t.removeSites()
		return target.Halt
	}
	return target.Continue
}

// lose says that nothing more will come. What is pending is dropped, as it would be at the far end of a dead connection, and
// the run ends with the reason (terror in GDB's tstatus).
func (c *collector) lose(why error) {
	c.pending = nil
	if c.deposit([]target.Deposit{{Err: why}})&target.Halt != 0 {
		c.t.removeSites()
	}
}

// tally counts a deposit.
func (c *collector) tally(d *target.Deposit) {
	i := slices.IndexFunc(c.tallies, func(t target.Tally) bool { return t.Key == d.Key })
	if i < 0 {
		i = len(c.tallies)
		c.tallies = append(c.tallies, target.Tally{Key: d.Key})
	}
	t := &c.tallies[i]
	t.Hits += uint64(d.Hits)
	t.Frames += uint64(d.Hits)
	t.Usage += uint64(len(d.Frames) - d.Hits*tfile.FrameHeader)
	for _, err := range d.Failures {
		t.Errors++
		t.LastError = err
	}
}

// collect evaluates the condition of a tracepoint and does what its actions say, one by one. It is nil if the condition is
// false. A condition that fails makes a deposit without a frame; an action that fails leaves out its block and no other.
func (c *collector) collect(th *thread, t *compiled.Tracepoint) *target.Deposit {
	made := &target.Deposit{Key: t.Key()}
	w := &world{c: c, th: th}
	if t.Condition != nil {
		v, err := c.machine.Value(t.Condition, w)
		if err != nil {
			made.Failures = []error{err}
			return made
		}
		if v == 0 {
			return nil
		}
	}
	w = &world{c: c, th: th, recording: true}
	w.out.Order = c.t.isa.Order
	w.out.Begin(nil, t.Number)
	for i := range t.Actions {
		if err := w.perform(&t.Actions[i]); err != nil {
			made.Failures = append(made.Failures, err)
		}
	}
	made.Frames, made.Hits = w.out.Finish(), 1
	return made
}

// world is a thread as expressions see it, and the frame that they record in. It records each block as it is asked for, without
// a batch: where the engine's worker notes, reads and then writes, this does one thing after the other, and the bytes must be
// the same.
type world struct {
	c         *collector
	th        *thread
	out       tfile.Builder
	recording bool
	registers bool // are in the frame
}

func (w *world) perform(op *compiled.Operation) error {
	switch op.Kind {
	case trace.CollectRegisters:
		if size := w.c.run.RegisterBlock; !w.registers && size > 0 {
			copy(w.out.Registers(size), w.th.block)
		}
		w.registers = true
	case trace.CollectMemory:
		addr, err := op.Memory(w.Register)
		if err != nil {
			return err
		}
		w.TraceMemory(addr, op.Length)
	case trace.CollectExpression:
		return w.c.machine.Run(op.Program, w)
	}
	return nil
}

func (w *world) Register(r arch.Reg) (uint64, error) { return w.c.t.register(w.th, r) }

func (w *world) Ref(addr arch.Addr, size int) (uint64, error) {
	b := make([]byte, size)
	if n := w.c.t.read(addr, b); n < size {
		return 0, fmt.Errorf("%d of them readable", n)
	}
	return w.c.t.get(b), nil
}

func (w *world) Variable(n uint16) int64 {
	switch w.c.run.Builtins[trace.VariableNumber(n)] {
	case trace.ThreadID:
		return int64(w.th.ID.TID)
	case trace.ProcessID:
		return int64(w.th.ID.PID)
	}
	v, _ := w.c.variables.Variable(trace.VariableNumber(n))
	return v
}

// SetVariable has no effect on a built-in variable.
func (w *world) SetVariable(n uint16, v int64) {
	if !w.isBuiltin(n) {
		w.c.variables.SetVariable(trace.VariableNumber(n), v)
	}
}

func (w *world) isBuiltin(n uint16) bool {
	_, is := w.c.run.Builtins[trace.VariableNumber(n)]
	return is
}

// TraceVariable makes a variable that does not exist: with a V block of it in a frame a client may ask for it.
func (w *world) TraceVariable(n uint16) {
	v := w.Variable(n)
	if !w.isBuiltin(n) {
		w.SetVariable(n, v)
	}
	if w.recording {
		w.out.Variable(trace.VariableNumber(n), v)
	}
}

// TraceMemory stops a little beyond what a frame may have: it is too large then, and the engine ends the run with tfull,
// whatever else would have been in it. A condition records nothing.
func (w *world) TraceMemory(addr arch.Addr, size uint64) {
	if w.recording && w.out.Len() <= w.c.run.MaxFrame {
		b := make([]byte, min(size, uint64(w.c.run.MaxFrame)+1))
		w.out.AppendMemory(addr, b[:w.c.t.read(addr, b)])
	}
}

func (w *world) TraceString(addr arch.Addr, limit uint64) {
	if w.recording && w.out.Len() <= w.c.run.MaxFrame {
		b := make([]byte, min(limit, uint64(w.c.run.MaxFrame)+1))
		b = b[:w.c.t.read(addr, b)]
		if end := bytes.IndexByte(b, 0); end >= 0 {
			b = b[:end+1]
		}
		w.out.AppendMemory(addr, b)
	}
}

// Printf is never called: what prints is refused.
func (w *world) Printf(uint64, uint64, string, []int64) error { return target.ErrUnsupported }
