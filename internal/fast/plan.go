package fast

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/jit"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// Bounds of what one action collects in a pad; what needs more is for a trap.
const (
	maxString   = 8 << 10
	maxComputed = 4 << 10 // of memory whose size is computed: room is reserved for as much
)

// turn is a tracepoint of the site with what was planned for it.
type turn struct {
	*Tracepoint
	number  int // among those of the site
	scratch []asm.Reg
	record  int // offset of the failure record of the condition, 0 if that cannot fail
	actions []action
	alike   [][]asm.Reg // scratch registers of the expressions of Alike; nil if hits are not counted
}

// action is an action with what was planned for it.
type action struct {
	*compiled.Operation
	scratch []asm.Reg
	record  int    // offset of the failure record, 0 if there is none
	blocks  [2]int // of the frame, from and up to
	dynamic bool   // which blocks there are turns out at the hit
}

// plan decides which registers are used for what, and lays out the slot.
func (b *builder) plan() error {
	b.pad.Slots = &Slots{site: b.Index, addr: b.Site.Addr, drops: b.Arena.WhenFull == Drop}
	l := layout{next: slotHeader}
	b.turns = make([]turn, len(b.Tracepoints))
	for i := range b.Tracepoints {
		t := &b.turns[i]
		*t = turn{Tracepoint: &b.Tracepoints[i], number: i}
		b.locks = b.locks || t.setsVariables()
		b.pad.Slots.frames = append(b.pad.Slots.frames, framePlan{key: t.Key(), index: t.Index})
		if err := b.planTurn(t, &l); err != nil {
			return err
		}
	}
	if b.locks && (b.Trap || b.Strict) {
		return errors.New("an expression sets a trace state variable where a stop evaluates it again")
	}
	b.planRepeat(&b.turns[0])
	b.planRanges()
	// Frames come behind all failure records, and the raw state of the registers, which all tracepoints share, comes last.
	raw := 0
	for i := range b.turns {
		raw = max(raw, b.planFrame(&b.turns[i], &l))
	}
	if raw > 0 {
		l.align(slotAlign)
		b.rawAt = l.take(raw)
	}
	l.align(slotAlign)
	b.pad.Slots.size = l.next
	for i := range b.pad.Slots.frames {
		b.pad.Slots.frames[i].rawAt = b.rawAt
	}
	b.pad.Slots.finish()
	if most := b.Arena.largestSlot(); l.next > most {
		return fmt.Errorf("a hit collects up to %d bytes, a ring of %d bytes takes %d", l.next, b.Arena.RingSize, most)
	}
	return nil
}

// planTurn plans what precedes the frames in the slot, and the registers of expressions.
func (b *builder) planTurn(t *turn, l *layout) error {
	if t.Condition != nil {
		if err := b.planCondition(t, l); err != nil {
			return fmt.Errorf("condition of tracepoint %d: %w", t.Number, err)
		}
	}
	if b.Trap {
		return nil
	}
	b.need(regSlot, regCommit)
	t.actions = make([]action, len(t.Actions))
	for i := range t.actions {
		t.actions[i].Operation = &t.Actions[i]
		if err := b.planAction(t, &t.actions[i], l); err != nil {
			return fmt.Errorf("action %d of tracepoint %d: %w", i+1, t.Number, err)
		}
	}
	return nil
}

// need has registers saved: before the conditions if there are several tracepoints, else when the slot is reserved.
func (b *builder) need(registers ...asm.Reg) {
	list := &b.late
	if b.several {
		list = &b.early
	}
	for _, r := range registers {
		if r != regScratch && !slices.Contains(b.early, r) && !slices.Contains(*list, r) {
			*list = append(*list, r)
		}
	}
}

// planCondition chooses registers that the condition does not read, since those are compared where they are.
func (b *builder) planCondition(t *turn, l *layout) error {
	if err := b.checkVariables(t.Condition); err != nil {
		return err
	}
	reads := t.Condition.Requirements().Registers
	places := func(used []asm.Reg) func(arch.Reg) jit.Place {
		return func(n arch.Reg) jit.Place {
			if n >= 0 && int(n) < len(remote) {
				if r := remote[n]; r != asm.RSP && r != regScratch && !b.several && !slices.Contains(used, r) {
					return jit.In(r)
				}
			}
			return b.anywhere(n)
		}
	}
	demand, err := jit.Measure(t.Condition, b.dry(places(nil)))
	if err != nil {
		return err
	}
	// A register that is taken is on the stack for the condition, which may then need another one.
	for {
		t.scratch = b.choose(demand, reads, 0)
		again, err := jit.Measure(t.Condition, b.dry(places(t.scratch)))
		if err != nil {
			return err
		}
		if again.Scratch <= len(t.scratch) && again.Fixed == demand.Fixed {
			break
		}
		demand = again
	}
	for _, r := range b.used(demand, t.scratch) {
		if r != regScratch && !slices.Contains(b.early, r) {
			b.early = append(b.early, r)
		}
	}
	fails, err := b.rehearse(&jit.Env{}, func(a *asm.Assembler, e *jit.Env) error {
		return jit.Condition(a, e, t.Condition, a.NewLabel())
	})
	if fails {
		t.record = l.take(failureSize)
	}
	return err
}

