package symtab

import "tracewell/arch"

// Bias returns how far above where the file has it the program is.
func (t *Table) Bias() arch.Addr { return t.bias }
