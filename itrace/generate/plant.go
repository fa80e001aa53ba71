package generate

import (
	"fmt"
	"slices"

	"tracewell/itrace"
)

// faultKind is how a kind of fault is planted: before an instruction is executed, or in the records of one that was.
type faultKind struct {
	name FaultKind
	text string
	// fits reports whether the instruction, which is still to be executed if before is set, can be befallen; nil is always.
	fits   func(p *processor) bool
	before func(p *processor, t *tracer, f Fault)
	after  func(p *processor, t *tracer, f Fault, r *records)
}

// records are those of one instruction.
type records struct {
	head    itrace.Record
	effects []itrace.Record
}

var kindTable = []faultKind{
	{FaultValue, "a register record with a wrong value", (*processor).wroteRegister, nil,
		effect1(registerWrite, (*processor).misprint)},
	{FaultState, "a wrong register value that the processor goes on with", (*processor).wroteRegister, nil,
		effect1(registerWrite, (*processor).corrupt)},
	{FaultStore, "wrong data in the record of a store", (*processor).wroteMemory, nil, effect1(memoryWrite, (*processor).misprint)},
	{FaultAddress, "a wrong address in the record of a store", (*processor).wroteMemory, nil,
		effect1(memoryWrite, func(_ *processor, t *tracer, r *itrace.Record) {
			r.Addr ^= 4
			r.AddrDigits = t.digits(uint32(r.Addr))
		})},
	{FaultOpcode, "a wrong opcode", nil, nil, headline(func(t *tracer, r *itrace.Record) {
		r.Value ^= 1 << 11
		r.Digits = t.hex(r.Value, len(r.Digits))
	})},
	{FaultMode, "another mode", nil, nil, headline(func(_ *tracer, r *itrace.Record) { r.Mode = []byte("usr") })},
	{FaultSkipped, "IS in place of IT", nil, nil, headline(func(_ *tracer, r *itrace.Record) { r.Skipped = true })},
	{FaultDrop, "N instructions (1) are left out", nil, nil, (*processor).drop},
	{FaultInsert, "N instructions (1) too many", (*processor).inSequence, (*processor).insert, nil},
	{FaultLate, "effects come N instructions (2) late", (*processor).hadEffects, nil, (*processor).delay},
	{FaultReorder, "effects in the opposite order", (*processor).hadSeveralEffects, nil, (*processor).reverse},
	{FaultInterrupt, "an interrupt handler runs", (*processor).inSequence, (*processor).interrupt, nil},
	{FaultPoll, "a device is busy N times (3) longer", (*processor).aboutToAsk, (*processor).keepBusy, nil},
	{FaultTruncate, "the trace ends", nil, (*processor).end, nil},
	{FaultGarbage, "a line that is no record", nil, (*processor).babble, nil},
}

// inSequence reports whether the next instruction is in no delay slot.
func (p *processor) inSequence() bool { return p.next == p.pc+4 }

// aboutToAsk reports whether the next instruction reads the device.
func (p *processor) aboutToAsk() bool {
	in := program[(p.pc-entry)/4]
	return in.op == opLW && p.registers[in.rs]+signed(in.imm) == deviceAddr
}

func (p *processor) wroteRegister() bool {
	return slices.ContainsFunc(p.effects, func(e effect) bool { return !e.memory })
}

func (p *processor) wroteMemory() bool {
	return slices.ContainsFunc(p.effects, func(e effect) bool { return e.memory && e.write })
}

func (p *processor) hadEffects() bool { return len(p.effects) > 0 }

func (p *processor) hadSeveralEffects() bool { return len(p.effects) > 1 }

// due takes the faults out whose turn it is: of those that are planted before an instruction, or after.
func (p *processor) due(before bool) (now []Fault) {
	p.faults = slices.DeleteFunc(p.faults, func(f Fault) bool {
		k := f.kind()
		if f.At > p.count || before != (k.before != nil) || k.fits != nil && !k.fits(p) {
			return false
		}
		now = append(now, f)
		return true
	})
	return now
}

// plant notes where a fault is: in the line that is so many behind the next.
func (p *processor) plant(t *tracer, f Fault, pc uint32, line int, what string) {
	t.planted = append(t.planted, Planted{f, p.count, t.lines + 1 + int64(line), pc, what})
}

func registerWrite(r *itrace.Record) bool { return r.Kind == itrace.Register }

func memoryWrite(r *itrace.Record) bool { return r.Kind == itrace.Memory && r.Write }

