package expr

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
)

// build makes a program of code and what follows it, and verifies it: what the agent would refuse at the first hit is an error
// here.
func build(c code, more ...func(*ax.Builder)) (*ax.Program, error) {
	b := &ax.Builder{}
	if err := c.then(more...)(b); err != nil {
		return nil, err
	}
	b.Emit(ax.OpEnd)
	p, err := b.Program()
	if err != nil {
		return nil, err
	}
	return p, verify(p)
}

// verify refuses a program that fails wherever it runs.
func verify(p *ax.Program) error {
	flaws := p.Requirements().Flaws
	switch {
	case len(flaws) == 0:
		return nil
	case flaws[0].Kind == ax.ErrStackOverflow:
		return errors.New("the expression is too deep: an agent expression has a stack of 98 cells")
	}
	return fmt.Errorf("its code is wrong: %w", flaws[0])
}

// traced makes a program that collects what p touches: memory before it is read, trace state variables after. This is how GDB
// makes actions of expressions: each reference is preceded by the collection of what it is about to read, so that an error in the
// middle leaves what was read before it in the frame. Jumps are bound anew, because the code grows.
func traced(p *ax.Program) (*ax.Program, error) {
	b := &ax.Builder{}
	labels := map[uint64]ax.Label{}
	label := func(offset uint64) ax.Label {
		if _, ok := labels[offset]; !ok {
			labels[offset] = b.NewLabel()
		}
		return labels[offset]
	}
	for in := range p.Instructions() {
		b.Bind(label(uint64(in.Offset)))
		switch in.Op {
		case ax.OpGoto, ax.OpIfGoto:
			b.Jump(in.Op, label(in.Operand))
			continue
		case ax.OpRef8, ax.OpRef16, ax.OpRef32, ax.OpRef64:
			b.Emit(ax.OpTraceQuick, 1<<(in.Op-ax.OpRef8))
		}
		b.Emit(in.Op, operands(in)...)
		if in.Op == ax.OpGetv {
			b.Emit(ax.OpTracev, in.Operand)
		}
	}
	return b.Program()
}

// operands are those that Builder.Emit takes for an instruction: none or one, as every opcode used here has.
func operands(in ax.Instruction) []uint64 {
	if in.Size() == 1 {
		return nil
	}
	return []uint64{in.Operand}
}

// errTarget says that code cannot be computed without a program that runs.
var errTarget = errors.New("depends on the target")

// fixed computes code that depends on nothing, an error if it depends on registers, memory or variables. Any code may be tried:
// what depends on the target fails at the first operation that shows it.
func fixed(c code) (int64, error) {
	p, err := build(c)
	if err != nil {
		return 0, err
	}
	// A trace state variable is not constant, although reading one cannot fail.
	for in := range p.Instructions() {
		if in.Op == ax.OpGetv || in.Op == ax.OpSetv {
			return 0, errTarget
		}
	}
	var m ax.Machine
	return m.Value(p, nowhere{})
}

// nowhere is an ax.Env that has nothing.
type nowhere struct{}

func (nowhere) Register(arch.Reg) (uint64, error)            { return 0, errTarget }
func (nowhere) Ref(arch.Addr, int) (uint64, error)           { return 0, errTarget }
func (nowhere) Variable(uint16) int64                        { return 0 }
func (nowhere) SetVariable(uint16, int64)                    {}
func (nowhere) TraceVariable(uint16)                         {}
func (nowhere) TraceMemory(arch.Addr, uint64)                {}
func (nowhere) TraceString(arch.Addr, uint64)                {}
func (nowhere) Printf(uint64, uint64, string, []int64) error { return errTarget }
