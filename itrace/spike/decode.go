package spike

import (
	"bytes"
	"encoding/binary"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// Dialect is the dialect of Spike.
var Dialect = &itrace.Dialect{
	Name:     "spike",
	Title:    "Spike's log",
	Suffixes: []string{".spike"},
	New:      func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why:      why,
	Append:   Append,
	Groups:   true,
	Writes:   writes,
}

// decoder is the Decoder of Spike. Its units are a line of -l with what belongs to it, an exception, and any other line.
type decoder struct {
	commits bool   // there were commit lines
	steps   bool   // there were lines of -l
	repeats uint64 // how often the instruction before is still to come; the next line says so
	text    []byte // its line
}

// The bits of the first byte of the state.
const (
	hasCommits = 1 << iota
	hasSteps
	hasRepeats
)

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	flags := byte(0)
	if d.commits {
		flags |= hasCommits
	}
	if d.steps {
		flags |= hasSteps
	}
	if d.repeats == 0 {
		return append(dst, flags)
	}
	dst = binary.AppendUvarint(append(dst, flags|hasRepeats), d.repeats)
	return append(dst, d.text...)
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	*d = decoder{}
	if len(state) == 0 {
		return nil
	}
	flags := state[0]
	d.commits, d.steps = flags&hasCommits != 0, flags&hasSteps != 0
	if flags&hasRepeats == 0 {
		if len(state) > 1 {
			return itrace.ErrState
		}
		return nil
	}
	repeats, n := binary.Uvarint(state[1:])
	if n <= 0 {
		return itrace.ErrState
	}
	d.repeats, d.text = repeats, bytes.Clone(state[1+n:])
	return nil
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, text []byte, last bool) (n int) {
	for !b.Full() {
		line, next := b.Line(n, last)
		switch {
		case next < 0:
			return n
		case d.repeats > 0:
			if d.repeat(b); d.repeats > 0 {
				return n
			}
		case len(line) > 0:
			before, added := *d, b.Len()
			if next = d.unit(b, line, next, last); next < 0 {
				*d = before
				b.Truncate(added)
				return n
			}
		}
		n = next
	}
	return n
}

// unit reads the unit that begins with a line, and returns where the next begins, negative if that is not certain yet.
func (d *decoder) unit(b *itrace.Batch, line []byte, next int, last bool) int {
	s := scanner{line: line}
	switch s.begin() {
	case isStep:
		return d.step(b, &s, next, last)
	case isCommit:
		d.commits = true
		d.fill(b.Add(itrace.Instruction), &s, true)
		d.effects(b, &s)
	case isException:
		return d.exception(b, &s, next, last)
	case isRemark, isRepeat, isDetail:
		b.Add(itrace.Remark)
	default:
		b.Fail(s.problem)
	}
	return next
}

// fill fills the record of an instruction.
func (d *decoder) fill(r *itrace.Record, s *scanner, committed bool) {
	r.CPU, r.Addr, r.AddrDigits, r.Value, r.Digits = s.hart, s.pc, s.pcDigits, s.opcode, s.digits
	if d.steps {
		r.Scope = itrace.TellsTrapped | itrace.TellsEvents
	}
	switch {
	case committed:
		r.Mode = riscv.Mode(s.priv)
		r.Scope |= itrace.NoLoaded
	case d.commits:
		r.Scope |= itrace.NoLoaded | itrace.NoMode
	default:
		r.Scope |= itrace.NoEffects | itrace.NoMode
	}
}

// step reads a line of -l and what belongs to it: the commit line of the same instruction, or the exception that it had.
func (d *decoder) step(b *itrace.Batch, s *scanner, next int, last bool) int {
	line, after := b.Peek(next, last)
	if after < 0 && !last {
		return -1
	}
	behind := scanner{line: line}
	kind := behind.begin()
	d.steps = true
	r := b.Add(itrace.Instruction)
	d.fill(r, s, false)
	disasm := s.line[s.at:]
	r.Disasm = disasm
	if behind.hart != s.hart {
		return next
	}
	switch {
	case kind == isCommit && behind.pc == s.pc:
		d.commits = true
		d.fill(r, &behind, true)
		b.Line(next, last)
		d.effects(b, &behind)
		return after
	case kind == isException && behind.pc == s.pc && !behind.interrupt():
		r.Trapped = true
		b.Line(next, last)
		return d.exception(b, &behind, after, last)
	case kind == isRepeat && behind.opcode > 1:
		d.repeats, d.text = behind.opcode-1, append(d.text[:0], s.line...)
	}
	return next
}

// repeat adds the instruction before as often as it is still to come, or there is room.
func (d *decoder) repeat(b *itrace.Batch) {
	s := scanner{line: d.text}
	s.begin()
	for ; d.repeats > 0 && !b.Full(); d.repeats-- {
		r := b.Add(itrace.Instruction)
		d.fill(r, &s, false)
		r.Disasm = s.line[s.at:]
	}
}

// exception reads a line of an exception or interrupt, and the line with the value that may follow.
func (d *decoder) exception(b *itrace.Batch, s *scanner, next int, last bool) int {
	line, after := b.Peek(next, last)
	if after < 0 && !last {
		return -1
	}
	d.steps = true
	r := b.Add(itrace.Event)
	r.CPU, r.Addr, r.AddrDigits, r.Name, r.Event = s.hart, s.pc, s.pcDigits, s.name, itrace.Exception
	if s.interrupt() {
		r.Event = itrace.Interrupt
	}
	if behind := (scanner{line: line}); behind.begin() == isDetail && behind.hart == s.hart {
		r.Detail = behind.digits
		return after
	}
	return next
}

// effects adds what a commit line tells behind its instruction. What cannot be read ends it.
func (d *decoder) effects(b *itrace.Batch, s *scanner) {
	var shape []byte
	for s.at < len(s.line) && s.problem == nil {
		s.at++ // the blank
		switch class := s.peek(); class {
		case 'x', 'f', 'v':
			s.register(b, class, shape)
		case 'c':
			s.system(b)
		case 'e':
			shape = s.shape()
		case 'm':
			s.memory(b)
		default:
			s.fail(s.at, "x, f, v or c with the number of a register, or mem")
		}
	}
	if s.problem != nil {
		b.Fail(s.problem)
	}
}

// why says what kind of log it is.
func why(head []byte) string {
	steps, commits, old := false, false, false
	for line := range bytes.Lines(head) {
		s := scanner{line: bytes.TrimSpace(line)}
		switch s.begin() {
		case isStep:
			steps = true
		case isCommit:
			commits = true
			old = old || !bytes.HasPrefix(s.line, core)
		}
	}
	switch {
	case old:
		return "commit lines without core, as Spike wrote until 2020 and others do"
	case steps && commits:
		return "lines of -l and --log-commits"
	case commits:
		return "lines of --log-commits"
	}
	return "lines of -l"
}
