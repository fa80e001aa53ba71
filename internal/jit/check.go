package jit

import (
	"fmt"

	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// Refusal is why an expression cannot be compiled and stays with the interpreter.
type Refusal struct {
	Op     ax.Op // of the instruction that is the reason; 0 if no single one is
	Offset int   // of that
	Why    string
}

// Error gives the reason and the instruction: "jumps backwards: goto at offset 12".
func (r *Refusal) Error() string {
	if r.Op == 0 {
		return r.Why
	}
	return fmt.Sprintf("%s: %v at offset %d", r.Why, r.Op, r.Offset)
}

// Demand is what an expression needs of its Env.
type Demand struct {
	Scratch int  // number of scratch registers
	Fixed   bool // it changes RAX, RCX and RDX, too: it divides, or shifts by what it computes
}

// maxCells is the number of registers that can be scratch whatever the expression does: all but RSP and those of Demand.Fixed.
const maxCells = 12

// Check says why p cannot be compiled in any Env: a *Refusal.
func Check(p *ax.Program) error {
	r := p.Requirements()
	for _, flaw := range r.Flaws {
		if flaw.Kind != ax.ErrDeadCode { // which is not compiled
			return &Refusal{flaw.Op, flaw.Offset, flaw.Kind.Error()}
		}
	}
	for in := range p.Instructions() {
		if (in.Op == ax.OpGoto || in.Op == ax.OpIfGoto) && int(in.Operand) <= in.Offset {
			return &Refusal{in.Op, in.Offset, "jumps backwards"}
		}
	}
	if r.MaxHeight > maxCells {
		return &Refusal{Why: fmt.Sprintf("needs %d cells of the stack at once, at most %d can be", r.MaxHeight, maxCells)}
	}
	return nil
}

// Measure says what p demands in e, or why it cannot be compiled: a *Refusal. Of e it uses Register and Variable only, and emits no
// code. An expression of which a register is Stored can demand more than one of which it is In another. So a caller does well to
// ask with all registers in their own places, to choose as scratch what p does not read, and else to ask again.
func Measure(p *ax.Program, e *Env) (Demand, error) {
	if err := Check(p); err != nil {
		return Demand{}, err
	}
	a := asm.New(0)
	somewhere := a.NewLabel()
	nothing := func(_, _ Operand) error { return nil }
	dry := &Env{
		Scratch: []asm.Reg{
			asm.RBX, asm.RBP, asm.RSI, asm.RDI, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13, asm.R14, asm.R15,
		},
		Register:      e.Register,
		Variable:      e.Variable,
		Failed:        func(*ax.Error) asm.Label { return somewhere },
		TraceMemory:   nothing,
		TraceString:   nothing,
		TraceVariable: func(uint16) error { return nil },
		Printf:        func(_, _ Operand, _ string, _ []Operand) error { return nil },
	}
	c := compiler{Assembler: a, env: dry, dry: true, finish: unless(somewhere)}
	err := c.compile(p)
	return c.demand, err
}
