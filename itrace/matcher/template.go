package matcher

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"tracewell/itrace"
	"tracewell/itrace/internal/swar"
)

// Most lines look like one of their kind before: the same words at the same places, but for the digits of numbers and for names of
// registers. Such a line is read without a search: what stands between its numbers is compared with what stood there, eight bytes
// at once, and of each number all digits are converted at once. Whether digits is what they were is asked only at the end. A line
// that is not as expected is read word by word (see scanner), which takes longer and says what is wrong with it, and the next
// are then expected to look like it.

// template is what lines are expected to look like.
type template struct {
	timeEnd int     // where the time ends, at which all lines begin
	start   literal // what comes behind it: " clk "
	scale   span
	kindAt  int // where the word begins that tells the kind
	address int // width of the address of a memory record
	value   int // width of the value of a register

	shapes [2]shape // of instructions
	latest int      // of shapes
	seen   places
}

// shape is what an instruction looks like. Its places are counted from the number of the processor, with which it begins.
type shape struct {
	cpu      int     // width
	of       int32   // its number in the line that the shape is of
	start    literal // that line's "0 IT ("
	executed literal // " IT ("
	id       span
	addr     span
	opcode   span
	words    [2]literal // " A svc_s", "ns : "
	disasm   int
	silent   bool // there is no disassembly
	skipped  bool
	state    byte
	mode     span
	security span
}

// span is a part of a line.
type span struct{ from, to int }

func (s span) width() int { return s.to - s.from }

func (s span) of(line []byte) []byte { return line[s.from:s.to] }

// literal is up to eight bytes of a line, the first the lowest.
type literal struct{ bytes, mask uint64 }

// never is the literal that stands nowhere.
var never = literal{bytes: 1}

// literalOf returns the literal of so many bytes, all if there are fewer, and what is left.
func literalOf(text []byte) (l literal, rest []byte) {
	var padded [8]byte
	n := copy(padded[:], text)
	return literal{binary.LittleEndian.Uint64(padded[:]), 1<<(8*n) - 1}, text[n:]
}

// at reports whether the literal stands at a place.
func (l *literal) at(room []byte, at int) bool {
	return binary.LittleEndian.Uint64(room[at:at+8])&l.mask == l.bytes
}

// mostDigits is how many digits of a number are converted at once.
const mostDigits = 16

// matchTemplate reads a line that matches the template, and reports whether it does.
func (e *template) matchTemplate(line []byte, r *itrace.Record) bool {
	at := e.kindAt
	if len(line) <= at || cap(line)-len(line) < swar.Lookahead || !e.start.at(line[:cap(line)], e.timeEnd) {
		return false
	}
	time, wrong := swar.Decimal(line[:cap(line)], 0, e.timeEnd)
	r.Time = time
	r.Scale = e.scale.of(line)
	switch line[at] {
	case 'R':
		wrong |= e.register(line[at:], r)
	case 'M':
		wrong |= e.memory(line[at:], r)
	default:
		wrong |= e.instruction(line[at:], r)
	}
	return wrong == 0
}

// register reads "R t0 00000000". Like memory and instruction it returns 0 if the text looks as expected.
func (e *template) register(text []byte, r *itrace.Record) (wrong uint64) {
	const nameAt = 2
	if len(text) <= nameAt || text[1] != ' ' {
		return 1
	}
	room := text[:cap(text)]
	x := binary.LittleEndian.Uint64(room[nameAt : nameAt+8])
	nameEnd := nameAt + bits.TrailingZeros64(blanks(x))/8
	digits := span{nameEnd + 1, len(text)}
	if nameEnd == nameAt || nameEnd == nameAt+8 || uint(digits.width()-1) >= mostDigits {
		return 1
	}
	r.Value, wrong = swar.Hex(room, digits.from, digits.width())
	r.Kind, r.Wild, r.Name, r.Digits = itrace.Register, false, text[nameAt:nameEnd], digits.of(text)
	e.value = digits.width()
	return wrong
}

// blanks has a bit set in the lowest byte of x that is a blank or a control character, and in none below.
func blanks(x uint64) uint64 {
	const ones = 0x0101010101010101
	return (x - 0x21*ones) &^ x & (0x80 * ones)
}

// memory reads "MR8 00103fc4 0010400000000000".
func (e *template) memory(text []byte, r *itrace.Record) (wrong uint64) {
	const addrAt = 4
	addr := span{addrAt, addrAt + e.address}
	digits := span{addr.to + 1, len(text)}
	if uint(digits.width()-1) >= mostDigits || text[addr.to] != ' ' {
		return 1
	}
	write, size := text[1] == 'W', text[2]-'0'
	if !write && text[1] != 'R' || size-1 >= 9 || text[3] != ' ' {
		return 1
	}
	room := text[:cap(text)]
	var wrongAddr uint64
	r.Addr, wrongAddr = swar.Hex(room, addr.from, addr.width())
	r.Value, wrong = swar.Hex(room, digits.from, digits.width())
	r.Kind, r.Wild, r.Write, r.Privilege, r.Size = itrace.Memory, false, write, 0, uint32(size)
	r.AddrDigits, r.Digits = addr.of(text), digits.of(text)
	return wrong | wrongAddr | r.Value>>(8*uint(size))
}

