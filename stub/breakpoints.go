package stub

import (
	"maps"
	"math"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/target"
	"tracewell/tracepoint"
)

// placement is the arguments of Z and z.
type placement struct {
	kind   target.BreakKind
	addr   arch.Addr
	length int // of what is watched; for breakpoints the kind of instruction, which x86 has only one of

	conditions [][]byte // agent expressions: the thread stops if there are none, or if one holds
	commands   [][]byte // agent expressions that are run in place of a stop
	persistent bool     // the commands go on when the client has left
}

// parsePlacement reads KIND,ADDRESS,LENGTH and what may follow it: see the GDB manual, Packets, z0.
func parsePlacement(args string) (placement, error) {
	var p placement
	in := rsp.NewScanner(args)
	p.kind = target.BreakKind(in.HexUpTo(math.MaxUint8))
	in.Literal(',')
	p.addr = arch.Addr(in.HexField())
	in.Literal(',')
	p.length = int(in.HexUpTo(math.MaxInt32))
	for !in.Done() {
		in.Literal(';')
		if !in.AcceptText("cmds:") {
			p.conditions = appendExpressions(p.conditions, in)
			continue
		}
		p.persistent = in.HexUpTo(1) == 1
		in.Literal(',')
		p.commands = appendExpressions(p.commands, in)
	}
	return p, in.End()
}

// appendExpressions reads one or more XLENGTH,HEXCODE with nothing between them.
func appendExpressions(list [][]byte, in *rsp.Scanner) [][]byte {
	for more := true; more; more = in.Peek() == 'X' {
		in.Literal('X')
		length := in.HexField()
		in.Literal(',')
		list = append(list, in.HexBytesN(length))
	}
	return list
}

// insertBreakpoint is Z. GDB sends it again, without a z before it, when conditions or commands have changed.
func (x *session) insertBreakpoint(args string) ([]byte, error) {
	p, id, err := x.place(args)
	if err != nil {
		return nil, err
	}
	b := target.Breakpoint{Kind: p.kind, Addr: p.addr, Length: p.length}
	if len(p.conditions)+len(p.commands) > 0 {
		agent, err := x.world.CompileBreakpoint(p.addr, p.conditions, p.commands)
		if err != nil {
			return nil, err
		}
		b.Check = agent.Hit
	}
	if err := x.target.Breakpoints().InsertBreakpoint(id, b); err != nil {
		return nil, err
	}
	delete(x.persistent, p.of(id))
	if p.persistent && len(p.commands) > 0 {
		x.persistent[p.of(id)] = true
	}
	return replyOK, nil
}

// removeBreakpoint is z.
func (x *session) removeBreakpoint(args string) ([]byte, error) {
	p, id, err := x.place(args)
	if err != nil {
		return nil, err
	}
	delete(x.persistent, p.of(id))
	return replyOK, x.target.Breakpoints().RemoveBreakpoint(id, target.Breakpoint{Kind: p.kind, Addr: p.addr, Length: p.length})
}

// place parses the arguments of Z and z and finds the thread that they are about.
func (x *session) place(args string) (placement, target.ThreadID, error) {
	p, err := parsePlacement(args)
	if err == nil && p.kind > target.AccessWatch {
		err = target.ErrUnsupported
	}
	if err != nil {
		return placement{}, target.ThreadID{}, err
	}
	id, err := x.thread()
	return p, id, err
}

// spot is what tells a breakpoint from all others.
type spot struct {
	pid    int
	kind   target.BreakKind
	addr   arch.Addr
	length int
}

// of is where p is in the process of id.
func (p *placement) of(id target.ThreadID) spot { return spot{id.PID, p.kind, p.addr, p.length} }

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
	maps.DeleteFunc(s.persistent, func(at spot, _ bool) bool { return at.pid == pid })
}

// newWorld is the engine that the expressions of breakpoints belong to where there are no tracepoints: one without variables
// whose output goes nowhere.
func newWorld(t target.Target) *tracepoint.Engine {
	return tracepoint.New(tracepoint.Layout{Order: t.ISA().Order})
}
