package calls

import "slices"

const (
	// maxDepth is how many calls may be active; of more the outermost are forgotten.
	maxDepth = 1 << 16
	// maxTasks is how many tasks may be aside; of more the oldest is forgotten, if there are those first that were not interrupted.
	maxTasks = 256
	// maxSearch is how many calls a return may leave at once.
	maxSearch = 1 << 12
)

// task is calls that are active and were left for others.
type task struct {
	frames []frame
	// interrupted says that it goes on at resume; otherwise it left by a jump or a return, and goes on where its latest call, of
	// which there is one, returns to.
	interrupted bool
	resume      uint64
	function    int32
	node        int32
}

// base is where the calls of what the processor does begin in its stack: behind the latest handler.
func (c *processor) base() int {
	if len(c.traps) == 0 {
		return 0
	}
	return c.traps[len(c.traps)-1].at + 1
}

func (w *Walker) push(c *processor, f frame) {
	if len(c.stack) == maxDepth {
		half := maxDepth / 2
		c.stack = append(c.stack[:0], c.stack[half:]...)
		c.traps = slices.DeleteFunc(c.traps, func(t Trap) bool { return t.at < half })
		for i := range c.traps {
			c.traps[i].at -= half
		}
	}
	c.stack = append(c.stack, f)
}

// popTo returns from the call at a place of the stack and from all above it, which are kept aside: whatever else led there may go
// back.
func (w *Walker) popTo(c *processor, i, n int) {
	f := c.stack[i]
	c.back = w.Table.Sites[n].PC
	if i < len(c.stack)-1 {
		w.park(c, i+1)
	}
	w.end(c, len(c.stack)-i)
	c.stack = c.stack[:i]
	w.visit(c, f.function, f.node)
	w.cross(c, n)
}

// ret is a return, or a jump that can be nothing else.
func (w *Walker) ret(c *processor, n int) {
	pc := w.Table.Sites[n].PC
	base, top := c.base(), len(c.stack)-1
	low := max(base, top-maxSearch)
	for i := top; i >= low; i-- {
		if c.stack[i].ret == pc {
			w.popTo(c, i, n)
			return
		}
	}
	for i := top; i >= low; i-- { // how long the call was may not be known, or some cores write it longer than it was
		length, d := c.stack[i].ret-c.stack[i].call, pc-c.stack[i].call
		if length == 0 && d > 0 && d <= longest || length == delaySlot && d == length/2 {
			w.popTo(c, i, n)
			return
		}
	}
	switch {
	case base > 0 && pc-c.stack[base-1].ret <= delaySlot: // some handlers are left by what is a return elsewhere
		w.leave(c, n)
	case w.handlers[pc]:
		if top >= base {
			w.popTo(c, top, w.Table.At(c.stack[top].ret))
		}
		w.trap(c, n, false)
	case w.resume(c, func(t *task) bool { return !t.interrupted && t.frames[len(t.frames)-1].ret == pc }):
		w.popTo(c, len(c.stack)-1, n)
	default:
		w.unmatched(c, n, low)
	}
}

// unmatched is a return to no return address: to a place in a function that is active, as by longjmp, or to the caller of a
// function that was active when the trace began, or to another task.
func (w *Walker) unmatched(c *processor, n, low int) {
	s := &w.Table.Sites[n]
	if w.isEntry(s) {
		w.cross(c, n)
		return
	}
	for i := len(c.stack) - 1; i >= low && s.Function >= 0; i-- {
		if c.stack[i].function == s.Function {
			w.popTo(c, i, n)
			return
		}
	}
	if s.Function < 0 {
		s.Function = w.functionAt(s.PC)
	}
	if s.Function == c.function {
		return
	}
	if base := c.base(); len(c.stack) > base {
		w.Unmatched++
		w.park(c, base)
	}
	w.start(c, s.Function)
}

// park keeps aside the calls from a place of the stack on, of which there is one at least unless the caller says where the
// processor was interrupted.
func (w *Walker) park(c *processor, from int) *task {
	var frames []frame
	if len(c.aside) == maxTasks { // those that were left by longjmp are rarely wanted again
		oldest := max(slices.IndexFunc(c.aside, func(t task) bool { return !t.interrupted }), 0)
		frames = c.aside[oldest].frames[:0]
		c.aside = slices.Delete(c.aside, oldest, oldest+1)
	}
	c.aside = append(c.aside, task{frames: append(frames, c.stack[from:]...), function: c.function, node: c.node})
	return &c.aside[len(c.aside)-1]
}

// drop ends all calls outside of handlers.
func (w *Walker) drop(c *processor) {
	base := c.base()
	w.end(c, len(c.stack)-base+1)
	c.stack = c.stack[:base]
}

// start goes on in a function of which no caller is known, in place of all calls that are active outside of handlers.
func (w *Walker) start(c *processor, function int32) {
	w.drop(c)
	w.visit(c, function, w.child(0, function, false))
	w.show(c, function, false)
}

// resume takes up, in place of all calls that are active outside of handlers, the task that has waited longest of those that fit.
func (w *Walker) resume(c *processor, fits func(*task) bool) bool {
	i := 0
	for ; i < len(c.aside) && !fits(&c.aside[i]); i++ {
	}
	if i == len(c.aside) {
		return false
	}
	t := c.aside[i]
	c.aside = slices.Delete(c.aside, i, i+1)
	if !t.interrupted && len(c.stack) > c.base() {
		w.park(c, c.base())
	}
	w.drop(c)
	for _, f := range t.frames {
		w.show(c, f.function, false)
		w.push(c, f)
	}
	w.visit(c, t.function, t.node)
	w.show(c, t.function, false)
	return true
}
