package rocket

import (
	"bytes"
	"encoding/binary"
	"math"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of Rocket and BOOM.
var Dialect = &itrace.Dialect{
	Name:  "rocket",
	Title: "the logs of Rocket and BOOM",
	New: func(s itrace.Settings) itrace.Decoder {
		return itrace.EachLine(&reader{trapped: s[invalid] == invalidTrapped})
	},
	Why: why,
	Options: []itrace.Option{
		{Name: invalid, Help: "what lines of +verbose marked [0] are", Values: []string{"idle", invalidTrapped}},
	},
	Defers: mostLate,
}

const (
	invalid        = "invalid"
	invalidTrapped = "trapped"

	mostLate = 1 << 10 // instructions that a write is waited for
	mostOpen = 64      // writes that are waited for at once: so many registers there are
)

// tells is what both logs tell, and what they do not.
const tells = itrace.NoSystem | itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored

func why(head []byte) string {
	switch {
	case bytes.Contains(head, []byte("] pc=[")):
		return "lines of +verbose: a hart, a cycle, a pc and what was written in brackets"
	case bytes.Contains(head, []byte(" 0xXXXX")):
		return "commit lines with writes that come later, as Rocket's"
	}
	return "commit lines without a hart and without accesses to memory, as BOOM's, Rocket's, and Spike's until 2020"
}

// reader reads lines.
type reader struct {
	trapped bool // lines of no valid instruction are of one that had an exception

	time uint64 // of the line before, in cycles
	open []late // writes to come, the oldest first
}

// late is a write of a register that is to come.
type late struct {
	hart   int32
	class  byte // of the register
	number uint8
	behind uint32 // instructions of the hart since the one that writes
}

// AppendState implements itrace.LineReader.
func (r *reader) AppendState(dst []byte) []byte {
	if r.time == 0 && len(r.open) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, r.time)
	for _, o := range r.open {
		dst = append(binary.AppendUvarint(dst, uint64(o.hart)), o.class, o.number)
		dst = binary.AppendUvarint(dst, uint64(o.behind))
	}
	return dst
}

// Restore implements itrace.LineReader.
func (r *reader) Restore(state []byte) error {
	r.time, r.open = 0, r.open[:0]
	if len(state) == 0 {
		return nil
	}
	time, n := binary.Uvarint(state)
	if n <= 0 {
		return itrace.ErrState
	}
	r.time, state = time, state[n:]
	for len(state) > 0 {
		hart, n := binary.Uvarint(state)
		if n <= 0 || hart > math.MaxInt32 || len(state) < n+3 || len(r.open) == mostOpen {
			return itrace.ErrState
		}
		o := late{hart: int32(hart), class: state[n], number: state[n+1]}
		behind, m := binary.Uvarint(state[n+2:])
		if m <= 0 || behind > mostLate || riscv.Name(o.class, uint64(o.number)) == nil {
			return itrace.ErrState
		}
		o.behind = uint32(behind)
		r.open, state = append(r.open, o), state[n+2+m:]
	}
	return nil
}

// Line implements itrace.LineReader.
func (r *reader) Line(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	l := scan.Line{Text: line}
	switch line[0] {
	case 'C', 'S':
		r.cycle(b, &l)
	case 'x', 'f':
		r.laterWrite(b, &l)
	default:
		r.commit(b, &l)
	}
	return l.Problem
}

// commit reads "3 0x0000000080000014 (0x00006289) x 5 0x0000000000002000".
func (r *reader) commit(b *itrace.Batch, l *scan.Line) {
	l.Accept("@@@ ")
	at := l.At
	priv := l.Peek() - '0'
	const debug = 4
	mode := riscv.Mode(priv &^ debug)
	if mode == nil || priv > 7 {
		l.Fail(at, "a privilege, C and the number of a hart, or a register")
		return
	}
	l.At++
	l.Expect(" ", "a blank")
	pc, pcDigits := l.Address("0x", "0x and an address")
	l.Expect(" (", "an opcode in parentheses")
	opcode, digits := l.ZeroX("0x and an opcode")
	l.Expect(")", `")"`)
	if l.End(); l.Problem != nil {
		return
	}
	i := b.Add(itrace.Instruction)
	i.Addr, i.AddrDigits, i.Value, i.Digits, i.Mode, i.Scope = pc, pcDigits, opcode, digits, mode, tells
	r.pass(0)
	if l.Done() {
		return
	}
	l.At++
	class, number := r.register(l)
	if l.Problem != nil {
		return
	}
	if l.Accept(" p") {
		l.Blanks()
		l.Decimal("a number")
		if l.Accept(" 0xX") {
			l.At = itrace.WordEnd(l.Text, l.At)
			r.wait(0, class, number)
		}
	}
	if !l.Done() {
		r.value(b, l, late{class: class, number: number})
	}
}

// laterWrite reads "x10 p10 0x0000000000000001". One that nothing waits for is of an instruction in front of the trace.
func (r *reader) laterWrite(b *itrace.Batch, l *scan.Line) {
	class, number := r.register(l)
	l.Expect(" p", "p and a number")
	l.Blanks()
	if l.Decimal("a number"); l.Problem != nil {
		return
	}
	if o, waits := r.arrive(0, class, number); waits {
		r.value(b, l, o)
		return
	}
	b.Add(itrace.Remark)
}

// register reads "x 5".
func (r *reader) register(l *scan.Line) (class byte, number uint8) {
	at := l.At
	class = l.Peek()
	l.At = min(at+1, len(l.Text))
	l.Blanks()
	n := l.Decimal("x or f with the number of a register")
	if class != 'x' && class != 'f' || riscv.Name(class, n) == nil {
		l.Fail(at, "x or f with the number of a register")
		return 0, 0
	}
	return class, uint8(n)
}

// value reads " 0x0000000000000001", the value of a register.
func (r *reader) value(b *itrace.Batch, l *scan.Line, o late) {
	l.Expect(" ", "a blank")
	value, digits := l.ZeroX("0x and a value")
	if l.Problem == nil && !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
	if l.Problem == nil {
		add(b, o, value, digits)
	}
}

func add(b *itrace.Batch, o late, value uint64, digits []byte) *itrace.Record {
	x := b.Add(itrace.Register)
	x.CPU, x.Name, x.Value, x.Digits, x.Back = o.hart, riscv.Name(o.class, uint64(o.number)), value, digits, o.behind
	x.Zero = o.class == 'x' && o.number == 0
	return x
}

// pass notes that a hart has executed an instruction.
func (r *reader) pass(hart int32) {
	n := 0
	for _, o := range r.open {
		if o.hart == hart {
			o.behind++
		}
		if o.behind <= mostLate {
			r.open[n] = o
			n++
		}
	}
	r.open = r.open[:n]
}

// wait notes that a register is to be written later by the latest instruction of a hart.
func (r *reader) wait(hart int32, class byte, number uint8) {
	if len(r.open) == mostOpen {
		r.open = append(r.open[:0], r.open[1:]...)
	}
	r.open = append(r.open, late{hart: hart, class: class, number: number})
}

// arrive returns the oldest write of a register that is waited for, which it is not any more.
func (r *reader) arrive(hart int32, class byte, number uint8) (o late, waits bool) {
	for k, o := range r.open {
		if o.hart == hart && o.class == class && o.number == number {
			r.open = append(r.open[:k], r.open[k+1:]...)
			return o, true
		}
	}
	return late{}, false
}