// choose takes scratch registers from the pool: first those that are free in any case, then those that are not read.
func (b *builder) choose(d jit.Demand, reads []arch.Reg, skip int) []asm.Reg {
	var free, read []asm.Reg
	for _, r := range pool[skip:] {
		switch n := arch.Reg(slices.Index(remote[:], r)); {
		case d.Fixed && (r == asm.RAX || r == asm.RCX || r == asm.RDX):
		case r != regScratch && slices.Contains(reads, n):
			read = append(read, r)
		default:
			free = append(free, r)
		}
	}
	all := append(free, read...)
	return all[:min(d.Scratch, len(all))]
}

// used are the registers that code with a demand changes.
func (b *builder) used(d jit.Demand, scratch []asm.Reg) []asm.Reg {
	if d.Fixed {
		return append(slices.Clone(scratch), asm.RCX, asm.RDX)
	}
	return scratch
}

// anywhere is where a register could be in the most expensive case. What is known is told as it is: whole branches of an expression
// can depend on it.
func (b *builder) anywhere(n arch.Reg) jit.Place {
	switch {
	case n >= 0 && int(n) < len(remote) && remote[n] == asm.RSP:
		return jit.Sum(asm.RSP, 1) // of a stack pointer that has moved
	case n >= 0 && int(n) < len(remote):
		return jit.Stored(8, asm.At(asm.RSP, 0))
	case n == remotePC:
		return jit.Known(int64(b.Site.Addr))
	case n > remotePC && n <= remoteGS:
		return jit.Computed(func(asm.Reg) {})
	}
	return jit.Place{}
}

// dry is the world of an expression that is only measured.
func (b *builder) dry(register func(arch.Reg) jit.Place) *jit.Env {
	return &jit.Env{Register: register, Variable: func(n uint16) jit.Place {
		switch b.Builtins[trace.VariableNumber(n)] {
		case Timestamp, Nanoseconds:
			return jit.Computed(func(asm.Reg) {})
		case Thread: // which is not computed where it is only recorded
			return jit.Computed(func(asm.Reg) { b.calls = true })
		}
		return jit.Stored(8, asm.At(asm.NoReg, 0))
	}}
}

// rehearse compiles an expression to nowhere, for what the Env learns of it. It reports whether the expression can fail.
func (b *builder) rehearse(e *jit.Env, compile func(*asm.Assembler, *jit.Env) error) (fails bool, err error) {
	a := asm.New(0)
	somewhere := a.NewLabel()
	e.Scratch = []asm.Reg{
		asm.RBX, asm.RBP, asm.RSI, asm.RDI, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13, asm.R14, asm.R15,
	}
	d := b.dry(b.anywhere)
	e.Register, e.Variable = d.Register, d.Variable
	e.Fault = func(_, _ int, _ jit.Access) { fails = true }
	e.Failed = func(*ax.Error) asm.Label { fails = true; return somewhere }
	b.calls = false
	err = compile(a, e)
	if err == nil && b.calls && b.Arena.Filtered {
		err = errThreadCall
	}
	return fails, err
}

var errThreadCall = errors.New("the thread's id needs a system call, which a seccomp filter may forbid")

// checkVariables refuses what expressions cannot do with built-in variables.
func (b *builder) checkVariables(p *ax.Program) error {
	for in := range p.Instructions() {
		kind := b.Builtins[trace.VariableNumber(in.Operand)]
		switch {
		case in.Op == ax.OpSetv && kind != 0:
			return fmt.Errorf("variable %d is computed and cannot be set", in.Operand)
		case in.Op == ax.OpTracev && kind == Thread && !b.Arena.RDFSBase:
			return errSegmentBase
		}
	}
	return nil
}

// planAction plans the blocks of an action and its registers.
func (b *builder) planAction(t *turn, a *action, l *layout) error {
	f := &b.pad.Slots.frames[t.number]
	a.blocks[0] = len(f.blocks)
	defer func() { a.blocks[1] = len(f.blocks) }()
	switch a.Kind {
	case trace.CollectRegisters:
		if b.Registers != nil && b.Registers.size > 0 && f.registers == nil {
			f.registers = b.Registers
			f.blocks = append(f.blocks, block{kind: blockRegisters, room: b.Registers.room()})
		}
	case trace.CollectMemory:
		if a.Base != trace.Absolute && (a.Base < 0 || a.Base > remotePC) {
			return fmt.Errorf("memory relative to register %d", a.Base)
		}
		return f.addRange(a.Length)
	case trace.CollectExpression:
		return b.planExpression(f, a, l)
	default:
		return errors.New("static trace data is written by the tracer")
	}
	return nil
}

