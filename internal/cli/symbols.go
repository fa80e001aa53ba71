package cli

import (
	"fmt"
	"os"

	"tracewell/internal/frameview"
	"tracewell/internal/symtab"
	"tracewell/symbol"
	"tracewell/tfile"
)

// symbols are what frames are understood by: the symbols of a program for any machine, and its debug information for those
// that it is read for. A nil *symbols has neither.
type symbols struct {
	table   *symtab.Table
	program *symbol.Program // nil where there is none
}

// readSymbols reads the symbols of a program. Its files stay open as long as they are in use, for the lines of the source.
func readSymbols(path string) (*symbols, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	table, err := symtab.Read(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	program, err := symbol.Open(path, symbol.Options{})
	if err != nil { // of another kind of machine
		program = nil
	}
	return &symbols{table, program}, nil
}

// view returns a view of a trace of the program.
func (s *symbols) view(content tfile.Content) (*frameview.View, []string) {
	if s == nil {
		return frameview.New(content, nil, nil)
	}
	return frameview.New(content, s.table, s.program)
}
