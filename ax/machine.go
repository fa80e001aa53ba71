package ax

import (
	"fmt"
	"slices"

	"tracewell/arch"
)

// Env is the world of a running expression. A Machine calls it in the order of execution. It must not use the Machine that
// calls it.
type Env interface {
	// Register returns the register of remote number r, of up to eight bytes, zero-extended.
	Register(r arch.Reg) (uint64, error)
	// Ref reads an integer of 1, 2, 4 or 8 bytes at any alignment, in the byte order of the target, zero-extended.
	Ref(addr arch.Addr, size int) (uint64, error)

	// Variable returns the value of trace state variable n, 0 if there is none.
	Variable(n uint16) int64
	// SetVariable changes trace state variable n if there is one.
	SetVariable(n uint16, v int64)

	// TraceVariable records the present value of trace state variable n.
	TraceVariable(n uint16)
	// TraceMemory records size bytes at addr. The size is never 0; how large it may be is for the Env to say.
	TraceMemory(addr arch.Addr, size uint64)
	// TraceString records the bytes from addr up to and including the first zero byte, at most limit of them. The limit is
	// never 0.
	TraceString(addr arch.Addr, limit uint64)

	// Printf prints args, the first argument first, by format, whose C escapes are not decoded: see FormatPrintf. GDB sends
	// what the user set as dprintf-function and dprintf-channel in fn and channel, 0 by default; gdbserver ignores both.
	// The slice is valid during the call only, and the Env may change it.
	Printf(fn, channel uint64, format string, args []int64) error
}

const (
	// MaxHeight is the number of cells that the stack may hold after an instruction. gdbserver has 100 cells and calls the
	// 99th an overflow.
	MaxHeight = 98

	// DefaultBudget is the budget of a Machine that does not set one. GDB compiles no loops; those over the elements of
	// containers take some hundred instructions for each.
	DefaultBudget = 1 << 20
)

// operandCells is the greatest number of cells that an opcode of the fixed kind reads or writes.
const operandCells = 3

// Machine evaluates programs one at a time. Its zero value is ready for use. It holds the stack, so that runs do not
// allocate, whatever their outcome but for an error.
type Machine struct {
	// Budget bounds loops: a jump backwards costs the number of instructions between it and its target, both included, and
	// a run that cannot pay ends with ErrStepLimit. A run thus executes at most as many instructions as the program has,
	// plus Budget, and a program without loops never meets the limit. 0 stands for DefaultBudget.
	Budget int

	// The cells above MaxHeight let every instruction look at its operandCells cells without asking.
	stack [MaxHeight + operandCells]int64
}

// Run evaluates p for its effects, as a tracepoint's action or a breakpoint's command. What is left on the stack is
// ignored. Effects that precede an error stay.
func (m *Machine) Run(p *Program, env Env) error {
	_, err := m.run(p, env)
	return err
}

// Value evaluates p for its result, the top of the stack at the end, as a condition. It is ErrEmptyStack if there is none.
func (m *Machine) Value(p *Program, env Env) (int64, error) {
	last, err := m.run(p, env)
	if err != nil {
		return 0, err
	}
	if last.height == 0 {
		return 0, p.fault(last.step, ErrEmptyStack, nil)
	}
	return m.stack[last.height-1], nil
}

// ending is where a run came to its end.
type ending struct {
	step   int // index of the end instruction
	height int // of the stack
}

// run executes p. The cells that an instruction consumes and those it leaves start at one place, base: c[0] is the deepest
// of its operands and the deepest of its results. One comparison of base with what the step knows beforehand finds both
// underflow and overflow, before the instruction has had any effect.
func (m *Machine) run(p *Program, env Env) (ending, error) {
	budget := m.Budget
	if budget == 0 {
		budget = DefaultBudget
	}
	pc, height := 0, 0
	for {
		in := &p.steps[pc]
		base := height - int(in.pops)
		if base < 0 || base > int(in.room) {
			return ending{}, p.stackFault(pc, base)
		}
		c := (*[operandCells]int64)(m.stack[base:])
		next := pc + 1
		switch in.unit {
		case constant:
			c[0] = int64(in.arg)
		case unary:
			c[0] = evalUnary(in.op, c[0], in.arg)
		case binary:
			c[0] = evalBinary(in.op, c[0], c[1])
		case division:
			if c[1] == 0 {
				return ending{}, p.fault(pc, ErrDivideByZero, nil)
			}
			c[0] = evalDivision(in.op, c[0], c[1])
		case shuffle:
			evalShuffle(in.op, c)
		case picking:
			m.stack[height] = c[0]
		case jump:
			if in.op == OpIfGoto && c[0] == 0 {
				break
			}
			next = int(in.arg)
			if next <= pc {
				if budget -= pc - next + 1; budget < 0 {
					return ending{}, p.fault(pc, ErrStepLimit, nil)
				}
			}
		case register:
			v, err := env.Register(arch.Reg(in.arg))
			if err != nil {
				return ending{}, p.fault(pc, ErrRegister, fmt.Errorf("register %d: %w", in.arg, err))
			}
			c[0] = int64(v)
		case memory:
			v, err := env.Ref(arch.Addr(c[0]), int(in.arg))
			if err != nil {
				return ending{}, p.memoryFault(pc, arch.Addr(c[0]), err)
			}
			c[0] = int64(v)
		case variable:
			evalVariable(in, c, env)
		case record:
			evalRecord(in, c, env)
		case printing:
			if err := evalPrintf(p.formats[in.arg], m.stack[base:height], env); err != nil {
				return ending{}, p.fault(pc, ErrPrintf, err)
			}
		case stop:
			return ending{pc, height}, nil
		default:
			return ending{}, p.fault(pc, ErrUnhandledOp, nil)
		}
		pc, height = next, base+int(in.pushes)
	}
}

// stackFault says what is wrong with a base that step i cannot work on.
func (p *Program) stackFault(i, base int) error {
	if base < 0 {
		return p.fault(i, ErrStackUnderflow, fmt.Errorf("%d cells missing", -base))
	}
	return p.fault(i, ErrStackOverflow, fmt.Errorf("at most %d cells", MaxHeight))
}

func (p *Program) memoryFault(i int, addr arch.Addr, err error) error {
	return p.fault(i, ErrMemory, fmt.Errorf("%d bytes at %v: %w", p.steps[i].arg, addr, err))
}

// evalVariable executes the opcodes of trace state variables on the cells c.
func evalVariable(in *step, c *[operandCells]int64, env Env) {
	n := uint16(in.arg)
	switch in.op {
	case OpGetv:
		c[0] = env.Variable(n)
	case OpSetv:
		env.SetVariable(n, c[0])
	case OpTracev:
		env.TraceVariable(n)
	}
}

// evalRecord executes the opcodes that record memory. Nothing is recorded of size 0.
func evalRecord(in *step, c *[operandCells]int64, env Env) {
	addr, size := arch.Addr(c[0]), in.arg
	if in.op == OpTrace || in.op == OpTracenz {
		size = uint64(c[1])
	}
	switch {
	case size == 0:
	case in.op == OpTracenz:
		env.TraceString(addr, size)
	default:
		env.TraceMemory(addr, size)
	}
}

// evalPrintf executes printf on its operands: the last argument is deepest, then come the others, the channel and the
// function. The cells are done with, so the arguments are put in order in place, and the Env may do as it likes with them.
func evalPrintf(format string, cells []int64, env Env) error {
	n := len(cells) - 2
	args, channel, fn := cells[:n], uint64(cells[n]), uint64(cells[n+1])
	slices.Reverse(args)
	return env.Printf(fn, channel, format, args)
}
