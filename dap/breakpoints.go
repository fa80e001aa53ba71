package dap

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	protocol "github.com/google/go-dap"

	"tracewell/internal/text"
)

// breakpoint is one of a client's breakpoints, and what became of it.
type breakpoint struct {
	id        int
	at        sourceLine // of a source breakpoint
	function  string     // of a function breakpoint: any location
	address   *uint64    // of an instruction breakpoint
	data      string     // of a data breakpoint: as in query.Object
	access    protocol.DataBreakpointAccessType
	condition string
	hits      hitCondition
	log       *logMessage // nil for a breakpoint that stops
	wrong     string      // why it cannot be one, by its own text

	verified bool
	message  string
	line     int // where it really is; 0 for where it was wanted
	count    int // of hits, since the last time that breakpoints changed
}

// kindOf tells the four requests apart that set breakpoints.
type kindOf int

// The kinds.
const (
	atLines kindOf = iota
	atFunctions
	atInstructions
	atData
	byArguments // those of the launch configuration
)

// breakpointSet is all breakpoints of a client. Each request replaces those of its kind, and of lines those of its file.
type breakpointSet struct {
	lines map[string][]*breakpoint // by the path of the source
	kinds map[kindOf][]*breakpoint // but atLines
	last  int
}

// all lists them in a fixed order.
func (b *breakpointSet) all() (all []*breakpoint) {
	for _, path := range slices.Sorted(maps.Keys(b.lines)) {
		all = append(all, b.lines[path]...)
	}
	for kind := atFunctions; kind <= byArguments; kind++ {
		all = append(all, b.kinds[kind]...)
	}
	return all
}

// replace takes new breakpoints in place of those of the kind, and of the file.
func (b *breakpointSet) replace(kind kindOf, path string, list []*breakpoint) {
	if b.lines == nil {
		b.lines, b.kinds = make(map[string][]*breakpoint), make(map[kindOf][]*breakpoint)
	}
	before := b.kinds[kind]
	if kind == atLines {
		before = b.lines[path]
		b.lines[path] = list
	} else {
		b.kinds[kind] = list
	}
	// A breakpoint that was there before keeps its number, by which the client and a program that runs know it.
	for _, n := range list {
		for _, o := range before {
			if o != nil && n.id == 0 && n.same(o) {
				n.id, n.count = o.id, o.count
			}
		}
		if n.id == 0 {
			b.last++
			n.id = b.last
		}
	}
}

// same reports whether two breakpoints are set at the same and do the same.
func (b *breakpoint) same(o *breakpoint) bool {
	if (b.address == nil) != (o.address == nil) || b.address != nil && *b.address != *o.address {
		return false
	}
	if (b.log == nil) != (o.log == nil) || b.log != nil && b.log.text != o.log.text {
		return false
	}
	return b.at == o.at && b.function == o.function && b.data == o.data && b.access == o.access && b.condition == o.condition &&
		b.hits == o.hits
}

// hitCondition is after how many hits a breakpoint counts: ">= 5", "% 10", and "5" for the fifth and all later ones, as in GDB's
// ignore counts and most adapters.
type hitCondition struct {
	op string
	n  int64
}

var hitPattern = regexp.MustCompile(`^\s*(>=|>|<=|<|==|=|%)?\s*([0-9]+)\s*$`)

// parseHits reads a hit condition, "" being none.
func parseHits(text string) (hitCondition, error) {
	if text == "" {
		return hitCondition{}, nil
	}
	m := hitPattern.FindStringSubmatch(text)
	if m == nil {
		return hitCondition{}, fmt.Errorf("hit count %.40q: want a number, or >=, >, <=, <, == or %% and a number", text)
	}
	n, err := strconv.ParseInt(m[2], 10, 62)
	if err != nil || n == 0 && m[1] == "%" {
		return hitCondition{}, fmt.Errorf("hit count %.40q: %s is no such number", text, m[2])
	}
	h := hitCondition{cmp.Or(m[1], ">="), n}
	if h.op == "=" {
		h.op = "=="
	}
	return h, nil
}

// holds reports whether the n-th hit counts, n from 1.
func (h hitCondition) holds(n int64) bool {
	switch h.op {
	case ">=":
		return n >= h.n
	case ">":
		return n > h.n
	case "<=":
		return n <= h.n
	case "<":
		return n < h.n
	case "==":
		return n == h.n
	case "%":
		return n%h.n == 0
	}
	return true
}

// conditions are the parts that all kinds of breakpoints have.
func (b *breakpoint) conditions(condition, hits, log string) *breakpoint {
	b.condition = condition
	var err error
	if b.hits, err = parseHits(hits); err != nil {
		b.wrong = err.Error()
	}
	if log != "" {
		if b.log, err = parseLog(log); err != nil {
			b.wrong = err.Error()
		}
	}
	return b
}

// count counts a hit, and reports whether the breakpoint wants it.
func (b *breakpoint) counts() bool {
	b.count++
	return b.hits.holds(int64(b.count))
}

