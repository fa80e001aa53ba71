package matcher

import (
	"bytes"
	"encoding/binary"
	"math"

	"tracewell/itrace"
)

// Dialect is the dialect of Trace Matcher.
var Dialect = &itrace.Dialect{
	Name:     "matcher",
	Title:    "ISPRAS Trace Matcher",
	Suffixes: []string{".log", ".trace"},
	New:      func() itrace.Parser { return &parser{} },
	Append:   Append,
}

// parser remembers the processor of the latest instruction, how wide words of digits were, and some words: the next of a kind is
// as a rule as wide, or the same, and its end need not be looked for.
type parser struct {
	cpu    int32
	widths [numbers]int
	scale  repeated
	mode   repeated
}

// repeated is a word of up to 8 bytes that came last.
type repeated struct {
	key   uint64 // its bytes, the first the lowest
	mask  uint64 // of the bytes that it has
	width int    // 0 for none
}

// remember makes word, which is at the place of a line, the one that is expected next.
func (r *repeated) remember(line []byte, at, width int) {
	*r = repeated{}
	if x, ok := eight(line, at); ok && width <= 8 {
		r.mask = 1<<(8*width) - 1
		r.key, r.width = x&r.mask, width
	}
}

// eight returns the eight bytes from a place of a line on, which may reach past its end, if there is memory.
func eight(line []byte, at int) (x uint64, ok bool) {
	if at+8 > cap(line) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(line[at : at+8]), true
}

// The words of digits whose width is remembered.
const (
	timeWidth = iota
	cpuWidth
	addressWidth
	opcodeWidth
	dataWidth
	valueWidth
	numbers
)

// Parse implements itrace.Parser.
func (p *parser) Parse(line []byte, r *itrace.Record) *itrace.SyntaxError {
	s := scanner{line: line, parser: p}
	r.Time = s.decimal(timeWidth, "a time")
	r.Scale = s.same(&p.scale, "the scale of the time")
	r.CPU = p.cpu
	switch s.peek() {
	case 'R':
		s.register(r)
	case 'M':
		s.memory(r)
	default:
		s.instruction(r)
	}
	if s.problem != nil {
		r.CPU = p.cpu
	}
	p.cpu = r.CPU
	return s.problem
}

// scanner reads a line from left to right. After the first problem it reads nothing more.
type scanner struct {
	*parser
	line    []byte
	at      int
	problem *itrace.SyntaxError
}

// fail notes that what begins at a place is not what was expected.
func (s *scanner) fail(at int, expected string) {
	if s.problem == nil {
		s.problem = itrace.Mismatch(s.line, at, expected)
	}
	s.at = len(s.line)
}

// peek returns the next byte, 0 at the end of the line.
func (s *scanner) peek() byte {
	if s.at < len(s.line) {
		return s.line[s.at]
	}
	return 0
}

// guess returns the next word if it is as wide as the last of its kind, or more than that, and where it would end.
func (s *scanner) guess(kind int) (word []byte, end int) {
	end = s.at + s.widths[kind]
	if end < len(s.line) && s.line[end] <= ' ' || end == len(s.line) {
		return s.line[s.at:end], end
	}
	return nil, end
}

// pass goes behind a word and the blanks that follow it, one as a rule.
func (s *scanner) pass(end int) {
	next := end + 1
	for next < len(s.line) && s.line[next] <= ' ' {
		next++
	}
	s.at = min(next, len(s.line))
}

// word returns what stands before the next blanks and goes behind them.
func (s *scanner) word(expected string) []byte {
	start := s.at
	end := itrace.WordEnd(s.line, start)
	if end == start {
		s.fail(start, expected)
		return nil
	}
	s.pass(end)
	return s.line[start:end]
}

// same is word for one that as a rule is the same as the last time.
func (s *scanner) same(last *repeated, expected string) []byte {
	at := s.at
	end := at + last.width
	if x, ok := eight(s.line, at); ok && last.width > 0 && x&last.mask == last.key && (end >= len(s.line) || s.line[end] <= ' ') {
		if end <= len(s.line) {
			s.pass(end)
			return s.line[at:end]
		}
	}
	word := s.word(expected)
	last.remember(s.line, at, len(word))
	return word
}

// decimal reads a decimal number.
func (s *scanner) decimal(kind int, expected string) uint64 {
	if word, end := s.guess(kind); len(word) > 0 {
		if n, ok := itrace.ParseDecimal(word); ok {
			s.pass(end)
			return n
		}
	}
	at := s.at
	word := s.word(expected)
	n, ok := itrace.ParseDecimal(word)
	if !ok {
		s.fail(at, expected)
	}
	s.widths[kind] = len(word)
	return n
}

// hex cuts 0x off. An x behind a 0 may as well be a digit that is not known, and is where there are more such.
func hex(digits []byte) []byte {
	if len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		if _, wild, ok := itrace.ParseDigits(digits[2:]); ok && !wild {
			return digits[2:]
		}
	}
	return digits
}

