package qemulog

import (
	"bytes"
	"math"

	"tracewell/itrace"
)

// lineKind is what a line is of.
type lineKind uint8

const (
	isOther   lineKind = iota // none of the dialect
	isBlank                   // the end of an in_asm block
	isExec                    // a block is about to run
	isDashes                  // in_asm: the beginning
	isIn                      // in_asm: the symbol
	isPriv                    // in_asm: the privilege
	isCode                    // in_asm: an instruction
	isDump                    // registers
	isRISCV                   // an exception or interrupt of RISC-V
	isArm                     // of Arm
	isDetail                  // more of that
	isX86                     // of x86
	isStopped                 // the block of the exec line has not run
	isLinking                 // blocks are linked
	isRemark                  // something of no meaning
)

// beginning is that of lines that are told by it.
type beginning struct {
	text string
	kind lineKind
}

// beginnings are by their first bytes.
var beginnings = func() (all ['z' + 1][]beginning) {
	for _, b := range [...]beginning{
		{"Trace ", isExec}, {"Chain ", isExec}, {"0x", isCode}, {"----------------", isDashes}, {"IN: ", isIn}, {"Priv: ", isPriv},
		{"riscv_cpu_do_interrupt: ", isRISCV}, {"Taking exception ", isArm}, {"...", isDetail},
		{"Stopped execution of TB chain before ", isStopped}, {"Linking TBs ", isLinking},
		{"Exception return from ", isRemark}, {"OBJD-", isRemark}, {"cpu_io_recompile: ", isRemark},
		{"Servicing hardware ", isRemark}, {"check_exception old: ", isRemark},
	} {
		all[b.text[0]] = append(all[b.text[0]], b)
	}
	return all
}()

// kindOf says what a line is, by its beginning.
func kindOf(line []byte) lineKind {
	if len(line) == 0 {
		return isBlank
	}
	if int(line[0]) < len(beginnings) {
		for _, b := range beginnings[line[0]] {
			if len(line) >= len(b.text) && string(line[:len(b.text)]) == b.text {
				return b.kind
			}
		}
	}
	if string(line) == "IN:" { // without a symbol the blank is gone with the end of the line
		return isIn
	}
	if at := digits(line, blanks(line, 0), decimal); bytes.HasPrefix(line[at:], []byte(": v=")) {
		return isX86
	}
	var p pairs
	p.begin(line)
	if _, _, ok := p.next(); ok {
		return isDump
	}
	return isOther
}

const (
	decimal = 10
	hex     = 16
)

// digits returns where the digits at a place end.
func digits(line []byte, at int, base uint8) int {
	for at < len(line) && digitValue[line[at]] < base {
		at++
	}
	return at
}

var digitValue = func() (values [256]uint8) {
	for i := range values {
		values[i] = math.MaxUint8
	}
	for i, c := range "0123456789abcdef" {
		values[c] = uint8(i)
	}
	for i, c := range "ABCDEF" {
		values[c] = uint8(10 + i)
	}
	return values
}()

func blanks(line []byte, at int) int {
	for at < len(line) && line[at] == ' ' {
		at++
	}
	return at
}

// number reads hexadecimal digits of 64 bits at most, with 0x or without; there are none if text is empty.
func number(line []byte, at int) (value uint64, text []byte, end int) {
	if bytes.HasPrefix(line[at:], zeroX) {
		at += len(zeroX)
	}
	end = digits(line, at, hex)
	value, ok := itrace.ParseHex(line[at:end])
	if !ok {
		return 0, nil, at
	}
	return value, line[at:end], end
}

// processor reads the number of a processor and what is behind it; without one end is at.
func processor(line []byte, at int, behind string) (cpu int32, end int) {
	to := digits(line, at, decimal)
	n, ok := itrace.ParseDecimal(line[at:to])
	if !ok || n > math.MaxInt32 || !bytes.HasPrefix(line[to:], []byte(behind)) {
		return 0, at
	}
	return int32(n), to + len(behind)
}

// exec is an exec line.
type exec struct {
	cpu  int32
	host uint64 // address of the translation
	key  []byte // the words in brackets
	pc   uint64
	pcs  []byte // its digits
	one  bool   // told to be of one instruction
	any  bool   // not told how many instructions it is of, for there is no word for that
}