// place has the debuggee place all breakpoints, and answers for those that the request is about.
func (s *session) place(list []*breakpoint) ([]protocol.Breakpoint, error) {
	for _, b := range s.breakpoints.all() {
		b.verified, b.message, b.line = false, b.wrong, 0
	}
	if err := s.debuggee.place(s.breakpoints.all()); err != nil {
		return nil, err
	}
	answer := []protocol.Breakpoint{}
	for _, b := range list {
		answer = append(answer, s.breakpoint(b))
	}
	return answer, nil
}

// breakpoint is a breakpoint as clients see it.
func (s *session) breakpoint(b *breakpoint) protocol.Breakpoint {
	p := protocol.Breakpoint{Id: b.id, Verified: b.verified, Message: text.VisibleLines(b.message)}
	if b.at.path != "" {
		p.Source = &protocol.Source{Name: lastElement(b.at.path), Path: b.at.path}
		p.Line = s.client.toClient(cmp.Or(b.line, b.at.line))
	}
	return p
}

func setBreakpoints(s *session, a *protocol.SetBreakpointsArguments) (any, error) {
	path := cmp.Or(a.Source.Path, a.Source.Name)
	if path == "" {
		return nil, fmt.Errorf("breakpoints of a source without a path")
	}
	wanted := a.Breakpoints
	if wanted == nil {
		for _, line := range a.Lines { // as older clients have it
			wanted = append(wanted, protocol.SourceBreakpoint{Line: line})
		}
	}
	var list []*breakpoint
	for _, w := range wanted {
		b := &breakpoint{at: sourceLine{path, s.client.fromClient(w.Line)}}
		list = append(list, b.conditions(w.Condition, w.HitCondition, w.LogMessage))
	}
	s.breakpoints.replace(atLines, path, list)
	placed, err := s.place(list)
	return protocol.SetBreakpointsResponseBody{Breakpoints: placed}, err
}

func setFunctionBreakpoints(s *session, a *protocol.SetFunctionBreakpointsArguments) (any, error) {
	var list []*breakpoint
	for _, w := range a.Breakpoints {
		list = append(list, (&breakpoint{function: w.Name}).conditions(w.Condition, w.HitCondition, ""))
	}
	s.breakpoints.replace(atFunctions, "", list)
	placed, err := s.place(list)
	return protocol.SetFunctionBreakpointsResponseBody{Breakpoints: placed}, err
}

func setInstructionBreakpoints(s *session, a *protocol.SetInstructionBreakpointsArguments) (any, error) {
	var list []*breakpoint
	for _, w := range a.Breakpoints {
		b := &breakpoint{address: new(uint64)}
		at, err := address(w.InstructionReference, w.Offset)
		*b.address = uint64(at)
		b.conditions(w.Condition, w.HitCondition, "")
		if err != nil {
			b.wrong = err.Error()
		}
		list = append(list, b)
	}
	s.breakpoints.replace(atInstructions, "", list)
	placed, err := s.place(list)
	return protocol.SetInstructionBreakpointsResponseBody{Breakpoints: placed}, err
}

func setExceptionBreakpoints(*session, *protocol.SetExceptionBreakpointsArguments) (any, error) {
	return protocol.SetExceptionBreakpointsResponseBody{}, nil
}

func setDataBreakpoints(s *session, a *protocol.SetDataBreakpointsArguments) (any, error) {
	var list []*breakpoint
	for _, w := range a.Breakpoints {
		b := &breakpoint{data: fmt.Sprint(w.DataId), access: cmp.Or(w.AccessType, "write")}
		list = append(list, b.conditions(w.Condition, w.HitCondition, ""))
	}
	s.breakpoints.replace(atData, "", list)
	placed, err := s.place(list)
	return protocol.SetDataBreakpointsResponseBody{Breakpoints: placed}, err
}

// watcher is a debuggee that stops at accesses to data.
type watcher interface {
	// watchable returns the name of a place in memory for breakpoint.data, or why nothing can be said of it.
	watchable(c *call, expression string) (id string, err error)
}

func dataBreakpointInfo(s *session, a *protocol.DataBreakpointInfoArguments) (any, error) {
	w, ok := s.debuggee.(watcher)
	if !ok {
		return protocol.DataBreakpointInfoResponseBody{Description: "the writers of data are known in execution traces only"}, nil
	}
	c, err := s.callOf(a.FrameId)
	if err != nil {
		return nil, err
	}
	expression := a.Name
	if a.VariablesReference != 0 {
		expression = cmp.Or(s.handles.evaluateOf(s.handles.ctx, a.VariablesReference, a.Name), a.Name)
	}
	id, err := w.watchable(c, expression)
	if err != nil {
		return protocol.DataBreakpointInfoResponseBody{Description: oneLine(err)}, nil
	}
	return protocol.DataBreakpointInfoResponseBody{DataId: id, Description: fmt.Sprintf("%s (%s)", expression, id),
		AccessTypes: []protocol.DataBreakpointAccessType{"write", "read", "readWrite"}, CanPersist: true}, nil
}
