package symbol

import (
	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// Described finds the type that Go's runtime describes at an address, by which it knows what an interface contains, or that a table
// of methods of Rust is for; nil if there is none.
func (p *Program) Described(at arch.Addr) *ctype.Type { return p.image(p.Main()).Described(at) }
