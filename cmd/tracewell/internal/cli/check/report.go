package check

import (
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/tfile/check"
	"tracewell/view/wire"
)

// report prints what was found, in either form. What is no trace file has a report as well: it was asked whether it is one.
func (c *Command) report(out *console.Output, name string, e *examination) error {
	switch {
	case c.JSON:
		return console.WriteIndented(out, wire.DescribeCheck(e.report, e.reason))
	case e.report == nil:
		return console.WriteLine(out, "%s\n%s: unreadable", text.Visible(e.reason.Error()), text.Visible(name))
	}
	writeFindings(out, name, e)
	return nil
}

// writeFindings prints the findings one a line, as compilers do, with the advice below the first that breaks a rule: a damaged file
// may break the same rule in many places. The last line sums up, also for a file without findings, so that no output is never a
// result.
func writeFindings(out *console.Output, name string, e *examination) {
	advised := make(map[string]bool)
	for _, f := range e.report.Findings {
		fmt.Fprintf(out, "%s:%s: %s: %s%s [%s]\n", text.Visible(name), place(f), out.Style.Heading(severityWords[f.Rule.Severity]),
			text.Visible(f.Text), others(f), f.Rule.Name)
		if !advised[f.Rule.Name] {
			fmt.Fprintf(out, "    %s\n", out.Style.Faint(f.Rule.Advice))
		}
		advised[f.Rule.Name] = true
	}
	if e.report.Verdict == check.WellFormed {
		fmt.Fprintf(out, "%s: well-formed: %s\n", text.Visible(name), text.Plural(e.frames, "frame"))
		return
	}
	fmt.Fprintf(out, "%s: %s in %s; the worst: %s\n", text.Visible(name), text.Plural(len(e.report.Findings), "finding"),
		text.Plural(e.frames, "frame"), severityWords[e.report.Worst()])
}

// place says where a finding is: the line of a definition or the frame, and the offset in the file, in bytes from its beginning.
// Of a compressed file that is the offset in its content.
func place(f check.Finding) string {
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%d:+%d", f.Line, f.Offset)
	case f.Frame >= 0:
		return fmt.Sprintf("frame %d:+%d", f.Frame, f.Offset)
	}
	return fmt.Sprintf("+%d", f.Offset)
}

// others says how many more there are of what is told once: a defect of all frames is one finding with a count.
func others(f check.Finding) string {
	switch {
	case f.Count <= 1:
		return ""
	case f.Frame >= 0:
		return fmt.Sprintf(" (and in %s more)", text.Plural(f.Count-1, "frame"))
	}
	return fmt.Sprintf(" (and %d more)", f.Count-1)
}

// severityWords says what GDB makes of a finding, from the least to the worst. The words are those of the report for people; JSON
// has the names of tfile.Severity.
var severityWords = map[tfile.Severity]string{
	tfile.Odd: "odd", tfile.Misreads: "GDB misreads it", tfile.Refuses: "GDB refuses it", tfile.Crashes: "GDB crashes",
}
