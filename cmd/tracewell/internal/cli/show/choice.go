package show

import (
	"context"
	"fmt"
	"io"
	"slices"

	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/survey"
)

// choiceOptions say which frames are looked for. A frame has to meet every option that is given; of values of one option it has to
// meet one. The exception is --outside, whose ranges are all excluded. --pc, --range and --outside are GDB's "tfind pc", "tfind
// range" and "tfind outside"; --tracepoint is "tfind tracepoint". GDB finds one frame at a time, by one condition.
//
// The order of the conditions is that of their cost: the index decides by number and tracepoint without reading the frame, the pc
// is compared next, and --where is evaluated last.
type choiceOptions struct {
	Frame  *int              `placeholder:"N" xor:"frames" help:"Print frame N in full."`
	Frames *flags.FrameRange `placeholder:"A:B" xor:"frames" help:"Only frames A to B, both included; either may be omitted."`

	Tracepoint []int    `short:"t" placeholder:"N" complete:"tracepoints" help:"Only frames of tracepoint N; may be given several times."`
	PC         []string `name:"pc" sep:"none" placeholder:"ADDR" complete:"locations" help:"Only frames whose pc is ADDR, SYMBOL+OFFSET or FILE:LINE; may be given several times, for any of them."`
	Range      []string `sep:"none" placeholder:"LOW,HIGH" complete:"locations" help:"Only frames whose pc is in a range, both ends included, or in a function; may be given several times, for any of them."`
	Outside    []string `sep:"none" placeholder:"LOW,HIGH" complete:"locations" help:"Only frames whose pc is outside such a range; may be given several times, for outside all of them."`
	Where      string   `placeholder:"COND" help:"Only frames for which a C condition over collected values and registers is true."`

	Limit   *int `placeholder:"N" xor:"limit" help:"Only the first N of the chosen frames."`
	Last    *int `placeholder:"N" xor:"limit" help:"Only the last N of the chosen frames."`
	Reverse bool `help:"Print the last frame first."`
}

// frameChoice is what choiceOptions mean for a file.
type frameChoice struct {
	survey.Choice
	last  int             // 0 without --last
	where *view.Condition // nil without --where; it counts the frames that lacked a name
}

