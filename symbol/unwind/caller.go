package unwind

import (
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/scope"
)

// caller finds the caller of a frame by CFI, or else by the frame pointer, and completes the frame itself.
func (u *Unwinder) caller(f *Frame, memory Memory) (Frame, error) {
	w := walk{Unwinder: u, frame: f, memory: memory}
	d := u.describe(f.Code)
	switch {
	case d.object == nil:
		return w.byFramePointer(fmt.Errorf("no file of the program has code at %v", f.PC))
	case d.missing != nil:
		return w.byFramePointer(d.missing)
	}
	w.bias = d.object.Bias()
	// No call leads to the way back from a signal handler. Its CFI begins a byte in front of it, where that of a call is looked for.
	if d.rules.Signal {
		f.Signal, f.Code = true, f.PC
	}
	return w.byRules(d.rules)
}

// description is the CFI of the code at an address, or why there is none.
type description struct {
	object  *symbol.Object // that has the code, nil if none does
	rules   debuginfo.Frame
	missing error
}

// mostKnown bounds how many descriptions are kept: a damaged stack can lead anywhere.
const mostKnown = 1 << 14

// describe finds the CFI of an address. Stacks of one program pass through the same few calls again and again.
func (u *Unwinder) describe(code arch.Addr) description {
	d, known := u.known[code]
	if known {
		return d
	}
	if d.object = u.program.ObjectAt(code); d.object != nil {
		d.rules, d.missing = d.object.File().CFA(code - d.object.Bias())
	}
	if len(u.known) == mostKnown {
		clear(u.known)
	}
	u.known[code] = d
	return d
}

// walk is the step from a frame to its caller.
type walk struct {
	*Unwinder
	frame  *Frame
	memory Memory
	bias   arch.Addr // of the file that has the frame's code
}

// byRules finds the caller by CFI.
func (w *walk) byRules(rules debuginfo.Frame) (caller Frame, err error) {
	cfa, err := w.cfa(rules.CFA)
	if err != nil {
		return Frame{}, err
	}
	w.frame.CFA = w.address(cfa)
	caller.registers = slices.Clone(w.frame.registers)
	if w.sp >= 0 {
		caller.registers[w.sp] = register{value: uint64(w.frame.CFA) - uint64(w.isa.Machine.CallerSP)}
	}
	for n, rule := range rules.Registers {
		if n < uint64(len(caller.registers)) {
			caller.registers[n] = w.restored(n, rule)
		}
	}
	// A return address that is undefined marks the first function of a thread.
	rule, ok := rules.Registers[rules.Return]
	if !ok {
		rule.Kind = debuginfo.RuleSame
	} else if rule.Kind == debuginfo.RuleUndefined {
		return Frame{}, ErrOutermost
	}
	back := w.restored(rules.Return, rule)
	if back.missing != nil {
		return Frame{}, back.missing
	}
	return w.returned(caller, back.value, rules.Signed)
}

// returned completes a caller that goes on at a return address. Zero ends the stack of a thread, too.
func (w *walk) returned(caller Frame, back uint64, signed bool) (Frame, error) {
	caller.PC = w.address(back)
	if decode := w.isa.Machine.ReturnAddress; decode != nil {
		caller.PC = decode(caller.PC, signed)
	}
	if caller.PC == 0 {
		return Frame{}, ErrOutermost
	}
	caller.Code = caller.PC
	if !w.frame.Signal {
		caller.Code-- // behind a call that never returns there may be another function
	}
	if w.pc >= 0 {
		caller.registers[w.pc] = register{value: uint64(caller.PC)}
	}
	return caller, nil
}

// cfa computes the canonical frame address.
func (w *walk) cfa(rule debuginfo.CFA) (uint64, error) {
	if rule.Expr != nil {
		return w.evaluate(rule.Expr)
	}
	base := w.register(rule.Register)
	return base.value + uint64(rule.Offset), base.missing
}

// register is a register of the frame by DWARF's number, with an error that names it.
func (w *walk) register(n uint64) register {
	if n >= uint64(len(w.frame.registers)) {
		return register{missing: fmt.Errorf("register %d %w", n, errUncollected)}
	}
	r := w.frame.registers[n]
	if r.missing == errUncollected || r.missing == errLost {
		r.missing = fmt.Errorf("$%s %w", w.isa.Machine.DWARFName(n), r.missing)
	}
	return r
}

