package remote

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/routine"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// collector is a stub's own tracepoints, by which hits cost no packets: gdbserver, tracewell serve. They are defined by QTDP, each
// with a number of its own whatever the client's is, and their frames are fetched from the stub's trace buffer, which is emptied
// now and then by a new run: whenever something has to come behind them (a hit that stops a thread, an event), when the tracepoints
// change, and every now and then while the program runs, for which that is stopped for a moment.
//
// Trace state variables live at the stub as long as one of its tracepoints uses them (sharedVariables). Semaphores are raised here.
// What the stub could not do as it is done here stays a breakpoint: while-stepping, whose frames cannot be told from those of hits,
// and built-in variables that it lacks. Pass counts do not matter, as the run ends here.
type collector struct {
	t *Target

	// Of the goroutine that owns the connection.
	run       target.Run
	over      bool                                 // the run has ended
	running   bool                                 // the stub's own
	defined   []*compiled.Tracepoint               // at the stub, by its numbers, which begin with 1
	offloaded map[arch.Addr][]*compiled.Tracepoint // in force
	prepared  map[arch.Addr][]*compiled.Tracepoint // to be in force at the addresses that are to change
	clock     bool                                 // the stub has the variable that is the time
	part      []byte                               // of a frame whose rest has not come
	fetched   int64                                // bytes of the stub's buffer, of its present run
	came      int64                                // and of all its runs
	largest   int64                                // a frame of defined has no more bytes than these
	deposits  []target.Deposit
	stop      chan struct{} // ends the pump; nil without one

	variables sharedVariables

	mu      sync.Mutex // guards the rest, which is read by others
	tallies map[trace.Key]*target.Tally
	places  map[arch.Addr]bool // offloaded, for Explain
}

// How often frames are fetched while the program runs: so that about pumpBytes come each time, far from what a buffer has room for.
const (
	pumpMost  = 500 * time.Millisecond
	pumpLeast = 5 * time.Millisecond
	pumpBytes = emptyAt / 2
)

// hasTracepoints finds out whether the stub has tracepoints that can take the place of breakpoints.
func (t *Target) hasTracepoints() error {
	if t.ended || !t.c.Features().Has("ConditionalTracepoints") {
		return nil
	}
	status, _, err := t.c.TraceStatus()
	if err == nil && !status.Running && status.Frames > 0 {
		t.recording, err = t.isRecording()
	}
	switch {
	case client.IsLost(err):
		return t.check(err)
	case err != nil || t.recording || t.profile.Traps:
		return nil
	}
	t.collector = &collector{t: t}
	t.collector.clear()
	return nil
}

// Collector implements target.Tracer. Of a stub without tracepoints there is none.
func (t tracer) Collector() target.Collector {
	if t.Target.collector == nil {
		return nil
	}
	return t.Target.collector
}

func (c *collector) clear() {
	c.offloaded, c.prepared = make(map[arch.Addr][]*compiled.Tracepoint), make(map[arch.Addr][]*compiled.Tracepoint)
}

// Begin implements target.Collector.
func (c *collector) Begin(run target.Run) {
	_ = c.t.do(func() error {
		c.clear()
		c.run, c.over = run, false
		c.clock = c.hasClock()
		c.variables.load(run.Variables)
		c.mu.Lock()
		c.tallies, c.places = make(map[trace.Key]*target.Tally), make(map[arch.Addr]bool)
		c.mu.Unlock()
		return c.enlarge()
	})
}

// roomiest are sizes of the stub's buffer to try, largest first: it has to hold what is collected between two fetches.
var roomiest = []int64{256 << 20, 64 << 20, 16 << 20}

// enlarge has the stub use a large buffer. gdbserver allocates it at once, and rejects a size for which it has no memory.
func (c *collector) enlarge() error {
	if !c.t.c.Features().Has("QTBuffer:size") {
		return nil
	}
	for _, size := range roomiest {
		if err := command(&c.t.link, request.BufferSize, size); err == nil || client.IsLost(err) {
			return err
		}
	}
	return nil // the stub's own size does as well
}

