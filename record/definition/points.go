package definition

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/tdesc"
	"tracewell/trace"
)

// Finder finds what a plan traces in programs, whose locations may come little by little.
type Finder struct {
	Points     []*Point
	Semaphores map[arch.Addr][]arch.Addr // of static tracepoints, by their address
	Several    bool                      // processes will come that have the locations at other addresses
	Defined    []trace.Tracepoint        // what the target has been given so far, kept by whoever gives it, who adds at the end

	index   map[trace.Key]int // of the first of Defined
	indexed int               // so many

	plan     *plan.Plan
	compiler *compiler
}

// New makes a Finder for a target whose registers are those of the layout and whose machine is isa, and which has these built-in
// variables besides $trace_timestamp. It finds nothing yet.
func New(p *plan.Plan, layout *tdesc.Layout, isa *arch.ISA, builtins ...string) *Finder {
	f := &Finder{
		plan: p, compiler: newCompiler(p, layout, isa, builtins),
		Semaphores: make(map[arch.Addr][]arch.Addr), index: make(map[trace.Key]int),
	}
	for i := range p.Tracepoints {
		f.Points = append(f.Points, &Point{Tracepoint: &p.Tracepoints[i]})
	}
	return f
}

// Variables are the trace state variables of the plan, and the built-in ones that it mentions, numbered: they are defined before
// the tracepoints that use them.
func (f *Finder) Variables() []trace.Variable { return f.compiler.defined }

// Definition finds the definition that the target has been given under a key, which is a number and an address; nil if there is
// none.
func (f *Finder) Definition(k trace.Key) *trace.Tracepoint {
	for ; f.indexed < len(f.Defined); f.indexed++ {
		f.index[f.Defined[f.indexed].Key()] = f.indexed
	}
	if i, ok := f.index[k]; ok {
		return &f.Defined[i]
	}
	return nil
}

// Image is a process as a Finder sees it: the files that it consists of, and the addresses that have tracepoints already.
type Image struct {
	Program *symbol.Program
	Sites   map[arch.Addr]bool
}

// Point is a tracepoint of the plan, with what was found of it.
type Point struct {
	*plan.Tracepoint
	Locations []symbol.Location // in all processes, each address once
	Pending   error             // why there is none yet
}

// location is the text that is looked for. "strace -m demo:item" of GDB names a marker, which is found as a probe of <sys/sdt.h>.
func (t *Point) location() string {
	if id, ok := strings.CutPrefix(t.Location.Value, "-m "); ok && t.Kind == plan.Static {
		return "-probe-stap " + strings.TrimSpace(id)
	}
	return t.Location.Value
}

// Find finds what there is of the plan in a process and has not been found there, and compiles it. It is called again whenever
// files were loaded. What cannot be compiled at any location of a tracepoint that has no other is an error, and so is a location
// that is none; the rest is a warning, one of type Problems for each tracepoint. That a location is not found is neither: it is
// pending, and the reason is in Point.Pending.
func (f *Finder) Find(p Image) (found []trace.Tracepoint, warnings []error, err error) {
	for _, t := range f.Points {
		locations, err := p.Program.Locate(t.location())
		if t.Returns {
			locations = entered(p.Program, locations)
		}
		if err == nil {
			err = t.unfit(locations)
		}
		var unclear []error
		if t.Entry != 0 && err == nil {
			locations, unclear, err = t.returns(p.Program, locations)
		}
		var missing *symbol.NotFoundError
		switch {
		case errors.As(err, &missing):
			if len(t.Locations) == 0 {
				t.Pending = t.Location.Explain(err)
			}
			continue
		case err != nil:
			return nil, nil, t.Location.Explain(err)
		}
		definitions, problems := f.compileAt(p, t, locations)
		problems = append(problems, unclear...)
		if len(definitions) == 0 && len(problems) > 0 && len(t.Locations) == 0 {
			return nil, nil, problems[0]
		}
		found = append(found, definitions...)
		if len(problems) > 0 {
			warnings = append(warnings, Problems(problems))
		}
	}
	return found, warnings, nil
}

