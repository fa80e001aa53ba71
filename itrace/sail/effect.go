package sail

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// kind is a kind of line behind an instruction.
type kind uint8

const (
	isNothing kind = iota
	isRegister
	isSystem
	isMemory
	isEvent
	isRemark
)

// effect is a line behind an instruction.
type effect struct {
	kind     kind
	problem  *itrace.SyntaxError
	name     []byte // of a register, or a cause
	value    uint64 // of a register or data
	digits   []byte
	write    bool // and not a read
	number   uint16
	numbered bool
	addr     uint64
	addrText []byte
	event    itrace.EventKind
	mode     []byte // that an event leads to
}

var fetch = []byte("mem[X")

const (
	exceptions = "handling exc#"
	interrupts = "handling int#"
)

// remarks are the beginnings of lines that tell nothing of what was executed, of all versions.
var remarks = [][]byte{
	[]byte("trapping from "), []byte("ret-ing from "), []byte("Handling interrupt"), []byte("entering "), []byte("PTW:"),
	[]byte("TLB"),
	[]byte("|"), []byte("+-"), []byte("clint"), []byte("htif"), []byte("reservation"), []byte("tick"), []byte("ELF Entry"),
	[]byte("Entry point"), []byte("Running file"), []byte("Registered htif"), []byte("SUCCESS"), []byte("FAILURE"),
	[]byte("Instructions:"), []byte("begin_signature"), []byte("end_signature"), []byte("tohost"),
}

// read reads a line. Most are those of registers.
func (e *effect) read(line []byte) {
	l := scan.Line{Text: line}
	switch {
	case e.register(&l):
	case bytes.HasPrefix(line, fetch):
		e.kind = isRemark
		return
	case l.Accept("mem["):
		e.memory(&l)
	case l.Accept("CSR "):
		e.system(&l)
	case l.Accept(exceptions):
		e.handling(&l, itrace.Exception)
	case l.Accept(interrupts):
		e.handling(&l, itrace.Interrupt)
	case isMessage(line):
		e.kind = isRemark
		return
	default:
		l.Fail(0, "a step in brackets, a register, CSR or mem")
	}
	if l.Problem == nil && !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
	if l.Problem != nil {
		e.kind, e.problem = isNothing, l.Problem
	}
}

// isMessage reports whether a line is one that tells nothing of what was executed.
func isMessage(line []byte) bool {
	for _, beginning := range remarks {
		if bytes.HasPrefix(line, beginning) {
			return true
		}
	}
	return line[0] == 0xe2 // of a box that is drawn
}

// arrow reads " <- ", or " -> " if there may be a read.
func (e *effect) arrow(l *scan.Line) {
	if e.write = l.Accept(" <- "); !e.write {
		l.Expect(" -> ", `"<-" or "->" between blanks`)
	}
}

// register reads "x5 <- 0x0000000080000120", and reports whether the line begins with a register.
func (e *effect) register(l *scan.Line) bool {
	end := itrace.WordEnd(l.Text, 0)
	n, known := riscv.Number(l.Text[:end])
	if !known {
		return false
	}
	e.kind, e.name, e.write = isRegister, l.Text[:end], true
	e.numbered = n == riscv.Register{Class: 'x'}
	l.At = end
	l.Expect(" <- ", `"<-" between blanks`)
	e.value, e.digits = l.ZeroX("0x and a value")
	return true
}

// system reads "mstatus (0x300) <- 0x0000000A00000080 (input: 0x0000000000000080)".
func (e *effect) system(l *scan.Line) {
	e.kind, e.name = isSystem, l.Word("the name of a register of control and status")
	if l.Accept(" (") {
		at := l.At
		n, _ := l.ZeroX("0x and the number of a register")
		if n > 0xfff {
			l.Fail(at, "the number of a register of control and status")
		}
		e.number, e.numbered = uint16(n), true
		l.Expect(")", `")"`)
	}
	e.arrow(l)
	e.value, e.digits = l.ZeroX("0x and a value")
	if l.Accept(" (input: ") {
		l.ZeroX("0x and a value")
		l.Expect(")", `")"`)
	}
}

// memory reads "R,0x0000000080001000] -> 0x00000007".
func (e *effect) memory(l *scan.Line) {
	e.kind = isMemory
	if c := l.Peek(); c != '0' {
		for l.Peek() != ',' && !l.Done() {
			l.At++
		}
		l.Expect(",", "the type of an access and a comma, or an address")
	}
	e.addr, e.addrText = l.Address("0x", "0x and an address")
	l.Expect("]", `"]"`)
	e.arrow(l)
	e.value, e.digits = l.ZeroX("0x and data")
}

// handling reads "illegal-instruction at priv M with tval 0x0000000030002673", or "… | tval=0x0000000030002673 | …".
func (e *effect) handling(l *scan.Line, event itrace.EventKind) {
	e.kind, e.event = isEvent, event
	e.name = l.Word("a cause")
	l.Expect(" at priv ", "the mode that handles it")
	e.mode = l.Word("a mode")
	if l.Accept(" with tval ") || l.Accept(" | tval=") {
		_, e.digits = l.ZeroX("0x and a value")
	}
	if l.Accept(" | ") { // further values
		l.At = len(l.Text)
	}
}

// ofFetch reports whether a cause is that an instruction could not be fetched, which is then none of the one before.
func (e *effect) ofFetch() bool {
	return bytes.HasPrefix(e.name, []byte("fetch-")) || string(e.name) == "0x0C" || string(e.name) == "0x01"
}

// add adds the record of a line that was read.
func (d *decoder) add(b *itrace.Batch, e *effect) {
	switch e.kind {
	case isRegister:
		d.seen |= seenRegisters
		r := b.Add(itrace.Register)
		r.Name, r.Value, r.Digits, r.Zero = e.name, e.value, e.digits, e.numbered
	case isSystem:
		d.seen |= seenSystem
		kind := itrace.Register
		if !e.write {
			kind = itrace.RegisterRead
		}
		r := b.Add(kind)
		r.Name, r.Value, r.Digits, r.System, r.Number, r.Numbered = e.name, e.value, e.digits, true, e.number, e.numbered
	case isMemory:
		d.seen |= seenMemory
		r := b.Add(itrace.Memory)
		r.Addr, r.AddrDigits, r.Phys, r.HasPhys, r.Write = e.addr, e.addrText, e.addr, true, e.write
		r.Value, r.Digits, r.Size = e.value, e.digits, uint32(len(e.digits)+1)/2
	case isEvent:
		d.seen |= seenEvents
		r := b.Add(itrace.Event)
		r.Event, r.Name, r.Mode, r.Detail = e.event, e.name, e.mode, e.digits
	case isRemark:
		b.Add(itrace.Remark)
	default:
		b.Fail(e.problem)
	}
}