// hasClock reports whether the stub has the time in a variable of the same number.
func (c *collector) hasClock() bool {
	pages, err := client.List(c.t.c, request.FirstVariable, request.MoreVariables, reply.Variables)
	if err != nil {
		_ = c.t.check(err) // a stub without the list has no such variable
		return false
	}
	return slices.ContainsFunc(pages, func(v trace.Variable) bool {
		return v.Builtin && v.Name == trace.TimestampName && c.run.Builtins[v.Number] == trace.Timestamp
	})
}

// Offload implements target.Collector.
func (c *collector) Offload(_ int, tp *compiled.Tracepoint) error {
	return c.t.do(func() error {
		if err := c.refuse(tp); err != nil {
			return err
		}
		list, changed := c.prepared[tp.Addr]
		if !changed {
			list = slices.Clone(c.offloaded[tp.Addr])
		}
		same := func(other *compiled.Tracepoint) bool { return other.Number == tp.Number }
		if i := slices.IndexFunc(list, same); i >= 0 {
			list[i] = tp
		} else {
			list = append(list, tp)
		}
		c.prepared[tp.Addr] = list
		return nil
	})
}

// refuse is why the stub cannot do what a tracepoint says.
func (c *collector) refuse(tp *compiled.Tracepoint) error {
	switch {
	case c.t.lost() != nil:
		return c.t.lost()
	case tp.Step > 0:
		return errors.New("the frames of steps could not be told from those of hits")
	}
	for p := range tp.Programs() {
		for in := range p.Instructions() {
			switch in.Op {
			case ax.OpGetv, ax.OpSetv, ax.OpTracev:
				which, builtin := c.run.Builtins[trace.VariableNumber(in.Operand)]
				if builtin && (which != trace.Timestamp || !c.clock) {
					return errors.New("it uses a built-in variable that the stub does not list")
				}
			case ax.OpPrintf:
				return errors.New("an expression prints")
			case ax.OpTracenz:
				if !c.t.c.Features().Has("tracenz") {
					return errors.New("the stub cannot collect strings")
				}
			}
		}
	}
	for _, packet := range definition(1, tp).Packets() {
		if most := c.t.c.PacketSize(); len(packet) > most {
			return fmt.Errorf("an expression takes a packet of %d bytes, and the stub takes %d", len(packet), most)
		}
	}
	return nil
}

// definition is a tracepoint as the stub is to have it.
func definition(number trace.Number, tp *compiled.Tracepoint) *trace.Tracepoint {
	d := &trace.Tracepoint{Number: number, Addr: tp.Addr, Enabled: true}
	if tp.Condition != nil {
		d.Condition = tp.Condition.Code()
	}
	for _, op := range tp.Actions {
		d.Actions = append(d.Actions, op.Action)
	}
	return d
}

// largestOf is how many bytes a frame of a tracepoint has at most. Nobody knows what an expression collects; more than 64 KB is not
// for a frame.
func (c *collector) largestOf(tp *compiled.Tracepoint) int64 {
	const head, most = 1 + 8 + 2, math.MaxUint16 // of a block of memory
	n := tfile.FrameHeader
	for _, op := range tp.Actions {
		switch op.Kind {
		case trace.CollectRegisters:
			n += 1 + c.t.block
		case trace.CollectMemory:
			n += head + int(op.Length)
		default:
			n += head + most
		}
	}
	return int64(n)
}

// Recall implements target.Collector.
func (c *collector) Recall(_ int, at arch.Addr) {
	_ = c.t.do(func() error {
		delete(c.prepared, at)
		if c.offloaded[at] != nil {
			c.prepared[at] = nil
		}
		return nil
	})
}

// Apply implements target.Collector. A stub whose tracepoints cannot be defined has all of them here.
func (c *collector) Apply() (refused []target.Refusal, err error) {
	err = c.t.do(func() error {
		refused, err = c.apply()
		return err
	})
	return refused, err
}

