//go:build linux

package linux

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"tracewell/arch"
	"tracewell/internal/fast"
	"tracewell/internal/routine"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// Pads is how tracepoints are collected without a stop.
type Pads struct {
	Ring int // size of the ring in bytes, a power of two; 0 for the default
	// Vain is how many hits of a breakpoint must have stopped no thread before its conditions are evaluated in a pad; 0 for the
	// default.
	Vain int
}

// UsePads has the target offer a Collector, which makes jump pads, from the next trace run on. Breakpoints with conditions have
// pads, too.
func (t *Target) UsePads(how Pads) {
	t.do(func() {
		if t.collector == nil {
			t.collector = &collector{t: t, how: how, prepared: make(map[siteKey]*padSite)}
		}
	})
}

// Collector implements target.Tracer.
func (t *Target) Collector() target.Collector {
	var c *collector
	t.do(func() { c = t.collector })
	if c == nil {
		return nil
	}
	return c
}

// collector is the target's Collector: jump pads in the programs, which write frames into rings. A goroutine drains the rings as
// they fill (look). The tracer drains them besides whenever something has to come behind the frames that were made before it: a
// hit that stops a thread, an event.
type collector struct {
	t        *Target
	how      Pads
	prepared map[siteKey]*padSite // what Apply is to put into force, nil for nothing; the tracer's own
	over     atomic.Bool          // a deposit has ended the run, or none has begun
	halt     atomic.Bool          // a deposit has ended the run, and the tracepoints are still in place
	begun    atomic.Uint64        // runs
	prompt   atomic.Bool          // the run wants its frames at once

	mu        sync.Mutex // held while frames are drained and deposited; guards the next seven
	run       target.Run
	registers *fast.Registers  // of the run's R blocks, nil until there is a pad
	deposits  []target.Deposit // of one call, kept for the next
	arenas    []*arena
	stop      chan struct{} // ends the pump, nil without one
	draining  *arena        // whose records take is given
	repeats   repeats

	counting sync.Mutex // guards tallies; no other lock is taken under it
	tallies  map[trace.Key]*target.Tally

	variables variables
	tags      int32 // given to pads; the tracer's own
}

// Begin implements target.Collector.
func (c *collector) Begin(run target.Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun.Add(1)
	c.counting.Lock()
	c.tallies = make(map[trace.Key]*target.Tally)
	c.counting.Unlock()
	c.run, c.registers = run, nil
	c.repeats = repeats{}
	c.halt.Store(false)
	c.prompt.Store(run.Prompt)
	c.variables.begin(run.Variables)
	for _, a := range c.arenas {
		a.control.SetPatience(c.patience())
		c.hold(a)
	}
	c.over.Store(false)
}

// Offload implements target.Collector. The program's thread that has to make the memory goes on before anything else is done.
func (c *collector) Offload(pid int, tp *compiled.Tracepoint) error {
	if _, _, isCall := trace.ParseCall(tp.Addr); isCall {
		return errCall
	}
	err := target.ErrNoProcess
	var fresh *arena
	c.t.do(func() {
		if p := c.t.traced(pid); p != nil {
			if err = nil; p.pads == nil || p.pads.arena == nil {
				fresh, err = c.t.begin(p, tp)
			}
		}
	})
	if err != nil {
		return err
	}
	if fresh != nil {
		sys.Populate(fresh.ring) // to take up the pages takes milliseconds
	}
	err = target.ErrNoProcess
	c.t.do(func() {
		if p := c.t.traced(pid); p != nil {
			err = c.t.offload(p, tp)
		}
	})
	return err
}

// Recall implements target.Collector. Without the process the tracepoints may have gone over to its child, of which the engine
// knows nothing.
func (c *collector) Recall(pid int, at arch.Addr) {
	c.t.do(func() {
		if p := c.t.process(pid); p != nil {
			c.t.recall(p, at)
			return
		}
		for _, p := range c.t.procs {
			c.t.recall(p, at)
		}
	})
}

// Apply implements target.Collector. What is in the rings already is deposited while the program runs, so that all threads stand
// still for no longer than what they write until they have stopped takes.
func (c *collector) Apply() (refused []target.Refusal, err error) {
	c.poll()
	c.t.do(func() { refused = c.t.apply() })
	return refused, nil
}

// Explain implements target.Collector.
func (c *collector) Explain(pid int, at arch.Addr) (how string) {
	c.t.do(func() {
		if p := c.t.traced(pid); p != nil && p.pads != nil && p.pads.sites[at] != nil && !p.pads.sites[at].idle {
			how = p.pads.sites[at].explain(p.addrSpace, c.variables.divided.Load())
		}
	})
	return how
}

// Variables implements target.Collector.
func (c *collector) Variables() target.VariableStore { return &c.variables }

