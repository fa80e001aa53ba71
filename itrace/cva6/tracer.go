package cva6

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

var nanoseconds = []byte("ns")

// tracerLine reads a line of instr_tracer, or of the file that is written under Verilator.
func (d *decoder) tracerLine(b *itrace.Batch, l *scan.Line) {
	l.Blanks()
	time := l.Decimal(`core, a time or cycle, a cause, or "Exception @"`)
	switch {
	case l.Problem != nil:
		b.Fail(l.Problem)
	case l.Accept("ns "):
		d.instrTracer(b, l, time)
	default:
		d.flow(b, l, time)
	}
}

// flow reads " 0x10000 M (0x00000000) DASM(00000000)".
func (d *decoder) flow(b *itrace.Batch, l *scan.Line, cycle uint64) {
	l.Expect(" ", "ns, or a blank and an address")
	pc, digits := l.Address("0x", "ns, or 0x and an address")
	l.Expect(" ", "a blank")
	mode := privilege(l)
	l.Expect(" (", "an opcode in parentheses")
	opcode, opDigits := l.ZeroX("0x and an opcode")
	l.Expect(")", `")"`)
	if l.End(); l.Problem != nil {
		b.Fail(l.Problem)
		return
	}
	l.Blanks()
	i := b.Add(itrace.Instruction)
	i.Time, i.Addr, i.AddrDigits, i.Mode, i.Value, i.Digits = cycle, pc, digits, mode, opcode, opDigits
	i.Scope = itrace.NoEffects
	if text := l.Rest(); !bytes.HasPrefix(text, []byte("DASM(")) {
		i.Disasm = text
	}
}

// privilege reads a mode, of which D is that of debugging.
func privilege(l *scan.Line) []byte {
	start := l.At
	switch l.Peek() {
	case 'M', 'S', 'U', 'D':
		l.At++
	default:
		l.Fail(start, "M, S, U or D")
	}
	return l.Text[start:l.At]
}

// instrTracer reads "       52 M 0000000080000000 0 00001117 auipc …" and what was read, written and accessed.
func (d *decoder) instrTracer(b *itrace.Batch, l *scan.Line, time uint64) {
	l.Blanks()
	cycle := l.Decimal("a cycle")
	l.Expect(" ", "a blank")
	mode := privilege(l)
	l.Expect(" ", "a blank")
	pc, digits := l.Address("", "an address in hexadecimal")
	l.Expect(" ", "a blank")
	l.Hex("0 or 1")
	l.Expect(" ", "a blank")
	opcode, opDigits := l.Hex("an opcode in hexadecimal")
	if l.End(); l.Problem != nil {
		b.Fail(l.Problem)
		return
	}
	if riscv.IsCompressed(opcode) && len(opDigits) > 4 {
		opDigits = opDigits[len(opDigits)-4:]
	}
	l.Blanks()
	text, operands := split(l.Rest())
	l.At = len(l.Text) - len(operands)
	i := b.Add(itrace.Instruction)
	i.Time, i.Scale, i.Cycle, i.Mode, i.Disasm = time, nanoseconds, cycle, mode, text
	i.Addr, i.AddrDigits, i.Value, i.Digits = pc, digits, opcode, opDigits
	i.Scope = tells | itrace.NoStored
	if opcode&0x7f == 0x2f { // atomic
		i.Scope |= itrace.NoLoads | itrace.NoStores
	}
	registers(b, l, time, cycle, opcode)
}

// split parts the text of an instruction, which has no colons, from the registers and addresses behind it, which have their names
// in front of one.
func split(rest []byte) (text, behind []byte) {
	colon := bytes.IndexByte(rest, ':')
	if colon < 0 {
		return rest, nil
	}
	name := bytes.TrimRight(rest[:colon], " ")
	start := bytes.LastIndexByte(name, ' ') + 1
	return bytes.TrimRight(rest[:start], " "), rest[start:]
}

// registers reads " sp  :0000000080001000 VA: 0000000080001000 PA: 0080001000".
func registers(b *itrace.Batch, l *scan.Line, time, cycle, opcode uint64) {
	written := !riscv.HasResult(opcode) // then the first is one that is read
	var m *itrace.Record
	for l.Blanks(); !l.Done(); l.Blanks() {
		start := l.At
		for l.Peek() > ' ' && l.Peek() != ':' {
			l.At++
		}
		name := l.Text[start:l.At]
		if len(name) == 0 {
			l.Fail(start, "a register, VA or PA, and a colon")
		}
		l.Blanks()
		l.Expect(":", "a register, VA or PA, and a colon")
		l.Blanks()
		value, digits := l.Hex("a value in hexadecimal")
		if l.End(); l.Problem != nil {
			b.Fail(l.Problem)
			return
		}
		var r *itrace.Record
		switch {
		case string(name) == "VA":
			r = b.Add(itrace.Memory)
			r.Addr, r.AddrDigits, r.Size = value, digits, riscv.AccessSize(opcode)
			_, r.Write = riscv.Accesses(opcode)
			m = r
		case string(name) == "PA" && m != nil:
			m.Phys, m.HasPhys = value, true
			continue
		case !written:
			r = b.Add(itrace.Register)
			r.Name, r.Value, r.Digits = name, value, digits
			written = true
		default:
			r = b.Add(itrace.RegisterRead)
			r.Name, r.Value, r.Digits = name, value, digits
		}
		r.Time, r.Scale, r.Cycle = time, nanoseconds, cycle
	}
}

// traced reads "      2850ns, PC: 0000000080000084, Cause: Illegal Instruction, " and the line with the value behind it.
func (d *decoder) traced(b *itrace.Batch, l *scan.Line, next int, last bool) int {
	l.Blanks()
	time := l.Decimal("a time")
	for !l.Done() && l.Peek() != ',' { // its unit, if there is one
		l.At++
	}
	l.Expect(", PC: ", "PC and an address")
	pc, digits := l.Address("", "an address in hexadecimal")
	l.Expect(", Cause: ", "a cause")
	name := bytes.TrimSuffix(l.Rest(), []byte(","))
	line, after := b.Peek(next, last)
	if after < 0 && !last {
		return -1
	}
	if l.Problem != nil {
		b.Fail(l.Problem)
		return next
	}
	var value []byte
	if v := (scan.Line{Text: line}); after >= 0 && len(line) > 0 {
		v.Blanks()
		if v.Accept("tval: ") {
			_, value = v.Hex("hexadecimal digits")
		}
	}
	if len(value) > 0 {
		next = after
	}
	kind := itrace.Exception
	if bytes.Contains(name, []byte("Interrupt")) || bytes.Contains(name, []byte("Debug")) {
		kind = itrace.Interrupt
	} else {
		i := b.Add(itrace.Instruction)
		i.Time, i.Scale, i.Addr, i.AddrDigits, i.Trapped = time, nanoseconds, pc, digits, true
		i.Scope = tells | itrace.NoOpcode | itrace.NoMode | itrace.NoStored
	}
	e := b.Add(itrace.Event)
	e.Time, e.Scale, e.Event, e.Name, e.Addr, e.AddrDigits, e.Detail = time, nanoseconds, kind, name, pc, digits, value
	return next
}
