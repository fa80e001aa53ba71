package matcher

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"tracewell/itrace"
	"tracewell/itrace/internal/swar"
)

// FastPath implements itrace.FastPather: matchTemplate without the fields of records.
//
// It accepts fewer lines than the template does, never more: match counts and checks with it what it would have compared, so a line
// that Parse would refuse must not pass. It changes nothing of the template; a line that does not match is left to Parse, which
// learns from it. An instruction of another processor ends it, because lines of memory and registers inherit the processor.
func (p *parser) FastPath(text []byte, briefs []itrace.Brief) (lines, next int) {
	e, cpu := &p.template, p.cpu
	for ; lines < len(briefs); lines++ {
		g := &briefs[lines]
		n := e.brief(text[next:], cpu, g)
		if n == 0 {
			break
		}
		g.At = next
		next += n
	}
	return lines, next
}

// longestBrief is how many bytes a line of memory or a register can have from its kind on, but for the address.
const longestBrief = 2 * mostDigits

// brief matches a line with the template, and returns its length, 0 if it does not.
func (e *template) brief(text []byte, cpu int32, g *itrace.Brief) (length int) {
	at := e.kindAt
	// The one bound for all loads of eight bytes behind it. Times of more than 8 digits are left to Parse: only their being digits
	// counts here, and one load covers 8.
	if len(text) < at+e.address+longestBrief || e.timeEnd > 8 || !e.start.at(text, e.timeEnd) ||
		swar.NotDecimal(binary.LittleEndian.Uint64(text[:8]), e.timeEnd) != 0 {
		return 0
	}
	switch text[at] {
	case 'R':
		length = e.briefRegister(text[at:], g)
	case 'M':
		length = e.briefMemory(text[at:], g)
	default:
		// Instructions of 2 and 4 bytes alternate in compressed code, so the shape before the latest is tried, too.
		if length = e.shapes[e.latest].brief(text[at:], cpu, g, &e.seen); length == 0 {
			length = e.shapes[1-e.latest].brief(text[at:], cpu, g, &e.seen)
		}
	}
	if length == 0 {
		return 0
	}
	return at + length
}

// briefRegister reads "R t0 00000000".
func (e *template) briefRegister(text []byte, g *itrace.Brief) (length int) {
	const nameAt = 2
	// The name ends at the first blank of the next eight bytes; it is kept as they stand there, without those behind it, so that it
	// can be compared as a number.
	x := binary.LittleEndian.Uint64(text[nameAt : nameAt+8])
	name := bits.TrailingZeros64(blanks(x)) &^ 7 // in bits
	digits := nameAt + name/8 + 1
	if text[1] != ' ' || uint(name-1) >= 63 || text[digits-1] != ' ' || uint(e.value-1) >= mostDigits {
		return 0
	}
	value, wrong := swar.Hex(text, digits, e.value)
	if wrong != 0 {
		return 0
	}
	g.Kind, g.Name, g.Value = itrace.Register, x&(1<<name-1), value
	return behindEnd(text, digits+e.value)
}

// briefMemory reads "MR8 00103fc4 0010400000000000", with as many digits as the bytes have.
func (e *template) briefMemory(text []byte, g *itrace.Brief) (length int) {
	const addrAt = 4 // behind "MR8 ": sizes of two digits, and those with X or T behind them, are left to Parse
	size, digits := text[2]-'0', addrAt+e.address+1
	end := digits + 2*int(size)
	if text[1] != 'R' && text[1] != 'W' || size-1 >= 8 || text[3] != ' ' || e.address == 0 || text[digits-1] != ' ' {
		return 0
	}
	addr, wrong := swar.Hex(text, addrAt, e.address)
	if wrong |= notHex(text, span{digits, end}); wrong != 0 {
		return 0
	}
	g.Kind, g.Addr, g.Size = itrace.Memory, addr, uint32(size)
	return behindEnd(text, end)
}

// behindEnd returns where the next line begins if a line ends at a place, by LF or CR LF, and 0 if it does not.
func behindEnd(text []byte, at int) int {
	if text[at] == '\r' {
		at++
	}
	if text[at] != '\n' {
		return 0
	}
	return at + 1
}

// brief reads "0 IT (1) 00000004 3c080001 A svc : lui t0,0x1".
func (s *shape) brief(text []byte, cpu int32, g *itrace.Brief, seen *places) (length int) {
	if len(text) <= s.disasm+8 || s.id.width() > 8 || s.silent || s.of != cpu {
		return 0
	}
	if !s.start.at(text, 0) || !s.words[0].at(text, s.opcode.to) || !s.words[1].at(text, s.opcode.to+8) ||
		text[s.id.to] != ')' || text[s.id.to+1] != ' ' || text[s.addr.to] != ' ' || text[s.disasm] <= ' ' {
		return 0
	}
	id := binary.LittleEndian.Uint64(text[s.id.from : s.id.from+8])
	// Address and opcode are not needed, but they must be digits, which those that were seen before are.
	_, _, wrong := seen.find(text, s.addr, s.opcode)
	wrong |= swar.NotDecimal(id, s.id.width())
	end := bytes.IndexByte(text[s.disasm:], '\n')
	if wrong != 0 || end < 0 {
		return 0
	}
	g.Kind = itrace.Instruction
	return s.disasm + end + 1
}

// notHex returns 0 if a part of a text is hexadecimal digits.
func notHex(text []byte, part span) uint64 {
	width := part.width()
	if width <= 8 {
		return swar.NotHex(binary.LittleEndian.Uint64(text[part.from:part.from+8]), width)
	}
	// Of 9 to 16 digits the first eight and the last eight, which overlap.
	return swar.NotHex(binary.LittleEndian.Uint64(text[part.from:part.from+8]), 8) |
		swar.NotHex(binary.LittleEndian.Uint64(text[part.to-8:part.to]), 8)
}
