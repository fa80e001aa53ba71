package jsonl

import (
	"fmt"
	"math"

	"tracewell/itrace"
)

// Dialect is the dialect of JSON lines.
var Dialect = &itrace.Dialect{
	Name:     "json",
	Title:    "JSON lines",
	Suffixes: []string{".jsonl", ".ndjson", ".json"},

	EffectsTellCPU: true,

	New:    func() itrace.Parser { return newParser() },
	Append: Append,
}

// parser remembers the processor of the latest instruction, and which member came behind which: as a rule it will again.
type parser struct {
	cpu    int32
	behind [numKeys + 1]key
	arena  []byte // of strings that had escapes
	scanner
}

func newParser() *parser {
	p := new(parser)
	for i := range p.behind {
		p.behind[i] = otherKey
	}
	return p
}

// Parse implements itrace.Parser. A line that was none when the JSON was written is a problem here, too, and r.Text that line.
// Strings with escapes take memory.
func (p *parser) Parse(line []byte, r *itrace.Record) *itrace.SyntaxError {
	p.object(line)
	if p.problem != nil {
		return p.problem
	}
	if p.seen.has(keyUnknown) {
		return p.unknown(r)
	}
	r.Time = p.number(keyTime, math.MaxUint64)
	r.Scale = p.word(keyScale)
	r.CPU = p.cpu
	if p.seen.has(keyCPU) {
		r.CPU = int32(p.number(keyCPU, math.MaxInt32))
	}
	p.record(r)
	if p.problem != nil {
		r.CPU = p.cpu
		return p.problem
	}
	if r.Kind == itrace.Instruction {
		p.cpu = r.CPU
	}
	return nil
}

// record reads what the records of a kind have for themselves.
func (p *parser) record(r *itrace.Record) {
	switch string(p.needed(keyKind)) {
	case "instruction":
		r.Kind = itrace.Instruction
		p.instruction(r)
	case "memory":
		r.Kind = itrace.Memory
		p.memory(r)
	case "register":
		r.Kind = itrace.Register
		p.needed(keyName)
		r.Name = p.word(keyName)
		p.digits(keyValue, r)
	default:
		p.failAt(keyKind, `"instruction", "memory" or "register"`)
	}
}

func (p *parser) instruction(r *itrace.Record) {
	r.ID = p.number(keyID, math.MaxUint64)
	r.Skipped = p.boolean(keySkipped)
	p.address(r)
	p.digits(keyOpcode, r)
	r.State = p.letter(keyState)
	r.Mode = p.word(keyMode)
	r.Security = p.word(keySecurity)
	r.Disasm = p.text(keyDisasm)
}

func (p *parser) memory(r *itrace.Record) {
	switch string(p.needed(keyAccess)) {
	case "read":
		r.Write = false
	case "write":
		r.Write = true
	default:
		p.failAt(keyAccess, `"read" or "write"`)
	}
	p.require(keySize)
	if r.Size = uint32(p.number(keySize, math.MaxUint32)); r.Size == 0 {
		p.failAt(keySize, "a number of bytes")
	}
	r.Privilege = p.letter(keyPrivilege)
	p.address(r)
	p.digits(keyData, r)
	if !itrace.DigitsFit(r.Digits, r.Size) {
		p.failAt(keyData, fmt.Sprintf("data of %d bytes", r.Size))
	}
}

// shownRunes is how much of a line that is none a problem quotes.
const shownRunes = 20

// unknown gives back the line that was none.
func (p *parser) unknown(r *itrace.Record) *itrace.SyntaxError {
	text := p.text(keyUnknown)
	if p.problem != nil {
		return p.problem
	}
	r.Text = text
	return &itrace.SyntaxError{Column: p.spans[keyUnknown].start + 1, Found: fmt.Sprintf("%.*q", shownRunes, text),
		Expected: "a record"}
}

// number returns the value of a member that is a whole number up to limit; 0 without it.
func (p *parser) number(k key, limit uint64) uint64 {
	if !p.seen.has(k) {
		return 0
	}
	span := p.spans[k]
	n, ok := itrace.ParseDecimal(p.line[span.start:span.end])
	if !ok || n > limit {
		p.failAt(k, "a whole number")
		return 0
	}
	return n
}

// boolean returns the value of a member that is true or false, which it is without it.
func (p *parser) boolean(k key) bool {
	if !p.seen.has(k) {
		return false
	}
	span := p.spans[k]
	switch string(p.line[span.start:span.end]) {
	case "true":
		return true
	case "false":
	default:
		p.failAt(k, "true or false")
	}
	return false
}

// text returns the value of a member that is a string, nil without it.
func (p *parser) text(k key) []byte {
	if !p.seen.has(k) {
		return nil
	}
	span := p.spans[k]
	if p.line[span.start] != '"' {
		p.failAt(k, "a string")
		return nil
	}
	inside := p.line[span.start+1 : span.end-1]
	if !span.escaped {
		return inside
	}
	text, ok := p.unescape(inside)
	if !ok {
		p.failAt(k, "a string that is one line, with escapes of JSON")
	}
	return text
}

// require fails unless a member is there.
func (p *parser) require(k key) {
	if !p.seen.has(k) {
		p.fail(p.closing, heads[k])
	}
}

// needed is text for a member that must be there.
func (p *parser) needed(k key) []byte {
	p.require(k)
	return p.text(k)
}

// word returns the value of a member that is a string without blanks, nil without it.
func (p *parser) word(k key) []byte {
	word := p.text(k)
	if end := itrace.WordEnd(word, 0); end < len(word) || end == 0 && p.seen.has(k) {
		p.failAt(k, "a word")
	}
	return word
}

// letter returns the value of a member that is a single character, 0 without it.
func (p *parser) letter(k key) byte {
	letter := p.word(k)
	if len(letter) == 0 {
		return 0
	}
	if len(letter) > 1 {
		p.failAt(k, "a letter")
	}
	return letter[0]
}

// hex returns what follows 0x in a string that must be there.
func (p *parser) hex(k key) []byte {
	text := p.needed(k)
	if len(text) < 3 || text[0] != '0' || text[1]|0x20 != 'x' {
		p.failAt(k, "0x and hexadecimal digits in a string")
		return nil
	}
	return text[2:]
}

func (p *parser) address(r *itrace.Record) {
	r.AddrDigits = p.hex(keyAddress)
	addr, ok := itrace.ParseHex(r.AddrDigits)
	if !ok {
		p.failAt(keyAddress, "an address of 64 bits or less")
	}
	r.Addr = addr
}

func (p *parser) digits(k key, r *itrace.Record) {
	r.Digits = p.hex(k)
	value, wild, ok := itrace.ParseDigits(r.Digits)
	if !ok {
		p.failAt(k, "0x and hexadecimal digits in a string")
	}
	r.Value, r.Wild = value, wild
}
