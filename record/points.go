package record

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

// resolver finds what a plan traces in a program.
type resolver struct {
	plan       *plan.Plan
	compiler   *compiler
	points     []*point
	semaphores map[arch.Addr][]arch.Addr // of static tracepoints, by their address
	defined    []trace.Tracepoint        // so far
}

// newResolver makes one for a target with such registers.
func newResolver(p *plan.Plan, layout *tdesc.Layout, pc arch.Reg) resolver {
	r := resolver{plan: p, compiler: newCompiler(p, layout, pc), semaphores: make(map[arch.Addr][]arch.Addr)}
	for i := range p.Tracepoints {
		r.points = append(r.points, &point{Tracepoint: &p.Tracepoints[i]})
	}
	return r
}

// Points returns the tracepoints of the plan with the locations that were found so far.
func (s *resolver) Points() []Point {
	var all []Point
	for _, t := range s.points {
		all = append(all, Point{t.Number, t.Location.Value, t.locations, t.pending})
	}
	return all
}

// point is a tracepoint of the plan.
type point struct {
	*plan.Tracepoint
	locations []symbol.Location // of all processes, each address once
	pending   error             // why there is none yet
	warnings  []error
}

// location is the text that is looked for: static tracepoint markers are found as probes.
func (t *point) location() string {
	if id, ok := strings.CutPrefix(t.Location.Value, "-m "); ok && t.Kind == plan.Static {
		return "-probe-stap " + strings.TrimSpace(id)
	}
	return t.Location.Value
}

// absolute reports whether the location is an address, which no library brings anew.
func (t *point) absolute() bool {
	rest, ok := strings.CutPrefix(t.Location.Value, "*")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

// resolve finds what there is of the plan in a process and has not been found there, and compiles it. What cannot be compiled
// at any location of a tracepoint that has no other is an error, and so is a location that is none; the rest is warned of.
func (s *resolver) resolve(p *process) (found []trace.Tracepoint, warnings []error, err error) {
	for _, t := range s.points {
		locations, err := p.program.Locate(t.location())
		var missing *symbol.NotFoundError
		switch {
		case errors.As(err, &missing):
			if len(t.locations) == 0 {
				t.pending = t.Location.Explain(err)
			}
			continue
		case err != nil:
			return nil, nil, t.Location.Explain(err)
		}
		definitions, problems := s.compileAt(p, t, locations)
		if len(definitions) == 0 && len(problems) > 0 && len(t.locations) == 0 {
			return nil, nil, problems[0]
		}
		found = append(found, definitions...)
		warnings = append(warnings, problems...)
	}
	return found, warnings, nil
}

// compileAt compiles a tracepoint for those of the locations in a process that are new there.
func (s *resolver) compileAt(p *process, t *point, locations []symbol.Location) (found []trace.Tracepoint, problems []error) {
	for _, l := range locations {
		if p.sites[l.Addr] && slices.ContainsFunc(t.locations, func(o symbol.Location) bool { return o.Addr == l.Addr }) {
			continue
		}
		d, missing, err := s.compile(p, t, l)
		problems = append(problems, missing...)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		p.sites[l.Addr] = true
		if semaphore := l.Semaphore(); semaphore != 0 {
			s.semaphores[l.Addr] = []arch.Addr{semaphore}
			d.Static = true
		}
		found = append(found, d)
		t.pending = nil
		if !slices.ContainsFunc(t.locations, func(o symbol.Location) bool { return o.Addr == l.Addr }) {
			t.locations = append(t.locations, l)
		}
	}
	return found, problems
}

// compile compiles a tracepoint for a location. An error of a tracepoint with several says which it is.
func (s *resolver) compile(p *process, t *point, l symbol.Location) (trace.Tracepoint, []error, error) {
	d, warnings, err := s.compiler.compile(t.Tracepoint, l, scopeAt(p.program, l.Addr, s.compiler.variables))
	for i := range warnings {
		warnings[i] = fmt.Errorf("tracepoint %d at %s: %w", t.Number, l, warnings[i])
	}
	if err != nil {
		err = fmt.Errorf("tracepoint %d at %s: %w", t.Number, l, err)
	}
	return d, warnings, err
}

// complete gives tracepoints the registers that readers of the file need, and returns how long the register block must be.
func (s *resolver) complete(found []trace.Tracepoint) (extent int) {
	all := slices.Concat(s.defined, found)
	for i := range found {
		d := &found[i]
		d.Actions = s.compiler.withRegisters(d.Actions, needsPC(d, all))
		if d.Step > 0 {
			d.StepActions = s.compiler.withRegisters(d.StepActions, true)
		}
		extent = max(extent, s.compiler.extent(d))
	}
	return extent
}

// pendingExtent is how long the register block is at least where libraries may bring tracepoints: long enough for what compilers
// keep variables in, unless more is asked for.
func (s *resolver) pendingExtent() int {
	if !slices.ContainsFunc(s.points, func(t *point) bool { return t.pending != nil }) {
		return 0
	}
	for _, t := range s.points {
		if t.pending != nil && asksForRegisters(s.plan.AllActions(t.Tracepoint)) {
			return s.compiler.layout.Size
		}
	}
	const last = "gs_base"
	if slot := s.compiler.layout.ByName(last); slot != nil {
		return slot.Offset + slot.Size
	}
	return s.compiler.layout.Size
}

// asksForRegisters reports whether actions collect all registers, or vector registers by name.
func asksForRegisters(actions []plan.Action) bool {
	return slices.ContainsFunc(actions, func(a plan.Action) bool {
		return asksForRegisters(a.Body) || slices.ContainsFunc(a.Expressions, func(e plan.Text) bool {
			for _, name := range []string{"$regs", "$ymm", "$zmm", "$k", "$pkru"} {
				if strings.Contains(e.Value, name) {
					return true
				}
			}
			return false
		})
	})
}