func (c *collector) apply() (refused []target.Refusal, err error) {
	if len(c.prepared) == 0 {
		return nil, c.t.lost()
	}
	c.drain()
	for at, list := range c.prepared {
		if len(list) == 0 {
			delete(c.offloaded, at)
		} else {
			c.offloaded[at] = list
		}
	}
	clear(c.prepared)
	if c.over { // the drain has ended the run
		clear(c.offloaded)
	}
	if why := c.define(); why != nil {
		for at := range c.offloaded {
			refused = append(refused, target.Refusal{PID: c.t.current.PID, Addr: at, Err: why})
		}
		clear(c.offloaded)
		err = errors.Join(c.define(), c.t.lost()) // nothing is defined any more
	}
	err = errors.Join(err, c.signal())
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.places)
	for at := range c.offloaded {
		c.places[at] = true
	}
	return refused, err
}

// define has the stub begin a run of what is in force, or none.
func (c *collector) define() error {
	if err := c.end(); err != nil {
		return err
	}
	if err := command(&c.t.link, request.TraceInit, request.None{}); err != nil {
		return err
	}
	if err := c.share(); err != nil {
		return err
	}
	c.defined, c.largest = nil, 0
	for _, at := range slices.Sorted(maps.Keys(c.offloaded)) {
		for _, tp := range c.offloaded[at] {
			if !tp.Enabled {
				continue
			}
			c.defined = append(c.defined, tp)
			c.largest = max(c.largest, c.largestOf(tp))
			d := definition(trace.Number(len(c.defined)), tp)
			if err := c.t.c.Define(d, func(packet string) bool { return !strings.HasPrefix(packet, request.AddSource.Prefix) }); err != nil {
				return c.t.check(err)
			}
		}
	}
	if len(c.defined) == 0 {
		c.rest()
		return nil
	}
	if err := c.start(); err != nil {
		return err
	}
	if c.stop == nil {
		c.stop = make(chan struct{})
		stop := c.stop
		routine.Go(func() { c.pump(stop) })
	}
	return nil
}

// start begins a run of the stub, whose buffer is empty then: QTinit came before, and gdbserver empties it for nothing less.
func (c *collector) start() error {
	c.part, c.fetched = nil, 0
	if err := command(&c.t.link, request.TraceStart, request.None{}); err != nil {
		return err
	}
	c.running = true
	return nil
}

// end ends it.
func (c *collector) end() error {
	if !c.running {
		return nil
	}
	c.running = false
	return command(&c.t.link, request.TraceStop, request.None{})
}

// rest ends the pump.
func (c *collector) rest() {
	if c.stop != nil {
		close(c.stop)
		c.stop = nil
	}
}

// pump fetches frames while the program runs.
func (c *collector) pump(stop chan struct{}) {
	for every := pumpLeast; ; {
		select {
		case <-stop:
			return
		case <-c.t.closed:
			return
		case <-time.After(every):
		}
		var came int64
		_ = c.t.do(func() error {
			before := c.came
			if c.running {
				c.drain()
			}
			came = c.came - before
			return nil
		})
		every = max(pumpLeast, min(pumpMost, 2*every, every*pumpBytes/time.Duration(max(1, came))))
	}
}

// emptyAt is how many bytes of frames may stay in the stub's buffer after they were fetched. gdbserver's has room for 5 MB, and a
// stub with less ends its run, which is noticed.
const emptyAt = 1 << 20

// drain fetches and deposits what the stub has collected. Its run begins anew when much has been fetched: that stays in its buffer,
// which would be full some time.
func (c *collector) drain() {
	if !c.running || c.t.lost() != nil {
		return
	}
	err := c.readVariables() // first, as a deposit may end the run
	var status trace.Status
	if err == nil {
		status, _, err = c.t.c.TraceStatus()
	}
	if err == nil {
		err = c.fetch(status.Size)
	}
	if err == nil && !c.over {
		err = c.renew(status)
	}
	if c.t.check(err) != nil {
		c.lose(fmt.Errorf("the stub's tracepoints: %w", err))
	}
	if c.over {
		c.halt()
	}
}

