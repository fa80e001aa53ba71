package jsonl

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"tracewell/itrace"
)

// Dialect is the dialect of JSON lines.
var Dialect = &itrace.Dialect{
	Name:     "json",
	Title:    "JSON lines",
	Suffixes: []string{".jsonl", ".ndjson", ".json"},

	EffectsTellCPU: true,

	New:    func(itrace.Settings) itrace.Decoder { return itrace.Lines(newParser()) },
	Append: itrace.EachRecord(Append),
}

// parser remembers the processor of the latest instruction, and which member came behind which: as a rule it will again.
type parser struct {
	cpu    int32
	behind [numKeys + 1]key
	arena  []byte // of strings that had escapes

	told      []byte // the last value of tells, and its meaning
	toldScope itrace.Scope

	scanner
}

func newParser() *parser {
	p := new(parser)
	for i := range p.behind {
		p.behind[i] = otherKey
	}
	return p
}

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

// Parse implements itrace.Parser. A line that was none when the JSON was written is a problem here, too, and r.Text that line.
// Strings with escapes take memory.
func (p *parser) Parse(line []byte, r *itrace.Record) *itrace.SyntaxError {
	p.object(line)
	if p.problem != nil {
		return p.problem
	}
	switch {
	case p.seen.has(keyUnknown):
		return p.unknown(r)
	case p.seen.has(keyRemark):
		r.Kind, r.Text = itrace.Remark, p.text(keyRemark)
		return p.problem
	}
	r.Time = p.number(keyTime, math.MaxUint64)
	r.Scale = p.word(keyScale)
	r.CPU = p.cpu
	if p.seen.has(keyCPU) {
		r.CPU = int32(p.number(keyCPU, math.MaxInt32))
	}
	if p.seen&extras != 0 {
		r.Cycle = p.number(keyCycle, math.MaxUint64)
		r.Back = uint32(p.number(keyBack, math.MaxUint32))
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
		p.register(r)
	case "register-read":
		r.Kind = itrace.RegisterRead
		p.register(r)
	case "event":
		r.Kind = itrace.Event
		p.event(r)
	default:
		p.failAt(keyKind, `"instruction", "memory", "register", "register-read" or "event"`)
	}
}

func (p *parser) register(r *itrace.Record) {
	p.needed(keyName)
	r.Name = p.word(keyName)
	p.digits(keyValue, r)
	if p.seen&extras == 0 {
		return
	}
	r.System, r.Zero = p.boolean(keySystem), p.boolean(keyZero)
	r.Numbered, r.Number = p.seen.has(keyNumber), uint16(p.number(keyNumber, math.MaxUint16))
	r.Shaped = p.seen.has(keyShape)
	r.Mode = p.text(keyShape)
	if r.Part = p.seen.has(keyHigh) && p.seen.has(keyLow); r.Part {
		r.High, r.Low = uint16(p.number(keyHigh, math.MaxUint16)), uint16(p.number(keyLow, math.MaxUint16))
	}
}

// eventKinds are the kinds of event by their words.
var eventKinds = func() map[string]itrace.EventKind {
	kinds := make(map[string]itrace.EventKind)
	for k := itrace.OtherEvent; k <= itrace.Reset; k++ {
		kinds[k.String()] = k
	}
	return kinds
}()

func (p *parser) event(r *itrace.Record) {
	kind, ok := eventKinds[string(p.needed(keyEvent))]
	if !ok {
		p.failAt(keyEvent, "a kind of event")
	}
	r.Event, r.Name, r.Mode = kind, p.text(keyName), p.text(keyMode)
	r.Addr, r.AddrDigits = 0, nil
	r.Value, r.Wild, r.Digits = 0, false, nil
	if p.seen.has(keyAddress) {
		p.address(r)
	}
	if p.seen.has(keyValue) {
		p.digits(keyValue, r)
	}
	if p.seen.has(keyDetail) {
		r.Detail = p.hex(keyDetail)
	}
}

// scope returns what a trace tells of an instruction.
func (p *parser) scope() itrace.Scope {
	if !p.seen.has(keyTells) {
		return 0
	}
	text := p.text(keyTells)
	if string(text) != string(p.told) || len(text) == 0 { // as a rule it is that of the line before
		var ok bool
		if p.toldScope, ok = itrace.ScopeOf(strings.Fields(string(text))); !ok {
			p.failAt(keyTells, "words for what is told")
			return 0
		}
		p.told = append(p.told[:0], text...)
	}
	return p.toldScope
}

// physical reads a physical address, if there is one.
func (p *parser) physical(r *itrace.Record) {
	if !p.seen.has(keyPhysical) {
		return
	}
	if r.Phys, r.HasPhys = itrace.ParseHex(p.hex(keyPhysical)); !r.HasPhys {
		p.failAt(keyPhysical, "an address of 64 bits or less")
	}
}

func (p *parser) instruction(r *itrace.Record) {
	if p.seen&extras != 0 {
		r.Scope, r.Trapped = p.scope(), p.boolean(keyTrapped)
		p.physical(r)
	}
	r.ID = p.number(keyID, math.MaxUint64)
	r.Skipped = p.boolean(keySkipped)
	p.address(r)
	r.Value, r.Wild, r.Digits = 0, false, nil
	if r.Scope&itrace.NoOpcode == 0 || p.seen.has(keyOpcode) {
		p.digits(keyOpcode, r)
	}
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
	partial := p.boolean(keyPartial)
	if !partial {
		p.require(keySize)
	}
	if r.Size = uint32(p.number(keySize, math.MaxUint32)); r.Size == 0 && (!partial || p.seen.has(keySize)) {
		p.failAt(keySize, "a number of bytes")
	}
	r.Privilege = p.letter(keyPrivilege)
	p.address(r)
	r.Value, r.Wild, r.Digits = 0, false, nil
	if !partial || p.seen.has(keyData) {
		p.digits(keyData, r)
	}
	if r.Size > 0 && !itrace.DigitsFit(r.Digits, r.Size) {
		p.failAt(keyData, fmt.Sprintf("data of %d bytes", r.Size))
	}
	p.physical(r)
	if r.Placed = p.seen.has(keyDevice) || p.seen.has(keySecurity); r.Placed {
		r.Name, r.Security = p.text(keyDevice), p.word(keySecurity)
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
