package remote

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"tracewell/arch"
	"tracewell/arch/effect"
	"tracewell/arch/emulate"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tdesc"
)

// A step to pass a breakpoint stops the program a second time, which costs more than all packets of a hit. Where the effects of the
// instruction are known for certain they are written to memory and registers in place of it.
//
// The code is read at each hit: a breakpoint of the stub's stays where it is while the program writes other code there.

// emulation passes breakpoints without a step. It is the thread that the emulator sees.
type emulation struct {
	t         *Target
	processor *emulate.Processor // nil where there is none for the machine
	slots     []*tdesc.Slot      // of the registers that it numbers; nil for those that are not described
	block     bool               // registers are written by G, all at once
	takes     []bool             // of the registers, those of which it has been seen that the stub takes what is written

	id   target.ThreadID
	step effect.Step
	code []byte
	err  error // of a reply in which nothing can be relied on
}

// prepare finds the emulator for the machine. A recording of execution does not go on from registers that are written.
func (e *emulation) prepare(t *Target) {
	if e.t = t; t.Reverser() != nil {
		return
	}
	e.processor = emulate.For(t.isa, func(name string) bool { return t.layout.ByName(name) != nil })
	if e.processor == nil {
		return
	}
	for _, name := range e.processor.Registers {
		e.slots = append(e.slots, t.layout.ByName(name))
	}
	e.slots = append(e.slots, t.layout.ByNumber(t.isa.PC)) // which is written last
	e.takes = make([]bool, len(e.slots))
	e.code = make([]byte, e.processor.Longest)
}

// steps reports whether breakpoints are passed by steps only.
func (e *emulation) steps() bool { return e.processor == nil || e.t.profile.Steps }

// way is how breakpoints are passed, for people.
func (e *emulation) way() string {
	if e.steps() {
		return "steps"
	}
	return "emulation, or steps where that is not certain"
}

// choose chooses how registers are written: at once if the stub's block has none but those of the emulator. Others may have effects
// when they are written.
func (e *emulation) choose() {
	known := 0
	for _, slot := range e.slots {
		if slot != nil && slot.Offset < e.t.block {
			known += slot.Size
		}
	}
	e.block = known == e.t.block && !e.t.profile.Single
}

// Register implements effect.Thread.
func (e *emulation) Register(n int) (uint64, bool) {
	slot := e.slots[n]
	if slot == nil || slot.Size > 8 || e.err != nil {
		return 0, false
	}
	b, err := e.t.register(e.id, slot)
	if !e.note(err) {
		return 0, false
	}
	return arch.Uint(b, e.t.isa.Order), true
}

// Load implements effect.Thread.
func (e *emulation) Load(addr uint64, p []byte, near bool) bool {
	at := arch.Addr(addr)
	if e.err != nil || len(e.t.watches) > 0 || !near && !e.t.owns(at, len(p), false) {
		return false
	}
	n, err := e.t.read(e.id, at, p)
	return e.note(err) && n == len(p)
}

// note keeps an error behind which nothing can be relied on, and reports whether there is none of any kind.
func (e *emulation) note(err error) bool {
	if client.IsLost(err) || isNonsense(err) {
		e.err = err
	}
	return err == nil
}

// passesAt lets a thread pass the place where it stands without a step, and reports whether nothing is left to do for it.
func (t *Target) passesAt(id target.ThreadID, at arch.Addr) bool {
	done, err := t.emulation.passes(id, at)
	if err != nil {
		t.refused(err)
		return true
	}
	if done {
		delete(t.standing, id)
		if !t.profile.Meets {
			t.land(id, at)
		}
	}
	return done
}

// passes passes the place where a thread stands by emulation. It reports whether it has: otherwise nothing has changed, and the
// thread has to be stepped.
func (e *emulation) passes(id target.ThreadID, at arch.Addr) (bool, error) {
	if e.steps() {
		return false, nil
	}
	e.id, e.err = id, nil
	// No instruction is read across the end of a page, behind which there may be a device.
	code := e.code[:min(len(e.code), int(page-at%page))]
	n, err := e.t.read(id, at, code)
	if e.note(err); n == 0 || !e.processor.Emulate(&e.step, e, code[:n], at, e.t.owns(at, 1, false)) || !e.mayStore(at) {
		return false, e.err
	}
	// A thread in a jump to itself would meet its breakpoint for ever before any other thread runs.
	if e.step.Next == uint64(at) {
		return false, nil
	}
	return e.carryOut()
}

// owns reports whether memory is known to be the program's own, by its ELF file.
func (t *Target) owns(at arch.Addr, n int, written bool) bool {
	for _, s := range t.segments {
		if at >= s.start && at+arch.Addr(n) <= s.end && at < at+arch.Addr(n) && (s.writable || !written) {
			return true
		}
	}
	return false
}

// mayStore reports whether the stub can write what the instruction stores. A stub writes where the program may not, and to pages
// that processes share until one of them writes: so the memory has to be that of a program which has the machine to itself. Its
// stack is that, too, but for a page that the stack pointer has not reached.
func (e *emulation) mayStore(pc arch.Addr) bool {
	t, s := e.t, &e.step
	at, n := arch.Addr(s.Addr), len(s.Stored)
	if n == 0 {
		return true
	}
	for _, p := range t.places {
		if p.addr < at+arch.Addr(n) && at < p.addr+arch.Addr(max(p.length, len(t.isa.Machine.Breakpoint))) {
			return false
		}
	}
	if len(t.watches) > 0 {
		return false
	}
	if !s.Near {
		return t.owns(at, n, true)
	}
	top, err := t.value(e.id, t.isa.SP)
	return e.note(err) && t.owns(pc, 1, false) && at/page == arch.Addr(top)/page
}

