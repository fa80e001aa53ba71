package parting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracewell/itrace/calls"
)

const (
	maxAhead    = 1 << 18 // steps that are kept of a trace
	maxElements = 256     // of a function that are looked at to find where two traces agree again
	maxShown    = 16      // elements that a Stretch has
	maxPartings = 4096    // different ones
)

// Options say what is compared.
type Options struct {
	Sides   [2]Side           // the reference and the other version
	Renamed map[string]string // functions of the reference, and what they are called in the other version
	CPU     *int32            // whose instructions are compared; nil for those of the first one that executes something
}

// Result is what a comparison has found.
type Result struct {
	Partings []*Parting // in the order in which each was first met
	Folded   uint64     // partings that are in none of these, because there are too many different ones
	Only     [2][]Only  // functions that only one version has, by name
	Traces   [2]Trace
}

// Parts reports whether the two runs differ.
func (r *Result) Parts() bool { return len(r.Partings) > 0 }

// Trace is what was read of a trace.
type Trace struct {
	CPU          int32
	Others       bool   // there were other processors
	Instructions int64  // of all processors
	Handlers     uint64 // that were left out
	Walker       *calls.Walker
}

// Only is a function of one version.
type Only struct {
	Name  string
	Begin uint64
	Calls uint64
}

// Parting is where the two runs do something else, in a function in which both are.
type Parting struct {
	Function string
	Stack    []Call // the calls that were active, the outermost first; Function is the last
	Sides    [2]Stretch
	// Rest says that nothing was found in which they agree again before the function ended.
	Rest  bool
	Count uint64 // how often the same was met; all else is of the first time
}

// Call is an active call, of both traces.
type Call struct {
	Function string    // as in the other version
	From     [2]uint64 // the addresses of the calls; 0 where it is not known
}

// Stretch is what one side did in place of what the other did; it may be nothing.
type Stretch struct {
	At           int64  // number of its first instruction, or of the next one
	PC           uint64 // of that
	Instructions int64  // all of it; handlers, and what other processors executed meanwhile, included
	Elements     []Element
	More         int64 // elements behind these
}

// Element is a call with all that it called, a line, or a loop.
type Element struct {
	Function     string    // that was called; "" for lines
	Lines        [2]uint64 // addresses of a line, or of the first and the last line of a loop; of where a called function begins
	Rounds       int64     // of a loop
	Returns      bool      // the function returns, which it does not on the other side
	Ends         bool      // the trace ends
	Instructions int64     // of a call or a loop
}

// comparison is two streams that are walked together.
type comparison struct {
	*common
	streams [2]*stream
	stack   []Call
	found   map[string]*Parting
	result  Result
}

// Compare compares two traces. Both have to have been executed by the programs of their sides, whose instruction sets are known.
func Compare(o Options, sources [2]Source) (*Result, error) {
	c := &comparison{common: newCommon(o.Sides, o.Renamed), found: make(map[string]*Parting)}
	for side := range c.streams {
		c.streams[side] = newStream(c.common, side, sources[side], o.CPU)
	}
	for c.next() {
	}
	for side, s := range c.streams {
		for s.err == nil { // for the number of instructions and of calls
			s.fill()
			s.drop(len(s.queue))
		}
		if err := s.problem(); err != nil {
			return nil, err
		}
		c.result.Traces[side] = Trace{CPU: s.only, Others: s.others, Instructions: s.walker.Position, Handlers: s.traps, Walker: s.walker}
		if o.CPU != nil {
			c.result.Traces[side].CPU = *o.CPU
		}
		c.result.Only[side] = c.only(side)
	}
	return &c.result, nil
}

// next compares a step. It returns false at the end of either trace.
func (c *comparison) next() bool {
	a, b := c.streams[0].peek(0), c.streams[1].peek(0)
	if a.kind != b.kind || a.id != b.id {
		return c.part()
	}
	switch a.kind {
	case end:
		return false
	case enter:
		c.stack = append(c.stack, Call{c.names[b.id], [2]uint64{a.from, b.from}})
	case leave:
		c.stack = c.stack[:max(len(c.stack)-1, 0)]
	case loop:
		if a.rounds != b.rounds {
			p := c.open()
			for side, s := range c.streams {
				s.describe(&p.Sides[side], s.peek(0), s.peek(1).at)
				p.Sides[side].Instructions = s.peek(1).at - p.Sides[side].At
			}
			c.close(p)
		}
	}
	c.streams[0].drop(1)
	c.streams[1].drop(1)
	return true
}

// open begins a parting where the streams are.
func (c *comparison) open() *Parting {
	p := &Parting{Count: 1}
	if n := len(c.stack); n > 0 {
		p.Function = c.stack[n-1].Function
	}
	for side, s := range c.streams {
		here := s.peek(0)
		p.Sides[side].At, p.Sides[side].PC = here.at, here.pc
	}
	return p
}

// close counts a parting for the same one that was met before, or keeps it.
func (c *comparison) close(p *Parting) {
	var key strings.Builder
	fmt.Fprintf(&key, "%s %v", p.Function, p.Rest)
	for _, s := range p.Sides {
		fmt.Fprintf(&key, "|%d", s.More)
		for _, e := range s.Elements { // the numbers of rounds and instructions may be others each time
			fmt.Fprintf(&key, " %q %x %v %v", e.Function, e.Lines, e.Returns, e.Ends)
		}
	}
	switch before := c.found[key.String()]; {
	case before != nil:
		before.Count++
	case len(c.found) == maxPartings:
		c.result.Folded++
	default:
		p.Stack = slices.Clone(c.stack)
		c.found[key.String()] = p
		c.result.Partings = append(c.result.Partings, p)
	}
}

// describe adds a step to a stretch; behind is where the next one begins.
func (s *stream) describe(to *Stretch, e step, behind int64) {
	if len(to.Elements) == maxShown {
		to.More++
		return
	}
	d := Element{Lines: [2]uint64{e.pc, e.pc}, Rounds: e.rounds, Returns: e.kind == leave, Ends: e.kind == end}
	switch e.kind {
	case enter:
		d.Function = s.nameAt(e.pc)
		d.Instructions = behind - e.at
	case loop:
		d.Lines, d.Instructions = s.loopEnds[e.id], behind-e.at
	}
	to.Elements = append(to.Elements, d)
}

// nameAt is the name of the function at an address in its own version.
func (s *stream) nameAt(pc uint64) string {
	p := s.common.sides[s.side].Program
	if i := p.At(pc); i >= 0 {
		return p.Functions[i].Name
	}
	return fmt.Sprintf("0x%x", pc)
}

// only are the functions that a version has and the other has not.
func (c *comparison) only(side int) (list []Only) {
	other := make(map[string]bool)
	for _, f := range c.sides[1-side].Program.Functions {
		other[c.nameOf(1-side, f.Name)] = true
	}
	w := c.streams[side].walker
	totals := w.ByFunction(len(w.Functions))
	for i, f := range c.sides[side].Program.Functions {
		if f.Whole == i && !other[c.nameOf(side, f.Name)] {
			list = append(list, Only{f.Name, f.Begin, totals[i].Calls})
		}
	}
	slices.SortFunc(list, func(a, b Only) int { return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Begin, b.Begin)) })
	return list
}
