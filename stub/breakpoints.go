package stub

import (
	"tracewell/rsp/request"
	"tracewell/runcontrol"
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
	// The flag is the client's for each Z: one that is sent again without it takes it back.
	x.debuggee.Inserted(spotOf(id, b), b.Persistent && len(b.Commands) > 0)
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
	x.debuggee.Removed(spotOf(id, b))
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

// spotOf is what tells a breakpoint from all others.
func spotOf(id target.ThreadID, b request.Breakpoint) runcontrol.Spot {
	return runcontrol.Spot{PID: id.PID, Kind: b.Kind, Addr: b.Addr, Length: b.Length}
}

// newWorld is the engine that the expressions of breakpoints belong to where there are no tracepoints: one without variables
// whose output goes nowhere.
func newWorld(t target.Target) *tracepoint.Engine {
	return tracepoint.New(tracepoint.Layout{Order: t.ISA().Order})
}
