package dap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	protocol "github.com/google/go-dap"

	"tracewell/arch"
	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/itrace/query"
	"tracewell/symbol"
	"tracewell/symbol/expr"
	"tracewell/target"
	"tracewell/target/replay"
)

// executionTrace is an execution trace, at a position: in front of an instruction, or behind the last. Searches go over the index
// by themselves, and not by the runs of its target: those stop in front of what writes to a watched place, as hardware does, which
// GDB wants and users of an editor do not.
type executionTrace struct {
	session   *session
	execution *replay.Execution
	trace     *index.Trace
	query     *query.Trace
	here      *replay.ExecutionTarget
	probe     *replay.ExecutionTarget // looks elsewhere, for conditions
	named     *names
	set       *flow.Set // nil where it is not known what instructions do
	closeAll  func() error
	points    []tracePoint
	wants     []index.Want // of the points
	wantedBy  []int        // which point
}

// tracePoint is a breakpoint in an execution trace.
type tracePoint struct {
	*breakpoint
	evaluators map[arch.Addr]*expr.Evaluator // of the condition
}

func newExecution(e *replay.Execution, program *symbol.Program, s *session, closeAll func() error) (*executionTrace, error) {
	x := &executionTrace{session: s, execution: e, closeAll: closeAll, set: flow.Of(e.Machine, e.Order)}
	x.named = &names{program: program, layout: e.Layout, machine: e.Machine, order: e.Order}
	if program != nil {
		program.SetLayout(e.Layout)
	}
	var err error
	if x.query, err = query.New(e.Execution, program); err != nil {
		return nil, err
	}
	x.trace = x.query.Trace
	if x.here, err = e.Target(); err != nil {
		return nil, err
	}
	x.probe, err = e.Target()
	return x, err
}

func (x *executionTrace) reach() reach { return executions }

func (x *executionTrace) names() *names { return x.named }

func (x *executionTrace) close(bool) error { return x.closeAll() }

func (x *executionTrace) position() int64 { return x.here.Instruction() }

// threads lists the processors. Their names tell the position, which clients show all the time.
func (x *executionTrace) threads() (all []protocol.Thread) {
	for _, id := range x.here.Threads() {
		name := fmt.Sprintf("cpu %d, instruction %d of %d", id.TID-1, x.position(), x.trace.Instructions)
		all = append(all, protocol.Thread{Id: id.TID, Name: name})
	}
	return all
}

// thread is the processor that executes next, or did last.
func (x *executionTrace) thread() int {
	if it, err := x.trace.Instruction(min(x.position(), x.trace.Instructions-1)); err == nil {
		return int(it.CPU) + 1
	}
	return 1
}

func (x *executionTrace) at(thread int) (moment, error) { return x.momentOf(x.here, thread) }

// momentOf is where a target stands, for a thread of it.
func (x *executionTrace) momentOf(t *replay.ExecutionTarget, thread int) (moment, error) {
	for _, id := range t.Threads() {
		if id.TID == thread {
			return &executionMoment{x, t, id}, nil
		}
	}
	return nil, fmt.Errorf("there is no thread %d", thread)
}

// place finds the addresses of breakpoints.
func (x *executionTrace) place(all []*breakpoint) error {
	x.points, x.wants, x.wantedBy = nil, nil, nil
	for _, b := range all {
		b.count = 0
		if b.wrong != "" {
			continue
		}
		wants, err := x.wantsOf(b)
		if err != nil {
			b.message = err.Error()
			continue
		}
		b.verified = true
		for range wants {
			x.wantedBy = append(x.wantedBy, len(x.points))
		}
		x.wants = append(x.wants, wants...)
		x.points = append(x.points, tracePoint{b, make(map[arch.Addr]*expr.Evaluator)})
	}
	return nil
}

// wantsOf is what a breakpoint looks for in the trace.
func (x *executionTrace) wantsOf(b *breakpoint) (wants []index.Want, err error) {
	var found []symbol.Location
	switch {
	case b.data != "":
		o, err := x.query.Object(b.data)
		if err != nil {
			return nil, err
		}
		return x.accesses(o, b.access), nil
	case b.address != nil:
		return []index.Want{{What: index.Execution, Addr: *b.address, Size: 1}}, nil
	case x.named.program == nil:
		return nil, errNoNames
	case b.function != "":
		found, err = x.named.program.Locate(b.function)
	default:
		found, err = x.session.sources.locate(x.named.program, b.at)
	}
	if err != nil {
		return nil, err
	}
	for _, l := range found {
		wants = append(wants, index.Want{What: index.Execution, Addr: uint64(l.Addr), Size: 1})
		if b.at.path != "" {
			b.line = l.Line
		}
	}
	return wants, nil
}

