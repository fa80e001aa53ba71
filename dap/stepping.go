package dap

import (
	"context"

	"tracewell/arch"
	"tracewell/arch/flow"
	"tracewell/itrace/index"
	"tracewell/symbol"
)

// Steps through an execution trace. What an instruction did to the flow of control is told by what it is: a call is stepped over by
// looking for the return to the instruction behind it, with the stack as high as it was, if the trace tells that.

// move implements debuggee.
func (x *executionTrace) move(ctx context.Context, m motion) (stop, error) {
	if m.thread == 0 {
		m.thread = x.thread()
	}
	if _, err := x.at(m.thread); err != nil {
		return x.stopped("pause", "", nil), err
	}
	if m.way == onward {
		return x.onward(ctx, m, false)
	}
	w := &walk{x: x, ctx: ctx, cpu: int32(m.thread - 1), motion: m}
	hit, err := w.step()
	description := ""
	switch p := x.position(); {
	case m.backwards && p == 0:
		description = "at the beginning of the trace"
	case !m.backwards && p == x.trace.Instructions:
		description = "at the end of the trace"
	}
	reason := "step"
	if len(hit) > 0 {
		reason = "breakpoint"
	}
	at := x.stopped(reason, description, hit)
	if at.thread != m.thread && len(hit) == 0 {
		at.thread = m.thread
	}
	return at, errUnlessCancelled(ctx, err)
}

// walk is one step of a user's.
type walk struct {
	motion
	x   *executionTrace
	ctx context.Context
	cpu int32
}

// step goes as far as one step goes, and returns the breakpoints that end it before.
func (w *walk) step() ([]int, error) {
	switch {
	case w.backwards:
		return nil, w.back()
	case w.way == stepOutOf:
		return w.out()
	case w.single:
		return w.overInstruction()
	}
	return w.overLine()
}

// turn is the next instruction of the processor from a position on, nil if there is none.
func (w *walk) turn(position int64) (*index.Found, error) {
	return w.x.trace.Next(w.ctx, position, []index.Want{{What: index.Turn, CPU: w.cpu}})
}

// before is the last instruction of the processor in front of a position, nil if there is none.
func (w *walk) before(position int64) (*index.Found, error) {
	return w.x.trace.Previous(w.ctx, position, []index.Want{{What: index.Turn, CPU: w.cpu}})
}

// next goes in front of the processor's next instruction but one, and returns the one that is behind it then. It is nil at the end.
func (w *walk) next() (passed *index.Found, err error) {
	if passed, err = w.turn(w.x.position()); err != nil || passed == nil {
		w.x.here.Goto(w.x.trace.Instructions)
		return nil, err
	}
	w.x.here.Goto(passed.Instruction + 1)
	if following, err := w.turn(passed.Instruction + 1); err == nil && following != nil {
		w.x.here.Goto(following.Instruction)
	}
	return passed, nil
}

// flow is what an instruction does.
func (w *walk) flow(it *index.Item) flow.Flow {
	x := w.x
	set := x.set
	if set != nil && it.Thumb {
		set = set.In('T')
	}
	if code := x.bytesOf(it); code != nil && set != nil {
		return set.Decode(code, it.Addr)
	}
	if x.named.program != nil && set != nil {
		if o := x.named.program.ObjectAt(arch.Addr(it.Addr)); o != nil {
			if code := o.Code(arch.Addr(it.Addr), longest); len(code) > 0 {
				return set.Decode(code, it.Addr)
			}
		}
	}
	return flow.OfText(string(it.Words))
}

// sp is the stack pointer at a position, false if it is not known.
func (w *walk) sp(position int64) (uint64, bool) {
	x := w.x
	m := x.probed(position, w.cpu)
	slot := x.execution.Layout.ByName(x.execution.Machine.SP)
	if slot == nil {
		return 0, false
	}
	b, err := m.Register(slot.Reg.Num)
	if err != nil {
		return 0, false
	}
	return arch.Uint(b, x.named.order), true
}

// pc is the address of the processor's next instruction; false at the end.
func (w *walk) pc() (arch.Addr, bool) {
	f, err := w.turn(w.x.position())
	if err != nil || f == nil {
		return 0, false
	}
	return arch.Addr(f.Item.Addr), true
}

