// Package dromajo is what Dromajo, a model of RISC-V for co-simulation, writes with --trace, a line for each instruction:
//
//	HART PRIV " 0x" PC16 " (0x" OP8 ")" [ EFFECT ]
//	EFFECT = " x" W2 " 0x" HEX16 | " f" W2 " 0x" HEX16 | " v" W2 " 0x" HEX | " exception " CAUSE ", tval " HEX16
//
//	0 3 0x0000000080000014 (0x00006289) x 5 0x0000000000002000
//	0 0 0x000000008000006c (0x00000073) exception 8, tval 0000000000000000
//
// HART, W2, which is a number right-aligned in two columns, and CAUSE are decimal; all else is hexadecimal in lower case. PRIV is
// 0, 1 or 3: U, S or M, before the instruction. The opcode has eight digits, the upper four zeros if it is compressed.
//
// Of what an instruction did the one register is told that it wrote, no access to memory, and no register of control and status.
// An instruction that had an exception has a line, which says so; interrupts are not told. The trace begins in Dromajo's own boot
// ROM, ten instructions from 0x10000 on, unless --trace N leaves out the first N.
//
// What Dromajo says of itself besides goes to the same place: lines that begin with "csr_write:", "hartid=", "NOTE:", "Simulation
// speed:", "Benchmark exited" or "Power off" are remarks.
package dromajo

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of Dromajo.
var Dialect = &itrace.Dialect{
	Name:  "dromajo",
	Title: "Dromajo's trace",
	New:   func(itrace.Settings) itrace.Decoder { return itrace.EachLine(reader{}) },
	Why: func([]byte) string {
		return "lines of a hart, a privilege, an address of 16 digits and an opcode in parentheses"
	},
}

// scope is what Dromajo tells of every instruction.
const scope = itrace.NoSystem | itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored |
	itrace.TellsTrapped | itrace.TellsEvents

// reader reads lines, none of which depends on another.
type reader struct{ itrace.Stateless }

// Line implements itrace.LineReader.
func (reader) Line(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	if line[0]-'0' > 9 && isRemark(line) {
		b.Add(itrace.Remark)
		return nil
	}
	l := scan.Line{Text: line}
	r := b.Add(itrace.Instruction)
	if instruction(&l, r); l.Problem != nil {
		r.Kind, r.Problem = itrace.Unknown, l.Problem
		return nil
	}
	r.Scope = scope
	switch {
	case l.Done():
	case l.Accept(" exception "):
		r.Trapped = true
		exception(b, &l, r)
	default:
		register(b, &l, r.CPU)
	}
	if !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
	return l.Problem
}

// remarks are the beginnings of lines that tell nothing of what was executed.
var remarks = [][]byte{
	[]byte("csr_write:"), []byte("hartid="), []byte("NOTE:"),
	[]byte("Simulation speed:"), []byte("Benchmark exited"), []byte("Power off"),
}

func isRemark(line []byte) bool {
	for _, beginning := range remarks {
		if bytes.HasPrefix(line, beginning) {
			return true
		}
	}
	return false
}

// instruction reads a line up to what the instruction did.
func instruction(l *scan.Line, i *itrace.Record) {
	hart := l.Decimal("the number of a hart")
	if hart > 1<<31-1 {
		l.Fail(0, "the number of a hart")
	}
	i.CPU = int32(hart)
	l.Expect(" ", "a blank")
	if i.Mode = riscv.Mode(l.Peek() - '0'); i.Mode == nil {
		l.Fail(l.At, "a privilege of 0, 1 or 3")
		return
	}
	l.At++
	l.Expect(" ", "a blank")
	i.Addr, i.AddrDigits = l.Address("0x", "0x and an address")
	l.Expect(" (", "an opcode in parentheses")
	i.Value, i.Digits = l.ZeroX("0x and an opcode")
	l.Expect(")", `")"`)
	l.End()
}

// exception reads "8, tval 0000000000000000". An instruction that had one has no other effects.
func exception(b *itrace.Batch, l *scan.Line, i *itrace.Record) {
	cpu, pc, pcDigits := i.CPU, i.Addr, i.AddrDigits // i is valid until the next record is added
	start := l.At
	l.Decimal("the number of a cause")
	name := l.Text[start:l.At]
	l.Expect(", tval ", `", tval" and a value`)
	_, tval := l.Hex("hexadecimal digits")
	if l.End(); l.Problem != nil {
		return
	}
	e := b.Add(itrace.Event)
	e.CPU, e.Event, e.Name, e.Addr, e.AddrDigits, e.Detail = cpu, itrace.Exception, name, pc, pcDigits, tval
}

// register reads " x 5 0x0000000000002000".
func register(b *itrace.Batch, l *scan.Line, cpu int32) {
	l.At++
	at := l.At
	class := l.Peek()
	l.At = min(at+1, len(l.Text))
	l.Blanks()
	name := riscv.Name(class, l.Decimal("x, f or v with a number, or exception"))
	if name == nil {
		l.Fail(at, "x, f or v with the number of a register, or exception")
	}
	l.Expect(" ", "a blank")
	value, digits := l.ZeroX("0x and a value")
	if l.End(); l.Problem != nil {
		return
	}
	r := b.Add(itrace.Register)
	r.CPU, r.Name, r.Value, r.Digits = cpu, name, value, digits
	r.Zero = class == 'x' && string(name) == string(zero)
}

var zero = riscv.Name('x', 0)
