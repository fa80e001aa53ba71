package sail

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of the Sail model.
var Dialect = &itrace.Dialect{
	Name:  "sail",
	Title: "the trace of the Sail model",
	New:   func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why:   why,
}

func why(head []byte) string {
	if bytes.Contains(head, []byte(" <- 0x")) {
		return "steps and modes in brackets, with what instructions write"
	}
	return "steps and modes in brackets, without effects"
}

// decoder is the Decoder of the Sail model. Its units are an instruction with the lines behind it, and any other line.
type decoder struct{ seen seen }

// seen is what a trace has had lines of.
type seen byte

const (
	seenRegisters seen = 1 << iota
	seenSystem
	seenMemory
	seenEvents
	allSeen = 1<<iota - 1
)

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	if d.seen == 0 {
		return dst
	}
	return append(dst, byte(d.seen))
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	d.seen = 0
	if len(state) == 0 {
		return nil
	}
	if len(state) > 1 || state[0] == 0 || state[0] > byte(allSeen) {
		return itrace.ErrState
	}
	d.seen = seen(state[0])
	return nil
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	for !b.Full() {
		line, next := b.Line(n, last)
		switch {
		case next < 0:
			return n
		case isInstruction(line):
			if next = d.unit(b, line, next, last); next < 0 {
				return n
			}
		case len(line) > 0:
			var e effect
			e.read(line)
			d.add(b, &e)
		}
		n = next
	}
	return n
}

func isInstruction(line []byte) bool { return len(line) > 1 && line[0] == '[' && line[1]-'0' <= 9 }

// mostLines is how many lines may stand behind an instruction. What is beyond is still of it, but tells nothing of it any more.
const mostLines = 1 << 12

// unit adds an instruction and what the lines behind it tell, and returns where the next unit begins, negative if that is not
// certain yet. What lines behind tell of the instruction and its exception is set at the end.
func (d *decoder) unit(b *itrace.Batch, line []byte, next int, last bool) int {
	added, before := b.Len(), d.seen
	l := scan.Line{Text: line}
	r := b.Add(itrace.Instruction)
	if instruction(&l, r); l.Problem != nil {
		r.Kind, r.Problem = itrace.Unknown, l.Problem
		return next
	}
	u := unit{pc: r.Addr, pcDigits: r.AddrDigits, opcode: r.Value}
	for range mostLines {
		behind, after := b.Peek(next, last)
		if after < 0 && !last {
			b.Truncate(added)
			d.seen = before
			return -1
		}
		if after < 0 || isInstruction(behind) || bytes.HasPrefix(behind, fetch) {
			break
		}
		if len(behind) > 0 {
			b.Line(next, last)
			var e effect
			e.read(behind)
			u.look(&e, b.Len())
			d.add(b, &e)
		}
		next = after
	}
	r = b.Record(added)
	r.Trapped = u.trapped()
	r.Scope = d.scope(&u)
	if u.event > 0 {
		u.place(b.Record(u.event))
	}
	return next
}

// instruction reads "[46] [M]: 0x00000000800000F4 (0x18005073) csrrwi x0, satp, 0x0".
func instruction(l *scan.Line, r *itrace.Record) {
	l.Expect("[", "a step in brackets")
	r.ID = l.Decimal("the number of a step")
	l.Expect("] [", "a mode in brackets")
	start := l.At
	for c := l.Peek(); c >= 'A' && c <= 'Z'; c = l.Peek() {
		l.At++
	}
	if r.Mode = l.Text[start:l.At]; len(r.Mode) == 0 {
		l.Fail(start, "a mode")
	}
	l.Expect("]: ", `"]:" and a blank`)
	r.Addr, r.AddrDigits = l.Address("0x", "0x and an address")
	l.Expect(" (", "an opcode in parentheses")
	r.Value, r.Digits = l.ZeroX("0x and an opcode")
	l.Expect(")", `")"`)
	l.End()
	l.Blanks()
	r.Disasm = l.Rest()
	if end := bytes.Index(r.Disasm, []byte("  ")); end >= 0 { // a symbol is behind it
		r.Disasm = r.Disasm[:end]
	}
}

// unit is what the lines behind an instruction say of it.
type unit struct {
	pc, opcode    uint64
	pcDigits      []byte
	loads, stores bool
	exception     bool // there was one
	fetch         bool // at a fetch
	interrupt     bool
	hasEPC        bool
	epc           uint64 // of what an exception or interrupt was at
	epcDigits     []byte
	event         int // which record is the first; 0 if there is none, which is the instruction itself or one before
}

// The numbers of the registers of control and status that an exception writes.
const (
	sepc   = 0x141
	scause = 0x142
	mepc   = 0x341
	mcause = 0x342
)

// look takes what a line says of the instruction, of which a record is to be made, by its number.
func (u *unit) look(e *effect, record int) {
	switch e.kind {
	case isSystem:
		u.cause(e)
	case isMemory:
		u.loads = u.loads || !e.write
		u.stores = u.stores || e.write
	case isEvent:
		u.fetch = u.fetch || !u.exception && e.ofFetch()
		u.exception = u.exception || e.event == itrace.Exception
		u.interrupt = u.interrupt || e.event == itrace.Interrupt
		if u.event == 0 { // of several the first is known to be at the instruction
			u.event = record
		}
	}
}

// place tells an event where it was.
func (u *unit) place(r *itrace.Record) {
	switch {
	case u.hasEPC:
		r.Addr, r.AddrDigits = u.epc, u.epcDigits
	case u.trapped():
		r.Addr, r.AddrDigits = u.pc, u.pcDigits
	}
}

// cause takes what a write of control and status says of an exception. Unless one has been told, it may be what an instruction does
// that writes the register.
func (u *unit) cause(e *effect) {
	n, _ := riscv.SystemNumber(e.name) // old versions do not tell numbers
	if !e.write || !u.exception && !u.interrupt && riscv.WritesSystem(u.opcode, n) {
		return
	}
	switch n {
	case mepc, sepc:
		if !u.hasEPC {
			u.hasEPC, u.epc, u.epcDigits = true, e.value, e.digits
		}
	case mcause, scause:
		if e.digits[0] >= '8' {
			u.interrupt = true
		} else {
			u.exception = true
		}
	}
}

// trapped reports whether the instruction had an exception; one at another address is that of a fetch behind it.
func (u *unit) trapped() bool {
	return u.exception && !u.interrupt && (u.hasEPC && u.epc == u.pc || !u.hasEPC && !u.fetch)
}

// scope is what is told of an instruction.
func (d *decoder) scope(u *unit) (s itrace.Scope) {
	loads, stores := riscv.Accesses(u.opcode)
	if d.seen&seenRegisters == 0 {
		s |= itrace.NoRegisters
	}
	if d.seen&seenSystem == 0 || u.exception || u.interrupt {
		s |= itrace.NoSystem
	}
	if d.seen&seenMemory == 0 {
		s |= itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored
	}
	if loads && !u.loads && !u.trapped() {
		s |= itrace.NoLoads | itrace.NoLoaded
	}
	if stores && !u.stores && !u.trapped() && !riscv.HasResult(u.opcode) { // a store-conditional may have failed
		s |= itrace.NoStores | itrace.NoStored
	}
	if d.seen&seenEvents != 0 {
		s |= itrace.TellsEvents | itrace.TellsTrapped
	}
	if u.trapped() {
		s |= itrace.TellsTrapped
	}
	return s
}
