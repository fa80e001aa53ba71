package stub

import (
	"maps"

	"tracewell/arch"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tracepoint"
)

// insertBreakpoint is Z. GDB sends it again, without a z before it, when conditions or commands have changed.
func (x *session) insertBreakpoint(b request.Breakpoint) error {
	id, placed, err := x.placeOf(b)
	if err != nil {
		return err
	}
	if x.walk != nil {
		return x.insertInWalk(b)
	}
	if len(b.Conditions)+len(b.Commands) > 0 {
		agent, err := x.world.CompileBreakpoint(b.Addr, b.Conditions, b.Commands)
		if err != nil {
			return err
		}
		// The expressions belong to the breakpoint and not to the target, which calls this at each hit that may count.
		placed.Check, placed.Agent, placed.Print = agent.Hit, &agent.Breakpoint, agent.Print
	}
	if err := x.target.Breakpoints().InsertBreakpoint(id, placed); err != nil {
		return err
	}
	x.inserted[spotOf(id, b)] = true
	delete(x.persistent, spotOf(id, b))
	// The flag is the client's for each Z: one that is sent again without it takes it back.
	if b.Persistent && len(b.Commands) > 0 {
		x.persistent[spotOf(id, b)] = true
	}
	return nil
}

// removeBreakpoint is z.
func (x *session) removeBreakpoint(b request.Breakpoint) error {
	id, placed, err := x.placeOf(b)
	if err != nil {
		return err
	}
	if x.walk != nil {
		x.removeInWalk(b)
	}
	delete(x.persistent, spotOf(id, b))
	delete(x.inserted, spotOf(id, b))
	// Removing what is not there is no error: GDB removes breakpoints again after an exec and before it detaches.
	return x.target.Breakpoints().RemoveBreakpoint(id, placed)
}

// placeOf finds the thread that a Z or z is about, and returns the breakpoint as targets have it, without its reaction. Kinds
// that GDB does not have get the empty reply.
func (x *session) placeOf(b request.Breakpoint) (target.ThreadID, target.Breakpoint, error) {
	placed := target.Breakpoint{Kind: target.BreakKind(b.Kind), Addr: b.Addr, Length: b.Length}
	if placed.Kind > target.AccessWatch {
		// GDB emulates a read watchpoint by an access watchpoint where the reply is empty; after an error it gives up.
		return target.ThreadID{}, placed, target.ErrUnsupported
	}
	id, err := x.thread()
	return id, placed, err
}

// spot is what tells a breakpoint from all others.
type spot struct {
	pid    int
	kind   int
	addr   arch.Addr
	length int
}

func spotOf(id target.ThreadID, b request.Breakpoint) spot {
	return spot{id.PID, b.Kind, b.Addr, b.Length}
}

// leftBehind reports whether a process, or any for target.All, has breakpoints whose commands go on without a client.
func (s *Server) leftBehind(pid int) bool {
	for at := range s.persistent {
		if pid == target.All || at.pid == pid {
			return true
		}
	}
	return false
}

// forgetBreakpoints drops what is known of the breakpoints of a process: it has ended, or has become another.
func (s *Server) forgetBreakpoints(pid int) {
	for _, all := range []map[spot]bool{s.persistent, s.inserted} {
		maps.DeleteFunc(all, func(at spot, _ bool) bool { return at.pid == pid })
	}
}

// inheritBreakpoints takes note that a child has the breakpoints of its parent.
func (s *Server) inheritBreakpoints(parent, child int) {
	for at := range maps.Clone(s.inserted) {
		if at.pid == parent {
			at.pid = child
			s.inserted[at] = true
		}
	}
}

// withdraw removes the breakpoints of a client that is gone: the next one knows nothing of them, and would take their stops for
// signals of the program. GDB has mostly removed them itself whenever the program stands, LLDB never does.
func (s *Server) withdraw() {
	for _, id := range s.target.Threads() {
		for at := range s.inserted {
			if at.pid == id.PID {
				b := target.Breakpoint{Kind: target.BreakKind(at.kind), Addr: at.addr, Length: at.length}
				_ = s.target.Breakpoints().RemoveBreakpoint(id, b) // an error is that its memory is gone
				delete(s.inserted, at)
			}
		}
	}
	clear(s.inserted)
}

// newWorld is the engine that the expressions of breakpoints belong to where there are no tracepoints: one without variables
// whose output goes nowhere.
func newWorld(t target.Target) *tracepoint.Engine {
	return tracepoint.New(tracepoint.Layout{Order: t.ISA().Order})
}
