package whisper

import (
	"bytes"
	"encoding/binary"
	"math"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of Whisper.
var Dialect = &itrace.Dialect{
	Name:  "whisper",
	Title: "Whisper's log",
	New:   func(itrace.Settings) itrace.Decoder { return itrace.EachLine(&reader{}) },
	Why:   why,
}

func why(head []byte) string {
	if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(header)) {
		return "the header of its CSV"
	}
	return "lines of a tag, a hart, a pc and what was written"
}

// tells is what is told of every instruction.
const tells = itrace.NoLoaded | itrace.TellsTrapped | itrace.TellsEvents

// reader reads lines.
type reader struct {
	goesOn bool   // the line before ends in +, so that the next is of the same instruction
	passed bool   // which was interrupted
	tag    uint64 // of that
}

// AppendState implements itrace.LineReader.
func (r *reader) AppendState(dst []byte) []byte {
	if !r.goesOn {
		return dst
	}
	passed := byte(0)
	if r.passed {
		passed = 1
	}
	return binary.AppendUvarint(append(dst, passed), r.tag)
}

// Restore implements itrace.LineReader.
func (r *reader) Restore(state []byte) error {
	*r = reader{}
	if len(state) == 0 {
		return nil
	}
	tag, n := binary.Uvarint(state[1:])
	if state[0] > 1 || n <= 0 || n+1 != len(state) {
		return itrace.ErrState
	}
	*r = reader{goesOn: true, passed: state[0] == 1, tag: tag}
	return nil
}

// Line implements itrace.LineReader.
func (r *reader) Line(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	goesOn := line[len(line)-1] == '+'
	was := r.goesOn
	switch r.goesOn = goesOn; {
	case line[0] == '#':
		return r.text(b, line, was)
	case was, goesOn && bytes.IndexByte(line, ',') < 0: // of page tables
		r.goesOn = goesOn
		b.Add(itrace.Remark)
		return nil
	case bytes.HasPrefix(line, []byte(header)):
		b.Add(itrace.Remark)
		return nil
	case line[len(line)-1] == ':' && bytes.IndexByte(line, ',') < 0: // the name of a function
		b.Add(itrace.Remark)
		return nil
	}
	return row(b, line)
}

// effect is a line of text up to the disassembly.
type effect struct {
	tag        uint64
	hart       int32
	mode       []byte
	pc, opcode uint64
	pcDigits   []byte
	digits     []byte // of the opcode
	resource   byte
	number     uint64 // of a register, or the address
	numbered   []byte // its digits
	value      uint64
	written    []byte // its digits
}

// read reads "#1 0 M 80000000 d0580537 r 0a         d0580000".
func (e *effect) read(l *scan.Line) {
	l.Expect("#", `"#" and a number`)
	e.tag = l.Decimal("a number")
	l.Expect(" ", "a blank")
	hart := l.Decimal("the number of a hart")
	if hart > math.MaxInt32 {
		l.Fail(l.At, "the number of a hart")
	}
	e.hart = int32(hart)
	l.End()
	l.Blanks()
	start := l.At
	const longestMode = 2
	if word := l.Word("a mode, or an address in hexadecimal"); len(word) <= longestMode {
		e.mode = modeWord(word)
		l.Blanks()
	} else {
		l.At = start
	}
	e.pc, e.pcDigits = l.Address("", "an address in hexadecimal")
	l.End()
	l.Blanks()
	e.opcode, e.digits = l.Hex("an opcode in hexadecimal")
	l.Expect(" ", "a blank")
	e.resource = l.Peek()
	l.At = min(l.At+1, len(l.Text))
	l.Expect(" ", "r, f, v, c or m, and a blank")
	e.number, e.numbered = l.Hex("the number of a register or an address in hexadecimal")
	l.End()
	l.Blanks()
	e.value, e.written = l.Hex("a value in hexadecimal")
	l.End()
	l.Blanks()
}

// modeWord is the word for a privilege; HS is S of processors with hypervisors.
func modeWord(word []byte) []byte {
	if string(word) == "HS" {
		return word[1:]
	}
	return word
}

var (
	trapped     = []byte(" (exception)")
	interrupted = []byte(" (interrupted)")
	bracket     = []byte(" [0x")
)

// text reads a line of text. One of an instruction that goes on has only another effect.
func (r *reader) text(b *itrace.Batch, line []byte, goesOn bool) *itrace.SyntaxError {
	end := len(line)
	for end > 0 && (line[end-1] == ' ' || line[end-1] == '+') {
		end--
	}
	l := scan.Line{Text: line[:end]}
	var e effect
	if e.read(&l); l.Problem != nil {
		return l.Problem
	}
	disasm := l.Rest()
	wasTrapped := bytes.HasSuffix(disasm, trapped)
	wasInterrupted := bytes.HasSuffix(disasm, interrupted)
	disasm = bytes.TrimSuffix(bytes.TrimSuffix(disasm, trapped), interrupted)
	var places []byte
	if n := len(disasm); n > 0 && disasm[n-1] == ']' {
		if start := bytes.LastIndex(disasm, bracket); start >= 0 {
			disasm, places = disasm[:start], disasm[start+len(" ["):n-1]
		}
	}
	if goesOn && e.tag == r.tag {
		if r.passed {
			b.Add(itrace.Remark)
			return nil
		}
		return e.add(b, &l, places)
	}
	r.tag, r.passed = e.tag, wasInterrupted
	if wasInterrupted {
		interrupt(b, e.hart, e.pc, e.pcDigits, interrupted[2:len(interrupted)-1])
		return nil
	}
	i := b.Add(itrace.Instruction)
	i.CPU, i.ID, i.Mode, i.Disasm, i.Trapped = e.hart, e.tag, e.mode, disasm, wasTrapped
	i.Addr, i.AddrDigits, i.Value, i.Digits = e.pc, e.pcDigits, e.opcode, e.digits
	i.Scope = tells
	if len(i.Mode) == 0 {
		i.Scope |= itrace.NoMode
	}
	loads, _ := riscv.Accesses(e.opcode)
	if loads && len(places) == 0 {
		i.Scope |= itrace.NoLoads
	}
	if wasTrapped {
		i.Scope |= itrace.NoSystem
		exception(b, e.hart, e.pc, e.pcDigits, trapped[2:len(trapped)-1])
	} else if problem := e.access(b, &l, places); problem != nil {
		return problem
	}
	return e.add(b, &l, places)
}