// instruction reads "0 IT (1) 00000004 3c080001 A svc : lui t0,0x1". Two shapes are kept, since opcodes may have two
// widths.
func (e *template) instruction(text []byte, r *itrace.Record) (wrong uint64) {
	if e.shapes[e.latest].read(text, r, &e.seen) == 0 {
		return 0
	}
	e.latest = 1 - e.latest
	return e.shapes[e.latest].read(text, r, &e.seen)
}

func (s *shape) read(text []byte, r *itrace.Record, seen *places) (wrong uint64) {
	if len(text) < s.disasm || s.silent != (len(text) == s.disasm) {
		return 1
	}
	room := text[:cap(text)]
	cpu := uint64(s.of)
	if !s.start.at(room, 0) {
		if cpu, wrong = swar.Decimal(room, 0, s.cpu); !s.executed.at(room, s.cpu) {
			return 1
		}
	}
	if !s.words[0].at(room, s.opcode.to) || !s.words[1].at(room, s.opcode.to+8) ||
		text[s.id.to] != ')' || text[s.id.to+1] != ' ' || text[s.addr.to] != ' ' || !s.silent && text[s.disasm] <= ' ' {
		return 1
	}
	id, wrongID := swar.Decimal(room, s.id.from, s.id.width())
	addr, opcode, wrongCode := seen.find(room, s.addr, s.opcode)
	r.Kind, r.Wild, r.Skipped, r.State = itrace.Instruction, false, s.skipped, s.state
	r.CPU, r.ID, r.Addr, r.Value = int32(cpu), id, addr, opcode
	r.AddrDigits, r.Digits, r.Mode, r.Security = s.addr.of(text), s.opcode.of(text), s.mode.of(text), s.security.of(text)
	r.Disasm = text[s.disasm:]
	return wrong | wrongID | wrongCode
}

// setTemplate makes a line what the next are expected to look like.
func (e *template) setTemplate(line []byte, r *itrace.Record) {
	place := func(part []byte) span { return span{cap(line) - cap(part), cap(line) - cap(part) + len(part)} }
	e.timeEnd, e.scale = itrace.WordEnd(line, 0), place(r.Scale)
	e.kindAt = e.scale.to + 1
	var rest []byte
	e.start, rest = literalOf(line[e.timeEnd:e.kindAt])
	if e.timeEnd > mostDigits || len(rest) > 0 || line[e.kindAt] <= ' ' {
		e.start = never
		return
	}
	switch text := line[e.kindAt:]; r.Kind {
	case itrace.Memory:
		if e.address = len(r.AddrDigits); e.address > mostDigits {
			e.address = 0
		}
	case itrace.Instruction:
		e.latest = 1 - e.latest
		e.shapes[e.latest] = shapeOf(text, r)
	}
}

// shapeOf returns the shape of an instruction, or one that no line has.
func shapeOf(text []byte, r *itrace.Record) shape {
	place := func(part []byte) span { return span{cap(text) - cap(part), cap(text) - cap(part) + len(part)} }
	s := shape{
		cpu: itrace.WordEnd(text, 0), id: span{bytes.IndexByte(text, '(') + 1, bytes.IndexByte(text, ')')},
		addr: place(r.AddrDigits), opcode: place(r.Digits), disasm: len(text), silent: len(r.Disasm) == 0,
		skipped: r.Skipped, state: r.State, mode: place(r.Mode),
	}
	if !s.silent {
		s.disasm = place(r.Disasm).from
	}
	if len(r.Security) > 0 {
		s.security = place(r.Security)
	}
	var rest, more []byte
	s.of = r.CPU
	if s.start, rest = literalOf(text[:s.id.from]); len(rest) > 0 {
		s.start = never
	}
	s.executed, rest = literalOf(text[s.cpu:s.id.from])
	s.words[0], more = literalOf(text[s.opcode.to:s.disasm])
	s.words[1], more = literalOf(more)
	const mostCPU = 9 // digits that an int32 holds
	if s.cpu > mostCPU || max(s.id.width(), s.addr.width(), s.opcode.width()) > mostDigits || len(rest)+len(more) > 0 ||
		s.addr.from != s.id.to+2 || s.opcode.from != s.addr.to+1 {
		s.start, s.executed = never, never
	}
	return s
}
