package match

import (
	"slices"

	isa "tracewell/arch/riscv"
	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// Some rules are about how one producer writes what another writes in another way. They are applied to each side as it is read,
// and bring what it says to one form, so that groups have equal hashes if they are equal under the rules. A rule that is not in
// force is a nil counter.

// adapting is the rules of a side that bring what it says to a form that other producers may have.
type adapting struct {
	some                          bool // one is in force besides those that always are
	zero, aligned, counters, flow *counter
	boxing, width, compressed     *counter
	interrupts, reserved          *counter
	lanes                         bool // accesses may be words of a bus
	wide                          bool // registers and addresses of more than 32 bits have been seen
}

func newAdapting(r *rules) adapting {
	return adapting{
		some: r.adapt, zero: r.named[RuleZero], aligned: r.named[RuleAligned], counters: r.named[RuleCounters], flow: r.named[RuleFlow],
		boxing: r.named[RuleBoxing], width: r.named[RuleWidth], compressed: r.named[RuleCompressed], lanes: r.named[RuleLanes] != nil,
		interrupts: r.named[RuleInterrupts], reserved: r.named[RuleReserved],
	}
}

// instruction adapts an instruction record.
func (a *adapting) instruction(g *group) {
	if a.flow != nil {
		g.leaveFlow()
	}
	if a.width != nil {
		a.narrow(&g.pc)
	}
	a.wide = a.wide || g.pc>>32 != 0
}

// effect adapts an effect, and reports whether it is to be left out.
func (a *adapting) effect(g *group, e *effect, r *itrace.Record) (left bool) {
	switch {
	case a.interrupts != nil && r.Kind == itrace.Event && r.Event == itrace.Interrupt:
		a.interrupts.fire()
		return true
	case a.reserved != nil && e.kind == loads && riscv.StoresConditionally(g.opcode): // some producers compare and swap
		a.reserved.fire()
		return true
	case e.accesses():
		a.access(e)
	case e.kind == writesRegister:
		return a.write(g, e, r)
	}
	return false
}

// access adapts the address of an access.
func (a *adapting) access(e *effect) {
	if a.width != nil {
		a.narrow(&e.at)
	}
	if e.kind == loads && a.aligned != nil && e.at&3 != 0 {
		a.aligned.fire()
		e.at &^= 3
	}
}

// write adapts the write of a register.
func (a *adapting) write(g *group, e *effect, r *itrace.Record) (left bool) {
	register, known := riscv.Number(r.Name)
	float := known && register.Class == 'f'
	a.wide = a.wide || len(r.Digits) > 8 && !float && !e.system
	switch {
	case a.counters != nil && !e.system && !g.bare && riscv.ReadsCounter(g.opcode):
		a.counters.fire()
		return true
	case r.Wild || len(r.Digits) > 16:
	case float && a.boxing != nil:
		a.unbox(e, r)
	case !float && a.width != nil:
		a.narrow(&e.value)
	}
	return false
}

// unbox takes a single in a register of doubles out of its box. What is told in more digits than a single has and is in no box is
// something else: a single that its instruction has failed to box, or a double.
func (a *adapting) unbox(e *effect, r *itrace.Record) {
	const single = 8 // digits
	switch upper := e.value >> 32; {
	case upper == 1<<32-1:
		a.boxing.fire()
		e.value &= 1<<32 - 1
	case upper == 0 && e.value != 0 && len(r.Digits) > single:
		e.size = 8
	}
}

// narrow takes the upper half from a number that is the extension of one of 32 bits with its sign.
func (a *adapting) narrow(n *uint64) {
	if *n>>31 == 1<<33-1 {
		a.width.fire()
		*n &= 1<<32 - 1
	}
}

// finish adapts an instruction once all of its effects are there: what a compressed one stands for depends on the width of
// registers, which they tell.
func (a *adapting) finish(g *group) {
	g.loose = a.lanes && slices.ContainsFunc(g.effects, func(e effect) bool { return e.accesses() })
	if a.compressed == nil || g.bare || g.wild || g.scope&itrace.NoOpcode != 0 || !riscv.IsCompressed(g.opcode) || g.opcode >= 1<<16 {
		return
	}
	if whole, ok := isa.Expand(uint16(g.opcode), a.wide); ok {
		g.opcode, g.expanded = uint64(whole), true
	}
}