// compileAt compiles a tracepoint for those of the locations in a process that are new there: an address of another process may
// be the same, and has a tracepoint of its own there. An expression that cannot be collected at some of them only is a warning.
func (f *Finder) compileAt(p Image, t *Point, locations []symbol.Location) (found []trace.Tracepoint, problems []error) {
	var drafts []*draft
	for _, l := range locations {
		if p.Sites[l.Addr] && slices.ContainsFunc(t.Locations, func(o symbol.Location) bool { return o.Addr == l.Addr }) {
			continue
		}
		d, err := f.compiler.compile(t.Tracepoint, l, f.scopeAt(p.Program, l.Addr, t.Returns))
		if err != nil {
			problems = append(problems, t.at(l, err))
			continue
		}
		drafts = append(drafts, d)
	}
	if err := nowhere(drafts); err != nil && len(t.Locations) == 0 {
		return nil, []error{t.at(drafts[0].location, err)}
	}
	for _, d := range drafts {
		l := d.location
		for _, err := range d.warnings {
			problems = append(problems, t.at(l, err))
		}
		for _, lacking := range d.lacking {
			problems = append(problems, t.at(l, lacking.err))
		}
		if l.Resolver {
			problems = append(problems, t.at(l, fmt.Errorf("%s only chooses the function that is called in its name (IFUNC), "+
				"once for each caller: trace the functions that it can choose (--list '*%[1]s*')", t.Location.Value)))
		}
		p.Sites[l.Addr] = true
		if semaphore := l.Semaphore(); semaphore != 0 {
			f.Semaphores[l.Addr] = []arch.Addr{semaphore}
			d.Static = true
		}
		found = append(found, d.Tracepoint)
		t.Pending = nil
		if !slices.ContainsFunc(t.Locations, func(o symbol.Location) bool { return o.Addr == l.Addr }) {
			t.Locations = append(t.Locations, l)
		}
	}
	return found, problems
}

// at puts the tracepoint and the location in front of an error.
func (t *Point) at(l symbol.Location, err error) error {
	return fmt.Errorf("tracepoint %d at %s: %w", t.Number, l, err)
}

// nowhere returns why an expression can be collected at none of the locations, nil if each can be at some. Those of the first
// draft are enough to look at: what all lack, it lacks.
func nowhere(drafts []*draft) error {
	if len(drafts) == 0 {
		return nil
	}
	for _, l := range drafts[0].lacking {
		if !slices.ContainsFunc(drafts, func(d *draft) bool { return d.lacks(l.text) == nil }) {
			return l.err
		}
	}
	return nil
}

// Complete gives tracepoints the registers that readers of the file need, and returns how long the register block must be, in
// bytes. It looks at all definitions so far: another location of a number makes the pc necessary in both.
func (f *Finder) Complete(found []trace.Tracepoint) (extent int) {
	several := severalPlaces(f.Defined, found)
	for i := range found {
		d := &found[i]
		d.Actions = f.compiler.withRegisters(d.Actions, d.Step > 0 || several[d.Number] || f.Several) // frames of steps are made anywhere
		if d.Step > 0 {
			d.StepActions = f.compiler.withRegisters(d.StepActions, true)
		}
		extent = max(extent, f.compiler.extent(d))
	}
	return extent
}

// PendingExtent is how long the register block is at least, in bytes, where libraries may bring tracepoints: long enough for what
// compilers keep variables in, unless more is asked for. The length stands in the header of the trace file and cannot grow later.
func (f *Finder) PendingExtent() int {
	if !slices.ContainsFunc(f.Points, func(t *Point) bool { return t.Pending != nil }) {
		return 0
	}
	for _, t := range f.Points {
		if t.Pending != nil && f.compiler.asksForRegisters(f.plan.AllActions(t.Tracepoint)) {
			return f.compiler.layout.Size
		}
	}
	return f.UsedExtent()
}

// UsedExtent is how long a register block is, in bytes, that has all registers in which compilers keep variables, also those of
// floating-point variables. Each byte of a block is written at every hit.
func (f *Finder) UsedExtent() int {
	if slot := f.compiler.layout.ByName(f.compiler.isa.Machine.LastUsed); slot != nil {
		return slot.Offset + slot.Size
	}
	return f.compiler.layout.Size
}

// Adopt goes on with another plan, which begins with the variables of the one before. Points are kept by their numbers: those that
// the plan lacks are gone, and those that it has besides have not been found yet. Undo goes back to the plan before.
func (f *Finder) Adopt(p *plan.Plan) (gone []trace.Number, undo func()) {
	before := *f
	known := make(map[trace.Number]*Point)
	for _, t := range f.Points {
		known[t.Number] = t
	}
	f.plan, f.Points = p, nil
	f.compiler = newCompiler(p, f.compiler.layout, f.compiler.isa, f.compiler.builtins)
	for i := range p.Tracepoints {
		t := &p.Tracepoints[i]
		if point := known[t.Number]; point != nil {
			f.Points = append(f.Points, point)
			delete(known, t.Number)
			continue
		}
		f.Points = append(f.Points, &Point{Tracepoint: t})
	}
	for n := range known {
		gone = append(gone, n)
	}
	return gone, func() { f.plan, f.Points, f.compiler = before.plan, before.Points, before.compiler }
}

// asksForRegisters reports whether actions collect all registers, or some by name that no variable is ever in, such as AVX
// registers. It looks at the text alone, as a pending tracepoint has nothing else yet.
func (c *compiler) asksForRegisters(actions []plan.Action) bool {
	return slices.ContainsFunc(actions, func(a plan.Action) bool {
		return c.asksForRegisters(a.Body) || slices.ContainsFunc(a.Expressions, func(e plan.Text) bool {
			named := func(name string) bool { return strings.Contains(e.Value, "$"+name) }
			return named("regs") || slices.ContainsFunc(c.isa.Machine.Extended, named)
		})
	})
}
