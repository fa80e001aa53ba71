package match

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/text"
	"tracewell/itrace"
)

// comparison is one comparison under way.
type comparison struct {
	options   Options
	rules     *rules
	names     *names
	sides     [2]*side
	ended     [2]bool
	memory    *wrongMemory
	aligners  map[int32]*aligner
	latest    *aligner
	delivered [2]int64 // groups of each side that have been read

	ordered []*aligner // the aligners, by their processors

	report     *Report
	rootCauses []*rootCause
	// Consequences are listed, as long as there is room, by what notes root causes otherwise.
	following    bool // what is noted is a consequence
	consequences []*rootCause
	first        int64 // where the first of them is, by the reference's lines

	skipper  skipper
	operands []operand
}

// Compare compares a trace with a reference. Dialects are those to choose from for an Input without one. What goes wrong is in the
// report: a trace that cannot be read, of which some lines cannot, or two of which nothing could be compared.
func Compare(ctx context.Context, ref, oth Input, dialects itrace.Registry, o Options) *Report {
	return newComparison(o.withDefaults()).compare(ctx, [2]Input{ref, oth}, dialects)
}

func newComparison(o Options) *comparison {
	r := newRules(o)
	return &comparison{
		options: o, rules: r, names: newNames(o.Aliases, &r.aliases), memory: newWrongMemory(), aligners: make(map[int32]*aligner),
		report: &Report{Counts: make(map[Class]int64), Profile: o.Profile}, first: math.MaxInt64,
	}
}

func (c *comparison) compare(ctx context.Context, inputs [2]Input, dialects itrace.Registry) *Report {
	began := time.Now()
	c.conclude(c.run(ctx, inputs, dialects))
	c.report.Seconds = time.Since(began).Seconds()
	return c.report
}