// returned goes to where a call returns, and reports whether it does. A breakpoint on the way ends the step.
func (w *walk) returned(to arch.Addr, above uint64, known bool) (hit []int, ok bool, err error) {
	want := []index.Want{{What: index.Execution, Addr: uint64(to), Size: 1}}
	hit, at, err := w.x.search(w.ctx, false, false, want, func(f index.Found) bool {
		if f.Item.CPU != w.cpu || f.Item.Addr != uint64(to) {
			return false
		}
		sp, told := w.sp(f.Instruction)
		return !known || !told || sp >= above
	})
	if err != nil || at < 0 {
		return nil, false, err
	}
	w.x.here.Goto(at)
	return hit, true, nil
}

// called reports whether the processor is in a function that an instruction has called just now, and where that returns to.
func (w *walk) called(passed *index.Found) (to arch.Addr, yes bool) {
	f := w.flow(passed.Item)
	if f.Kind != flow.Call || f.Len == 0 {
		return 0, false
	}
	to = arch.Addr(passed.Item.Addr) + arch.Addr(f.Len)
	pc, ok := w.pc()
	if f.Delayed && ok && pc == arch.Addr(passed.Item.Addr)+arch.Addr(f.Len)/2 {
		return 0, false // in the delay slot, which belongs to the caller
	}
	return to, ok && pc != to
}

// overInstruction executes one instruction, with what it calls unless that is to be seen.
func (w *walk) overInstruction() (hit []int, err error) {
	sp, known := w.sp(w.x.position())
	passed, err := w.next()
	if err != nil || passed == nil || w.way == stepInto {
		return nil, err
	}
	if to, yes := w.called(w.branch(passed)); yes {
		hit, _, err = w.returned(to, sp, known)
	}
	return hit, err
}

// lineRange is the code around an address that belongs to its line.
func (w *walk) lineRange(pc arch.Addr) (line symbol.Line, from, to arch.Addr, ok bool) {
	program := w.x.named.program
	if program == nil {
		return line, pc, pc + 1, false
	}
	if line, ok = program.Line(pc); !ok {
		return line, pc, pc + 1, false
	}
	const farthest = 4096 // bytes of code that a line has in one piece
	same := func(addr arch.Addr) bool {
		other, ok := program.Line(addr)
		return ok && other == line
	}
	for from = pc; pc-from < farthest && same(from-1); from-- {
	}
	for to = pc + 1; to-pc < farthest && same(to); to++ {
	}
	return line, from, to, true
}

// overLine goes to the beginning of another line. A function without lines is passed over, and what it has returned to is left as
// soon as a line begins.
func (w *walk) overLine() (hit []int, err error) {
	pc, ok := w.pc()
	if !ok {
		w.x.here.Goto(w.x.trace.Instructions)
		return nil, nil
	}
	line, from, to, known := w.lineRange(pc)
	if !known {
		return w.overInstruction()
	}
	sp, spKnown := w.sp(w.x.position())
	for w.ctx.Err() == nil {
		passed, hit, err := w.leave(from, to)
		if err != nil || passed == nil || len(hit) > 0 {
			return hit, err
		}
		pc, ok := w.pc()
		if !ok {
			return nil, nil
		}
		if back, yes := w.called(passed); yes {
			_, hasLine := w.x.named.program.Line(pc)
			if w.way == stepInto && hasLine {
				return nil, nil
			}
			hit, ok, err := w.returned(back, sp, spKnown)
			if err != nil || len(hit) > 0 {
				return hit, err
			}
			if !ok {
				w.x.here.Goto(w.x.trace.Instructions)
				return nil, nil
			}
			if pc, ok = w.pc(); !ok {
				return nil, nil
			}
		}
		other, low, high, lines := w.lineRange(pc)
		kind := w.flow(passed.Item).Kind
		switch {
		case !lines && kind == flow.Return:
			return nil, nil // to code of which there is nothing to see
		case kind == flow.Return && pc != low:
			line, sp, spKnown = other, 0, false // the rest of the line with the call is gone through
		case lines && other != line:
			return nil, nil
		}
		from, to = low, high
	}
	return nil, nil
}

