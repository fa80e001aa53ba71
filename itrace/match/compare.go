package match

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"tracewell/itrace"
)

// comparison is one comparison under way.
type comparison struct {
	options  Options
	rules    *rules
	names    *names
	sides    [2]*side
	ended    [2]bool
	memory   *wrongMemory
	aligners map[int32]*aligner
	latest   *aligner
	released [2][]*group
	carriers [2][][]*group

	ordered []*aligner // the aligners, by their processors

	report *Report
	roots  []*root
	first  int64 // where the first of them is, by the reference's lines

	parsers  [2]itrace.Parser
	record   itrace.Record
	operands []operand
}

// Compare compares a trace with a reference. Dialects are those to choose from for an Input without one. What goes wrong is in the
// report: a trace that cannot be read, of which some lines cannot, or two of which nothing could be compared.
func Compare(ctx context.Context, ref, oth Input, dialects itrace.Registry, o Options) *Report {
	began := time.Now()
	o = o.settled()
	r := newRules(o)
	c := &comparison{
		options: o, rules: r, names: newNames(o.Aliases, &r.aliases), memory: newWrongMemory(), aligners: make(map[int32]*aligner),
		report: &Report{Counts: make(map[Class]int64)}, first: math.MaxInt64,
	}
	c.conclude(c.run(ctx, [2]Input{ref, oth}, dialects))
	c.report.Seconds = time.Since(began).Seconds()
	return c.report
}

// run compares until both traces have ended, one cannot be read, the context is done, or enough is known.
func (c *comparison) run(ctx context.Context, inputs [2]Input, dialects itrace.Registry) error {
	for i, in := range inputs {
		c.report.Traces[i].File = in.Name
	}
	ctx, end := context.WithCancelCause(ctx) // with the error that ends the comparison
	defer end(nil)
	context.AfterFunc(ctx, func() {
		for _, in := range inputs {
			if in.Interrupt != nil {
				in.Interrupt()
			}
		}
	})
	if c.begin(inputs, dialects, end); ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, s := range c.sides {
		go func() {
			if s.run(ctx); s.err != nil {
				end(s.err) // the other side may wait
			}
		}()
	}
	c.pairAll(end)
	err := context.Cause(ctx)
	end(nil)
	for i, s := range c.sides {
		for range s.full {
		}
		if !c.stopped() {
			c.report.Traces[i] = s.trace
		}
	}
	return err
}

// begin finds out the dialects, of both traces at the same time: they may be pipes that one program writes by turns.
func (c *comparison) begin(inputs [2]Input, dialects itrace.Registry, end context.CancelCauseFunc) {
	var wait sync.WaitGroup
	for i, in := range inputs {
		wait.Go(func() {
			if err := in.detect(dialects); err != nil {
				end(err)
				return
			}
			c.sides[i], c.parsers[i] = newSide(in, in.Dialect, c.rules, c.names), in.Dialect.New()
		})
	}
	wait.Wait()
}

// detect finds out the dialect of a trace, unless it is given, by as little of it as there is at first: of a pipe, what has been
// written.
func (in *Input) detect(dialects itrace.Registry) error {
	if in.Dialect != nil {
		return nil
	}
	buffered := bufio.NewReaderSize(in.Reader, itrace.DetectBytes)
	in.Reader = buffered
	d, head, err := dialects.Sniff(buffered)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", in.Name, err)
	case d == nil:
		return fmt.Errorf("%s: the trace %s", in.Name, dialects.Undetected(head))
	}
	in.Dialect = d
	return nil
}

// pairAll pairs the groups of both traces, reading on the side of which less has come.
func (c *comparison) pairAll(end context.CancelCauseFunc) {
	var delivered [2]int64
	for !c.stopped() && !(c.ended[reference] && c.ended[other]) {
		side := reference
		if c.ended[reference] || delivered[reference] > delivered[other] && !c.ended[other] {
			side = other
		}
		batch, more := <-c.sides[side].full
		if !more {
			if err := c.sides[side].err; err != nil {
				end(err)
				return
			}
			c.end(side)
			continue
		}
		c.report.Traces[side] = batch.trace
		delivered[side] += int64(len(batch.groups))
		for _, g := range batch.groups {
			c.aligner(g.cpu).queue[side].push(g)
		}
		c.carriers[side] = append(c.carriers[side], batch.groups[:0])
		c.work()
		if c.options.Progress != nil {
			c.options.Progress(c.sides[reference].read.Load(), c.sides[other].read.Load())
		}
	}
}

