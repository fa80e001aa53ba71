package match

import (
	"cmp"
	"fmt"
	"io"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/jsontext"
	"tracewell/internal/packed"
	"tracewell/internal/text"
	"tracewell/itrace/dialects"
	"tracewell/itrace/match"
	"tracewell/itrace/match/batch"
	"tracewell/itrace/match/report"
)

// matchResults prints results as they come and counts them by verdict. Reports are kept only for JUnit and HTML, which are
// written at the end; a report holds at most --max-differences differences.
type matchResults struct {
	c       *Command
	streams console.Streams
	counts  map[match.Verdict]int
	cases   []report.Case // for JUnit and HTML
}

// newMatchResults prints to the streams of a command line.
func newMatchResults(c *Command, streams console.Streams) *matchResults {
	return &matchResults{c: c, streams: streams, counts: make(map[match.Verdict]int)}
}

// add prints a result in the form that the options choose. The reason of a failure goes to standard error as well, unless the
// report, which contains it, is on the same terminal; if nothing at all could be read of both traces, there is no report but the
// reason.
func (m *matchResults) add(r *batch.Result) error {
	m.counts[r.Verdict]++
	if m.c.JUnit != "" || m.c.HTML != "" {
		m.cases = append(m.cases, report.Case{Name: r.Name, Report: r.Report, Dialects: dialects.All})
	}
	for _, note := range r.Notes {
		fmt.Fprintf(m.streams.Err, "tracewell: %s\n", note)
	}
	if m.c.Debug {
		m.trace(r)
	}
	// Without a line of either trace a report would be a table of zeros. The reason says all.
	unread := r.Traces[0].Lines+r.Traces[1].Lines == 0
	if r.Verdict == match.Failed && !m.c.many() && (unread || !console.IsTerminal(m.streams.Out)) {
		fmt.Fprintf(m.streams.Err, "tracewell: %s\n", text.Visible(r.Reason))
	}
	return console.Write(m.streams, func(out *console.Output) error {
		switch {
		case m.c.JSON:
			return jsontext.Write(out, r.Result, "")
		case m.c.many():
			return m.line(out, r)
		case unread && r.Verdict == match.Failed:
			return nil
		case m.total() > 1 && !m.c.Quiet:
			fmt.Fprintln(out)
		}
		style := report.Style{Colour: out.Style.Colour, Width: out.Width, Quiet: m.c.Quiet, Dialects: dialects.All}
		return report.Text(out, r.Report, style)
	})
}

// many reports whether the results are of manifests. Each then has a line, rather than a report.
func (c *Command) many() bool { return c.Pairs != "" || c.Merge }

// line prints the line of one pair of many: the verdict in a column, the pair as the manifest writes it, and the first difference.
func (m *matchResults) line(out *console.Output, r *batch.Result) error {
	if m.c.Quiet && r.Verdict == match.Equal {
		return nil
	}
	// The verdicts are padded to one width before they are made bold, because escape sequences would count as characters.
	verdict := fmt.Sprintf("%-9s", r.Verdict)
	if r.Verdict != match.Equal {
		verdict = out.Style.Heading(verdict)
	}
	_, err := fmt.Fprintf(out, "%s  %s%s\n", verdict, text.Visible(r.Name), text.Visible(outline(r.Report)))
	return err
}

// outline summarises a report in one line: the reason of a failure, or the number of differences and the first one, with its
// position in the other trace, or in the reference if the other trace has nothing there.
func outline(r *match.Report) string {
	switch {
	case r.Verdict == match.Failed:
		return ": " + r.Reason
	case r.Verdict == match.Equal || len(r.Differences) == 0:
		return ""
	}
	// Counts has all differences, of which r.Differences holds the first --max-differences only.
	total := int64(0)
	for _, n := range r.Counts {
		total += n
	}
	first := r.Differences[0]
	s := fmt.Sprintf(": %s, first: %s", text.Plural(total, "difference"), first.Class)
	if first.What != "" {
		s += " " + first.What
	}
	if at := cmp.Or(first.Other, first.Reference); at != nil {
		s += fmt.Sprintf(" at %s:%d", at.File, at.Line)
	}
	if first.Expected != "" || first.Got != "" {
		s += fmt.Sprintf(", expected %s, got %s", first.Expected, first.Got)
	}
	return s
}

// trace prints for --debug what was read of each trace, and how fast. MB are millions of bytes, unpacked.
func (m *matchResults) trace(r *batch.Result) {
	// One line for each trace. The speed is that of the whole comparison, so it is lower than that of reading alone.
	for _, t := range r.Traces {
		speed := ""
		if r.Seconds > 0 {
			speed = fmt.Sprintf(", %.0f MB/s", float64(t.Bytes)/1e6/r.Seconds)
		}
		why := ""
		if t.Why != "" {
			why = " (" + text.Visible(t.Why) + ")"
		}
		fmt.Fprintf(m.streams.Err, "tracewell: debug: %s: dialect %q%s, %s, %s: %s, %s, %s, %d unknown%s\n",
			text.Visible(t.File), t.Dialect, why, text.Plural(t.Bytes, "byte"), text.Plural(t.Lines, "line"),
			text.Plural(t.Records.Instructions, "instruction"), text.Plural(t.Records.Registers, "register record"),
			text.Plural(t.Records.Memory, "memory record"), t.Unknown, speed)
	}
}

// total is how many results there are, including pairs that could not be compared.
func (m *matchResults) total() int {
	total := 0
	for _, n := range m.counts {
		total += n
	}
	return total
}

// conclude prints the totals, writes JUnit and HTML, each whole or not at all, and returns the exit status as an error: a failure
// counts more than a difference, because it may hide one.
func (m *matchResults) conclude() error {
	if m.c.many() && !m.c.JSON && !m.c.Quiet {
		err := console.Write(m.streams, func(out *console.Output) error {
			return console.WriteLine(out, "%s: %d equal, %d different, %d failed", text.Plural(m.total(), "pair"), m.counts[match.Equal],
				m.counts[match.Different], m.counts[match.Failed])
		})
		if err != nil {
			return err
		}
	}
	// Both files are written even if pairs have failed: a CI system shows from them which. A name that ends in .gz or .zst is
	// compressed.
	for _, file := range []struct {
		name  string
		write func(io.Writer, []report.Case) error
	}{{m.c.JUnit, report.JUnit}, {m.c.HTML, report.HTML}} {
		if file.name == "" {
			continue
		}
		method, _ := packed.BySuffix(file.name)
		if err := packed.Write(file.name, method, func(w io.Writer) error { return file.write(w, m.cases) }); err != nil {
			return err
		}
	}
	// Either has been printed with its pair, so the error has no message of its own.
	switch {
	case m.counts[match.Failed] > 0:
		return console.ErrTold
	case m.counts[match.Different] > 0:
		return console.ErrFinding
	}
	return nil
}