// leave goes on until the processor executes something outside of a range, or a breakpoint. Passed is the instruction in front.
func (w *walk) leave(from, to arch.Addr) (passed *index.Found, hit []int, err error) {
	want := []index.Want{{What: index.Leave, CPU: w.cpu, Addr: uint64(from), Size: uint64(to - from)}}
	hit, at, err := w.x.search(w.ctx, false, false, want, func(index.Found) bool { return true })
	if err != nil || w.ctx.Err() != nil {
		return nil, nil, err
	}
	if at < 0 {
		w.x.here.Goto(w.x.trace.Instructions)
		return nil, nil, nil
	}
	w.x.here.Goto(at)
	if passed, err = w.before(at); passed != nil {
		passed = w.branch(passed)
	}
	return passed, hit, err
}

// out goes behind the end of the function: to where its caller goes on, if unwinding tells it, or else to where as many functions
// have returned as were called.
func (w *walk) out() (hit []int, err error) {
	x := w.x
	sp, known := w.sp(x.position())
	if m, err := x.at(int(w.cpu) + 1); err == nil {
		calls := x.named.calls(m)
		for i := range calls {
			if _, isCaller := calls[i].context.(*callerContext); isCaller {
				hit, ok, err := w.returned(calls[i].Addr, sp+1, known)
				if ok || err != nil {
					return hit, err
				}
				break
			}
		}
	}
	depth := 0
	turns := []index.Want{{What: index.Turn, CPU: w.cpu}}
	err = x.trace.Each(w.ctx, x.position(), x.trace.Instructions, turns, func(f index.Found) bool {
		switch w.flow(f.Item).Kind {
		case flow.Call:
			depth++
		case flow.Return:
			depth--
		}
		if depth < 0 {
			x.here.Goto(f.Instruction)
		}
		return depth >= 0
	})
	if err != nil {
		return nil, err
	}
	if depth >= 0 && w.ctx.Err() == nil {
		x.here.Goto(x.trace.Instructions)
		return nil, nil
	}
	_, err = w.next()
	return nil, err
}

// back undoes an instruction, or a line to its beginning.
func (w *walk) back() error {
	x := w.x
	pc, _ := w.pc()
	start, _, _, known := w.lineRange(pc)
	undone, found := symbol.Line{}, false // the line that is undone
	for moved := false; w.ctx.Err() == nil; moved = true {
		f, err := w.undo()
		if err != nil {
			return err
		}
		if f == nil {
			if !moved {
				x.here.Goto(0)
			}
			return nil
		}
		if w.single || !known {
			x.here.Goto(f.Instruction)
			return nil
		}
		line, ok := x.named.program.Line(arch.Addr(f.Item.Addr))
		switch {
		case found && (!ok || line != undone):
			return nil
		case !found && ok && line != start:
			undone, found = line, true
		}
		x.here.Goto(f.Instruction)
	}
	return nil
}

// undo is the last instruction of the processor in front of the position, or the call of a function that has just returned.
func (w *walk) undo() (*index.Found, error) {
	position := w.x.position()
	f, err := w.before(position)
	if err != nil || f == nil || w.flow(w.branch(f).Item).Kind != flow.Return {
		return f, err
	}
	pc, ok := w.pc()
	if !ok {
		return f, nil
	}
	const longestCall = 8 // bytes, with a delay slot
	sp, known := w.sp(position)
	var call *index.Found
	err = w.x.trace.EachBack(w.ctx, 0, f.Instruction,
		[]index.Want{{What: index.Execution, Addr: uint64(pc) - longestCall, Size: longestCall}}, func(g index.Found) bool {
			does := w.flow(g.Item)
			if g.Item.CPU != w.cpu || does.Kind != flow.Call || g.Item.Addr+uint64(does.Len) != uint64(pc) {
				return true
			}
			if was, told := w.sp(g.Instruction); known && told && was != sp {
				return true // that of an activation further in or out
			}
			call = &g
			return false
		})
	if err != nil || call == nil {
		return f, err
	}
	return call, nil
}

// branch is the branch whose delay slot an instruction is in, or the instruction itself.
func (w *walk) branch(f *index.Found) *index.Found {
	if g, err := w.before(f.Instruction); err == nil && g != nil && w.flow(g.Item).Delayed {
		return g
	}
	return f
}
