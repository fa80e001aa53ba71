//go:build linux

package linux

import (
	"slices"
	"time"

	"tracewell/internal/sys"
)

// pausePatience is how long a pause waits for threads that wait for room.
const pausePatience = 100 * time.Millisecond

// PausePads switches the pads of all programs off, so that no thread comes to wait for a tracer that is about to be stopped, and
// returns when none does. Hits go by uncounted until resume is called. It reports whether there are any pads.
func (t *Target) PausePads() (resume func(), any bool) {
	var c *collector
	t.do(func() { c = t.collector })
	if c == nil {
		return func() {}, false
	}
	c.mu.Lock()
	paused := append([]*arena(nil), c.arenas...)
	for _, a := range paused {
		a.control.SwitchOff()
	}
	c.mu.Unlock()
	waiting := func() (n uint64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, a := range paused {
			c.drain(a)
			n += a.reader.Outstanding()
		}
		return n
	}
	for end := time.Now().Add(pausePatience); waiting() > 0 && time.Now().Before(end); {
		sys.Nap(shortestSleep)
	}
	return func() { c.resume(paused) }, len(paused) > 0
}

// resume switches pads on again that were switched off for a while, but for those whose run has ended.
func (c *collector) resume(paused []*arena) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.arenas {
		if !slices.Contains(paused, a) || c.over.Load() || a.control.Abandoned() {
			continue
		}
		a.control.SwitchOn()
		if a.control.Abandoned() { // by a thread, in between
			a.control.SwitchOff()
		}
	}
}