// Tallies implements target.Collector. What is in the rings is not counted: nobody has looked at it yet.
func (c *collector) Tallies(dst []target.Tally) []target.Tally {
	c.counting.Lock()
	defer c.counting.Unlock()
	for _, tally := range c.tallies {
		dst = append(dst, *tally)
	}
	return dst
}

// count adds what is about to be handed on to the tallies: the lock and the lookup are for many records at once.
func (c *collector) count(deposits []target.Deposit) {
	c.counting.Lock()
	defer c.counting.Unlock()
	var tally *target.Tally
	for i := range deposits {
		d := &deposits[i]
		if tally == nil || tally.Key != d.Key {
			tally = c.tally(d.Key)
		}
		tally.Lost += d.Lost
		tally.Errors += uint64(len(d.Failures))
		if len(d.Failures) > 0 {
			tally.LastError = d.Failures[len(d.Failures)-1]
		}
		tally.Hits += uint64(d.Hits)
		tally.Frames += uint64(d.Hits)
		tally.Usage += uint64(len(d.Frames) - d.Hits*tfile.FrameHeader)
	}
}

// tally is that of a tracepoint. counting is held.
func (c *collector) tally(key trace.Key) *target.Tally {
	tally := c.tallies[key]
	if tally == nil {
		tally = &target.Tally{Key: key}
		c.tallies[key] = tally
	}
	return tally
}

// take hands on what was taken out of a ring. Behind the end of the run that is dropped. mu is held.
func (c *collector) take(records []fast.Record) {
	if c.over.Load() {
		return
	}
	for i := range records {
		r := &records[i]
		if r.Repeat != nil && r.Hits > 0 {
			c.repeats.note(c.draining, r)
		}
		c.deposits = append(c.deposits, target.Deposit{
			Key: r.Key, Frames: r.Frames, Hits: r.Hits, Failures: r.Failures, Printed: r.Printed, More: r.More,
			Lost: r.Lost,
		})
	}
	c.count(c.deposits)
	if c.run.Deposit(c.deposits)&target.Halt != 0 {
		c.end()
	}
	clear(c.deposits)
	c.deposits = c.deposits[:0]
}

// end has the pads do nothing any more, until the tracer has taken them out. mu is held.
func (c *collector) end() {
	c.over.Store(true)
	c.halt.Store(true)
	for _, a := range c.arenas {
		a.control.Abandon()
	}
}

// lose ends the run for a reason of the collector's own. mu is held.
func (c *collector) lose(err error) {
	if !c.over.Load() {
		c.run.Deposit([]target.Deposit{{Err: err}})
		c.end()
	}
}

// drain deposits what is whole in a ring, and returns the number of bytes. mu is held.
func (c *collector) drain(a *arena) (n int) {
	err := error(nil)
	c.draining = a
	for more := true; more && err == nil && n < a.shape.RingSize; {
		var took int
		took, err = a.reader.Drain(a.shape.RingSize/ringPieces, c.take)
		c.release(a)
		n += took
		more = took >= a.shape.RingSize/ringPieces
	}
	switch {
	case err != nil:
		c.lose(err)
	case a.control.Abandoned():
		c.lose(c.stoodStill())
	default:
		a.reader.Lost(c.take)
	}
	return n
}

// errNoRoom ends runs with target.StopRun whose frames nobody took, where those that wait end with target.ErrStoodStill: the
// messages tell the user which of both was asked for.
var errNoRoom = errors.New("there was no room for a frame of the program (--when-full=stop)")

// stoodStill is why threads went on without their frames.
func (c *collector) stoodStill() error {
	if c.run.WhenFull == target.StopRun {
		return errNoRoom
	}
	return target.ErrStoodStill
}

// ringPieces is in how many a full ring is taken: the program goes on writing when it has the room of the first.
const ringPieces = 8

// mark is how far a ring had been drained when frames of so many bytes had been made. The slots before it are held until those are
// kept: who kills this process before leaves them in the program's memory, where "tracewell mend" finds them.
type mark struct {
	position uint64
	made     int64
}

// hold has the slots of a ring be held in the present run, if frames are kept somewhere. mu is held.
func (c *collector) hold(a *arena) {
	made := int64(0)
	if c.run.Kept != nil {
		made, _ = c.run.Kept()
	}
	a.reader.Hold(c.run.Kept != nil, uint64(made))
	a.marks = a.marks[:0]
}

// release gives the program room again in a ring: that of the frames that are kept by now. mu is held.
func (c *collector) release(a *arena) {
	if !a.reader.Holds() {
		return
	}
	made, kept := c.run.Kept()
	tail := a.reader.Tail()
	if n := len(a.marks); n > 0 && a.marks[n-1].position != tail || n == 0 && a.reader.Released() != tail {
		a.marks = append(a.marks, mark{tail, made})
	}
	n := 0
	for n < len(a.marks) && a.marks[n].made <= kept {
		n++
	}
	if n > 0 {
		last := a.marks[n-1]
		a.reader.Release(last.position, uint64(last.made))
		a.marks = append(a.marks[:0], a.marks[n:]...)
	}
}

