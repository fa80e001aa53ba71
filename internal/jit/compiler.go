package jit

import (
	"errors"
	"slices"

	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// compiler turns one expression into code, in one pass over the bytecode. It appends to an Assembler that others append to as well:
// the pad before and behind, and the functions of the Env in between.
type compiler struct {
	*asm.Assembler
	env    *Env
	finish func(c *compiler, in ax.Instruction) // emits what is done with the stack at an end
	dry    bool                                 // the code is thrown away, so registers may collide

	cells   []cell
	marks   map[int]*mark // by offset in the bytecode: where jumps lead
	alive   bool          // control can get to the present instruction
	done    asm.Label     // behind the code
	demand  Demand
	inFixed bool  // a register of the program is in a fixed one
	err     error // the first one
}

// Run compiles p for its effects, as a tracepoint's action. What is left on the stack is ignored. Control comes out at the end of
// the code.
//
// A *Refusal is what Measure would have returned too; another error is a mistake in e. After either, the code of a is of no use.
func Run(a *asm.Assembler, e *Env, p *ax.Program) error {
	return build(a, e, p, func(*compiler, ax.Instruction) {})
}

// Value compiles p for its result, which the code puts into dst; that may be a scratch register. Otherwise it is as Run.
func Value(a *asm.Assembler, e *Env, p *ax.Program, dst asm.Reg) error {
	return build(a, e, p, func(c *compiler, in ax.Instruction) {
		if c.empty(in) {
			return
		}
		c.into(len(c.cells)-1, dst)
	})
}

// Condition compiles p as a condition: control comes out at the end of the code if the result is not 0, and at otherwise if it is.
// Otherwise it is as Run.
func Condition(a *asm.Assembler, e *Env, p *ax.Program, otherwise asm.Label) error {
	return build(a, e, p, unless(otherwise))
}

// unless ends a condition.
func unless(otherwise asm.Label) func(*compiler, ax.Instruction) {
	return func(c *compiler, in ax.Instruction) {
		if c.empty(in) {
			return
		}
		top := len(c.cells) - 1
		switch v := c.cells[top]; v.kind {
		case flags:
			c.Jcc(v.cond.Not(), otherwise)
		case constant:
			if v.disp == 0 {
				c.Jmp(otherwise)
				c.alive = false
			}
		default:
			c.truth(top)
			c.Jcc(asm.CondE, otherwise)
		}
	}
}

// empty reports whether there is no result at an end, and emits the failure then.
func (c *compiler) empty(in ax.Instruction) bool {
	if len(c.cells) > 0 {
		return false
	}
	c.Jmp(c.failed(in, ax.ErrEmptyStack))
	c.alive = false
	return true
}

// build compiles a program with an ending of its own.
func build(a *asm.Assembler, e *Env, p *ax.Program, finish func(*compiler, ax.Instruction)) error {
	if err := Check(p); err != nil {
		return err
	}
	c := compiler{Assembler: a, env: e, finish: finish}
	return c.compile(p)
}

// compile compiles a program that Check has found nothing wrong with.
func (c *compiler) compile(p *ax.Program) error {
	list := slices.Collect(p.Instructions())
	c.marks = make(map[int]*mark)
	for _, in := range list {
		if in.Op == ax.OpGoto || in.Op == ax.OpIfGoto {
			c.marks[int(in.Operand)] = &mark{label: c.NewLabel()}
		}
	}
	for _, in := range list {
		if m := c.marks[in.Offset]; m != nil {
			m.at = in
		}
	}
	c.done = c.NewLabel()
	c.alive = true
	for i := 0; i < len(list) && c.err == nil; i++ {
		c.arrive(list[i])
		if !c.alive {
			continue
		}
		if c.onlyRecorded(list[i:]) {
			c.step(list[i+1], false)
			i += 2
			continue
		}
		if i+1 < len(list) && c.marks[list[i+1].Offset] == nil && c.fused(list[i], list[i+1]) {
			i++
			continue
		}
		c.step(list[i], i == len(list)-1)
	}
	c.Bind(c.done)
	if c.demand.Fixed && c.inFixed && !c.dry {
		c.fail(errors.New("a register of the program is in one that divisions and shifts change"))
	}
	return c.err
}

// fail keeps the first error.
func (c *compiler) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// refuse keeps a refusal of one instruction.
func (c *compiler) refuse(in ax.Instruction, why string) { c.fail(&Refusal{in.Op, in.Offset, why}) }

// failed is where the Env wants control if the expression fails here.
func (c *compiler) failed(in ax.Instruction, kind error) asm.Label {
	return c.env.Failed(&ax.Error{Kind: kind, Op: in.Op, Offset: in.Offset})
}
