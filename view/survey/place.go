package survey

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/symbol"
)

// PlaceError says what is wrong with the name of a place in a program.
type PlaceError struct{ Text, Reason string }

// Error gives the name and what is wrong.
func (e *PlaceError) Error() string { return fmt.Sprintf("%q: %s", e.Text, e.Reason) }

var errNoSymbols = errors.New("there are no symbols to look it up in")

// Places reads the name of a place in a program and returns its addresses: an address in C's notation, SYMBOL or
// SYMBOL+OFFSET, with or without a * in front, or FILE:LINE, which may have several. The program may be nil. The error is a
// *PlaceError.
func Places(program *symbol.Program, text string) ([]arch.Addr, error) {
	// GDB writes *ADDRESS for a location, and FUNCTION for the place behind its prologue; here a function is where it
	// begins, with and without the *.
	name := strings.TrimPrefix(strings.TrimSpace(text), "*")
	if addr, ok := number(name); ok {
		return []arch.Addr{arch.Addr(addr)}, nil
	}
	if file, digits, ok := strings.Cut(name, ":"); ok {
		return lines(program, text, file, digits)
	}
	name, offset := name, uint64(0)
	if before, digits, ok := strings.Cut(name, "+"); ok {
		if offset, ok = number(strings.TrimSpace(digits)); !ok {
			return nil, &PlaceError{text, fmt.Sprintf("the offset %q is no number", digits)}
		}
		name = strings.TrimSpace(before)
	}
	s, err := named(program, name)
	if err != nil {
		return nil, &PlaceError{text, err.Error()}
	}
	return []arch.Addr{s.Addr + arch.Addr(offset)}, nil
}

// lines finds FILE:LINE.
func lines(program *symbol.Program, text, file, digits string) ([]arch.Addr, error) {
	line, err := strconv.Atoi(digits)
	switch {
	case err != nil || line < 1:
		return nil, &PlaceError{text, fmt.Sprintf("the line %q is no number", digits)}
	case program == nil:
		return nil, &PlaceError{text, errNoSymbols.Error()}
	}
	addrs := program.Statements(file, line)
	if len(addrs) == 0 {
		return nil, &PlaceError{text, "the program's debug information has no such line"}
	}
	return addrs, nil
}

func named(program *symbol.Program, name string) (symbol.Symbol, error) {
	if program == nil {
		return symbol.Symbol{}, errNoSymbols
	}
	s, ok := program.Symbol(name)
	if !ok {
		return s, fmt.Errorf("the program has no symbol %q, or more than one", name)
	}
	return s, nil
}

// number reads a number in C's notation; hexadecimal has a 0x in front.
func number(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 0, 64)
	return n, err == nil
}

// Extent reads a range of addresses: LOW,HIGH, both places and both included, or a function, which stands for all of its
// code. The error is a *PlaceError.
func Extent(program *symbol.Program, text string) (low, high arch.Addr, err error) {
	first, last, ok := strings.Cut(text, ",")
	if !ok {
		return extentOf(program, text)
	}
	if low, err = onePlace(program, first); err != nil {
		return 0, 0, err
	}
	if high, err = onePlace(program, last); err != nil {
		return 0, 0, err
	}
	if high < low {
		return 0, 0, &PlaceError{text, fmt.Sprintf("the range ends at %v, before it begins at %v", high, low)}
	}
	return low, high, nil
}

func extentOf(program *symbol.Program, name string) (low, high arch.Addr, err error) {
	if _, isNumber := number(strings.TrimSpace(name)); isNumber {
		return 0, 0, &PlaceError{name, "want LOW,HIGH or a function"}
	}
	s, err := named(program, strings.TrimSpace(name))
	switch {
	case err != nil:
		return 0, 0, &PlaceError{name, err.Error()}
	// Assembly does not always set the size of a symbol.
	case s.Size == 0:
		return 0, 0, &PlaceError{name, "the program does not say how long it is: want LOW,HIGH"}
	}
	return s.Addr, s.Addr + arch.Addr(s.Size) - 1, nil
}

// A bound of a range must be one address: of a line that was compiled to several places none is meant more than
// another.
func onePlace(program *symbol.Program, text string) (arch.Addr, error) {
	addrs, err := Places(program, text)
	if err != nil {
		return 0, err
	}
	if len(addrs) > 1 {
		return 0, &PlaceError{text, fmt.Sprintf("it is in %d places", len(addrs))}
	}
	return addrs[0], nil
}
