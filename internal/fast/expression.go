package fast

import (
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/jit"
	"tracewell/trace"
)

// env is the world of an expression as far as all have it in common.
func (b *builder) env(scratch []asm.Reg) *jit.Env {
	return &jit.Env{
		Scratch:  scratch,
		Register: func(n arch.Reg) jit.Place { return b.register(n) },
		Variable: func(n uint16) jit.Place { return b.variable(trace.VariableNumber(n)) },
	}
}

// variable is where a trace state variable is.
func (b *builder) variable(n trace.VariableNumber) jit.Place {
	switch b.Builtins[n] {
	case Timestamp:
		return jit.Computed(func(dst asm.Reg) { b.loadTime(dst, ClockAt+8) })
	case Nanoseconds:
		return jit.Computed(func(dst asm.Reg) { b.loadTime(dst, NanosecondsAt) })
	case Thread:
		return jit.Computed(b.loadThread)
	case Process:
		return jit.Stored(8, b.control(ProcessAt))
	}
	return jit.Stored(8, b.control(VariablesAt+8*int(n)))
}

// loadTime computes the time from the time stamp counter: a multiplication, as Clock.At does it. The multiplier is at an offset of
// the control area, and behind it what the time was at the start.
func (b *builder) loadTime(dst asm.Reg, multiplierAt int) {
	b.preserving(dst, []asm.Reg{asm.RAX, asm.RDX}, func() {
		// Without a fence: the order of hits is that of the ring, and what a processor can move this by is some tens of nanoseconds.
		b.Rdtsc()
		b.Shift(asm.Shl, 8, asm.RDX, 32)
		b.Arith(asm.Or, 8, asm.RAX, asm.RDX)
		b.Arith(asm.Sub, 8, asm.RAX, b.control(ClockAt))
		b.Unary(asm.Mul, 8, b.control(multiplierAt))
		b.Arith(asm.Add, 8, asm.RDX, b.control(multiplierAt+8))
		if dst != asm.RDX {
			b.Mov(8, dst, asm.RDX)
		}
	})
}

// loadThread asks the kernel for the thread's id.
func (b *builder) loadThread(dst asm.Reg) {
	b.preserving(dst, []asm.Reg{asm.RAX, asm.RCX, asm.R11}, func() {
		b.MovImm(asm.RAX, sysGettid)
		b.Syscall()
		if dst != asm.RAX {
			b.Mov(8, dst, asm.RAX)
		}
	})
}

// preserving emits code that changes registers, of which only dst may be changed.
func (b *builder) preserving(dst asm.Reg, changed []asm.Reg, emit func()) {
	for _, r := range changed {
		if r != dst {
			b.borrow(r)
		}
	}
	emit()
	for i := len(changed) - 1; i >= 0; i-- {
		if r := changed[i]; r != dst {
			b.giveBack(r)
		}
	}
}

// cause adds an instruction that can fail, and returns its id.
func (b *builder) cause(c cause) int {
	list := &b.pad.Slots.causes
	if i := slices.Index(*list, c); i >= 0 {
		return i + 1
	}
	*list = append(*list, c)
	return len(*list)
}

// accessCause is that of an access.
func (b *builder) accessCause(a jit.Access) int {
	return b.cause(cause{kind: ax.ErrMemory, op: a.Op, offset: a.Offset, size: a.Size})
}

// failures has an expression go where fail says when it fails: fail is told the cause, and the operand with the address of memory
// that cannot be read, nil for another cause.
func (b *builder) failures(e *jit.Env, fail func(id int, addr *jit.Operand) asm.Label) {
	e.Guard = func(a jit.Access) { b.guard(a, func() asm.Label { return fail(b.accessCause(a), &a.Addr) }) }
	e.Failed = func(err *ax.Error) asm.Label {
		return fail(b.cause(cause{kind: err.Kind, op: err.Op, offset: err.Offset}), nil)
	}
}

// condition emits a condition, which goes to next if it does not hold or fails.
func (b *builder) condition(t *turn, next asm.Label) error {
	at := b.state
	failed := b.NewLabel()
	fail := func(id int, addr *jit.Operand) asm.Label {
		l := b.NewLabel()
		b.cold = append(b.cold, func() {
			b.Bind(l)
			b.resumeFrom(at)
			if addr != nil {
				addr.Load(b.Assembler, regScratch)
			}
			b.Push(regScratch)
			b.moved(8)
			b.PushImm(int32(id))
			b.moved(8)
			b.Jmp(failed)
		})
		return l
	}
	e := b.env(t.scratch)
	b.failures(e, fail)
	e.Fault = func(from, to int, a jit.Access) {
		b.faults(faultRange{from: int32(from), to: int32(to), kind: faultCondition, frame: t.number, cause: b.accessCause(a),
			access: a.Addr}, failed)
	}
	if err := jit.Condition(b.Assembler, e, t.Condition, next); err != nil {
		return err
	}
	if t.record != 0 {
		b.cold = append(b.cold, func() {
			b.Bind(failed)
			at.depth += failureWords
			b.resumeFrom(at)
			b.conditionFailed(t, next)
		})
	}
	return nil
}

// guard has an access to the page at 0 fail without a fault: most pointers that point nowhere point there, and a fault costs
// 7 µs. It costs one comparison, of a register, so where the address has a large displacement it is left out.
func (b *builder) guard(a jit.Access, failed func() asm.Label) {
	lowest := int64(b.Arena.lowest())
	if a.Addr.Base == asm.NoReg || a.Addr.Base == asm.RSP || a.Addr.Disp < 0 || a.Addr.Disp >= lowest {
		return
	}
	b.ArithImm(asm.Cmp, 8, a.Addr.Base, int32(lowest-a.Addr.Disp))
	b.Jcc(asm.CondB, failed())
}