// interrupt adds that an instruction was interrupted.
func interrupt(b *itrace.Batch, hart int32, pc uint64, digits, name []byte) {
	e := b.Add(itrace.Event)
	e.CPU, e.Event, e.Name, e.Addr, e.AddrDigits = hart, itrace.Interrupt, name, pc, digits
}

// exception adds that an instruction had an exception.
func exception(b *itrace.Batch, hart int32, pc uint64, digits, name []byte) {
	e := b.Add(itrace.Event)
	e.CPU, e.Event, e.Name, e.Addr, e.AddrDigits = hart, itrace.Exception, name, pc, digits
}

// place is one of the addresses in brackets.
type place struct {
	va, pa, value uint64
	addr, data    []byte
	hasPA         bool
	store         bool
}

// read reads "0x80001000:0x81001000=0x07".
func (p *place) read(l *scan.Line) {
	p.va, p.addr = l.Address("0x", "0x and an address")
	if p.hasPA = l.Accept(":"); p.hasPA {
		p.pa, _ = l.Address("0x", "0x and an address")
	}
	if p.store = l.Accept("="); p.store {
		p.value, p.data = l.ZeroX("0x and data")
	}
}

// access adds the accesses that no line of their own tells: loads, and stores of vectors.
func (e *effect) access(b *itrace.Batch, l *scan.Line, places []byte) *itrace.SyntaxError {
	if len(places) == 0 {
		return nil
	}
	loads, stores := riscv.Accesses(e.opcode)
	start := cap(l.Text) - cap(places)
	q := scan.Line{Text: l.Text[:start+len(places)], At: start}
	for {
		var p place
		p.read(&q)
		if q.Problem == nil && !q.Done() && q.Peek() != ';' {
			q.Fail(q.At, `";" or "]"`)
		}
		if q.Problem != nil {
			return q.Problem
		}
		if p.store || loads || !stores {
			m := b.Add(itrace.Memory)
			m.CPU, m.Addr, m.AddrDigits, m.Phys, m.HasPhys, m.Write = e.hart, p.va, p.addr, p.pa, p.hasPA, p.store
			if m.Value, m.Digits = p.value, p.data; p.store {
				m.Size = uint32(len(p.data)+1) / 2
			} else {
				m.Size = accessSize(e.opcode, l.Rest())
			}
		}
		if q.Done() {
			return nil
		}
		q.At++
	}
}

// accessSize is how many bytes an instruction accesses, by its opcode, or by its mnemonic: of some compressed ones the opcode means
// another with 32 bits.
func accessSize(opcode uint64, text []byte) uint32 {
	size := riscv.AccessSize(opcode)
	if size != 0 || !riscv.IsCompressed(opcode) {
		return size
	}
	word := bytes.TrimSuffix(text[:itrace.WordEnd(text, 0)], []byte("sp"))
	switch {
	case bytes.HasSuffix(word, []byte{'w'}):
		return 4
	case bytes.HasSuffix(word, []byte{'d'}):
		return 8
	}
	return 0
}

// add adds an effect.
func (e *effect) add(b *itrace.Batch, l *scan.Line, places []byte) *itrace.SyntaxError {
	var name []byte
	switch e.resource {
	case 'r':
		if e.number == 0 { // there is none
			return nil
		}
		name = riscv.Name('x', e.number)
	case 'f', 'v':
		name = riscv.Name(e.resource, e.number)
	case 'c':
		system(b, e.hart, e.number, e.value, e.written)
		return nil
	case 'm':
		m := b.Add(itrace.Memory)
		m.CPU, m.Addr, m.AddrDigits, m.Write = e.hart, e.number, e.numbered, true
		if m.Size = accessSize(e.opcode, l.Rest()); m.Size == 0 {
			m.Size = uint32(len(e.written)+1) / 2
		}
		m.Value, m.Digits = riscv.Accessed(e.value, e.written, m.Size)
		if colon := bytes.IndexByte(places, ':'); colon >= 0 && len(places) > colon+len(":0x") {
			m.Phys, m.HasPhys = itrace.ParseHex(places[colon+len(":0x"):])
		}
		return nil
	}
	if name == nil {
		return itrace.Mismatch(l.Text, cap(l.Text)-cap(e.numbered)-2, "r, f, v, c or m with the number of a register or an address")
	}
	x := b.Add(itrace.Register)
	x.CPU, x.Name, x.Value, x.Digits = e.hart, name, e.value, e.written
	return nil
}

// system adds a write of a register of control and status, or of a part of one: bits above its number tell which.
func system(b *itrace.Batch, hart int32, number, value uint64, digits []byte) {
	const numbers = 0xfff
	x := b.Add(itrace.Register)
	x.CPU, x.Name, x.Value, x.Digits, x.System = hart, riscv.SystemName(number&numbers), value, digits, true
	x.Number, x.Numbered = uint16(number&numbers), true
}
