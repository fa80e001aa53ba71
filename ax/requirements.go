package ax

import (
	"cmp"
	"fmt"
	"slices"

	"tracewell/arch"
)

// Requirements is what can be told of a program without running it. It informs, it does not permit: a program with flaws
// runs, and one without can still fail on a division, on memory or on its budget.
type Requirements struct {
	MinHeight int        // least height of the stack; negative if more is taken than is there
	MaxHeight int        // greatest height of the stack
	Registers []arch.Reg // registers read, ascending
	Variables []uint16   // trace state variables read, written or recorded, ascending

	// Flaws are in the order of the bytecode; there are none in what GDB compiles. ErrHeight and ErrDeadCode are also GDB's
	// own reasons to refuse an expression, but that GDB follows the order of the bytecode rather than that of control:
	// it takes code behind an end for reachable, and code behind a goto for dead if only a later jump leads there.
	// ErrStackUnderflow, ErrStackOverflow and ErrUnhandledOp foretell a failure of any run that comes by.
	Flaws []*Error
}

// Requirements analyses p. It follows control from the first instruction along both branches of every if_goto and gives
// each instruction the height that the first path to it has.
func (p *Program) Requirements() Requirements {
	a := analysis{program: p, heights: make([]int, len(p.steps)), seen: make([]bool, len(p.steps))}
	a.reach(0, 0)
	for len(a.pending) > 0 {
		last := len(a.pending) - 1
		i := a.pending[last]
		a.pending = a.pending[:last]
		a.visit(i)
	}
	for i, seen := range a.seen {
		if !seen {
			a.flaw(i, ErrDeadCode, nil)
		}
	}
	slices.SortStableFunc(a.result.Flaws, func(x, y *Error) int { return cmp.Compare(x.Offset, y.Offset) })
	slices.Sort(a.result.Registers)
	a.result.Registers = slices.Compact(a.result.Registers)
	slices.Sort(a.result.Variables)
	a.result.Variables = slices.Compact(a.result.Variables)
	return a.result
}

// analysis is the state of one call of Requirements. Each step enters pending once, when it is first reached.
type analysis struct {
	program *Program
	heights []int // by step: of the stack before it, once it is seen
	seen    []bool
	pending []int // seen steps that are yet to be visited
	result  Requirements
}

// reach notes that step i can be executed with the given height.
func (a *analysis) reach(i, height int) {
	if !a.seen[i] {
		a.seen[i], a.heights[i] = true, height
		a.pending = append(a.pending, i)
		return
	}
	if a.heights[i] != height {
		a.flaw(i, ErrHeight, fmt.Errorf("%d on one path, %d on another", a.heights[i], height))
	}
}

// visit works out what step i does and where control goes from it.
func (a *analysis) visit(i int) {
	s := &a.program.steps[i]
	base := a.heights[i] - int(s.pops)
	after := base + int(s.pushes)
	a.result.MinHeight = min(a.result.MinHeight, base)
	a.result.MaxHeight = max(a.result.MaxHeight, after)
	switch {
	case s.unit == unhandled:
		a.flaw(i, ErrUnhandledOp, nil)
	case base < 0 && s.pops > 0:
		a.flaw(i, ErrStackUnderflow, fmt.Errorf("height falls to %d", base))
	case after > MaxHeight && s.pushes > s.pops:
		a.flaw(i, ErrStackOverflow, fmt.Errorf("height rises to %d", after))
	}
	switch s.unit {
	case register:
		a.result.Registers = append(a.result.Registers, arch.Reg(s.arg))
	case variable:
		a.result.Variables = append(a.result.Variables, uint16(s.arg))
	case jump:
		a.reach(int(s.arg), after)
	}
	if s.op.fallsThrough() {
		a.reach(i+1, after)
	}
}

func (a *analysis) flaw(i int, kind, cause error) {
	a.result.Flaws = append(a.result.Flaws, a.program.fault(i, kind, cause))
}
