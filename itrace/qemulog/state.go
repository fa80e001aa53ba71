package qemulog

import (
	"bytes"
	"encoding/binary"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// block is the instructions of a translation. Nothing of it changes once it is in use, as records are views of it.
type block struct {
	key  string // the words in brackets of its exec lines
	kept kept
	code []instruction
}

// instruction is one of a block.
type instruction struct {
	addr                       uint64
	addrs, opcode, disassembly []byte
	value                      uint64 // of the opcode
}

// kept is an in_asm block as it is kept: for each instruction ADDRESS TAB DISASSEMBLY TAB OPCODE NL.
type kept struct {
	mode byte // 1 and the privilege, 0 if it is not told
	text []byte
}

// pc is the address of the first instruction.
func (k *kept) pc() uint64 {
	pc, _, _ := itrace.ParseDigits(k.text[:digits(k.text, 0, hex)])
	return pc
}

// add adds a line of the in_asm block.
func (k *kept) add(c *code) {
	if c.continuation && len(k.text) > 0 {
		k.text = k.text[:len(k.text)-1]
	} else {
		k.text = append(append(k.text, c.addr...), '\t')
		k.text = append(append(k.text, c.disassembly...), '\t')
	}
	for _, digit := range c.bytes {
		if digit != ' ' {
			k.text = append(k.text, digit)
		}
	}
	k.text = append(k.text, '\n')
}

// newBlock returns a block with a copy of what is kept.
func newBlock(key []byte, k *kept) *block {
	b := &block{key: string(key), kept: kept{k.mode, bytes.Clone(k.text)}}
	for line := range bytes.Lines(b.kept.text) {
		line = line[:len(line)-1]
		first, last := bytes.IndexByte(line, '\t'), bytes.LastIndexByte(line, '\t')
		i := instruction{addrs: line[:first], opcode: line[last+1:]}
		if last > first {
			i.disassembly = line[first+1 : last]
		}
		i.addr, _, _ = itrace.ParseDigits(i.addrs)
		i.value, _, _ = itrace.ParseDigits(i.opcode)
		b.code = append(b.code, i)
	}
	return b
}

// privilege is the mode of the instructions of a block, nil if it is not told.
func (b *block) privilege() []byte {
	if b == nil || b.kept.mode == 0 {
		return nil
	}
	return riscv.Mode(b.kept.mode - 1)
}

// mostFresh is how many in_asm blocks may wait for their exec lines: as many as there are processors that translate at once.
const mostFresh = 16

// translation returns the block that an exec line is of, nil for one that the log does not tell.
func (d *decoder) translation(e *exec) *block {
	old := d.byKey[string(e.key)]
	for i := len(d.fresh) - 1; i >= 0; i-- {
		k := d.fresh[i]
		if k.pc() != e.pc {
			continue
		}
		copy(d.fresh[i:], d.fresh[i+1:])
		d.fresh[len(d.fresh)-1] = k // its room is for another
		d.fresh = d.fresh[:len(d.fresh)-1]
		if old != nil && old.kept.mode == k.mode && bytes.Equal(old.kept.text, k.text) {
			return old
		}
		b := newBlock(e.key, &k)
		d.put(b)
		return b
	}
	return old
}

// put has a block be that of its exec lines from now on.
func (d *decoder) put(b *block) {
	if d.byKey == nil {
		d.byKey = make(map[string]*block)
	}
	if old := d.byKey[b.key]; old != nil {
		for i := range d.blocks {
			if d.blocks[i] == old {
				d.blocks[i] = b
			}
		}
	} else {
		d.blocks = append(d.blocks, b)
	}
	d.byKey[b.key] = b
}

// takeFresh returns room for one more in_asm block, which is the last of those that wait.
func (d *decoder) takeFresh() *kept {
	if len(d.fresh) == mostFresh {
		oldest := d.fresh[0]
		copy(d.fresh, d.fresh[1:])
		d.fresh[mostFresh-1] = oldest
		d.fresh = d.fresh[:mostFresh-1]
	}
	if len(d.fresh) < cap(d.fresh) {
		d.fresh = d.fresh[:len(d.fresh)+1]
	} else {
		d.fresh = append(d.fresh, kept{})
	}
	k := &d.fresh[len(d.fresh)-1]
	k.mode, k.text = 0, k.text[:0]
	return k
}

// cpu is a processor.
type cpu struct {
	number int32
	pc     uint64 // of the block that the dump is of
	dump
}

// dump is what a dump tells. Its lines are no state: they are there to tell which of the next dump are the same.
type dump struct {
	values []byte // NAME blank VALUE NL for each register
	text   []byte // the lines, without their ends
	rows   []row
}

// row is where a line of a dump, and its registers, end.
type row struct{ text, values int }

func (p *dump) clear() { p.values, p.text, p.rows = p.values[:0], p.text[:0], p.rows[:0] }

// add adds a register.
func (p *dump) add(name, value []byte) {
	p.values = append(append(append(append(p.values, name...), ' '), value...), '\n')
}

// end adds the line whose registers have been added.
func (p *dump) end(text []byte) {
	p.text = append(p.text, text...)
	p.rows = append(p.rows, row{len(p.text), len(p.values)})
}

// has reports whether a text is that of a line by its number. There need not be one.
func (p *dump) has(n int, text []byte) bool {
	if p == nil || n >= len(p.rows) {
		return false
	}
	from := 0
	if n > 0 {
		from = p.rows[n-1].text
	}
	return bytes.Equal(p.text[from:p.rows[n].text], text)
}

// registersOf returns where the registers of a line begin and end by its number; from is negative if there is none.
func (p *dump) registersOf(n int) (from, to int) {
	switch {
	case n >= len(p.rows):
		return -1, -1
	case n > 0:
		from = p.rows[n-1].values
	}
	return from, p.rows[n].values
}

// at is the value of a register if that is at the cursor, which gets behind it; nil if it is not.
func (p *dump) at(name []byte, cursor *int) []byte {
	at := *cursor
	n := at + len(name)
	if n >= len(p.values) || p.values[n] != ' ' || string(p.values[at:n]) != string(name) {
		return nil
	}
	end := bytes.IndexByte(p.values[n:], '\n')
	if end < 0 {
		return nil
	}
	*cursor = n + end + 1
	return p.values[n+1 : n+end]
}

// value is that of a register, nil for none. The cursor is where it should be, and gets behind it.
func (p *dump) value(name []byte, cursor *int) []byte {
	for try, at := 0, *cursor; try < 2; try, at = try+1, 0 {
		for at < len(p.values) {
			if value := p.at(name, &at); value != nil {
				*cursor = at
				return value
			}
			end := bytes.IndexByte(p.values[at:], '\n')
			if end < 0 {
				break
			}
			at += end + 1
		}
	}
	return nil
}

// known returns a processor by its number, nil if there was no dump of it.
func (d *decoder) known(number int32) *cpu {
	for i := range d.cpus {
		if d.cpus[i].number == number {
			return &d.cpus[i]
		}
	}
	return nil
}

// before returns the last dump of a processor by its number, nil if there was none.
func (d *decoder) before(number int32) *dump {
	if c := d.known(number); c != nil {
		return &c.dump
	}
	return nil
}

// processor returns a processor by its number.
func (d *decoder) processor(number int32) *cpu {
	if c := d.known(number); c != nil {
		return c
	}
	d.cpus = append(d.cpus, cpu{number: number})
	return &d.cpus[len(d.cpus)-1]
}

// The parts of the state, each with a byte in front. Blocks come first, so that the beginning of a state stays as it was.
const (
	partBlock = 1 + iota
	partFresh
	partCPU
	partRest
)

// The bits of the rest.
const (
	hasLinks = 1 << iota
	hasEvents
	hasTraps
	hasBegun
)

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	for _, b := range d.blocks {
		dst = appendText(append(dst, partBlock, b.kept.mode), []byte(b.key))
		dst = appendText(dst, b.kept.text)
	}
	for _, k := range d.fresh {
		dst = appendText(append(dst, partFresh, k.mode), k.text)
	}
	for _, c := range d.cpus {
		dst = binary.AppendUvarint(append(dst, partCPU), uint64(c.number))
		dst = appendText(binary.AppendUvarint(dst, c.pc), c.values)
	}
	flags := byte(0)
	for bit, is := range [...]bool{d.linked, d.events, d.traps, d.begun} {
		if is {
			flags |= 1 << bit
		}
	}
	if flags == 0 && d.cpu == 0 {
		return dst
	}
	return binary.AppendUvarint(append(dst, partRest, flags), uint64(d.cpu))
}

