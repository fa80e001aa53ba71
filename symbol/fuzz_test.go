package symbol

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"tracewell/arch"
	"tracewell/internal/demo"
	"tracewell/symbol/ctype"
)

// FuzzProgram: whatever is wrong with a program and its debugging information, asking for names, lines and types ends.
func FuzzProgram(f *testing.F) {
	f.Add(demo.Program(), uint64(0x400239))
	queue, err := os.ReadFile(queues[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(queue, uint64(0x4011b5))
	f.Fuzz(func(t *testing.T, program []byte, addr uint64) {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, program, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Open(path, Options{DebugDirs: []string{}})
		if err != nil {
			return
		}
		defer p.Close()
		p.Describe(arch.Addr(addr))
		p.Line(arch.Addr(addr))
		p.Statements("demo.c", 72)
		printer := ctype.Printer{Order: binary.LittleEndian}
		globals := p.Globals()
		for _, name := range globals.FixedNames() {
			if _, typ, ok := globals.Fixed(name); ok {
				printer.Append(nil, typ, make([]byte, min(typ.Size, 1<<12)))
			}
		}
		for _, local := range p.Scope(arch.Addr(addr)).Frame() {
			_ = local.Type.String()
		}
	})
}