// The bits of CFLAGS that are how many instructions a block may have, 0 for any number.
const countMask = 0x1ff

// parseExec reads an exec line, and returns what was expected at a place where it is not as it should be.
func parseExec(line []byte) (e exec, at int, expected string) {
	var text []byte
	e.cpu, at = processor(line, len("Trace "), ": ")
	from := at
	if e.host, text, at = number(line, at); len(text) == 0 || !bytes.HasPrefix(line[at:], []byte(" [")) {
		return e, from, "the address of a translation and a bracket"
	}
	at += len(" [")
	if cpu, end := processor(line, at, ": "); end > at {
		e.cpu, at = cpu, end
	}
	from = at
	var fields [4]uint64
	n := 0
	for ; n < len(fields); n++ {
		if fields[n], text, at = number(line, at); len(text) == 0 {
			return e, at, "hexadecimal digits"
		}
		if n < 2 { // the pc is the first or the second
			e.pc, e.pcs = fields[n], text
		}
		if at == len(line) || line[at] != '/' {
			break
		}
		at++
	}
	if at == len(line) || line[at] != ']' {
		return e, at, "a slash or a bracket"
	}
	e.key = line[from:at]
	e.any, e.one = n < 3, n == 3 && fields[3]&countMask == 1
	return e, at, ""
}

// code is a line of an in_asm block.
type code struct {
	addr         []byte // digits
	bytes        []byte // of the opcode, with single blanks between; empty if it is not told
	disassembly  []byte
	continuation bool // it has no disassembly: more bytes of the instruction before, if there is one
}

// parseCode reads a line of an in_asm block.
func parseCode(line []byte) (c code, at int, expected string) {
	_, c.addr, at = number(line, 0)
	if len(c.addr) == 0 || at == len(line) || line[at] != ':' {
		return c, at, "an address and a colon"
	}
	from := blanks(line, at+1)
	if from == len(line) {
		return c, from, "an opcode or an instruction in words"
	}
	at = digits(line, from, hex)
	width := at - from
	if width == 0 || width%2 != 0 || at < len(line) && line[at] != ' ' { // a word, such as "dadd"
		c.disassembly = line[from:]
		return c, from, ""
	}
	for at < len(line) && line[at] == ' ' && digits(line, at+1, hex) == at+1+width {
		at += 1 + width
	}
	c.bytes = line[from:at]
	c.disassembly = line[blanks(line, at):]
	c.continuation = len(c.disassembly) == 0
	return c, at, ""
}

// pairs goes through the registers of a line of a dump: NAME=HEX, with or without blanks in front of =, or NAME HEX. HEX may have
// 0x in front.
type pairs struct {
	line  []byte
	at    int
	signs bool // the line has =
}

func (p *pairs) begin(line []byte) {
	*p = pairs{line: line, signs: bytes.IndexByte(line, '=') >= 0}
	if !p.signs && line[0] != ' ' {
		p.at = group(line)
	}
}

// group returns where the registers begin of a line that begins with the name of a group of them, "GPR04: " or "CP0 ", or the end
// of the line if there is none.
func group(line []byte) int {
	if bytes.HasPrefix(line, []byte("GPR")) {
		if at := digits(line, len("GPR"), decimal); bytes.HasPrefix(line[at:], []byte(": ")) {
			return at + len(": ")
		}
	}
	if text := "CP0 "; bytes.HasPrefix(line, []byte(text)) {
		return len(text)
	}
	return len(line)
}

// next returns the next register. Without = there is nothing but registers in a line.
func (p *pairs) next() (name, value []byte, ok bool) {
	for {
		start := blanks(p.line, p.at)
		end := start
		for end < len(p.line) && p.line[end] != ' ' && p.line[end] != '=' {
			end++
		}
		if end == start {
			if p.at = end; end < len(p.line) {
				p.at++
				continue
			}
			return nil, nil, false
		}
		at := blanks(p.line, end)
		sign := at < len(p.line) && p.line[at] == '='
		if p.signs && !sign || !letter(p.line[start]) {
			if p.at = end; !p.signs {
				p.at = len(p.line)
			}
			continue
		}
		if sign {
			at = blanks(p.line, at+1)
		}
		if bytes.HasPrefix(p.line[at:], zeroX) {
			at += len(zeroX)
		}
		to := digits(p.line, at, hex)
		p.at = to
		if to == at || to < len(p.line) && p.line[to] != ' ' {
			if p.at = itrace.WordEnd(p.line, to); !p.signs {
				p.at = len(p.line)
			}
			continue
		}
		name = p.line[start:end]
		if slash := bytes.IndexByte(name, '/'); slash > 0 {
			name = name[:slash]
		}
		return name, p.line[at:to], true
	}
}