// restored is what a register of the caller holds.
func (w *walk) restored(n uint64, rule debuginfo.Rule) register {
	cfa := w.frame.CFA
	switch rule.Kind {
	case debuginfo.RuleUndefined:
		return register{missing: errLost}
	case debuginfo.RuleOffset:
		return w.load(n, cfa+arch.Addr(rule.Offset))
	case debuginfo.RuleValueOffset:
		return register{value: uint64(w.address(uint64(cfa) + uint64(rule.Offset)))}
	case debuginfo.RuleRegister:
		return w.register(rule.Register)
	case debuginfo.RuleExpr, debuginfo.RuleValueExpr:
		value, err := w.evaluate(rule.Expr, int64(cfa))
		if err != nil || rule.Kind == debuginfo.RuleValueExpr {
			return register{value, err}
		}
		return w.load(n, arch.Addr(value))
	}
	return w.register(n)
}

// load reads a register that was saved in memory, in its own size.
func (w *walk) load(n uint64, at arch.Addr) register {
	size := w.isa.AddrSize
	if n < uint64(len(w.slots)) && w.slots[n] != nil {
		size = w.slots[n].Size
	}
	value, err := w.integer(w.address(uint64(at)), size)
	return register{value, err}
}

// address reduces a sum to the width of an address.
func (u *Unwinder) address(sum uint64) arch.Addr {
	return arch.Addr(sum & (1<<(8*u.isa.AddrSize) - 1))
}

// evaluate computes an expression, over the CFA if that is known already.
func (w *walk) evaluate(expression []byte, stack ...int64) (uint64, error) {
	program, err := scope.Unwinding(expression, w.isa, w.bias, stack...)
	if err != nil {
		return 0, fmt.Errorf("the frame description of %v: %w", w.frame.Code, err)
	}
	value, err := w.machine.Value(program, environment{walk: w})
	return uint64(w.address(uint64(value))), err
}

// environment is a frame as expressions see it, whose registers go by DWARF's numbers. They use nothing else.
type environment struct {
	ax.Env
	walk *walk
}

// Register implements ax.Env.
func (e environment) Register(n arch.Reg) (uint64, error) {
	r := e.walk.register(uint64(n))
	return r.value, r.missing
}

// Ref implements ax.Env.
func (e environment) Ref(at arch.Addr, size int) (uint64, error) { return e.walk.integer(at, size) }

// integer reads one of up to eight bytes in collected memory.
func (w *walk) integer(at arch.Addr, size int) (uint64, error) {
	b := make([]byte, size)
	if n := w.memory.ReadMemory(at, b); n < size {
		return 0, &MissingError{at + arch.Addr(n)}
	}
	return arch.Uint(b, w.isa.Order), nil
}

// byFramePointer follows the chain of frame pointers: where the register points to lie the caller's and, behind that, the return
// address. Code without CFI may use the register for anything, so the next link has to be further up, and the return address in
// code of the program. Otherwise the backtrace ends for the reason that is given.
func (w *walk) byFramePointer(why error) (Frame, error) {
	if !w.isa.Machine.FrameChain || w.fp < 0 || w.sp < 0 {
		return Frame{}, why
	}
	sp, fp, size := w.frame.registers[w.sp], w.frame.registers[w.fp], w.isa.AddrSize
	if sp.missing != nil || fp.missing != nil || fp.value < sp.value || fp.value%uint64(size) != 0 {
		return Frame{}, why
	}
	link := w.address(fp.value)
	saved, err := w.integer(link, size)
	if err != nil || saved != 0 && saved <= fp.value {
		return Frame{}, why
	}
	back, err := w.integer(link+arch.Addr(size), size)
	if err != nil {
		return Frame{}, why
	}
	w.frame.CFA = link + arch.Addr(2*size)
	caller := Frame{Guessed: true, registers: make([]register, len(w.slots))}
	for n := range caller.registers {
		caller.registers[n].missing = errLost
	}
	caller.registers[w.fp], caller.registers[w.sp] = register{value: saved}, register{value: uint64(w.frame.CFA)}
	caller, err = w.returned(caller, back, false)
	if err != nil || w.program.ObjectAt(caller.Code) == nil {
		return Frame{}, why
	}
	return caller, nil
}