// stopped reports whether enough is known: the first difference, and that nothing before it will be found to be one.
func (c *comparison) stopped() bool {
	return c.answered() && !slices.ContainsFunc(c.ordered, func(a *aligner) bool { return !a.beyond(c.first) })
}

// answered reports whether a difference has been found and only the first is wanted.
func (c *comparison) answered() bool { return c.options.FirstOnly && len(c.roots) > 0 }

// end notes that a side has ended.
func (c *comparison) end(side int) {
	c.ended[side] = true
	for _, a := range c.ordered {
		a.queue[side].ended = true
	}
	c.work()
}

// aligner returns that of a processor.
func (c *comparison) aligner(cpu int32) *aligner {
	if c.latest != nil && c.latest.cpu == cpu {
		return c.latest
	}
	a := c.aligners[cpu]
	if a == nil {
		a = newAligner(c, cpu)
		c.aligners[cpu] = a
		at, _ := slices.BinarySearchFunc(c.ordered, cpu, func(a *aligner, cpu int32) int { return cmp.Compare(a.cpu, cpu) })
		c.ordered = slices.Insert(c.ordered, at, a)
	}
	c.latest = a
	return a
}

// work pairs what can be paired, of each processor in turn.
func (c *comparison) work() {
	for _, a := range c.ordered {
		a.work()
		if c.ended[reference] && c.ended[other] {
			a.finish()
		}
	}
}

// release gives a group back to the side that made it, in the slices in which groups come.
func (c *comparison) release(side int, g *group) {
	c.released[side] = append(c.released[side], g)
	if len(c.released[side]) < groupBatch {
		return
	}
	select {
	case c.sides[side].empty <- c.released[side]:
		c.released[side] = nil
		if n := len(c.carriers[side]); n > 0 {
			c.released[side] = c.carriers[side][n-1]
			c.carriers[side] = c.carriers[side][:n-1]
		}
	default: // it has more than enough
		c.released[side] = c.released[side][:0]
	}
}

// parsed reads the instruction record of a group again. It is valid until the next call.
func (c *comparison) parsed(side int, g *group) (*itrace.Record, bool) {
	c.record = itrace.Record{}
	problem := c.parsers[side].Parse(g.firstLine(), &c.record)
	return &c.record, problem == nil && !g.bare
}

// conclude makes the verdict.
func (c *comparison) conclude(err error) {
	r := c.report
	slices.SortStableFunc(c.roots, func(d, e *root) int { return cmp.Compare(d.order, e.order) })
	if c.answered() {
		c.roots = c.roots[:1]
		r.Counts = map[Class]int64{c.roots[0].Class: 1}
	}
	r.Differences = []Difference{}
	for _, d := range c.roots {
		r.Differences = append(r.Differences, d.Difference)
	}
	for _, t := range r.Traces {
		c.rules.unknown.add(t.Unknown)
	}
	r.Rules = c.rules.uses(r.Counts)
	switch {
	case err != nil:
		r.Verdict, r.Reason = Failed, err.Error()
	case c.unreadable() != "":
		r.Verdict, r.Reason = Failed, c.unreadable()
	case len(r.Counts) > 0:
		r.Verdict = Different
	case r.Compared == Counts{}:
		r.Verdict, r.Reason = Failed, "nothing was compared"
	default:
		r.Verdict = Equal
	}
}

// unreadable says that a trace has more lines than allowed that could not be read.
func (c *comparison) unreadable() string {
	for _, t := range c.report.Traces {
		if t.Unknown > c.options.AllowUnknown {
			return fmt.Sprintf("%s has %d lines that could not be read", t.File, t.Unknown)
		}
	}
	return ""
}
