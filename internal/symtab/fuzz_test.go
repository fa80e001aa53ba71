package symtab

import (
	"bytes"
	"testing"

	"tracewell/arch"
	"tracewell/internal/demo"
)

// FuzzLines: whatever is wrong with the debugging information, asking for lines ends.
func FuzzLines(f *testing.F) {
	f.Add(demo.Program(), uint64(0x400239))
	f.Fuzz(func(_ *testing.T, program []byte, addr uint64) {
		table, err := Read(bytes.NewReader(program))
		if err != nil {
			return
		}
		table.Line(arch.Addr(addr))
		table.Statements("demo.c", 72)
	})
}