func appendText(dst, text []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	*d = decoder{}
	s := stateReader{rest: state}
	for len(s.rest) > 0 && !s.wrong {
		switch s.byte() {
		case partBlock:
			mode := s.byte()
			key := s.text()
			if k := (kept{mode, s.text()}); k.valid() {
				d.put(newBlock(key, &k))
				continue
			}
			s.wrong = true
		case partFresh:
			k := kept{s.byte(), bytes.Clone(s.text())}
			s.wrong = s.wrong || !k.valid()
			d.fresh = append(d.fresh, k)
		case partCPU:
			d.cpus = append(d.cpus, cpu{int32(s.number()), s.number(), dump{values: bytes.Clone(s.text())}})
		case partRest:
			flags := s.byte()
			d.linked, d.events, d.traps = flags&hasLinks != 0, flags&hasEvents != 0, flags&hasTraps != 0
			d.begun = flags&hasBegun != 0
			d.cpu = int32(s.number())
		default:
			s.wrong = true
		}
	}
	if s.wrong {
		return itrace.ErrState
	}
	return nil
}

// valid reports whether there are whole lines of two tabs at least.
func (k *kept) valid() bool {
	for line := range bytes.Lines(k.text) {
		if bytes.Count(line, []byte{'\t'}) < 2 || line[len(line)-1] != '\n' {
			return false
		}
	}
	return len(k.text) > 0
}

// stateReader reads the parts of a state.
type stateReader struct {
	rest  []byte
	wrong bool
}

func (s *stateReader) byte() byte {
	if len(s.rest) == 0 {
		s.wrong = true
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b
}

func (s *stateReader) number() uint64 {
	n, size := binary.Uvarint(s.rest)
	if size <= 0 {
		s.wrong = true
		return 0
	}
	s.rest = s.rest[size:]
	return n
}

func (s *stateReader) text() []byte {
	n := s.number()
	if n > uint64(len(s.rest)) {
		s.wrong = true
		return nil
	}
	text := s.rest[:n]
	s.rest = s.rest[n:]
	return text
}
