package spike

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// kind is a kind of line.
type kind uint8

const (
	isNothing kind = iota
	isStep
	isCommit
	isException
	isDetail
	isRepeat
	isRemark
)

var (
	core       = []byte("core")
	exception  = []byte("exception ")
	epc        = []byte(", epc 0x")
	detail     = []byte("tval 0x")
	executed   = []byte("Executed ")
	symbol     = []byte(">>>>")
	warning    = []byte("warning:")
	interrupts = []byte("interrupt")
	memory     = []byte("mem 0x")
)

// scanner reads a line. After the first problem it reads nothing more.
type scanner struct {
	line    []byte
	at      int
	problem *itrace.SyntaxError

	hart       int32
	priv       byte   // of a commit line
	pc, opcode uint64 // of an instruction or exception; opcode is also how often something was executed
	pcDigits   []byte
	digits     []byte // of the opcode, or of the value behind an exception
	name       []byte // of an exception
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

// accept goes behind a text if that is next.
func (s *scanner) accept(text []byte) bool {
	if !bytes.HasPrefix(s.line[s.at:], text) {
		return false
	}
	s.at += len(text)
	return true
}

// blanks goes behind blanks.
func (s *scanner) blanks() {
	for s.peek() == ' ' {
		s.at++
	}
}

// begin reads a line up to what kind of line it is and, of one with an instruction, behind its opcode.
func (s *scanner) begin() kind {
	if !s.accept(core) {
		if s.accept(warning) {
			return isRemark
		}
		return s.commit()
	}
	s.blanks()
	hart := s.decimal()
	if s.problem != nil || hart > 1<<31-1 || s.peek() != ':' {
		s.fail(s.at, `the number of a hart and ":"`)
		return isNothing
	}
	s.hart = int32(hart)
	s.at++
	if s.peek() != ' ' {
		s.fail(s.at, "a blank")
		return isNothing
	}
	s.at++
	switch c := s.peek(); {
	case c == '0' && s.at+1 < len(s.line) && s.line[s.at+1] == 'x':
		if s.instruction(); s.problem != nil {
			return isNothing
		}
		s.at = min(s.at+1, len(s.line)) // the blank in front of the disassembly
		return isStep
	case c >= '0' && c <= '3':
		return s.commit()
	case s.accept(symbol):
		return isRemark
	case s.accept(exception):
		return s.exception()
	case s.accept(executed):
		if s.opcode = s.decimal(); s.problem == nil {
			return isRepeat
		}
		return isNothing
	case c == ' ':
		if s.blanks(); s.accept(detail) {
			_, s.digits = s.hex()
			return isDetail
		}
	}
	s.fail(s.at, "0x and an address, a privilege, >>>>, exception or Executed")
	return isNothing
}

// commit reads "3 0x0000000080002240 (0x1141)".
func (s *scanner) commit() kind {
	s.priv = s.peek() - '0'
	if riscv.Mode(s.priv) == nil {
		s.fail(s.at, "core, or a privilege of 0, 1 or 3")
		return isNothing
	}
	if s.at++; s.peek() != ' ' {
		s.fail(s.at, "a blank")
		return isNothing
	}
	s.at++
	if s.instruction(); s.problem != nil {
		return isNothing
	}
	return isCommit
}

// instruction reads "0x0000000080002240 (0x1141)".
func (s *scanner) instruction() {
	if !s.zeroX() {
		return
	}
	s.pc, s.pcDigits = s.hex()
	if s.at+3 >= len(s.line) || s.line[s.at] != ' ' || s.line[s.at+1] != '(' {
		s.fail(s.at, "an opcode in parentheses")
		return
	}
	s.at += 2
	if !s.zeroX() {
		return
	}
	s.opcode, s.digits = s.hex()
	if s.peek() != ')' || s.at+1 < len(s.line) && s.line[s.at+1] != ' ' {
		s.fail(s.at, `")" and the end of the line or a blank`)
		return
	}
	s.at++
}

// exception reads "trap_machine_ecall, epc 0x0000000080000100".
func (s *scanner) exception() kind {
	end := bytes.Index(s.line[s.at:], epc)
	if end < 0 {
		s.fail(s.at, "a name and the address of an instruction")
		return isNothing
	}
	s.name = s.line[s.at : s.at+end]
	s.at += end + len(epc)
	if s.pc, s.pcDigits = s.hex(); s.problem != nil {
		return isNothing
	}
	return isException
}

// interrupt reports whether an exception is none of the instruction.
func (s *scanner) interrupt() bool { return bytes.HasPrefix(s.name, interrupts) }

// zeroX goes behind 0x.
func (s *scanner) zeroX() bool {
	if s.at+2 >= len(s.line) || s.line[s.at] != '0' || s.line[s.at+1] != 'x' {
		s.fail(s.at, "0x and hexadecimal digits")
		return false
	}
	s.at += 2
	return true
}

// hex reads hexadecimal digits up to a byte that is none, or the end of the line. Of more than 16 the last are the value.
func (s *scanner) hex() (value uint64, digits []byte) {
	start := s.at
	end := scan.HexEnd(s.line, start)
	if digits = s.line[start:end]; len(digits) == 0 {
		s.fail(start, "hexadecimal digits")
		return 0, nil
	}
	s.at = end
	return scan.Value(digits), digits
}

// decimal reads a decimal number.
func (s *scanner) decimal() (n uint64) {
	start := s.at
	for s.at < len(s.line) && s.line[s.at]-'0' <= 9 && s.at-start < 18 {
		n = n*10 + uint64(s.line[s.at]-'0')
		s.at++
	}
	if s.at == start {
		s.fail(start, "a number")
	}
	return n
}

// value reads what a register holds, behind blanks, and the end of the effect.
func (s *scanner) value() (value uint64, digits []byte) {
	s.blanks()
	if !s.zeroX() {
		return 0, nil
	}
	value, digits = s.hex()
	s.end()
	return value, digits
}

// end makes sure that an effect ends with a blank or the line.
func (s *scanner) end() {
	if s.at < len(s.line) && s.line[s.at] != ' ' {
		s.fail(s.at, "a blank or the end of the line")
	}
}

// register reads "x5  0x00001000", or "x 5 0x00001000".
func (s *scanner) register(b *itrace.Batch, class byte, shape []byte) {
	at := s.at
	s.at++
	s.blanks()
	number := s.decimal()
	value, digits := s.value()
	name := riscv.Name(class, number)
	if name == nil {
		s.fail(at, "a register")
	}
	if s.problem != nil {
		return
	}
	r := b.Add(itrace.Register)
	r.CPU, r.Name, r.Value, r.Digits = s.hart, name, value, digits
	r.Zero = class == 'x' && number == 0
	if class == 'v' {
		r.Shaped, r.Mode = len(shape) > 0, shape
	}
}

// system reads "c768_mstatus 0x0000000a00002000".
func (s *scanner) system(b *itrace.Batch) {
	s.at++
	number := s.decimal()
	if s.peek() != '_' || number > 0xfff {
		s.fail(s.at, "_ and the name of a control and status register")
		return
	}
	s.at++
	start := s.at
	s.at = itrace.WordEnd(s.line, start)
	name := s.line[start:s.at]
	value, digits := s.value()
	if s.problem != nil {
		return
	}
	r := b.Add(itrace.Register)
	r.CPU, r.Name, r.Value, r.Digits = s.hart, name, value, digits
	r.System, r.Number, r.Numbered = true, uint16(number), true
}

// shape reads "e32 m1 l4", which is that of the vector registers behind it.
func (s *scanner) shape() []byte {
	start := s.at
	for _, letter := range []byte("eml") {
		if s.peek() != letter {
			s.fail(s.at, "e, m and l with numbers")
			return nil
		}
		if s.at++; letter == 'm' && s.peek() == 'f' {
			s.at++
		}
		s.decimal()
		s.end()
		if letter != 'l' {
			s.at++
		}
	}
	if s.problem != nil {
		return nil
	}
	return s.line[start:s.at]
}

// memory reads "mem 0x80020fe8" or "mem 0x80020fe8 0x0000000a".
func (s *scanner) memory(b *itrace.Batch) {
	if !s.accept(memory) {
		s.fail(s.at, "mem and an address")
		return
	}
	addr, digits := s.hex()
	s.end()
	var value uint64
	var data []byte
	if s.at+3 < len(s.line) && s.line[s.at+1] == '0' && s.line[s.at+2] == 'x' {
		s.at += 3
		value, data = s.hex()
		s.end()
	}
	if s.problem != nil {
		return
	}
	r := b.Add(itrace.Memory)
	r.CPU, r.Addr, r.AddrDigits = s.hart, addr, digits
	if data != nil {
		r.Write, r.Value, r.Digits, r.Size = true, value, data, uint32(len(data)+1)/2
		return
	}
	r.Size = riscv.AccessSize(s.opcode)
}
