package runcontrol

import (
	"maps"

	"tracewell/arch"
	"tracewell/target"
)

// Spot is what tells a breakpoint from all others: its process, and kind, address and length as in its packet.
type Spot struct {
	PID    int
	Kind   int
	Addr   arch.Addr
	Length int
}

// Inserted takes note that the client has inserted a breakpoint, and whether its commands go on without a client.
func (d *Debuggee) Inserted(s Spot, persistent bool) { d.breakpoints[s] = persistent }

// Removed takes note that the client has removed a breakpoint.
func (d *Debuggee) Removed(s Spot) { delete(d.breakpoints, s) }

// LeftBehind reports whether a process, or any for target.All, has breakpoints whose commands go on without a client.
func (d *Debuggee) LeftBehind(pid int) bool {
	for at, persistent := range d.breakpoints {
		if persistent && (pid == target.All || at.PID == pid) {
			return true
		}
	}
	return false
}

// forgetBreakpoints drops what is known of the breakpoints of a process: it has ended, or has become another.
func (d *Debuggee) forgetBreakpoints(pid int) {
	maps.DeleteFunc(d.breakpoints, func(at Spot, _ bool) bool { return at.PID == pid })
}

// inheritBreakpoints takes note that a child has the breakpoints of its parent, whose commands end with the client.
func (d *Debuggee) inheritBreakpoints(parent, child int) {
	for at := range maps.Clone(d.breakpoints) {
		if at.PID == parent {
			at.PID = child
			d.breakpoints[at] = false
		}
	}
}

// withdraw removes the breakpoints of a client that is gone: the next one knows nothing of them, and would take their stops for
// signals of the program. GDB has mostly removed them itself whenever the program stands, LLDB never does.
func (d *Debuggee) withdraw() {
	for _, id := range d.target.Threads() {
		for at := range d.breakpoints {
			if at.PID == id.PID {
				b := target.Breakpoint{Kind: target.BreakKind(at.Kind), Addr: at.Addr, Length: at.Length}
				_ = d.target.Breakpoints().RemoveBreakpoint(id, b) // an error is that its memory is gone
				delete(d.breakpoints, at)
			}
		}
	}
	clear(d.breakpoints)
}
