package report

import (
	"cmp"

	"tracewell/itrace"
	"tracewell/itrace/match"
)

// Style is how Text writes.
type Style struct {
	Colour bool // bold and faint, by the sequences of ECMA-48
	Width  int  // of a line in characters; 0 for any, as in a file
	Quiet  bool // the verdict alone, on one line, and nothing at all if it is that the traces are equal

	// Dialects are those by which lines of traces are understood, so that they stand beside their like in the other trace. Lines
	// of others are compared by their words.
	Dialects itrace.Registry
}

// Case is a comparison among several.
type Case struct {
	Name   string        // by which people know it; may be empty
	Report *match.Report // nil is taken for a failure

	Dialects itrace.Registry // as in Style
}

// name is that of the case, or else that of the trace that was compared.
func (c Case) name() string { return cmp.Or(c.Name, c.report().Traces[other].File, "unnamed") }

// report is that of the case, or of the failure to have one.
func (c Case) report() *match.Report {
	if c.Report == nil {
		return &match.Report{Verdict: match.Failed, Reason: "there is no result"}
	}
	return c.Report
}

// The sides of a comparison, by which Report.Traces and pairs in this package are indexed.
const (
	reference = 0
	other     = 1
)

// places are the positions of a difference; nil on the side that has nothing.
func places(d *match.Difference) [2]*match.Position {
	return [2]*match.Position{d.Reference, d.Other}
}
