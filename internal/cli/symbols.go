package cli

import (
	"fmt"
	"os"

	"tracewell/internal/symtab"
)

// readSymbols reads the symbols of a program. Its file stays open as long as the table is in use, for the lines of the source.
func readSymbols(path string) (*symtab.Table, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	table, err := symtab.Read(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return table, nil
}