// lose ends the run for a reason of the collector's own.
func (c *collector) lose(err error) {
	if !c.over {
		c.over = true
		c.run.Deposit([]target.Deposit{{Err: err}})
		c.t.uninstallAll()
	}
}

// halt ends all collecting, as the run is over.
func (c *collector) halt() {
	c.over = true
	c.rest()
	clear(c.offloaded)
	c.mu.Lock()
	clear(c.places)
	c.mu.Unlock()
	if c.t.lost() == nil && c.end() == nil {
		_ = command(&c.t.link, request.TraceInit, request.None{}) // a stub that refuses has ended its run all the same
		_ = c.signal()                                            // what cannot be lowered is noted, see Left
	}
}

// signal raises the semaphores of static probes where the stub has tracepoints, and lowers those where it has none any more.
func (c *collector) signal() error {
	var errs []error
	for at, p := range c.t.places {
		if p.elsewhere && c.offloaded[at] == nil {
			p.elsewhere = false
			errs = append(errs, c.t.lower(p), c.t.settle(p))
		}
	}
	for at, list := range c.offloaded {
		if semaphores := list[0].Semaphores; len(semaphores) > 0 && (c.t.places[at] == nil || !c.t.places[at].elsewhere) {
			p := c.t.placeAt(at)
			p.elsewhere = true
			errs = append(errs, c.t.raise(p, semaphores))
		}
	}
	return errors.Join(errs...)
}

// renew looks whether the stub's run is on, and begins another if there is something to throw away, or a variable to be told.
func (c *collector) renew(status trace.Status) error {
	if status.Running && c.fetched < emptyAt && !c.isSet() || c.t.ended {
		return nil
	}
	if !status.Running {
		return c.stopped(status)
	}
	return c.define()
}

// stopped judges why the stub has ended its run by itself.
func (c *collector) stopped(status trace.Status) error {
	c.running = false
	switch status.Reason {
	case trace.ReasonError:
		n := int(status.Tracepoint)
		if n < 1 || n > len(c.defined) {
			return fmt.Errorf("it has stopped: %s", status.Description)
		}
		c.take([]target.Deposit{{Key: c.defined[n-1].Key(), Failures: []error{errors.New(status.Description)}}})
		if c.over {
			return nil
		}
	case trace.ReasonFull:
		return errFilled
	}
	return fmt.Errorf("its run has ended between two fetches (%s)", status.Reason)
}

// take deposits what there is, and ends the stub's run with ours.
func (c *collector) take(list []target.Deposit) {
	if c.over || len(list) == 0 {
		return
	}
	c.mu.Lock()
	for i := range list {
		c.tally(&list[i])
	}
	c.mu.Unlock()
	if c.run.Deposit(list)&target.Halt != 0 {
		c.over = true
		c.t.uninstallAll()
	}
}

// tally counts a deposit. mu is held.
func (c *collector) tally(d *target.Deposit) {
	tally := c.tallies[d.Key]
	if tally == nil {
		tally = &target.Tally{Key: d.Key}
		c.tallies[d.Key] = tally
	}
	tally.Hits += uint64(d.Hits)
	tally.Frames += uint64(d.Hits)
	tally.Usage += uint64(max(0, len(d.Frames)-d.Hits*tfile.FrameHeader))
	for _, err := range d.Failures {
		tally.Errors++
		tally.LastError = err
	}
}

// Explain implements target.Collector.
func (c *collector) Explain(_ int, at arch.Addr) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.places[at] {
		return "by the stub's own tracepoint"
	}
	return ""
}

// Tallies implements target.Collector.
func (c *collector) Tallies(dst []target.Tally) []target.Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tally := range c.tallies {
		dst = append(dst, *tally)
	}
	return dst
}

// Variables implements target.Collector.
func (c *collector) Variables() target.VariableStore { return &c.variables }

// forsake ends what the stub does for a run, before the program is let go.
func (c *collector) forsake() error {
	if c == nil {
		return nil
	}
	c.drain()
	c.rest()
	return c.end()
}