// run compares until both traces have ended, one cannot be read, the context is done, or enough is known.
func (c *comparison) run(ctx context.Context, inputs [2]Input, dialects itrace.Registry) error {
	var interrupts []func()
	for i, in := range inputs {
		c.report.Traces[i].File = in.Name
		if in.Interrupt != nil {
			interrupts = append(interrupts, in.Interrupt)
		}
	}
	ctx, end := context.WithCancelCause(ctx) // with the error that ends the comparison
	defer end(nil)
	context.AfterFunc(ctx, func() {
		for _, interrupt := range interrupts {
			interrupt()
		}
	})
	c.begin(&inputs, dialects, end)
	if c.options.StartCommon && ctx.Err() == nil {
		if err := c.findStart(&inputs); err != nil {
			end(err)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	wait := c.feed(ctx, inputs, end)
	c.pairAll(end)
	err := context.Cause(ctx)
	end(nil)
	wait()
	return err
}

// feed begins to read both traces, and returns what waits for the end of that. A trace that cannot be read ends the comparison at
// once if the other may have to be waited for.
func (c *comparison) feed(ctx context.Context, inputs [2]Input, end context.CancelCauseFunc) (wait func()) {
	var running routine.Group
	for i, in := range inputs {
		f := newFeed(ctx, in)
		c.sides[i] = newSide(in, f, c.rules, c.names)
		if in.Ready {
			continue
		}
		running.Go(func() {
			if f.run(); f.err != io.EOF && inputs[1-i].Interrupt != nil {
				end(f.err)
			}
		})
	}
	return running.Wait
}

// begin finds out the dialects, of both traces at the same time: they may be pipes that one program writes by turns.
func (c *comparison) begin(inputs *[2]Input, dialects itrace.Registry, end context.CancelCauseFunc) {
	var wait routine.Group
	for i := range inputs {
		wait.Go(func() {
			if err := inputs[i].detect(dialects); err != nil {
				end(err)
			}
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
	case d.Dialect == nil:
		return fmt.Errorf("%s: the trace %s", in.Name, dialects.Undetected(head))
	}
	in.Dialect, in.why = d.Dialect, d.Why
	return nil
}

// groupBatch is how many groups are read at once.
const groupBatch = 256

// pairAll pairs the groups of both traces as they are read.
func (c *comparison) pairAll(end context.CancelCauseFunc) {
	for !c.stopped() && !(c.ended[reference] && c.ended[other]) {
		n, want := c.behind()
		if err := c.take(n, c.sides[n].advance(want)); err != nil {
			end(err)
			return
		}
		if err := c.skip(); err != nil {
			end(err)
			return
		}
		if c.options.Progress != nil {
			c.options.Progress(c.report.Traces[reference].Bytes, c.report.Traces[other].Bytes)
		}
	}
}

// take takes groups of a side over and pairs what can be paired. The error is that for which the side cannot be read on.
func (c *comparison) take(side int, groups []*group) error {
	for _, g := range groups {
		c.aligner(g.cpu).queue[side].push(g)
	}
	c.delivered[side] += int64(len(groups))
	c.report.Traces[side] = c.sides[side].trace
	switch err := c.sides[side].err; {
	case err == nil:
		c.work()
	case err == io.EOF && !c.ended[side]:
		c.end(side)
	case err != io.EOF:
		return err
	}
	return nil
}

// behind chooses the side to read on, that of which less is waiting to be paired, and how many groups: as many as it lacks. What
// waits of a processor of which the other side has shown nothing, or nothing for long, does not count, or all others would wait
// for it.
func (c *comparison) behind() (side, want int) {
	var waiting [2]int
	for _, a := range c.ordered {
		if r, o := &a.queue[reference], &a.queue[other]; r.shown() && o.shown() {
			waiting[reference] += min(r.len(), 2*c.options.Lookahead)
			waiting[other] += min(o.len(), 2*c.options.Lookahead)
		}
	}
	lead := waiting[reference] - waiting[other]
	switch {
	case c.ended[reference] || lead > 0 && !c.ended[other]:
		side = other
	case lead == 0 && c.delivered[reference] > c.delivered[other] && !c.ended[other]:
		side = other
	}
	want = groupBatch - int(c.delivered[side]%groupBatch)
	if lead != 0 {
		want = min(want, max(lead, -lead))
	}
	return side, want
}

// stopped reports whether enough is known: the first difference, and that nothing before it will be found to be one.
func (c *comparison) stopped() bool {
	return c.answered() && !slices.ContainsFunc(c.ordered, func(a *aligner) bool { return !a.beyond(c.first) })
}

// answered reports whether a difference has been found and only the first is wanted.
func (c *comparison) answered() bool { return c.options.FirstOnly && len(c.rootCauses) > 0 }

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

// conclude makes the verdict.
func (c *comparison) conclude(err error) {
	r := c.report
	slices.SortStableFunc(c.rootCauses, func(d, e *rootCause) int { return cmp.Compare(d.order, e.order) })
	if c.answered() {
		c.rootCauses = c.rootCauses[:1]
		r.Counts = map[Class]int64{c.rootCauses[0].Class: 1}
	}
	r.Differences = []Difference{}
	for _, d := range c.rootCauses {
		r.Differences = append(r.Differences, d.Difference)
	}
	r.ConsequenceList = c.listedConsequences()
	for _, t := range r.Traces {
		c.rules.unknown.fired += t.Unknown
	}
	for _, a := range c.ordered {
		a.tellUntold()
	}
	r.Rules, r.NotTold = c.rules.uses(r.Counts), c.rules.notTold()
	switch {
	case err != nil:
		r.Verdict, r.Reason = Failed, err.Error()
	case c.unreadable() != "":
		r.Verdict, r.Reason = Failed, c.unreadable()
	case len(r.Counts) > 0 && c.incomplete() != "":
		r.Verdict, r.Reason = Failed, c.incomplete()
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
			return fmt.Sprintf("%s has %s that could not be read", t.File, text.Plural(t.Unknown, "line"))
		}
	}
	return ""
}

// incomplete says that a trace lacks instructions, by what it says itself, so that differences mean nothing.
func (c *comparison) incomplete() string {
	for _, s := range c.sides {
		if s.gap > 0 {
			return fmt.Sprintf("%s is incomplete: it does not tell all instructions behind line %d", s.trace.File, s.gap)
		}
	}
	return ""
}
