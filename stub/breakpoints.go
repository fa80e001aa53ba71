package stub

import (
	"math"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/target"
)

// placement is the arguments of Z and z.
type placement struct {
	kind   target.BreakKind
	addr   arch.Addr
	length int // of what is watched; for breakpoints the kind of instruction, which x86 has only one of
}

// parsePlacement reads KIND,ADDRESS,LENGTH. Conditions and commands, which may follow, are not announced, so that
// GDB evaluates them.
func parsePlacement(args string) (placement, error) {
	in := rsp.NewScanner(args)
	kind := in.HexUpTo(math.MaxUint8)
	in.Literal(',')
	addr := in.HexField()
	in.Literal(',')
	length := in.HexUpTo(math.MaxInt32)
	return placement{target.BreakKind(kind), arch.Addr(addr), int(length)}, in.End()
}

// insertBreakpoint is Z.
func (x *session) insertBreakpoint(args string) ([]byte, error) {
	return x.place(args, x.target.Breakpoints().InsertBreakpoint)
}

// removeBreakpoint is z.
func (x *session) removeBreakpoint(args string) ([]byte, error) {
	return x.place(args, x.target.Breakpoints().RemoveBreakpoint)
}

func (x *session) place(args string, do func(target.ThreadID, target.Breakpoint) error) ([]byte, error) {
	at, err := parsePlacement(args)
	if err != nil {
		return nil, err
	}
	if at.kind > target.AccessWatch {
		return nil, target.ErrUnsupported
	}
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	return replyOK, do(id, target.Breakpoint{Kind: at.kind, Addr: at.addr, Length: at.length})
}