// choice looks the options up in a file: tracepoints in its definitions and frames, places in the symbols of its program, the
// names of --where in what the tracepoints collect. Whatever the file does not have is an error, and none is taken for an empty
// choice: a script that misspells a function would otherwise conclude from the empty output that it was never called.
func (o *choiceOptions) choice(t *input.TraceFile) (*frameChoice, error) {
	limit, err := amount("--limit", o.Limit)
	if err != nil {
		return nil, err
	}
	last, err := amount("--last", o.Last)
	if err != nil {
		return nil, err
	}
	first, end, err := o.numbers(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	c := &frameChoice{last: last, Choice: survey.Choice{First: first, End: end, Limit: limit, Reverse: o.Reverse}}
	if c.Tracepoints, err = o.tracepoints(t.View); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	if c.PC, err = o.pcs(t.View); err != nil {
		return nil, err
	}
	if o.Where == "" {
		return c, nil
	}
	if c.where, err = t.View.Condition(o.Where); err != nil {
		return nil, fmt.Errorf("--where: %w", err)
	}
	// One reader serves all frames: it keeps its buffers from one to the next.
	reader := t.View.NewReader()
	c.Where = func(frame view.Frame) bool {
		reader.Set(frame)
		return c.where.Match(reader)
	}
	return c, nil
}

// amount is the value of an option that limits the number of frames; 0 without it, which stands for no limit. An explicit 0 is
// rejected: in a script it is more likely an empty variable or a mistake than the wish to see nothing.
func amount(name string, given *int) (int, error) {
	switch {
	case given == nil:
		return 0, nil
	case *given < 1:
		return 0, fmt.Errorf("%s: %d is no number of frames, from 1 on", name, *given)
	}
	return *given, nil
}

// numbers is the range of frames, end excluded, that --frame or --frames chooses; without them all frames. Frames are numbered
// from 0 in the order of the file, as by GDB's tfind, and keep their numbers whatever else is chosen.
func (o *choiceOptions) numbers(t *input.TraceFile) (first, end int, err error) {
	count := t.View.Content.NumFrames()
	switch {
	case o.Frame == nil && o.Frames == nil:
		return 0, count, nil
	case o.Frames != nil:
		return o.Frames.In(count)
	case *o.Frame < 0 || *o.Frame >= count:
		return 0, 0, fmt.Errorf("there is no frame %d: %s", *o.Frame, flags.FrameCount(count))
	}
	return *o.Frame, *o.Frame + 1, nil
}

// tracepoints checks that each tracepoint has a definition or a frame. A file that was cut, or that another stub wrote, may hold
// frames of tracepoints that it does not define.
func (o *choiceOptions) tracepoints(v *view.View) ([]trace.Number, error) {
	var wanted []trace.Number
	for _, n := range o.Tracepoint {
		if !hasTracepoint(v, trace.Number(n)) {
			return nil, fmt.Errorf("there is no tracepoint %d: %s", n, tracepointList(v))
		}
		wanted = append(wanted, trace.Number(n))
	}
	return wanted, nil
}

// hasTracepoint goes over the frames only if there is no definition; the index has their tracepoints without reading them.
func hasTracepoint(v *view.View, n trace.Number) bool {
	if slices.ContainsFunc(v.Content.Header().Tracepoints, func(t trace.Tracepoint) bool { return t.Number == n }) {
		return true
	}
	for i := range v.Content.NumFrames() {
		if v.Content.Tracepoint(i) == n {
			return true
		}
	}
	return false
}

// tracepointList says what tracepoints are defined. A tracepoint with several locations has a definition for each, all with the
// same number, which is listed once.
func tracepointList(v *view.View) string {
	var numbers []trace.Number
	for _, t := range v.Content.Header().Tracepoints {
		numbers = append(numbers, t.Number)
	}
	if len(numbers) == 0 {
		return "the file defines none"
	}
	slices.Sort(numbers)
	return fmt.Sprintf("the file defines %s", joinNumbers(slices.Compact(numbers)))
}

// joinNumbers lists numbers: "1, 2 and 3".
func joinNumbers(numbers []trace.Number) string {
	var list string
	for i, n := range numbers {
		switch {
		case i == 0:
		case i == len(numbers)-1:
			list += " and "
		default:
			list += ", "
		}
		list += fmt.Sprint(n)
	}
	return list
}

// pcs are the conditions on the pc, as groups of which a frame has to meet one query each: it is at one of the places, in one of
// the ranges, and outside of every range of --outside, each of which is therefore a group.
func (o *choiceOptions) pcs(v *view.View) (groups [][]tfile.Query, err error) {
	var at []tfile.Query
	for _, place := range o.PC {
		addrs, err := survey.Places(v.Symbols, place)
		if err != nil {
			return nil, fmt.Errorf("--pc %w%s", err, symbolHint(v))
		}
		at = append(at, survey.At(addrs)...)
	}
	var in []tfile.Query
	for _, extent := range o.Range {
		q, err := extentQuery(v, tfile.ByRange, extent)
		if err != nil {
			return nil, fmt.Errorf("--range %w%s", err, symbolHint(v))
		}
		in = append(in, q)
	}
	for _, group := range [][]tfile.Query{at, in} {
		if group != nil {
			groups = append(groups, group)
		}
	}
	for _, extent := range o.Outside {
		q, err := extentQuery(v, tfile.ByOutside, extent)
		if err != nil {
			return nil, fmt.Errorf("--outside %w%s", err, symbolHint(v))
		}
		groups = append(groups, []tfile.Query{q})
	}
	return groups, nil
}

// extentQuery makes a query of LOW,HIGH or the name of a function, all parts of it if the compiler has split it.
func extentQuery(v *view.View, kind tfile.QueryKind, extent string) (tfile.Query, error) {
	low, high, err := survey.Extent(v.Symbols, extent)
	return tfile.Query{Kind: kind, Low: low, High: high}, err
}

// symbolHint is the advice behind an error about a symbol when no program has been found. With a program the error itself is
// enough: it has no such symbol.
func symbolHint(v *view.View) string {
	if v.Symbols != nil {
		return ""
	}
	return " (--exec names the program that has them)"
}

// each calls do for the frames of the choice. For --last survey.Choice searches from the end of the file and stops at the Nth frame
// found. Unless --reverse is given as well, it reads these again in the order of the file.
func (c *frameChoice) each(ctx context.Context, v *view.View, do func(view.Frame) error) error {
	if c.last > 0 {
		return c.EachOfLast(ctx, c.last, v, do)
	}
	return c.Each(ctx, v, do)
}

// count returns how many frames each would be called for. --last only bounds the number: which frames are the last does not matter.
func (c *frameChoice) count(ctx context.Context, v *view.View) (int, error) {
	n, err := c.Count(ctx, v)
	if c.last > 0 {
		n = min(n, c.last)
	}
	return n, err
}

// warn reports frames in which the condition could not be evaluated, by the name that they lack: such a frame is not chosen, and
// a user who is not told would take that for false.
func (c *frameChoice) warn(messages io.Writer, name string) {
	if c.where == nil {
		return
	}
	for _, lack := range c.where.Lacking() {
		fmt.Fprintf(messages, "tracewell: %s: --where: %s\n", name, text.Visible(lack.String()))
	}
}