// accesses is what a data breakpoint looks for.
func (x *executionTrace) accesses(o query.Object, access protocol.DataBreakpointAccessType) (wants []index.Want) {
	if o.IsRegister() {
		for _, cpu := range x.trace.CPUs {
			for _, name := range o.Names {
				if access != "read" {
					wants = append(wants, index.Want{What: index.RegisterSet, CPU: cpu, Name: name})
				}
				if access != "write" {
					wants = append(wants, index.Want{What: index.RegisterGet, CPU: cpu, Name: name})
				}
			}
		}
		return wants
	}
	if access != "read" {
		wants = append(wants, index.Want{What: index.Write, Addr: o.Addr, Size: o.Size})
	}
	if access != "write" {
		wants = append(wants, index.Want{What: index.Read, Addr: o.Addr, Size: o.Size})
	}
	return wants
}

// watchable implements watcher. A register is watched by its name, all else by where it is now.
func (x *executionTrace) watchable(c *call, expression string) (string, error) {
	if strings.HasPrefix(expression, "$") {
		if o, err := x.query.Object(expression); err == nil && o.IsRegister() {
			return expression, nil
		}
	}
	scope, err := x.named.scope(c)
	if err != nil {
		return "", err
	}
	e, err := expr.Compile(expression, scope)
	if err != nil {
		if o, problem := x.query.Object(expression); problem == nil && !o.IsRegister() {
			return fmt.Sprintf("%#x,%d", o.Addr, o.Size), nil
		}
		return "", err
	}
	v, err := e.Value(c.context)
	if err != nil {
		return "", err
	}
	if !v.InMemory || v.Type.Size <= 0 {
		return "", fmt.Errorf("%s is not in memory here", expression)
	}
	return fmt.Sprintf("%#x,%d", uint64(v.Addr), v.Type.Size), nil
}

func (x *executionTrace) begin(ctx context.Context, stopAtEntry bool) (stop, error) {
	if !stopAtEntry {
		x.here.Goto(0)
		return x.onward(ctx, motion{thread: x.thread()}, true)
	}
	return x.stopped("entry", "in front of the first instruction", nil), nil
}

func (x *executionTrace) restart(context.Context) (stop, error) {
	x.here.Goto(0)
	return x.stopped("entry", "in front of the first instruction", nil), nil
}

func (x *executionTrace) stopped(reason, description string, hit []int) stop {
	return stop{reason: reason, description: description, thread: x.thread(), hit: hit}
}

// onward searches for a breakpoint. What happens at the position itself was met already, unless it is fresh.
func (x *executionTrace) onward(ctx context.Context, m motion, fresh bool) (stop, error) {
	hit, at, err := x.search(ctx, m.backwards, fresh, nil, nil)
	switch {
	case err != nil || ctx.Err() != nil:
		return x.stopped("pause", "", nil), errUnlessCancelled(ctx, err)
	case at >= 0:
		x.here.Goto(at)
		reason := "breakpoint"
		if x.onlyData(hit) {
			reason = "data breakpoint"
		}
		return x.stopped(reason, "", hit), nil
	case m.backwards:
		x.here.Goto(0)
		return x.stopped("step", "at the beginning of the trace", nil), nil
	}
	x.here.Goto(x.trace.Instructions)
	return x.stopped("step", "at the end of the trace", nil), nil
}

func errUnlessCancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// onlyData reports whether all breakpoints that were hit are data breakpoints.
func (x *executionTrace) onlyData(hit []int) bool {
	return !slices.ContainsFunc(x.points, func(p tracePoint) bool { return p.data == "" && slices.Contains(hit, p.id) })
}

