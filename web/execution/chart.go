package execution

import (
	"sort"

	"tracewell/view/wire"
)

// call is a call over the numbers of instructions, from begin up to end.
type call struct {
	begin, end int64
	function   int32 // of Walker.Functions
	handler    bool
}

// chart is all calls of a trace, for each processor by how many others are active around them. In a level calls do not overlap and
// are in order, so that the one at a position, and the next one that is wide enough to be drawn, are found by halves: a chart costs
// as many steps as it has pixels, however many calls there are.
//
// Memory is bounded: of too many calls the shortest are dropped. What a short call has called is shorter still, so that no
// call loses those around it.
type chart struct {
	cpus  map[int32]*levels
	calls int
	least int64 // shorter calls are dropped; 0 for none
}

// levels are the calls of a processor.
type levels struct {
	open  []call   // without their ends
	ended [][]call // by depth
}

// mostCalls is how many calls are kept: of 24 bytes each.
const mostCalls = 4 << 20

func newChart() *chart { return &chart{cpus: make(map[int32]*levels)} }

func (c *chart) of(cpu int32) *levels {
	l := c.cpus[cpu]
	if l == nil {
		l = &levels{}
		c.cpus[cpu] = l
	}
	return l
}

// Begin implements calls.Listener.
func (c *chart) Begin(cpu, function int32, handler bool, at int64, _ uint64) {
	l := c.of(cpu)
	l.open = append(l.open, call{begin: at, function: function, handler: handler})
}

// End implements calls.Listener.
func (c *chart) End(cpu int32, at int64, _ uint64) {
	l := c.of(cpu)
	depth := len(l.open) - 1
	if depth < 0 {
		return
	}
	ended := l.open[depth]
	l.open = l.open[:depth]
	if ended.end = at; at <= ended.begin || at-ended.begin < c.least {
		return
	}
	for len(l.ended) <= depth {
		l.ended = append(l.ended, nil)
	}
	l.ended[depth] = append(l.ended[depth], ended)
	if c.calls++; c.calls > mostCalls {
		c.thin()
	}
}

// thin drops the shortest calls until half of what is allowed is left, at most.
func (c *chart) thin() {
	for c.least = max(c.least, 1); c.calls > mostCalls/2; {
		c.least *= 2
		c.calls = 0
		for _, l := range c.cpus {
			for depth, ended := range l.ended {
				kept := ended[:0]
				for _, e := range ended {
					if e.end-e.begin >= c.least {
						kept = append(kept, e)
					}
				}
				l.ended[depth] = kept
				c.calls += len(kept)
			}
		}
	}
}

// close ends all calls that are open at the end of the trace.
func (c *chart) close(at int64) {
	for cpu, l := range c.cpus {
		for len(l.open) > 0 {
			c.End(cpu, at, 0)
		}
	}
}

// depth is the most calls that were active at once.
func (c *chart) depth() (n int) {
	for _, l := range c.cpus {
		n = max(n, len(l.ended))
	}
	return n
}

// find is the call at a position with so many around it; nil if there is none.
func (c *chart) find(cpu int32, depth int, position int64) *call {
	l := c.cpus[cpu]
	if l == nil || depth < 0 || depth >= len(l.ended) {
		return nil
	}
	ended := l.ended[depth]
	i := sort.Search(len(ended), func(i int) bool { return ended[i].end > position })
	if i == len(ended) || ended[i].begin > position {
		return nil
	}
	return &ended[i]
}

// narrowest is how many pixels a call needs to be drawn by itself.
const narrowest = 2

// slices are the calls of a processor from an instruction up to another, drawn on so many pixels. Neighbours that are too narrow
// become one.
func (c *chart) slices(cpu int32, from, to, pixels int64, visit func(s wire.CallSlice, function int32)) {
	l := c.cpus[cpu]
	if l == nil || to <= from || pixels <= 0 {
		return
	}
	wide := max((to-from)*narrowest/pixels, 1)
	for depth, ended := range l.ended {
		i := sort.Search(len(ended), func(i int) bool { return ended[i].end > from })
		for i < len(ended) && ended[i].begin < to {
			e := &ended[i]
			s := wire.CallSlice{Depth: depth, Begin: e.begin, End: e.end, Calls: 1, Handler: e.handler}
			if e.end-e.begin >= wide {
				visit(s, e.function)
				i++
				continue
			}
			// All that ends within the pixels of this one are drawn with it, up to one that is wide enough.
			limit := e.begin + wide
			next := i + sort.Search(len(ended)-i, func(k int) bool { return ended[i+k].end > limit })
			next = max(next, i+1)
			s.End, s.Calls = ended[next-1].end, next-i
			function := e.function
			if s.Calls > 1 {
				function, s.Handler = -1, false
			}
			visit(s, function)
			i = next
		}
	}
}
