package symbol

import (
	"fmt"
	"strings"
)

// SyntaxError is what is wrong with the text of a location.
type SyntaxError struct {
	Spec       string // the whole text
	Start, End int    // of the part that is wrong, in bytes; End may equal Start
	Problem    string
}

// Error gives the problem and the text with the part marked, in several lines.
func (e *SyntaxError) Error() string {
	mark := strings.Repeat("~", max(0, e.End-e.Start-1))
	return fmt.Sprintf("%s\n  %s\n  %s^%s", e.Problem, e.Spec, strings.Repeat(" ", e.Start), mark)
}

// Kind says what a name was looked for as.
type Kind string

// The kinds of names in a location.
const (
	FunctionName Kind = "function"
	FunctionCode Kind = "code of function" // of one that the program has
	FileName     Kind = "source file"
	LineNumber   Kind = "line"
	LabelName    Kind = "label"
	ProbeName    Kind = "probe"
	AddressName  Kind = "code at"
	VariableName Kind = "variable"
	ImportName   Kind = "call of"
	ObjectName   Kind = "executable or library"
)

// NotFoundError says that no object of a program has what a location names. A library that is loaded later may have it, so
// the location can be tried again whenever an object is added; a location that is wrong in itself has a SyntaxError.
type NotFoundError struct {
	Spec    string // the whole location
	Kind    Kind
	Name    string   // of what was not found: a function, a file, a line, a probe
	Within  string   // where it was looked for: the file of a line or a function, "" for everywhere
	Nearest []string // the names nearest to it, the nearest first; they can stand in its place
	Note    string   // what else there is to say, as "queue.c has code up to line 93"; "" for nothing
}

// Error says what was not found, and what may have been meant.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no %s %s", e.Kind, e.Name)
	if e.Within != "" {
		fmt.Fprintf(&b, " in %s", e.Within)
	}
	if e.Note != "" {
		fmt.Fprintf(&b, ": %s", e.Note)
	}
	if len(e.Nearest) > 0 {
		fmt.Fprintf(&b, "; did you mean %s?", strings.Join(e.Nearest, ", "))
	}
	return b.String()
}