// released is the position up to which nothing in a ring is wanted any more.
func (c *collector) released(a *arena) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return a.reader.Released()
}

// crowdedSleep is how long the pump sleeps at most where less than half of a ring is free.
const crowdedSleep = 100 * time.Microsecond

// due is the part of a ring that the pump sleeps for at the most: a burst finds the rest of it free.
const due = 16

// look is what the pump does. As much as a sleep has brought the next one is expected to.
func (c *collector) look(sleep time.Duration) time.Duration {
	parts, crowded := c.poll()
	c.letSleep()
	next := 2 * sleep
	if parts > 0.5 {
		next = time.Duration(float64(sleep) / parts)
	}
	if crowded {
		next = min(next, crowdedSleep)
	}
	if c.prompt.Load() {
		next = min(next, promptSleep)
	}
	return max(next, shortestSleep)
}

// poll drains all rings. It returns how often what is due was in the fullest, and whether one has little room left.
func (c *collector) poll() (parts float64, crowded bool) {
	c.mu.Lock()
	for _, a := range c.arenas {
		parts = max(parts, due*float64(c.drain(a))/float64(a.shape.RingSize))
		crowded = crowded || a.reader.Used() > uint64(a.shape.RingSize/2)
	}
	c.mu.Unlock()
	if c.halt.Load() {
		c.t.do(func() {}) // what is due then (settleRun) the loop does by itself
	}
	return parts, crowded
}

// add has a ring drained from now on.
func (c *collector) add(a *arena) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.control.SetPatience(c.patience())
	c.hold(a)
	c.variables.moveTo(a)
	c.arenas = append(c.arenas, a)
	if c.stop == nil {
		stop := make(chan struct{})
		c.stop = stop
		routine.Go(func() { pump(stop, c.look) })
	}
}

// remove takes a ring off the list, after what is left in it has been drained. The frames are lost that threads had begun and will
// not finish, since they are gone; it returns how many, those that follow one another counted as one.
func (c *collector) remove(a *arena) (lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.drain(a); !c.over.Load() && a.reader.Outstanding() > 0; c.drain(a) {
		lost++
		if a.reader.Skip() == 0 {
			break
		}
	}
	c.variables.moveFrom(a)
	c.repeats.leave(a)
	for i, other := range c.arenas {
		if other == a {
			c.arenas = append(c.arenas[:i:i], c.arenas[i+1:]...)
			break
		}
	}
	if len(c.arenas) == 0 && c.stop != nil {
		close(c.stop)
		c.stop = nil
	}
	return lost
}

// registerBlock plans the R blocks of the run, once for all pads.
func (c *collector) registerBlock() (*fast.Registers, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.registers != nil {
		return c.registers, nil
	}
	layout, err := c.t.regs.description.Layout()
	if err != nil {
		return nil, err
	}
	c.repeats.world = frameWorld{layout: layout, block: c.run.RegisterBlock}
	c.registers, err = fast.NewRegisters(layout, c.run.RegisterBlock, host.padProcessor())
	return c.registers, err
}

// ringSize is the number of bytes of a new ring.
func (c *collector) ringSize() int {
	switch {
	case c.how.Ring != 0:
		return c.how.Ring
	case c.run.WhenFull == target.DropFrame:
		return droppingRing
	}
	return waitingRing
}

// whenFull is what pads do when the ring is full.
func (c *collector) whenFull() fast.WhenFull {
	if c.run.WhenFull == target.DropFrame {
		return fast.Drop
	}
	return fast.Wait
}

// patience is how long a thread waits for a ring that is not drained, 0 for ever.
func (c *collector) patience() time.Duration {
	switch c.run.WhenFull {
	case target.AlwaysWait:
		return 0
	case target.StopRun:
		return time.Nanosecond
	}
	return time.Second
}

// builtins are the trace state variables that pads in an arena can compute.
func (c *collector) builtins(a *arena) map[trace.VariableNumber]fast.Builtin {
	can := map[trace.VariableNumber]fast.Builtin{trace.ProcessID: fast.Process}
	if a.clocked {
		can[trace.Timestamp], can[trace.Nanoseconds] = fast.Timestamp, fast.Nanoseconds
	}
	if a.shape.RDFSBase {
		can[trace.ThreadID] = fast.Thread
	}
	known := make(map[trace.VariableNumber]fast.Builtin)
	for n, which := range c.run.Builtins {
		if b, ok := can[which]; ok {
			known[n] = b
		}
	}
	return known
}