// search looks for the next place to stop in one direction: at a breakpoint, or at one of some other wants for which arrives says
// so. At is the position, -1 for none; hit is the breakpoints there, none for the others.
func (x *executionTrace) search(ctx context.Context, backwards, fresh bool, more []index.Want, arrives func(f index.Found) bool) (
	hit []int, at int64, err error,
) {
	wants := append(slices.Clone(x.wants), more...)
	at = -1
	if len(wants) == 0 {
		return nil, at, nil
	}
	start := x.position()
	visit := func(f index.Found) bool {
		place := f.Instruction
		if x.isAccess(wants[f.Want].What) {
			if place < 0 {
				return true // what the trace tells in front of its first instruction nobody did
			}
			if !backwards {
				place++ // behind it, where its effect can be seen
			}
		}
		if at >= 0 && place != at {
			return false
		}
		if place == start && !fresh {
			return ctx.Err() == nil
		}
		// What is found is one for all that want it.
		for i := range wants {
			switch {
			case i != f.Want && !x.trace.Meets(f.Item, &wants[i]):
			case i >= len(x.wants):
				if arrives(f) {
					at = place
				}
			default:
				if p := &x.points[x.wantedBy[i]]; !slices.Contains(hit, p.id) && x.meets(p, place) {
					hit, at = append(hit, p.id), place
				}
			}
		}
		return ctx.Err() == nil
	}
	if backwards {
		err = x.trace.EachBack(ctx, 0, start, wants, visit)
	} else {
		err = x.trace.Each(ctx, start, x.trace.Instructions, wants, visit)
	}
	return hit, at, err
}

func (x *executionTrace) isAccess(w index.What) bool {
	return w != index.Execution && w != index.Turn && w != index.Leave
}

// meets reports whether a breakpoint stops at a position. A log point prints, and does not.
func (x *executionTrace) meets(p *tracePoint, place int64) bool {
	it, err := x.trace.Instruction(min(place, x.trace.Instructions-1))
	if err != nil {
		return false
	}
	m := x.probed(place, it.CPU)
	if p.condition != "" && !x.holds(p, m) || !p.counts() {
		return false
	}
	if p.log != nil {
		x.session.log(x.named, m, p.log)
		return false
	}
	return true
}

// probed is a processor at any position. It is valid until the next probe.
func (x *executionTrace) probed(position int64, cpu int32) *executionMoment {
	x.probe.Goto(position)
	return &executionMoment{x, x.probe, target.ThreadID{PID: x.probe.Threads()[0].PID, TID: int(cpu) + 1}}
}

// holds evaluates a condition. One that lacks a value does not hold, as with frames.
func (x *executionTrace) holds(p *tracePoint, m *executionMoment) bool {
	c := x.named.innermost(m)
	e, known := p.evaluators[c.code]
	if !known {
		if scope, err := x.named.scope(&c); err == nil {
			if e, err = expr.Compile(p.condition, scope); err != nil {
				e = nil
				x.session.say("stderr", "condition %s: %s", p.condition, oneLine(err))
			}
		}
		p.evaluators[c.code] = e
	}
	if e == nil {
		return false
	}
	b, err := e.Bytes(m)
	return err == nil && slices.ContainsFunc(b, func(b byte) bool { return b != 0 })
}

// targets implements jumper: the executions of a line that are nearest.
func (x *executionTrace) targets(ctx context.Context, at sourceLine) (list []int, err error) {
	wants, err := x.wantsOf(&breakpoint{at: at})
	if err != nil {
		return nil, err
	}
	const most = 20 // on either side
	for _, look := range []func(visit func(index.Found) bool) error{
		func(v func(index.Found) bool) error { return x.trace.EachBack(ctx, 0, x.position(), wants, v) },
		func(v func(index.Found) bool) error {
			return x.trace.Each(ctx, x.position(), x.trace.Instructions, wants, v)
		},
	} {
		found := 0
		err := look(func(f index.Found) bool {
			list = append(list, int(f.Instruction))
			found++
			return found < most
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

func (x *executionTrace) jump(to int) (stop, error) {
	if to < 0 || int64(to) > x.trace.Instructions {
		return stop{}, fmt.Errorf("there is no instruction %d: the trace has %d", to, x.trace.Instructions)
	}
	x.here.Goto(int64(to))
	return x.stopped("goto", "", nil), nil
}

// code implements coder.
func (x *executionTrace) code(at arch.Addr) (bytes []byte, words string) {
	f, err := x.trace.Previous(context.Background(), min(x.position()+1, x.trace.Instructions), []index.Want{{What: index.Execution,
		Addr: uint64(at), Size: 1}})
	if err != nil || f == nil || f.Item.Addr != uint64(at) {
		return nil, ""
	}
	return x.bytesOf(f.Item), string(f.Item.Words)
}

// bytesOf is the bytes of an instruction as they lie in memory, nil where the trace does not tell them.
func (x *executionTrace) bytesOf(it *index.Item) []byte {
	value, wild, ok := itrace.ParseDigits(it.Digits)
	if !ok || wild || x.set == nil {
		return nil
	}
	return x.set.Append(nil, value, (len(it.Digits)+1)/2)
}
