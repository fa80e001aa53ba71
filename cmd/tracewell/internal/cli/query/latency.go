package query

import (
	"fmt"
	"io"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/text"
	"tracewell/itrace/query"
	"tracewell/view/wire"
)

// latencyCommand is "tracewell query latency". START and END are operands, and --from and --to are the range, as in all questions:
// a latency is measured where both of its ends are in the range.
type latencyCommand struct {
	asking
	Start string `arg:"" complete:"locations" help:"Where it begins: an address as 0x80000000, or with --exec a function, FUNCTION+BYTES or FILE:LINE."`
	End   string `arg:"" complete:"locations" help:"Where it ends; the same place as START for the time from one execution to the next."`
}

// Examples implements flags.Exampler.
func (*latencyCommand) Examples() string {
	return `  tracewell query latency run.log trap_entry isr_done --exec fw.elf   # how long interrupts take
  tracewell query latency run.log 0x80000104 0x80000104   # the period of a loop
  tracewell query latency run.log push queue.c:93 --exec fw.elf --json | jq .instructions.longestStart
`
}

// Run implements kong's command. Each execution of START goes with the next of END on the same processor.
func (c *latencyCommand) Run(streams console.Streams) error {
	return c.ask(streams, func(a *answer) error {
		start, err := a.Code(c.Start)
		if err != nil {
			return err
		}
		end, err := a.Code(c.End)
		if err != nil {
			return err
		}
		// Nothing is printed before all is measured: quantiles are those of all pairs.
		var l *query.Latency
		if err := a.search(func() (err error) {
			l, err = a.Latency(a, start, end)
			return err
		}); err != nil {
			return err
		}
		// The instructions of the longest and the shortest are read again, which may fail as any reading does.
		d, err := wire.DescribeLatency(a.Trace, start, end, l)
		switch {
		case err != nil:
			return err
		case a.json:
			return a.object(d)
		}
		a.latency(&d)
		return nil
	})
}

// latency prints the figures of lengths, and between which instructions the longest was.
func (a *answer) latency(d *wire.Latency) {
	fmt.Fprintf(a, "%s from %s to %s\n", text.Plural(d.Pairs, "time"), text.Visible(d.Start), text.Visible(d.End))
	// An end that is missing may lie behind --to, or the program went another way.
	if d.Open > 0 {
		fmt.Fprintf(a, "%s of %s without %s behind them\n", text.Plural(d.Open, "execution"), text.Visible(d.Start), text.Visible(d.End))
	}
	if d.Left > 0 {
		fmt.Fprintf(a, "%s left out: too many at once waited for %s\n", text.Plural(d.Left, "execution"), text.Visible(d.End))
	}
	if d.Instructions != nil {
		a.length(d.Instructions, "instructions")
	}
	// Times are a table of their own, in their own unit: an instruction may take any time.
	if d.Time != nil {
		unit := d.Time.Unit
		if unit == "" {
			unit = "units of the trace"
		}
		a.length(d.Time, "time, "+text.Visible(unit))
	}
}

// length prints the figures of a length, with a histogram by powers of two: latencies of one program often differ by orders of
// magnitude, and the few long ones are what people look for.
func (a *answer) length(f *wire.LatencyFigures, title string) {
	fmt.Fprintln(a, a.Style.Heading(title))
	about := ""
	if !f.Exact {
		about = "  (percentiles within 1 %)"
	}
	fmt.Fprintf(a, "    min %s  median %s  p90 %s  p99 %s  max %s  mean %.1f%s\n", f.Min, f.Percentiles["50"], f.Percentiles["90"],
		f.Percentiles["99"], f.Max, *f.Mean, about)
	pair(a, "longest", f.LongestStart, f.LongestEnd)
	pair(a, "shortest", f.ShortestStart, f.ShortestEnd)
	// A bucket of one value has one number.
	names, counts := make([]string, len(f.Histogram)), make([]int, len(f.Histogram))
	for i, b := range f.Histogram {
		names[i], counts[i] = string(b.Low), b.Count
		if string(b.High) != names[i] {
			names[i] += " … " + string(b.High)
		}
	}
	printing.WriteBars(a, names, counts)
}

// pair prints between which instructions something was the longest or the shortest. Their numbers are positions for query at, and
// their lines are those of the trace for an editor.
func pair(out io.Writer, which string, start, end wire.Step) {
	fmt.Fprintf(out, "    %s: instruction %d (line %d) to %d (line %d)\n", which, start.Instruction, start.Line, end.Instruction,
		end.Line)
}
