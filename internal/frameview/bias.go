package frameview

import (
	"errors"
	"strings"

	"tracewell/arch"
	"tracewell/internal/symtab"
	"tracewell/trace"
)

// pageMask clears the part of an address within a page. Programs are loaded in whole pages, of 4 kB or a multiple.
const pageMask = ^arch.Addr(0xfff)

var errUnplaced = errors.New("no symbols: the program can be loaded anywhere, and no tracepoint on a function tells where it was")

// placed returns the symbols where the program was. A trace file does not say where a position-independent one was loaded,
// and GDB 13.1 shows no symbols for it. But the tracepoints do as a rule: one that the user put on a function has an address
// a few bytes into it, which leaves one page for the program to begin at. All of them must agree.
func placed(symbols *symtab.Table, tracepoints []trace.Tracepoint) (*symtab.Table, error) {
	if symbols == nil || !symbols.Relocatable() {
		return symbols, nil
	}
	var bias arch.Addr
	known := false
	for _, t := range tracepoints {
		function, ok := symbols.Named(functionOf(t.Source.At))
		if !ok || !function.Function {
			continue
		}
		candidate := (t.Addr - function.Addr) & pageMask
		if uint64(t.Addr-candidate-function.Addr) >= max(function.Size, 1) || known && candidate != bias {
			return nil, errUnplaced
		}
		bias, known = candidate, true
	}
	if !known {
		return nil, errUnplaced
	}
	return symbols.Rebase(bias), nil
}

// functionOf returns the function of a location, "pop" of "queue.c:pop" and of "*pop". What is no function has no symbol.
func functionOf(at string) string {
	return strings.TrimPrefix(at[strings.LastIndexByte(at, ':')+1:], "*")
}
