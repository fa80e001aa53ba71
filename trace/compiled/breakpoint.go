package compiled

import (
	"bytes"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
)

// Breakpoint is what decides at a breakpoint whether a thread stops: a hit counts if there is no condition, or one of them holds or
// fails. One that counts runs the commands, if there are any, and then does not stop the thread. Nothing in it changes.
type Breakpoint struct {
	Addr       arch.Addr
	Conditions []*ax.Program
	Commands   []*ax.Program
}

// Same reports whether two breakpoints decide alike: a client that inserts one again sends the same bytes.
func (b *Breakpoint) Same(other *Breakpoint) bool {
	same := func(p, q *ax.Program) bool { return bytes.Equal(p.Code(), q.Code()) }
	return b.Addr == other.Addr && slices.EqualFunc(b.Conditions, other.Conditions, same) &&
		slices.EqualFunc(b.Commands, other.Commands, same)
}