// carryOut writes memory, then registers, the pc last. A stub that refuses the first register has changed nothing but what the step
// will store once more.
func (e *emulation) carryOut() (bool, error) {
	t, s := e.t, &e.step
	if len(s.Stored) > 0 {
		if err := t.write(e.id, arch.Addr(s.Addr), s.Stored); err != nil {
			e.note(err)
			return false, e.err
		}
	}
	counter := len(e.slots) - 1
	s.Set(counter, s.Next)
	before, ok := e.untrusted()
	if !ok {
		return false, e.err
	}
	written, err := e.write(t.profile.Ahead && before == nil)
	t.forget()
	switch {
	case client.IsLost(err):
		return false, err
	case written == 0 && (client.Rejected(err) || client.IsUnsupported(err)):
		t.profile.Steps = true
		return false, nil
	case err != nil:
		return false, &partialError{err}
	}
	if len(before) > 0 {
		return e.look(before)
	}
	t.of(e.id)
	slot := e.slots[counter]
	arch.PutAddr(t.state.block[slot.Offset:slot.Offset+slot.Size], t.isa.Order, arch.Addr(s.Next))
	t.know(slot)
	return true, nil
}

// partialError says that an instruction was carried out in part.
type partialError struct{ err error }

// Error says why.
func (e *partialError) Error() string {
	return fmt.Sprintf("the instruction under a breakpoint was carried out in part: %v", e.err)
}

// Unwrap returns why.
func (e *partialError) Unwrap() error { return e.err }

// untrusted returns the values of all registers that are to be written, unless it is known of each that the stub takes its new one.
func (e *emulation) untrusted() (values []uint64, ok bool) {
	if !slices.ContainsFunc(e.step.Registers, func(w effect.Write) bool { return !e.takes[w.Register] }) {
		return nil, true
	}
	for _, w := range e.step.Registers {
		v, ok := e.Register(w.Register)
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// look reports whether the registers hold what was written to them. With a stub that has confirmed it and keeps all as it was,
// steps are used from then on.
func (e *emulation) look(before []uint64) (done bool, err error) {
	same, kept := true, true
	for i, w := range e.step.Registers {
		v, ok := e.Register(w.Register)
		if !ok {
			return false, cmp.Or[error](e.err, &partialError{errors.New("the registers cannot be read back")})
		}
		e.takes[w.Register] = e.takes[w.Register] || v == w.Value && v != before[i]
		same, kept = same && v == before[i], kept && v == w.Value
	}
	switch e.t.profile.Steps = !kept; {
	case kept:
		return true, nil
	case same:
		return false, nil
	}
	return false, &partialError{errors.New("the registers hold other values than were written")}
}

// write writes the registers, by G or by P. If the stub is known to take them all they go ahead of the next packet, which mostly is
// the one that has the program go on. It returns how many the stub may
// have taken where one has failed.
func (e *emulation) write(ahead bool) (written int, err error) {
	t, writes := e.t, e.step.Registers
	if err := t.choose(e.id); err != nil {
		return 0, err
	}
	if e.block {
		if written, err = e.writeBlock(ahead); !client.IsUnsupported(err) {
			return written, err
		}
		e.block = false
	}
	if ahead {
		for _, w := range writes {
			t.c.Ahead(e.packet(w))
		}
		return len(writes), nil
	}
	for i, w := range writes {
		err := t.check(t.c.Confirm(e.packet(w)))
		if e.block = i == 0 && client.IsUnsupported(err); e.block {
			return e.writeBlock(false)
		}
		if err != nil {
			return i, err
		}
	}
	return len(writes), nil
}

// packet is the P of a register. It is not written by its form, which allocates.
func (e *emulation) packet(w effect.Write) []byte {
	slot := e.slots[w.Register]
	var value [8]byte
	arch.PutAddr(value[:slot.Size], e.t.isa.Order, arch.Addr(w.Value))
	p := strconv.AppendUint(append(e.t.packet[:0], request.WriteRegister.Prefix...), uint64(slot.Reg.Num), 16)
	e.t.packet = hex.AppendEncode(append(p, '='), value[:slot.Size])
	return e.t.packet
}

// writeBlock writes all registers at once.
func (e *emulation) writeBlock(ahead bool) (written int, err error) {
	t := e.t
	if err := t.fetch(e.id); err != nil {
		return 0, err
	}
	for _, w := range e.step.Registers {
		slot := e.slots[w.Register]
		if t.gaps || slot.Offset+slot.Size > t.block { // then there is no way to write it
			return 0, &client.UnsupportedError{Packet: request.WriteRegister.Name()}
		}
		arch.PutAddr(t.state.block[slot.Offset:slot.Offset+slot.Size], t.isa.Order, arch.Addr(w.Value))
	}
	t.packet = hex.AppendEncode(append(t.packet[:0], request.WriteRegisters.Prefix...), t.state.block[:t.block])
	if ahead {
		t.c.Ahead(t.packet)
	} else if err := t.check(t.c.Confirm(t.packet)); err != nil {
		return 0, err
	}
	return len(e.step.Registers), nil
}