// address reads an address.
func (s *scanner) address(r *itrace.Record) {
	if word, end := s.guess(addressWidth); len(word) > 0 {
		if n, ok := itrace.ParseHex(word); ok {
			s.pass(end)
			r.Addr, r.AddrDigits = n, word
			return
		}
	}
	at := s.at
	word := s.word("an address")
	s.widths[addressWidth] = len(word)
	digits := hex(word)
	addr, ok := itrace.ParseHex(digits)
	if !ok {
		s.fail(at, "an address in hexadecimal")
	}
	r.Addr, r.AddrDigits = addr, digits
}

// digits reads an opcode, data or a value.
func (s *scanner) digits(r *itrace.Record, kind int, expected string) {
	if word, end := s.guess(kind); len(word) > 0 {
		if n, ok := itrace.ParseHex(word); ok {
			s.pass(end)
			r.Value, r.Wild, r.Digits = n, false, word
			return
		}
	}
	at := s.at
	word := s.word(expected)
	s.widths[kind] = len(word)
	digits := hex(word)
	value, wild, ok := itrace.ParseDigits(digits)
	if !ok {
		s.fail(at, expected)
	}
	r.Value, r.Wild, r.Digits = value, wild, digits
}

// end fails unless the line has been read.
func (s *scanner) end() {
	if s.at < len(s.line) {
		s.fail(s.at, "the end of the line")
	}
}

func (s *scanner) register(r *itrace.Record) {
	r.Kind = itrace.Register
	if at := s.at; len(s.word("R")) != 1 {
		s.fail(at, "R, M or the number of a processor")
	}
	r.Name = s.word("the name of a register")
	s.digits(r, valueWidth, "a value in hexadecimal")
	s.end()
}

func (s *scanner) memory(r *itrace.Record) {
	r.Kind = itrace.Memory
	at := s.at
	access := s.word("an access to memory")
	if len(access) < 3 || access[1] != 'R' && access[1] != 'W' {
		s.fail(at, "MR or MW and a number of bytes")
		return
	}
	r.Write, r.Privilege = access[1] == 'W', 0
	size := access[2:]
	if last := size[len(size)-1]; last == 'X' || last == 'T' {
		r.Privilege = last
		size = size[:len(size)-1]
	}
	n, ok := itrace.ParseDecimal(size)
	if !ok || n == 0 || n > math.MaxUint32 {
		s.fail(at+2, "a number of bytes")
		return
	}
	r.Size = uint32(n)
	s.address(r)
	s.digits(r, dataWidth, "data in hexadecimal")
	s.end()
}

func (s *scanner) instruction(r *itrace.Record) {
	r.Kind = itrace.Instruction
	at := s.at
	cpu := s.decimal(cpuWidth, "R, M or the number of a processor")
	if cpu > math.MaxInt32 {
		s.fail(at, "the number of a processor")
	}
	r.CPU = int32(cpu)
	at = s.at
	switch kind := s.word("IT or IS"); string(kind) {
	case "IT":
		r.Skipped = false
	case "IS":
		r.Skipped = true
	default:
		s.fail(at, "IT or IS")
	}
	s.id(r)
	s.address(r)
	s.digits(r, opcodeWidth, "an opcode in hexadecimal")
	s.state(r)
	s.processorMode(r)
	s.disassembly(r)
}

func (s *scanner) id(r *itrace.Record) {
	at := s.at
	word := s.word("the number of the instruction in parentheses")
	if len(word) > 2 && word[0] == '(' && word[len(word)-1] == ')' {
		if n, ok := itrace.ParseDecimal(word[1 : len(word)-1]); ok {
			r.ID = n
			return
		}
	}
	s.fail(at, "the number of the instruction in parentheses")
}

func (s *scanner) state(r *itrace.Record) {
	at := s.at
	state := s.word("A, T or X")
	if len(state) != 1 || state[0] != 'A' && state[0] != 'T' && state[0] != 'X' {
		s.fail(at, "A, T or X")
		return
	}
	r.State = state[0]
}

// processorMode reads the mode of the processor; any word is one.
func (s *scanner) processorMode(r *itrace.Record) {
	r.Mode, r.Security = s.same(&s.parser.mode, "the mode of the processor"), nil
	if i := bytes.LastIndexByte(r.Mode, '_'); i > 0 {
		if suffix := r.Mode[i+1:]; string(suffix) == "ns" || string(suffix) == "s" {
			r.Mode, r.Security = r.Mode[:i], suffix
		}
	}
}

// disassembly reads what follows the colon, which may be nothing.
func (s *scanner) disassembly(r *itrace.Record) {
	r.Disasm = nil
	if s.peek() == ':' {
		s.at++
		for s.peek() == ' ' || s.peek() == '\t' {
			s.at++
		}
		r.Disasm = s.line[s.at:]
		s.at = len(s.line)
	}
	s.end()
}
