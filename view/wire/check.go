package wire

import (
	"errors"

	"tracewell/tfile"
	"tracewell/tfile/check"
)

// FileReport is what "check --json" writes.
type FileReport struct {
	Verdict  check.Verdict `json:"verdict"`
	Findings []Finding     `json:"findings"` // by offset, at most 1000
}

// DescribeCheck describes what is wrong with a trace file. The report is nil for a file that could not be opened as one, and
// unreadable is why. A file without the first line of a trace file (tfile.FormatError) breaks a rule of its own, which no list of
// rules has, because nothing else of such a file is checked.
func DescribeCheck(report *check.Report, unreadable error) FileReport {
	object := FileReport{check.Unreadable, []Finding{}}
	var format *tfile.FormatError
	if errors.As(unreadable, &format) {
		object.Findings = append(object.Findings, Finding{
			Offset: format.Offset, Rule: "magic", Severity: tfile.Refuses.String(), Text: format.Error(), Count: 1,
			Advice: "check a file that begins with 0x7f and TRACE0",
		})
	}
	if report == nil {
		return object
	}
	object.Verdict = report.Verdict
	for _, f := range report.Findings {
		finding := describeFinding(f.Finding)
		finding.Line, finding.Frame, finding.Count = f.Line, Told(f.Frame, f.Frame >= 0), f.Count
		object.Findings = append(object.Findings, finding)
	}
	return object
}

func describeFinding(f tfile.Finding) Finding {
	return Finding{Offset: f.Offset, Rule: f.Rule.Name, Severity: f.Rule.Severity.String(), Text: f.Text, Advice: f.Rule.Advice}
}
