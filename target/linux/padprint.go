//go:build linux

package linux

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tracewell/arch"
	"tracewell/internal/fast"
	"tracewell/internal/routine"
)

// What pads of breakpoints print. It waits in their ring until it is put together and handed on: by a goroutine as it comes, and by
// the tracer before anything that has to come behind it.

// printer is that of the breakpoints of one address space.
type printer struct {
	a      *arena
	stop   chan struct{}       // ends the goroutine
	broken atomic.Bool         // nothing can be read from the ring any more
	wake   func()              // the tracer, when it is
	taking func([]fast.Record) // take, made once

	mu sync.Mutex // held while it prints; guards to
	to map[arch.Addr]func(string)
}

// printFrom has a process print what is in the ring of its breakpoints.
func (t *Target) printFrom(p *process) {
	if p.pads.printer != nil {
		return
	}
	c := &printer{
		a: p.pads.breaks, stop: make(chan struct{}), to: make(map[arch.Addr]func(string)), wake: func() { t.do(func() {}) },
	}
	c.taking = c.take
	c.a.control.SetPatience(0) // whoever prints waits for the printer, however long
	p.pads.printer = c
	routine.Go(func() { pump(c.stop, c.look) })
}

// set says who is given what the breakpoint at an address prints.
func (c *printer) set(at arch.Addr, print func(string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to[at] = print
}

// take prints what hits have. mu is held.
func (c *printer) take(records []fast.Record) {
	for i := range records {
		if print := c.to[records[i].Key.Addr]; print != nil {
			for _, text := range records[i].Printed {
				print(text)
			}
		}
	}
}

// drain prints what is whole in the ring, and returns the number of bytes.
func (c *printer) drain() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken.Load() {
		return 0
	}
	n, err := c.a.reader.Drain(c.a.shape.RingSize, c.taking)
	if err != nil { // the tracer has breakpoint instructions take the place of the pads, which are inert meanwhile
		c.broken.Store(true)
		c.a.control.Abandon()
	}
	return n
}

// look is what the goroutine does.
func (c *printer) look(sleep time.Duration) time.Duration {
	much := c.drain() > c.a.shape.RingSize/8
	switch {
	case c.broken.Load():
		c.wake()
		return noMore
	case much:
		return shortestSleep
	}
	return 2 * sleep
}

// end prints what is left, when no thread is in a pad any more: what threads had begun when they ended is passed over.
func (c *printer) end() {
	if c == nil {
		return
	}
	for c.drain(); !c.broken.Load() && c.a.reader.Outstanding() > 0; c.drain() {
		c.mu.Lock()
		skipped := c.a.reader.Skip()
		c.mu.Unlock()
		if skipped == 0 {
			break
		}
	}
	close(c.stop)
	c.mu.Lock() // behind a look of the goroutine
	c.broken.Store(true)
	c.mu.Unlock()
}

// printAll prints what all hits until now have printed.
func (t *Target) printAll() {
	for _, p := range t.procs {
		if p.pads == nil || p.pads.printer == nil || t.sharerBefore(p) != nil {
			continue
		}
		if c := p.pads.printer; !c.broken.Load() {
			t.drainUntil(c.a, c.drain)
		}
	}
}

// settlePrinters has the breakpoints be traps whose ring the program has written over. It reports whether there were any.
func (t *Target) settlePrinters() bool {
	for _, p := range t.procs {
		if p.pads == nil || p.pads.printer == nil || !p.pads.printer.broken.Load() {
			continue
		}
		if t.active {
			t.stopThreads(stopSet{in: p.addrSpace})
		}
		p.warn(fmt.Errorf("what the breakpoints of process %d have printed is lost: %w", p.pid, fast.ErrCorrupt))
		for _, site := range p.pads.judged {
			if site.armed(p.addrSpace) {
				p.warn(t.trapJudged(p, site))
			}
			t.forgetSite(p, site)
		}
		p.pads.printer.end()
		p.warn(p.pads.breaks.close())
		p.pads.breaks, p.pads.printer = nil, nil
		return true
	}
	return false
}
