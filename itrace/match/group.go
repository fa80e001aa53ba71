package match

import (
	"bytes"
	"strconv"

	"tracewell/itrace"
)

// group is an instruction and its effects. It keeps the text of their lines, since what it was read from is gone by the time that
// it is compared.
type group struct {
	cpu     int32
	bare    bool  // effects ahead of any instruction
	index   int64 // instructions of the trace before it
	line    int64
	offset  int64
	text    []byte // its lines, each with an LF
	wide    []byte // digits that numbers do not hold
	pc      uint64
	opcode  uint64
	wild    bool // some digits of the opcode are not known
	opcodes span // its digits then, in wide
	mode    uint32
	skipped bool
	trapped bool
	// expanded says that the opcode is the one of 32 bits that the trace's own, a compressed one, stands for.
	expanded bool
	scope    itrace.Scope // what the trace tells of it
	words    span         // the disassembly
	time     uint64
	id       uint64
	// Numbers of words that are compared only when asked for, 0 otherwise and where the line does not tell.
	scale, security uint32
	disasm          uint64 // a hash of the words, 0 unless asked for

	effects []effect
	loose   bool // accesses that are not the same may be equal, so the hash is of the others
	ordered bool // there may be effects that do not commute

	head uint64 // hash of the address
	full uint64 // and of all else that is compared always, with the order of effects that do not commute
}

// span is a part of a group's bytes.
type span struct{ from, to uint32 }

// effect is what an instruction did to a register or to memory.
type effect struct {
	kind      effectKind
	privilege byte
	system    bool   // a register of control and status
	wide      bool   // value is not all: there are more digits, or some that are not known
	size      uint32 // of memory, in bytes
	at        uint64 // register, address, or kind of event
	value     uint64 // of an event, the address that is told with it
	digits    span   // of such a value, in the group's wide
	line      int64
	offset    int64
	text      span // the line in the group's text
}

// effectKind is a kind of effect.
type effectKind uint8

const (
	writesRegister effectKind = iota
	loads
	stores
	readsRegister
	happens // an event
)

// accesses reports whether an effect is one on memory.
func (e *effect) accesses() bool { return e.kind == loads || e.kind == stores }

// reset empties a group for another use. What an instruction record always sets is left as it is.
func (g *group) reset() {
	g.text, g.wide, g.effects = g.text[:0], g.wide[:0], g.effects[:0]
	g.bare, g.wild, g.trapped, g.expanded, g.loose = false, false, false, false, false
}

// keep appends a line to the group's text.
func (g *group) keep(line []byte) span {
	start := len(g.text)
	g.text = append(append(g.text, line...), '\n')
	return span{uint32(start), uint32(len(g.text) - 1)}
}

// keepPart is where a part of a line is that has been kept at a place. One that is no part of the line, as it was written with
// escapes or in another line, is kept by itself.
func (g *group) keepPart(line []byte, at span, part []byte) span {
	if len(part) == 0 {
		return span{}
	}
	if from := cap(line) - cap(part); from >= 0 && from+len(part) <= len(line) && &line[from] == &part[0] {
		return span{at.from + uint32(from), at.from + uint32(from+len(part))}
	}
	return g.keep(part)
}

// keepLine is keep for the line of an effect, which may be that of the instruction or of another effect as well.
func (g *group) keepLine(r *itrace.Record) span {
	if n := len(g.effects); n > 0 && g.effects[n-1].offset == r.Offset {
		return g.effects[n-1].text
	}
	if !g.bare && g.offset == r.Offset {
		return span{0, uint32(len(g.firstLine()))}
	}
	return g.keep(r.Text)
}

// word gives a part of the group's text.
func (g *group) word(s span) []byte { return g.text[s.from:s.to] }

// keepDigits appends digits that a number does not hold.
func (g *group) keepDigits(digits []byte) span {
	start := len(g.wide)
	g.wide = append(g.wide, digits...)
	return span{uint32(start), uint32(len(g.wide))}
}

// firstLine is the line of the instruction, or of the first effect.
func (g *group) firstLine() []byte {
	line, _, _ := bytes.Cut(g.text, []byte{'\n'})
	return line
}

func (g *group) lineOf(e *effect) []byte { return g.text[e.text.from:e.text.to] }

// digitsOf gives the value of an effect in digits.
func (g *group) digitsOf(e *effect) []byte {
	if e.wide {
		return g.wide[e.digits.from:e.digits.to]
	}
	return strconv.AppendUint(nil, e.value, 16)
}

func (g *group) opcodeDigits() []byte {
	if g.wild {
		return g.wide[g.opcodes.from:g.opcodes.to]
	}
	return strconv.AppendUint(nil, g.opcode, 16)
}

// mix makes a hash of a hash and a number.
func mix(hash, n uint64) uint64 {
	hash = (hash ^ n) * 0x9e3779b97f4a7c15
	return hash ^ hash>>29
}

// finish makes the hashes, once all effects are there.
func (g *group) finish() {
	g.head = mix(0, g.pc)
	if g.bare {
		g.head++
	}
	what := uint64(g.mode) << 1
	if g.skipped {
		what++
	}
	if g.trapped {
		what ^= 1 << 63
	}
	var sum uint64
	for i := range g.effects {
		if e := &g.effects[i]; !g.loose || !e.accesses() {
			sum += e.hash()
		}
	}
	sum += g.orderHash()
	g.full = mix(mix(mix(g.head, g.opcode), what), sum)
}

// effectHash is what an effect adds to the hash of its group.
func (g *group) effectHash(i int) uint64 {
	if g.loose && g.effects[i].accesses() {
		return 0
	}
	return g.effects[i].hash()
}

// equalOpcodes compares values, unless digits of one are not known (x, -): those match any, so their digits decide.
func equalOpcodes(a, b *group) bool {
	if a.wild || b.wild {
		return itrace.DigitsMatch(a.opcodeDigits(), b.opcodeDigits())
	}
	return a.opcode == b.opcode
}

// equalEffects reports whether two effects are the same.
func equalEffects(a *group, x *effect, b *group, y *effect) bool {
	return samePlace(x, y) && x.size == y.size && equalValues(a, x, b, y)
}

// samePlace reports whether two effects are of the same kind on the same register or address.
func samePlace(x, y *effect) bool {
	return x.kind == y.kind && x.at == y.at && x.privilege == y.privilege
}

// equalValues is the same for effects, of which also those of more than 64 bits are kept as digits.
func equalValues(a *group, x *effect, b *group, y *effect) bool {
	if x.wide || y.wide {
		return itrace.DigitsMatch(a.digitsOf(x), b.digitsOf(y))
	}
	return x.value == y.value
}