// conditionFailed records that a condition failed: in a slot without a frame, if there is none yet. What is to be recorded is on
// top of the stack.
func (b *builder) conditionFailed(t *turn, next asm.Label) {
	id, addr := b.depth, b.depth-8
	drop := func() {
		b.Lea(asm.RSP, asm.At(asm.RSP, failureWords))
		b.moved(-failureWords)
	}
	if b.Trap || b.Strict { // evaluated again where the failure can be told
		drop()
		b.trap(next)
		return
	}
	none := b.NewLabel()
	flags := uint8(0)
	if !b.several {
		flags = flagFailed
		for _, r := range b.late {
			b.save(r)
		}
	}
	b.reserve(t, 0, flags, none)
	b.Mov(8, regScratch, b.word(id))
	b.Store(8, b.slot(t.record), regScratch)
	b.Mov(8, regScratch, b.word(addr))
	b.Store(8, b.slot(t.record+failureAddress), regScratch)
	// With several tracepoints the slot goes on to the next one.
	if b.several {
		b.flag(flagFailed)
		drop()
		b.Jmp(next)
		// Without a slot there is none for the others, either.
		b.depth += failureWords
		b.phase, b.position = recorded, noPosition
		b.Bind(none)
		b.note()
		drop()
		b.Jmp(b.outLate)
		return
	}
	b.Store(8, b.slot(slotCommit), regCommit)
	b.Bind(none)
	b.phase, b.position = recorded, noPosition
	b.note()
	for range b.late {
		b.restore()
	}
	drop()
	b.Jmp(b.outEarly)
}

// expression emits an action that is an expression.
func (b *builder) expression(t *turn, a *action) error {
	f := &b.pad.Slots.frames[t.number]
	made := a.blocks[0] // the next block to be made
	behind := b.NewLabel()
	at := b.state
	fail := func(id int, addr *jit.Operand) asm.Label {
		l, from := b.NewLabel(), made
		if b.Strict {
			b.stopAt(l, b.outLate)
			return l
		}
		b.cold = append(b.cold, func() {
			b.Bind(l)
			b.resumeFrom(at)
			if addr != nil {
				addr.Load(b.Assembler, regScratch)
				b.Store(8, b.slot(a.record+failureAddress), regScratch)
			}
			b.StoreImm(8, b.slot(a.record), int32(id))
			for i := from; i < a.blocks[1]; i++ {
				b.StoreImm(1, b.slot(f.blocks[i].at), 0)
			}
			b.flag(flagFailed | flagShort)
			b.Jmp(behind)
		})
		return l
	}
	e := b.env(a.scratch)
	// What comes behind a failure is not made, what came before it stays: as ax.Machine has it.
	b.failures(e, fail)
	e.Fault = func(from, to int, x jit.Access) {
		if b.Strict {
			handed := b.NewLabel()
			b.stopAt(handed, b.outLate)
			b.faults(faultRange{from: int32(from), to: int32(to), kind: faultElsewhere}, handed)
			return
		}
		b.faults(faultRange{from: int32(from), to: int32(to), kind: faultAction, frame: t.number, cause: b.accessCause(x),
			access: x.Addr, record: a.record, absent: [2]int{made, a.blocks[1]}}, behind)
	}
	b.effects(e, t, a, &made)
	if err := jit.Run(b.Assembler, e, a.Program); err != nil {
		return err
	}
	b.Bind(behind)
	return nil
}

// effects has an expression record what it does; made is the next of its blocks.
func (b *builder) effects(e *jit.Env, t *turn, a *action, made *int) {
	f := &b.pad.Slots.frames[t.number]
	e.TraceMemory = func(addr, size jit.Operand) error {
		if size.Base != asm.NoReg {
			b.computed(addr, size, t.number, *made)
			*made++
			return nil
		}
		// A range of more than 64 KiB is several blocks.
		end := *made + 1
		for end < a.blocks[1] && f.blocks[end].more {
			end++
		}
		if far := addr.Base == asm.NoReg || addr.Disp > 1<<30 || addr.Disp < -1<<30; far {
			b.borrow(asm.RSI)
			if addr.Base == asm.RSP {
				addr.Disp += 8
			}
			addr.Load(b.Assembler, asm.RSI)
			b.memory(jit.Operand{Base: asm.RSI}, t.number, [2]int{*made, end})
			b.giveBack(asm.RSI)
		} else {
			b.memory(addr, t.number, [2]int{*made, end})
		}
		*made = end
		return nil
	}
	e.TraceString = func(addr, _ jit.Operand) error {
		b.text(addr, t.number, *made)
		*made++
		return nil
	}
	e.Printf = func(_, _ jit.Operand, _ string, args []jit.Operand) error {
		b.print(args, &f.blocks[*made])
		*made++
		return nil
	}
	e.TraceVariable = func(n uint16) error {
		b.traceVariable(trace.VariableNumber(n), &f.blocks[*made])
		*made++
		return nil
	}
}

// traceVariable stores a V block.
func (b *builder) traceVariable(n trace.VariableNumber, blk *block) {
	b.letter(blk)
	b.StoreImm(4, b.slot(blk.at+1), int32(n))
	switch b.Builtins[n] {
	case Timestamp:
		b.loadTime(regScratch, ClockAt+8)
	case Nanoseconds:
		b.loadTime(regScratch, NanosecondsAt)
	case Thread:
		b.Rdfsbase(8, regScratch)
	case Process:
		b.Mov(8, regScratch, b.control(ProcessAt))
	default:
		b.Mov(8, regScratch, b.control(VariablesAt+8*int(n)))
	}
	b.Store(8, b.slot(blk.at+5), regScratch)
}
