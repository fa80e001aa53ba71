package view

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/symbol"
	"tracewell/trace"
)

// pageMask clears the part of an address within a page. Programs are loaded in whole pages, of 4 kB or a multiple.
// A bias that is no multiple of it belongs to a wrong guess.
const pageMask = ^arch.Addr(0xfff)

var (
	errUnplaced = errors.New(
		"no symbols: the program can be loaded anywhere, and no tracepoint on a function or a line tells where it was")
	errMisplaced = errors.New(
		"no symbols: the tracepoints do not agree on where the program was loaded: it is another one, or was built anew")
)

// placed returns the program where it was. A trace file does not say where a position-independent one was loaded,
// and GDB 13.1 shows no symbols for it. But the tracepoints do as a rule: the location that the user gave one, a function or a
// line, has an address in the program, and it has one in the process. All of them must agree; those in libraries, whose
// locations the program does not have, say nothing.
func placed(program *symbol.Program, tracepoints []trace.Tracepoint) (*symbol.Program, error) {
	if program == nil {
		return nil, nil
	}
	// The caller's program keeps its addresses: several views may share one.
	program = program.Fork()
	if !program.Main().Relocatable() {
		return program, nil
	}
	// Each tracepoint allows some distances, often one, several if the line has several statements. Only those that
	// all allow remain.
	var common []arch.Addr
	known := false
	for i := range tracepoints {
		biases, found := biasesOf(program, &tracepoints[i])
		if !found {
			biases, found = biasesByLocation(program, &tracepoints[i])
		}
		if !found {
			continue
		}
		if known {
			biases = slices.DeleteFunc(biases, func(b arch.Addr) bool { return !slices.Contains(common, b) })
		}
		common, known = biases, true
	}
	slices.Sort(common)
	switch places := len(slices.Compact(common)); {
	case known && places == 0:
		return nil, errMisplaced
	case places != 1:
		return nil, errUnplaced
	}
	program.Rebase(common[0])
	return program, nil
}

// biasesOf returns the distances between the program and the process at which a tracepoint can be where it is, and whether
// the program has its location at all.
func biasesOf(program *symbol.Program, t *trace.Tracepoint) (biases []arch.Addr, found bool) {
	if file, line, ok := lineOf(t.Source.At); ok {
		for _, addr := range program.Statements(file, line) {
			// GDB puts a tracepoint on the first line of a function behind its prologue.
			biases = append(biases, within(program, addr, t.Addr)...)
			found = true
		}
		return biases, found
	}
	name, offset := functionOf(t.Source.At)
	function, ok := program.Symbol(name)
	if !ok || !function.Function {
		return nil, false
	}
	return within(program, function.Addr+arch.Addr(offset), t.Addr), true
}

// biasesByLocation is biasesOf for what only debug information knows, such as functions of C++ by their names in the source.
func biasesByLocation(program *symbol.Program, t *trace.Tracepoint) (biases []arch.Addr, found bool) {
	if !program.Main().File().HasDWARF() || t.Source.At == "" || strings.HasPrefix(t.Source.At, "*") {
		return nil, false
	}
	// Here the addresses are where GDB would set the breakpoint, behind the prologue, so that the distance is exact.
	locations, err := program.Locate(t.Source.At)
	for _, l := range locations {
		if bias := t.Addr - l.Addr; bias&^pageMask == 0 {
			biases = append(biases, bias)
		}
	}
	return biases, err == nil
}

// within returns the distance in whole pages between a place in the program and an address of the process. Where the place is
// the beginning of a function the address may be anywhere within it; the page in which the function begins is then the last
// one possible.
func within(program *symbol.Program, place, addr arch.Addr) []arch.Addr {
	bias := (addr - place) & pageMask
	// GDB skips the prologue for a location by function or first line, by an amount that is not known without debug
	// information.
	beyond := uint64(addr - bias - place)
	if beyond == 0 {
		return []arch.Addr{bias}
	}
	if s, offset, ok := program.SymbolAt(place); ok && s.Function && offset == 0 && beyond < s.Size {
		return []arch.Addr{bias}
	}
	return nil
}

// lineOf takes a location of the form FILE:LINE apart.
func lineOf(at string) (file string, line int, ok bool) {
	colon := strings.LastIndexByte(at, ':')
	if colon <= 0 {
		return "", 0, false
	}
	line, err := strconv.Atoi(at[colon+1:])
	return at[:colon], line, err == nil && line > 0
}

// functionOf returns the function of a location and the offset in it: "pop" of "queue.c:pop" and of "*pop", and "pop" and 4
// of "*pop+4". What is no function has no symbol.
func functionOf(at string) (name string, offset uint64) {
	name = strings.TrimPrefix(at[strings.LastIndexByte(at, ':')+1:], "*")
	before, digits, ok := strings.Cut(name, "+")
	if !ok {
		return name, 0
	}
	offset, err := strconv.ParseUint(strings.TrimSpace(digits), 0, 32)
	if err != nil {
		return name, 0
	}
	return strings.TrimSpace(before), offset
}
