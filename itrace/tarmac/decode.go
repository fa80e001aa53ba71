package tarmac

import (
	"bytes"
	"encoding/binary"
	"math"

	"tracewell/itrace"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of Tarmac.
var Dialect = &itrace.Dialect{
	Name:           "tarmac",
	Title:          "Tarmac",
	Suffixes:       []string{".tarmac"},
	EffectsTellCPU: true,
	Options: []itrace.Option{{Name: "state", Help: "The state of the instruction set, where lines do not tell it.",
		Values: []string{"A", "T", "O"}}},
	New: func(s itrace.Settings) itrace.Decoder {
		d := &decoder{}
		if state := s["state"]; state != "" {
			d.state = state[0]
		}
		return d
	},
	BehindTime: behindTime,
	Why:        why,
	Append:     itrace.EachRecord(Append),
	Writes:     writes,
}

// decoder is the Decoder of Tarmac. Its units are lines.
type decoder struct {
	state byte // of the option, 0 for none
	kept

	// room has digits that do not stand together in the text. It is used again by the next Decode.
	room []byte
}

// kept is what the meaning of a line depends on.
type kept struct {
	time   uint64
	scale  uint8 // index in units
	cpu    int32
	events bool // there were exceptions
	// The latest line was LD or ST, with its address in this column.
	shows  shown
	column int
}

// shown is whether a line shows what is loaded or stored.
type shown uint8

const (
	nothing shown = iota
	loads
	stores
)

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	if d.kept == (kept{}) {
		return dst
	}
	events := byte(0)
	if d.events {
		events = 1
	}
	dst = append(dst, d.scale, events, byte(d.shows))
	for _, n := range [...]uint64{d.time, uint64(d.cpu), uint64(d.column)} {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

// AppendTimeless implements itrace.TimeKeeper.
func (d *decoder) AppendTimeless(dst []byte) []byte {
	timeless := *d
	timeless.time = 0
	return timeless.AppendState(dst)
}

// behindTime implements itrace.Dialect.BehindTime. Where an LD or ST has its address matters to the next line; it is one of
// the first three words behind the time.
func behindTime(text []byte) int {
	n := itrace.DecimalEnd(text, ' ')
	at := n
	for range 3 {
		for at < len(text) && text[at] == ' ' {
			at++
		}
		if len(text)-at >= 3 && text[at+2] == ' ' && (text[at] == 'L' && text[at+1] == 'D' || text[at] == 'S' && text[at+1] == 'T') {
			return 0
		}
		for at < len(text) && text[at] > ' ' {
			at++
		}
	}
	return n
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(from []byte) error {
	d.kept = kept{}
	if len(from) == 0 {
		return nil
	}
	const fixed = 3
	if len(from) < fixed || int(from[0]) >= len(units) || from[1] > 1 || from[2] > byte(stores) {
		return itrace.ErrState
	}
	k := kept{scale: from[0], events: from[1] == 1, shows: shown(from[2])}
	rest := from[fixed:]
	var numbers [3]uint64
	for i := range numbers {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			return itrace.ErrState
		}
		numbers[i], rest = n, rest[size:]
	}
	if len(rest) > 0 || numbers[1] > math.MaxInt32 || numbers[2] > math.MaxInt32 {
		return itrace.ErrState
	}
	k.time, k.cpu, k.column = numbers[0], int32(numbers[1]), int(numbers[2])
	d.kept = k
	return nil
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	d.room = d.room[:0]
	for !b.Full() {
		line, next := b.Line(n, last)
		if next < 0 {
			break
		}
		n = next
		if len(line) > 0 {
			d.line(b, line)
		}
	}
	return n
}

// line adds the records of a line.
func (d *decoder) line(b *itrace.Batch, line []byte) {
	s := scanner{line: line}
	s.skip()
	if d.shows != nothing && s.at == d.column {
		if d.show(b, &s, d.shows); s.problem == nil {
			return
		}
		s = scanner{line: line}
	}
	before, added := d.kept, b.Len()
	d.shows, d.column = nothing, 0
	timed := d.when(&s)
	s.skip()
	start := s.at
	word := s.word()
	if cpu, ok := processor(word); ok {
		d.cpu = cpu
		s.skip()
		start = s.at
		word = s.word()
	} else if timed {
		d.cpu = 0
	}
	d.event(b, &s, word, start)
	if s.problem != nil {
		d.kept = before
		d.shows, d.column = nothing, 0
		b.Truncate(added)
		b.Fail(s.problem)
	}
}

// event reads what is behind the time of a line, of which the first word has been read.
func (d *decoder) event(b *itrace.Batch, s *scanner, word []byte, start int) {
	switch string(word) {
	case "IT", "IF":
		d.instruction(b, s, false)
		return
	case "IS":
		d.instruction(b, s, true)
		return
	case "R":
		d.register(b, s)
		return
	case "ES":
		d.stage(b, s)
		return
	case "LD":
		d.show(b, s, loads)
		return
	case "ST":
		d.show(b, s, stores)
		return
	case "E":
		d.happening(b, s)
		return
	case "EXC":
		d.exception(b, s)
		return
	case "BR", "CADI", "TTW", "CACHE", "P", "SIGNAL", "INFO_EXCEPTION_REASON":
		b.Add(itrace.Remark)
		return
	case "Tarmac":
		if bytes.HasPrefix(s.line[s.at:], []byte(" Text Rev")) {
			b.Add(itrace.Remark)
			return
		}
	}
	if len(word) > 1 && (word[0] == 'M' || (word[0] == 'R' || word[0] == 'W') && word[1]-'0' <= 9) {
		d.memory(b, s, word, start)
		return
	}
	s.fail(start, "IT, IS, ES, R, M with a size, LD, ST, E or another event of Tarmac")
}

// add adds a record with the time and processor of the line.
func (d *decoder) add(b *itrace.Batch, kind itrace.Kind) *itrace.Record {
	r := b.Add(kind)
	r.Time, r.Scale, r.CPU = d.time, units[d.scale], d.cpu
	return r
}

// address is what a line says of an address.
type address struct {
	virtual     uint64
	digits      []byte
	physical    uint64
	hasPhysical bool
	security    []byte // of the physical address: S or NS
}

// address reads an address with the physical ones that may follow, of which the first counts.
func (s *scanner) address(expected string) (a address) {
	a.virtual, a.digits = s.hex(expected)
	if !s.accept(':') {
		return a
	}
	a.physical, a.security = s.physical()
	a.hasPhysical = true
	if s.accept(',') {
		s.physical()
	}
	return a
}

// physical reads a physical address with _S or _NS, if that is behind it.
func (s *scanner) physical() (addr uint64, security []byte) {
	s.skip()
	start := s.at
	word := s.word()
	addr, end := scan.HexAt(word, 0)
	digits := word[:end]
	if end < len(word) && word[end] == '_' {
		security = word[end+1:]
	} else if end < len(word) {
		digits = word
	}
	ok := end == len(digits) && end > 0 && end <= 16
	if end > 16 {
		_, ok = itrace.ParseHex(digits)
	}
	if !ok || len(word) > len(digits) && string(security) != "S" && string(security) != "NS" {
		s.fail(start, "a physical address in hexadecimal")
	}
	return addr, security
}

// instruction reads a line of IT, IS or IF.
func (d *decoder) instruction(b *itrace.Batch, s *scanner, skipped bool) {
	const address, opcode = "an address in hexadecimal", "an opcode in hexadecimal"
	var bracket, serial []byte // the words in brackets
	if s.accept('(') {
		s.skip()
		start := s.at
		bracket = s.word()
		if s.accept(':') {
			serial = s.word()
		}
		_, ok := itrace.ParseHex(bracket)
		if !ok || serial != nil && len(serial) == 0 || !s.accept(')') {
			s.fail(start, "a number or an address, and a closing bracket")
			return
		}
	}
	s.skip()
	first := s.at
	a := s.address(address)
	s.skip()
	second := s.at
	letter, sized := s.state()
	digits := a.digits
	switch {
	case s.problem != nil:
		return
	case letter != 0 && bracket != nil && serial == nil && !a.hasPhysical: // the bracket has the address
		a.digits = bracket
		a.virtual, _ = itrace.ParseHex(bracket)
		bracket = nil
	default:
		s.at = second
		if digits = d.data(s, opcode); s.problem != nil {
			return
		}
		s.skip()
		second = s.at
		letter, sized = s.state()
	}
	switch {
	case letter == 0 && d.state == 0:
		s.fail(second, "a state of the instruction set: A, T, T16, T32 or O")
		return
	case first == len(s.line):
		s.fail(first, address)
		return
	}
	i := d.executed(b, digits, a, skipped)
	switch {
	case serial != nil:
		i.ID, _ = itrace.ParseHex(serial)
	case bracket != nil:
		i.ID, _ = itrace.ParseDecimal(bracket)
	}
	if letter == 0 {
		s.at = second
		i.State = d.state
		i.Scope |= itrace.NoMode
		s.skip()
		i.Disasm = s.line[s.at:]
		return
	}
	i.State = letter
	d.behind(i, s, sized)
}

// executed adds an instruction.
func (d *decoder) executed(b *itrace.Batch, opcode []byte, a address, skipped bool) *itrace.Record {
	i := d.add(b, itrace.Instruction)
	i.Addr, i.AddrDigits, i.Digits, i.Skipped = a.virtual, a.digits, opcode, skipped
	i.Value, i.Wild = valueOf(opcode)
	i.Phys, i.HasPhys = a.physical, a.hasPhysical
	if d.events {
		i.Scope = itrace.TellsEvents
	}
	return i
}

// behind reads what is behind the state: mode, colon, text. Behind a state that tells the size of the instruction mode and colon
// may be missing, and behind any the mode.
func (d *decoder) behind(i *itrace.Record, s *scanner, sized bool) {
	s.skip()
	start := s.at
	mode := s.word()
	switch {
	case s.accept(':'):
		i.Mode, i.Security = secured(mode)
	case sized:
		s.at = start
	default:
		s.fail(start, "a mode and a colon")
		return
	}
	if len(i.Mode) == 0 {
		i.Scope |= itrace.NoMode
	}
	s.skip()
	i.Disasm = s.line[s.at:]
}

// secured takes the suffix _s or _ns from a mode.
func secured(mode []byte) (name, security []byte) {
	at := bytes.LastIndexByte(mode, '_')
	if at <= 0 {
		return mode, nil
	}
	if suffix := mode[at+1:]; string(suffix) == "s" || string(suffix) == "ns" {
		return mode[:at], suffix
	}
	return mode, nil
}

// stage reads a line of ES: an instruction, an exception or a reset.
func (d *decoder) stage(b *itrace.Batch, s *scanner) {
	if !s.accept('(') {
		start := s.at
		switch word := s.word(); string(word) {
		case "EXC":
			d.exception(b, s)
		case "Reset": // EXC is in the next line
			b.Add(itrace.Remark)
		default:
			s.fail(start, "an address and an opcode in brackets, EXC or Reset")
		}
		return
	}
	var a address
	a.virtual, a.digits = s.hex("an address in hexadecimal")
	if !s.accept(':') {
		s.fail(s.at, "a colon and an opcode")
		return
	}
	opcode := d.data(s, "an opcode in hexadecimal, or hyphens")
	if !s.accept(')') {
		s.fail(s.at, "a closing bracket")
		return
	}
	s.skip()
	start := s.at
	letter, sized := s.state()
	if letter == 0 && d.state == 0 {
		s.fail(start, "a state of the instruction set: A, T, T16, T32 or O")
		return
	}
	if s.problem != nil {
		return
	}
	i := d.executed(b, opcode, a, false)
	i.State = letter
	if len(bytes.Trim(opcode, "-")) == 0 { // it could not be fetched
		i.Digits, i.Value, i.Wild = nil, 0, false
		i.Trapped = true
		i.Scope |= itrace.NoOpcode | itrace.TellsTrapped
	}
	if letter == 0 {
		i.State = d.state
		i.Scope |= itrace.NoMode
		i.Disasm = s.line[s.at:]
	} else if d.behind(i, s, sized); s.problem != nil {
		return
	}
	if rest, ok := bytes.CutPrefix(i.Disasm, []byte("CCFAIL")); ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
		i.Skipped, i.Disasm = true, bytes.TrimLeft(rest, " \t")
	}
}
