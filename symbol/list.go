package symbol

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/internal/demangle"
	"tracewell/symbol/debuginfo"
)

// List returns the functions and static tracepoints whose names match a pattern, with the places that a tracepoint on each
// would have, by file and line. A pattern is a glob ("push*", "ns::*", "demo:*") or, between slashes, a regular expression;
// "FILE:" gives the lines of a file that have code, and "FILE:PATTERN" its functions. A glob is for the whole name or for its
// last part, without parameters; an empty one takes everything. That nothing matches is no error.
func (p *Program) List(pattern string) ([]Location, error) {
	// "queue.c:" is a file; "ns:" is not, and falls through to be matched as a name.
	if p.hasFile(strings.TrimSuffix(pattern, ":")) && strings.HasSuffix(pattern, ":") {
		return p.listLines(strings.TrimSuffix(pattern, ":")), nil
	}
	file := ""
	if before, after, ok := cutColon(pattern); ok && !strings.HasPrefix(pattern, "/") && p.hasFile(before) {
		file, pattern = before, after
	}
	match, err := matcher(pattern)
	if err != nil {
		return nil, err
	}
	var found []Location
	for _, o := range p.Objects() {
		found = append(found, o.listFunctions(file, match)...)
		if file != "" {
			continue
		}
		found = append(found, o.listSymbols(match)...)
		for i := range o.probes().Probes {
			probe := &o.probes().Probes[i]
			if match(probe.Provider+":"+probe.Name) || match(probe.Name) {
				found = append(found, o.atProbe(probe))
			}
		}
	}
	return sorted(found), nil
}

// sorted brings locations into the order of their sources, those without one last.
func sorted(found []Location) []Location {
	// Functions without debug information come last: there are thousands in a C library, and a reader looks for his own.
	sourceless := func(l Location) int {
		if l.File == "" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(found, func(a, b Location) int {
		return cmp.Or(sourceless(a)-sourceless(b), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Addr, b.Addr))
	})
	return slices.CompactFunc(found, func(a, b Location) bool { return a.Addr == b.Addr && a.Probe == b.Probe })
}

// matcher makes a pattern into what tells whether a name matches it.
func matcher(pattern string) (func(name string) bool, error) {
	if n := len(pattern); n >= 2 && pattern[0] == '/' && pattern[n-1] == '/' {
		expression, err := regexp.Compile(pattern[1 : n-1])
		if err != nil {
			return nil, fmt.Errorf("%s is no regular expression: %w", pattern, err)
		}
		return expression.MatchString, nil
	}
	if pattern == "" || pattern == "*" {
		return func(string) bool { return true }, nil
	}
	// Only * and ? are special, since [ and ] stand in the names of operators and of Go generics.
	text := regexp.QuoteMeta(pattern)
	text = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(text)
	expression, err := regexp.Compile("^(?s:" + text + ")$")
	if err != nil {
		return nil, err
	}
	return expression.MatchString, nil
}

// listFunctions finds the functions and inlined copies that debug information has.
func (o *Object) listFunctions(file string, match func(string) bool) []Location {
	wanted := map[*unit]map[debuginfo.Offset]bool{}
	o.file.EachName(debuginfo.KindFunction, func(name string, off debuginfo.Offset) bool {
		if !match(name) && !match(lastPart(name)) {
			return true
		}
		for _, instance := range o.file.Instances(off) {
			u := o.unit(instance.Entry.Unit)
			if wanted[u] == nil {
				wanted[u] = map[debuginfo.Offset]bool{}
			}
			wanted[u][instance.Entry.Offset] = true
		}
		return true
	})
	var found []Location
	// Units are read as a whole, so each is read once for all its functions.
	for u, entries := range wanted {
		if file != "" && !u.hasFile(file) {
			continue
		}
		for _, b := range u.functions() {
			if !entries[b.function.entry.Offset] {
				continue
			}
			l := o.describe(u.start(o, b))
			// A unit has functions of headers, too: what counts is the file in which the location itself is.
			if file == "" || l.File != "" && debuginfo.SamePath(file, l.File) {
				found = append(found, l)
			}
		}
	}
	return found
}

// lastPart is a name without scopes and arguments of a template.
func lastPart(name string) string {
	if !strings.Contains(name, "::") {
		return name
	}
	return parseName(name).last
}

// listSymbols finds the functions that only the symbol table has, by this name at least: the function that libc exports as
// pthread_create has another one in its source.
func (o *Object) listSymbols(match func(string) bool) []Location {
	var found []Location
	last := arch.Addr(0)
	for i := range o.symbols().all {
		s := &o.symbols().all[i]
		// Aliases of a function stand side by side in the table. The first that matches is listed.
		if !isFunction(s) || s.Addr == last {
			continue
		}
		if e := o.file.FunctionAt(s.Addr); e != nil && match(o.file.Name(e)) {
			continue
		}
		name := demangle.Plain(s.Plain())
		n := parseName(name)
		if !slices.ContainsFunc([]string{s.Name, s.Plain(), strings.Join(append(n.scopes, n.last), "::"), n.last}, match) {
			continue
		}
		last = s.Addr
		c := candidate{object: o, symbol: s}
		for _, at := range c.places(&spec{}) {
			l := o.describe(at.addr)
			l.Function, l.Inlined = name, false
			found = append(found, l)
		}
	}
	return found
}

// listLines finds the first place of each line of a file.
func (p *Program) listLines(file string) []Location {
	var found []Location
	for at, t := range p.tablesOf(file) {
		for _, e := range t.entries {
			if !e.statement || e.line == 0 {
				continue
			}
			if l := at.object.describe(e.addr); l.Line == e.line {
				found = append(found, l)
			}
		}
	}
	// Inlined copies and loops give a line many places; the list is for choosing a line.
	found = sorted(found)
	return slices.CompactFunc(found, func(a, b Location) bool { return a.File == b.File && a.Line == b.Line })
}
