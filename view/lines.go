package view

import (
	"path"
	"strconv"

	"tracewell/arch"
)

// Line names the source line of the code at addr as GDB does where it is short, "queue.c:23"; empty without debug information
// about it.
func (v *View) Line(addr arch.Addr) string {
	if v.Symbols == nil {
		return ""
	}
	line, ok := v.Symbols.Line(addr)
	if !ok {
		return ""
	}
	return path.Base(line.File) + ":" + strconv.Itoa(line.Number)
}