// addRange adds the blocks for a range of memory.
func (f *framePlan) addRange(length uint64) error {
	if length > maxSlot {
		return fmt.Errorf("%d bytes of memory", length)
	}
	for more := false; length > 0; more = true {
		n := min(length, maxBlock)
		f.blocks = append(f.blocks, block{kind: blockMemory, room: int(n), more: more})
		length -= n
	}
	return nil
}

// planExpression plans the blocks that an expression makes, in the order in which it does.
func (b *builder) planExpression(f *framePlan, a *action, l *layout) error {
	if err := b.checkVariables(a.Program); err != nil {
		return err
	}
	// An action runs when most registers are on the stack already, so what it needs at most is what it gets.
	demand, err := jit.Measure(a.Program, b.dry(b.anywhere))
	if err != nil {
		return err
	}
	// Not the first of the pool: collecting goes through that.
	a.scratch = b.choose(demand, nil, 1)
	if len(a.scratch) < demand.Scratch {
		return fmt.Errorf("%d cells of the stack at once", demand.Scratch)
	}
	b.need(b.used(demand, a.scratch)...)
	for in := range a.Program.Instructions() {
		a.dynamic = a.dynamic || in.Op == ax.OpIfGoto
	}
	e := &jit.Env{
		TraceMemory: func(_, size jit.Operand) error {
			if size.Base != asm.NoReg {
				a.dynamic = true
				f.blocks = append(f.blocks, block{kind: blockMemory, room: maxComputed})
				return b.checkHandOver()
			}
			return f.addRange(uint64(size.Disp))
		},
		TraceString: func(_, limit jit.Operand) error {
			if limit.Base != asm.NoReg || uint64(limit.Disp) > maxString {
				return fmt.Errorf("a string of more than %d bytes", maxString)
			}
			f.blocks = append(f.blocks, block{kind: blockMemory, room: int(limit.Disp)})
			return nil
		},
		Printf: func(_, _ jit.Operand, format string, args []jit.Operand) error {
			p, size, err := planPrinted(format, len(args))
			if err != nil {
				return err
			}
			f.blocks = append(f.blocks, block{kind: blockPrinted, room: size, printed: p})
			return b.checkHandOver()
		},
		TraceVariable: func(n uint16) error {
			number := trace.VariableNumber(n)
			f.blocks = append(f.blocks, block{kind: blockVariable, room: 8, number: number, thread: b.Builtins[number] == Thread})
			return nil
		},
	}
	fails, err := b.rehearse(e, func(to *asm.Assembler, e *jit.Env) error { return jit.Run(to, e, a.Program) })
	if fails && !b.Strict {
		a.record = l.take(failureSize)
		f.failures = append(f.failures, a.record)
	}
	return err
}

// checkHandOver refuses what may have to be handed over to a trap where the hit would have set variables already.
func (b *builder) checkHandOver() error {
	if b.locks {
		return errors.New("a size that is computed, or a printf, beside a variable that is set")
	}
	return nil
}

// regThrough is where the base of a range is loaded if the program's register is on the stack.
const regThrough = asm.RDX

// planRanges has regThrough saved if a range needs it.
func (b *builder) planRanges() {
	for i := range b.turns {
		for _, a := range b.turns[i].actions {
			if a.Kind == trace.CollectMemory && a.Length > 0 && b.goesThrough(&a) {
				b.need(regThrough)
			}
		}
	}
}

// goesThrough reports whether the address of a range must be computed into a register first.
func (b *builder) goesThrough(a *action) bool {
	offset := int64(a.Offset)
	if a.Base == trace.Absolute || a.Base == remotePC {
		return true
	}
	r := remote[a.Base]
	return offset != int64(int32(offset)) || offset > 1<<30 || offset < -1<<30 ||
		r == regScratch || slices.Contains(b.early, r) || slices.Contains(b.late, r)
}

// planFrame gives the blocks of a frame their places, and returns the size of the raw state that it collects.
func (b *builder) planFrame(t *turn, l *layout) (raw int) {
	f := &b.pad.Slots.frames[t.number]
	if t.record != 0 {
		f.condition = t.record
	}
	f.at = l.take(frameHeader)
	for i := range f.blocks {
		blk := &f.blocks[i]
		blk.at = l.take(blk.length())
	}
	f.end = l.next
	// Stores of constants may go beyond what they are for, where something else is stored afterwards.
	l.take(8)
	if f.registers != nil {
		raw = f.registers.raw.size
	}
	return raw
}
