package symbol

import (
	"debug/dwarf"
	"fmt"
	"path"
	"strconv"
	"strings"

	"tracewell/internal/demangle"
	"tracewell/symbol/debuginfo"
)

// noFunction says that there is no function of a name, or none with code of its own, and which come near.
func (p *Program) noFunction(s *spec) error {
	if note := p.inlinedAway(s); note != "" {
		return &NotFoundError{Spec: s.text, Kind: FunctionCode, Name: s.function, Within: s.file, Note: note}
	}
	wanted := parseName(s.function)
	n := newNearest(wanted.last)
	for _, o := range p.Objects() {
		// Suggestions are a courtesy: looking through a million names stops when the time is up.
		o.file.EachName(debuginfo.KindFunction, func(whole string, _ debuginfo.Offset) bool {
			last := parseName(whole).last
			n.offerAs(last, whole)
			return n.patient()
		})
		for i := range o.symbols().all {
			symbol := &o.symbols().all[i]
			exported := symbol.Plain() != symbol.Name // by a name that its source may not have
			if isFunction(symbol) && (exported || !o.file.HasDWARF()) && n.patient() {
				whole := demangle.Plain(symbol.Plain())
				n.offerAs(parseName(whole).last, whole)
			}
		}
	}
	return &NotFoundError{Spec: s.text, Kind: FunctionName, Name: s.function, Within: s.file, Nearest: n.names(), Note: p.blind()}
}

// inlinedAway says why a function that the program has has no address: all calls of it were inlined, and perhaps computed by the
// compiler. It is empty for other functions.
func (p *Program) inlinedAway(s *spec) string {
	if len(p.functionPlaces(s)) > 0 {
		return "every call of it was inlined, and each copy has an address of its own (--list " + s.function + ")"
	}
	q := newQuery(s)
	for _, o := range p.Objects() {
		for _, off := range o.file.Functions(q.key()) {
			e, err := o.file.Entry(off)
			if err != nil || q.file != "" && !o.unit(e.Unit).hasFile(q.file) {
				continue
			}
			if how, ok := o.file.Lookup(e, dwarf.AttrInline); ok && inlined(how) {
				return "every call of it was inlined, and the compiler has left no code of the copies"
			}
		}
	}
	return ""
}

// inlined reports whether DW_AT_inline says so, and not merely that it was wished for: DW_INL_inlined, DW_INL_declared_inlined.
func inlined(how debuginfo.Value) bool {
	n, _ := how.Unsigned()
	return n == 1 || n == 3
}

// blind says why functions may be missing: the program has nothing to find them by.
func (p *Program) blind() string {
	main := p.Main()
	switch {
	case main.file.HasDWARF():
		return ""
	case len(main.symbols().all) == 0:
		return "the program has been stripped of its symbols"
	}
	return ""
}

// noFile says that no source file has a name, and which come near.
func (p *Program) noFile(s *spec, file string) error {
	n := newNearest(path.Base(file))
	known := false
	for _, o := range p.Objects() {
		for _, u := range o.file.Units() {
			for _, full := range u.Lines().Files {
				known = true
				n.offer(path.Base(full))
			}
			if !n.patient() {
				break
			}
		}
	}
	e := &NotFoundError{Spec: s.text, Kind: FileName, Name: file, Nearest: n.names()}
	if found := p.functionNamed(file, s); len(found) > 0 {
		e.Note = file + " is a function"
		if found[0].File != "" {
			e.Nearest = []string{fmt.Sprintf("%s:%d", path.Base(found[0].File), s.line)}
		}
		return e
	}
	if !known {
		e.Note = "the program has no debug information: compile it with -g"
	}
	return e
}

// noObject says that an address is asked for in a file that is none of the program's, and which come near.
func (p *Program) noObject(s *spec, name string) error {
	n := newNearest(path.Base(name))
	for _, o := range p.Objects() {
		n.offer(path.Base(o.path))
	}
	return &NotFoundError{Spec: s.text, Kind: ObjectName, Name: name, Nearest: n.names()}
}

// functionNamed finds the function that a location has in place of a file: push:20. Names of files have a dot.
// People write FUNCTION:LINE by analogy with FILE:LINE. It is worth an answer of its own: the file of that function.
func (p *Program) functionNamed(name string, s *spec) []Location {
	if s.line == 0 || strings.ContainsAny(name, "./") {
		return nil
	}
	found, _ := p.locateFunction(&spec{text: name, function: name}) // that there is none is said of the file
	return found
}

// noLine says that a line and all behind it have no code.
func (p *Program) noLine(s *spec, file string) error {
	last := 0
	for _, t := range p.tablesOf(file) {
		for _, e := range t.entries {
			if e.statement {
				last = max(last, e.line)
			}
		}
	}
	base := path.Base(file)
	e := &NotFoundError{Spec: s.text, Kind: LineNumber, Name: strconv.Itoa(s.line), Within: base}
	if last == 0 {
		e.Note = base + " has no code"
	} else {
		e.Note = fmt.Sprintf("%s has code up to line %d", base, last)
	}
	return e
}