// effect1 makes a fault of a change to the first effect that is of a kind.
func effect1(kind func(*itrace.Record) bool, change func(*processor, *tracer, *itrace.Record)) func(
	*processor, *tracer, Fault, *records) {
	return func(p *processor, t *tracer, f Fault, r *records) {
		i := slices.IndexFunc(r.effects, func(e itrace.Record) bool { return kind(&e) })
		if i < 0 { // another fault has taken it away
			p.faults = append(p.faults, f)
			return
		}
		e := &r.effects[i]
		what := string(e.Name)
		if e.Kind == itrace.Memory {
			what = fmt.Sprintf("0x%x", e.Addr)
		}
		p.plant(t, f, uint32(r.head.Addr), 1+i, what)
		change(p, t, e)
	}
}

// headline makes a fault of a change to the instruction record.
func headline(change func(*tracer, *itrace.Record)) func(*processor, *tracer, Fault, *records) {
	return func(p *processor, t *tracer, f Fault, r *records) {
		p.plant(t, f, uint32(r.head.Addr), 0, "")
		change(t, &r.head)
	}
}

// misprint makes the value of a record wrong by one bit.
func (p *processor) misprint(t *tracer, r *itrace.Record) {
	r.Value ^= 1 << 3
	r.Digits = t.hex(r.Value, len(r.Digits))
}

// corrupt makes the value that a register got wrong by one bit, also in the processor.
func (p *processor) corrupt(t *tracer, r *itrace.Record) {
	p.misprint(t, r)
	i := slices.IndexFunc(p.effects, func(e effect) bool { return !e.memory })
	p.registers[p.effects[i].number] = uint32(r.Value)
}

// drop keeps the records of an instruction, and of those behind it, from being written.
func (p *processor) drop(t *tracer, f Fault, r *records) {
	p.plant(t, f, uint32(r.head.Addr), 0, "")
	p.dropping = max(p.dropping, f.count(1))
}

// delay holds the effects of an instruction back.
func (p *processor) delay(t *tracer, f Fault, r *records) {
	if len(r.effects) == 0 { // another fault holds them back already
		p.faults = append(p.faults, f)
		return
	}
	p.plant(t, f, uint32(r.head.Addr), 1, "")
	held := heldEffects{left: f.count(2)}
	for i := range r.effects {
		held.records = append(held.records, r.effects[i].Clone())
	}
	p.held = append(p.held, held)
	r.effects = nil
}

// reverse turns the order of the effects round.
func (p *processor) reverse(t *tracer, f Fault, r *records) {
	p.plant(t, f, uint32(r.head.Addr), 1, "")
	slices.Reverse(r.effects)
}

// interrupt runs the handler.
func (p *processor) interrupt(t *tracer, f Fault) {
	p.plant(t, f, p.pc, 0, fmt.Sprintf("0x%x", handlerEntry))
	back := p.pc
	p.registers[k0] = back
	p.pc, p.next = handlerEntry, handlerEntry+4
	for p.pc != back {
		t.time++
		in, pc := p.observed(t)
		r := p.records(t, in, pc)
		p.write(t, &r)
	}
}

// insert writes instructions that were not executed.
func (p *processor) insert(t *tracer, f Fault) {
	p.plant(t, f, p.pc, 0, "")
	for i := range uint32(f.count(1)) {
		t.time++
		p.effects = p.effects[:0]
		r := p.records(t, instruction{op: opNOP, words: []byte(opNOP.name)}, nowhere+4*i)
		p.write(t, &r)
	}
}

// nowhere is an address that the program does not have.
const nowhere = 0x80100000

// keepBusy has the device say that it is busy some times more, so that the program polls it longer: a difference that is no fault
// of the processor. The trace becomes longer by as much.
func (p *processor) keepBusy(t *tracer, f Fault) {
	p.plant(t, f, p.pc, 0, fmt.Sprintf("0x%x", deviceAddr))
	p.waits += f.count(3)
	p.longer += int64(pollInstructions * f.count(3))
}

// pollInstructions is how many instructions the program executes to ask the device once more.
const pollInstructions = 3

// end has the trace end early, at an instruction.
func (p *processor) end(t *tracer, f Fault) {
	p.plant(t, f, p.pc, 0, "")
	p.ended = true
}

func (p *processor) babble(t *tracer, f Fault) {
	p.plant(t, f, p.pc, 0, "")
	t.write([]byte("~~~ not a record ~~~"))
}
