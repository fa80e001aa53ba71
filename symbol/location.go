package symbol

import (
	"fmt"
	"strings"

	"tracewell/arch"
	"tracewell/sdt"
)

// Location is one place in the code of a process, and what is known of it.
type Location struct {
	Addr     arch.Addr // in the process
	Object   *Object   // that it lies in, nil if it lies in none
	Function string    // as GDB names it, with the parameters of a C++ function; "" where nothing is known
	Offset   uint64    // of Addr from the beginning of the function's code
	File     string    // of the source, as the compiler was given it; "" where no line is known
	Line     int
	Resolver bool       // Addr begins a function that chooses, when the program is linked, the one that is called (STT_GNU_IFUNC)
	Inlined  bool       // Addr lies in an inlined copy of the function
	Copy     bool       // what was asked for is an inlined copy of a function, or lies in one
	Tail     bool       // Addr is a jump by which the function leaves for another one, which returns in its place (Exits)
	Call     string     // the system call that Addr stands for; "" for a place in code
	Import   string     // the function of another file that is called here, through a stub; "" elsewhere
	Probe    *sdt.Probe // the static tracepoint that is here, if one was asked for; its addresses are those of the file
}

// Semaphore returns the address of the counter that must not be 0 for the arguments of a static tracepoint to be made, 0 if
// there is none.
func (l *Location) Semaphore() arch.Addr {
	if l.Probe == nil || l.Probe.Semaphore == 0 {
		return 0
	}
	return l.Probe.Semaphore + l.Object.bias
}

// String says where it is as GDB does: "0x4011b5 in push at queue.c:23".
func (l Location) String() string {
	if l.Call != "" {
		return "system call " + l.Call
	}
	var b strings.Builder
	b.WriteString(l.Addr.String())
	switch {
	case l.Function != "" && l.File != "":
		fmt.Fprintf(&b, " in %s at %s:%d", l.Function, l.File, l.Line)
	case l.Function != "":
		fmt.Fprintf(&b, " <%s+%d>", l.Function, l.Offset)
	case l.File != "":
		fmt.Fprintf(&b, " at %s:%d", l.File, l.Line)
	}
	return b.String()
}

// Line is a line of a program's source.
type Line struct {
	File   string // as the compiler was given it, without "." and ".." where they can be done without
	Number int    // from 1
}
