package symtab

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// Bias returns how far above where the file has it the program is.
func (t *Table) Bias() arch.Addr { return t.bias }

// Types returns what the program's debug information says of types and variables, nil if there is none. Addresses in it are
// those of the file.
func (t *Table) Types() *ctype.Program {
	if t.lines == nil {
		return nil
	}
	t.lines.mu.Lock()
	defer t.lines.mu.Unlock()
	data := t.lines.open()
	if data == nil {
		return nil
	}
	return ctype.Read(data, &t.lines.mu, t.lines.file.ByteOrder == binary.BigEndian)
}
