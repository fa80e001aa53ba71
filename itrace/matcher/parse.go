package matcher

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"tracewell/itrace"
)

// Dialect is the dialect of Trace Matcher.
var Dialect = &itrace.Dialect{
	Name:       "matcher",
	Title:      "ISPRAS Trace Matcher",
	Suffixes:   []string{".log", ".trace"},
	New:        func(itrace.Settings) itrace.Decoder { return itrace.Lines(newParser()) },
	Append:     itrace.EachRecord(Append),
	Writes:     writes,
	BehindTime: func(text []byte) int { return itrace.DecimalEnd(text, ' ') },
}

// parser remembers the processor of the latest instruction, and what lines look like (see template.go).
type parser struct {
	cpu int32
	template
}

func newParser() *parser { return &parser{template: template{start: never}} }

// AppendState implements itrace.Parser.
func (p *parser) AppendState(dst []byte) []byte { return binary.AppendUvarint(dst, uint64(p.cpu)) }

// Restore implements itrace.Parser.
func (p *parser) Restore(state []byte) error {
	cpu, n := binary.Uvarint(state)
	if n != len(state) || cpu > math.MaxInt32 {
		return itrace.ErrState
	}
	p.cpu = int32(cpu)
	return nil
}

// Parse implements itrace.Parser.
func (p *parser) Parse(line []byte, r *itrace.Record) *itrace.SyntaxError {
	indent := 0
	for indent < len(line) && line[indent] <= ' ' {
		indent++
	}
	problem := p.parse(line[indent:], r)
	if problem != nil {
		problem.Column += indent
	}
	return problem
}

// parse reads a line that does not begin with a blank.
func (p *parser) parse(line []byte, r *itrace.Record) *itrace.SyntaxError {
	r.CPU = p.cpu
	if p.matchTemplate(line, r) {
		p.cpu = r.CPU
		return nil
	}
	r.CPU = p.cpu // matchTemplate may have set it before it failed
	s := scanner{line: line}
	r.Time = s.decimal("a time")
	r.Scale = s.word("the scale of the time")
	switch s.peek() {
	case 'R':
		s.register(r)
	case 'M':
		s.memory(r)
	default:
		s.instruction(r)
	}
	if s.problem != nil {
		r.CPU = p.cpu // a line that cannot be read changes nothing that later lines inherit
		return s.problem
	}
	p.cpu = r.CPU
	p.setTemplate(line, r)
	return nil
}

// scanner reads a line from left to right. After the first problem it reads nothing more.
type scanner struct {
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

// decimal reads a decimal number.
func (s *scanner) decimal(expected string) uint64 {
	at := s.at
	n, ok := itrace.ParseDecimal(s.word(expected))
	if !ok {
		s.fail(at, expected)
	}
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
	at := s.at
	digits := hex(s.word("an address"))
	addr, ok := itrace.ParseHex(digits)
	if !ok {
		s.fail(at, "an address in hexadecimal")
	}
	r.Addr, r.AddrDigits = addr, digits
}

// digits reads an opcode, data or a value.
func (s *scanner) digits(r *itrace.Record, expected string) {
	at := s.at
	digits := hex(s.word(expected))
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
	s.digits(r, "a value in hexadecimal")
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
	at = s.at
	if s.digits(r, "data in hexadecimal"); !itrace.DigitsFit(r.Digits, r.Size) {
		s.fail(at, fmt.Sprintf("data of %d bytes", r.Size))
	}
	s.end()
}

func (s *scanner) instruction(r *itrace.Record) {
	r.Kind = itrace.Instruction
	at := s.at
	cpu := s.decimal("R, M or the number of a processor")
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
	s.digits(r, "an opcode in hexadecimal")
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
	r.Mode, r.Security = s.word("the mode of the processor"), nil
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