var zeroX = []byte("0x")

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// event is an exception or interrupt.
type event struct {
	whole  bool // its line lacks nothing
	kind   itrace.EventKind
	cpu    int32
	told   bool // the processor
	marks  bool // the address is of the instruction, whatever the exception
	cause  []byte
	addr   uint64 // of the instruction, if addrs are there
	addrs  []byte
	number []byte // digits of the cause
	detail []byte // digits of a further value
}

// word returns what is behind a key, up to a comma, a blank or the end.
func word(line []byte, key string) []byte {
	at := bytes.Index(line, []byte(key))
	if at < 0 {
		return nil
	}
	rest := line[at+len(key):]
	for i, c := range rest {
		if c == ',' || c == ' ' {
			return rest[:i]
		}
	}
	return rest
}

// hexWord is a word of hexadecimal digits, without 0x; nil for any other.
func hexWord(line []byte, key string) []byte {
	w := bytes.TrimPrefix(word(line, key), []byte("0x"))
	if digits(w, 0, hex) < len(w) {
		return nil
	}
	return w
}

// parseEvent reads the line that an exception or interrupt begins with.
func parseEvent(line []byte, kind lineKind) (e event) {
	switch kind {
	case isRISCV:
		e.number, e.addrs, e.detail = hexWord(line, " cause:"), hexWord(line, " epc:"), hexWord(line, " tval:")
		e.cause = word(line, " desc=")
		e.kind = itrace.Exception
		if string(word(line, " async:")) == "1" {
			e.kind = itrace.Interrupt
		}
		e.processor(word(line, " hart:"))
		e.marks = true
		e.whole = len(e.number) > 0 && len(e.addrs) > 0 && e.told
	case isArm:
		open, end := bytes.IndexByte(line, '['), bytes.IndexByte(line, ']')
		if open < 0 || end < open {
			return e
		}
		e.cause = line[open+1 : end]
		e.kind = itrace.Exception
		for _, name := range []string{"IRQ", "FIQ", "SError"} { // also of virtual ones
			if bytes.Contains(e.cause, []byte(name)) {
				e.kind = itrace.Interrupt
			}
		}
		e.processor(word(line, " on CPU "))
		e.whole = true
	case isX86:
		e.number, e.addrs, e.detail = hexWord(line, ": v="), hexWord(line, " pc="), hexWord(line, " e=")
		e.kind = itrace.Exception
		if v, _ := itrace.ParseHex(e.number); v >= 32 && string(word(line, " i=")) == "0" {
			e.kind = itrace.Interrupt
		}
		e.whole = len(e.number) > 0 && len(e.addrs) > 0
	}
	e.whole = e.address(e.addrs) && e.whole
	return e
}

// address takes an address, which may be missing, and reports whether it has no more than 64 bits.
func (e *event) address(text []byte) (ok bool) {
	if e.addr, ok = itrace.ParseHex(text); ok || len(text) == 0 {
		e.addrs = text
		return true
	}
	e.addrs = nil
	return false
}

func (e *event) processor(word []byte) {
	if n, ok := itrace.ParseDecimal(word); ok && n <= math.MaxInt32 {
		e.cpu, e.told = int32(n), true
	}
}

// add reads one more line of an exception.
func (e *event) add(line []byte) {
	const returns, syndrome = "...with ELR ", "...with ESR "
	switch {
	case bytes.HasPrefix(line, []byte(returns)):
		e.address(hexWord(line, returns))
	case bytes.HasPrefix(line, []byte(syndrome)):
		if w := word(line, syndrome); bytes.IndexByte(w, '/') >= 0 {
			e.detail = hexWord(w, "/")
		}
	}
}
