package retrace

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"

	"tracewell/itrace"
	"tracewell/itrace/internal/held"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/swar"
)

// datum is what stands behind an instruction.
type datum struct {
	kind    byte
	at, end int // in the text, with its type
}

// The types of data.
const (
	endOfData = iota
	memoryAccess
	vectorShape
	atomicOperands
	registerValues
)

// shown is how many bytes of what is no packet are quoted.
const shown = 64

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, text []byte, last bool) (n int) {
	d.words = d.words[:0]
	if !d.Begun && len(text) > 0 {
		if n = d.begin(b, text, last); n == 0 {
			return 0
		}
	}
	for !b.Full() && n < len(text) {
		if d.Lost {
			return len(text)
		}
		end := d.unit(b, text, n, last)
		if end == 0 {
			break
		}
		n = end
	}
	return n
}

// begin reads the header, and returns how long it is, or 0 if it is not known yet.
func (d *decoder) begin(b *itrace.Batch, text []byte, last bool) int {
	h, end, problem := parseHeader(text)
	if problem == nil && end == 0 {
		if !last {
			return 0
		}
		problem = &itrace.SyntaxError{Column: len(text) + 1, Found: "the end", Expected: "the rest of the header"}
	}
	if problem != nil {
		return d.lose(b, text, 0, last, problem)
	}
	form, ok := h.formOf(0)
	if !ok {
		return d.lose(b, text, 0, last, wrong(10, "the number", byte(len(h.names)), "the name of a processor"))
	}
	d.Begun = true
	d.header, d.form = h, form
	start := len(d.words)
	d.words = append(d.words, h.String()...)
	b.Packet(0, d.quote(start))
	b.Add(itrace.Remark)
	return end
}

// lose adds that what begins at a place is no packet, after which nothing can be read, and returns where the text ends, or 0 if
// there are too few bytes yet to quote.
func (d *decoder) lose(b *itrace.Batch, text []byte, at int, last bool, problem *itrace.SyntaxError) int {
	if !last && len(text)-at < shown {
		return 0
	}
	start := len(d.words)
	d.words = hex.AppendEncode(d.words, text[at:min(at+shown, len(text))])
	b.Packet(at, d.quote(start))
	b.Fail(problem)
	d.Begun, d.Lost = true, true
	return len(text)
}

// quote is the words that have been written from a place on.
func (d *decoder) quote(start int) []byte { return d.words[start:len(d.words):len(d.words)] }

// reading is how far a unit has been looked at.
type reading struct {
	text    []byte
	at      int
	short   bool // there is no more
	problem *itrace.SyntaxError
	start   int // of the packet at hand
}

// take returns the next bytes.
func (r *reading) take(n int) []byte {
	if r.short = r.short || r.problem == nil && len(r.text)-r.at < n; r.short || r.problem != nil {
		return zeros[:min(n, len(zeros))]
	}
	r.at += n
	return r.text[r.at-n : r.at]
}

var zeros [64]byte

func (r *reading) byte() byte { return r.take(1)[0] }

// fail says what is wrong with the last byte.
func (r *reading) fail(what string, value byte, expected string) {
	if !r.short && r.problem == nil {
		r.problem = wrong(r.at-1-r.start, what, value, expected)
	}
}

// mostOpcode is how many bytes an instruction has at most.
const mostOpcode = 16

// unit adds an instruction that begins at a place, and what belongs to it, and returns where the next begins, or 0 if that is not
// known yet.
func (d *decoder) unit(b *itrace.Batch, text []byte, at int, last bool) int {
	r := &reading{text: text, at: at, start: at}
	mode, left, form, ended := d.Mode, d.Left, d.form, false
	if d.header.blocks && left > 0 {
		switch d.follows(text[at:]) {
		case unknown:
			if !last {
				return 0
			}
		case no:
			left, ended = 0, true
		}
	}
	if d.header.blocks && left == 0 {
		mode = r.byte()
		var ok bool
		if form, ok = d.header.formOf(mode); !ok {
			r.fail("the mode", mode, "one of the header")
		}
		if left = binary.LittleEndian.Uint64(r.take(8)); left == 0 {
			r.fail("the number of instructions", 0, "1 or more")
		}
	}
	pcAt := r.at
	pcBytes := r.take(int(d.header.pcBytes))
	var opcode []byte
	if d.header.opcodes {
		length := r.byte()
		if length == 0 || length > mostOpcode {
			r.fail("the length", length, "an opcode of 1 to 16 bytes")
		} else {
			opcode = r.take(int(length))
		}
	}
	d.data = d.data[:0]
	for !r.short && r.problem == nil {
		begin := r.at
		kind := r.byte()
		if kind == endOfData {
			break
		}
		r.start = begin
		d.data = append(d.data, datum{kind: kind, at: begin})
		r.skip(kind)
		d.data[len(d.data)-1].end = r.at
	}
	switch {
	case r.short && !last && len(text)-at <= mostUnit:
		return 0
	case r.short:
		return d.lose(b, text, at, last, &itrace.SyntaxError{Column: len(text) - at + 1, Found: "the end",
			Expected: "the rest of an instruction"})
	case r.problem != nil:
		return d.lose(b, text, r.start, last, r.problem)
	}
	d.Mode, d.form = mode, form
	if d.header.blocks {
		d.Left = left - 1
	}
	pc := value(pcBytes)
	d.Next = pc + uint64(len(opcode))
	d.add(b, text, at, pcAt, opcode, pc, ended)
	return r.at
}

// mostUnit is how long an instruction with its data may be. One of vectors has an access for each element.
const mostUnit = 1 << 20

// answer is what is known so far.
type answer byte

const (
	unknown answer = iota
	no
	yes
)

// follows reports whether a text has the pc that is the next of the block.
func (d *decoder) follows(text []byte) answer {
	n := int(d.header.pcBytes)
	switch {
	case n == 0 || !d.header.opcodes:
		return yes
	case len(text) < n:
		return unknown
	case value(text[:n]) == d.Next&(1<<(8*n-1)<<1-1):
		return yes
	}
	return no
}

// value is that of a number of up to eight bytes.
func value(b []byte) (n uint64) {
	switch len(b) {
	case 8:
		return binary.LittleEndian.Uint64(b)
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	return n
}

// skip passes over the data of a type.
func (r *reading) skip(kind byte) {
	const kinds, words, doubles, operands = 5, 2, 3, 4
	switch kind {
	case memoryAccess:
		if kind := r.byte(); kind >= kinds {
			r.fail("the kind", kind, "one of an access, 0 to 4")
		}
		r.take(3 * 8)
	case vectorShape:
		r.take(2 * 8)
	case atomicOperands:
		if after := r.byte(); after > 1 {
			r.fail("the byte", after, "0 or 1, ahead of an atomic instruction or behind it")
		}
		width := r.byte()
		if width != words && width != doubles {
			r.fail("the width", width, "2 or 3")
			return
		}
		r.take(1 + operands<<width)
	case registerValues:
		if pre := r.byte(); pre > 1 {
			r.fail("the byte", pre, "0 or 1, behind an instruction or ahead of it")
		}
		for range r.byte() {
			if length := r.byte(); length == 0 || !isName(r.take(int(length))) {
				r.fail("the length", length, "the name of a register")
			}
			if size := r.byte(); size == 0 {
				r.fail("the size", size, "that of a register")
			} else {
				r.take(int(size))
			}
		}
	default:
		r.fail("the type", kind, "one of data, 0 to 4")
	}
}

// isName reports whether bytes are those of the name of a register.
func isName(bytes []byte) bool {
	for _, c := range bytes {
		if c <= ' ' || c == ':' || c >= 0x7f {
			return false
		}
	}
	return true
}

// add adds the records of a unit.
func (d *decoder) add(b *itrace.Batch, text []byte, at, pcAt int, opcode []byte, pc uint64, ended bool) {
	b.Packets(1 + len(d.data))
	for i := range d.data {
		switch data := &d.data[i]; {
		case data.kind == memoryAccess:
			d.Seen |= seenAccesses
		case data.kind == registerValues:
			d.Seen |= seenRegisters
			if text[data.at+1] == 1 {
				d.registers(b, text, i)
			}
		}
	}
	start := len(d.words)
	var addrDigits, digits []byte
	if d.header.pcBytes > 0 {
		d.words = append(d.words, "0x"...)
		addrDigits = d.digits(text[pcAt:pcAt+int(d.header.pcBytes)], true)
	}
	var word uint64
	if len(opcode) > 0 {
		if d.header.pcBytes > 0 {
			d.words = append(d.words, ": "...)
		}
		d.words = append(d.words, "0x"...)
		digits, word = d.opcode(opcode)
	}
	b.Among(0, at, d.quote(start))
	if ended {
		b.Fail(&itrace.SyntaxError{Column: 1, Found: "a block", Expected: "another instruction of the block before"})
	}
	if d.header.pcBytes == 0 {
		b.Fail(&itrace.SyntaxError{Column: 1, Found: "an opcode",
			Expected: "an address; opcodes alone do not tell where they were executed"})
		return
	}
	r := b.Add(itrace.Instruction)
	r.Addr, r.AddrDigits, r.Value, r.Digits = pc, addrDigits, word, digits
	if d.header.blocks {
		r.State = d.form.State
	}
	size := uint32(0)
	if r.Scope = d.scope(); d.sized {
		size = riscv.AccessSize(word)
	}
	if size == 0 {
		r.Scope |= itrace.NoLoaded | itrace.NoStored
	}
	for i := range d.data {
		switch data := &d.data[i]; {
		case data.kind == memoryAccess:
			d.access(b, text, i, size)
		case data.kind == vectorShape:
			d.vector(b, text, i)
		case data.kind == atomicOperands:
			d.atomic(b, text, i)
		case text[data.at+1] == 0:
			d.registers(b, text, i)
		}
	}
}

// scope is what is told of an instruction.
func (d *decoder) scope() itrace.Scope {
	s := itrace.NoMode
	if !d.header.opcodes {
		s |= itrace.NoOpcode
	}
	if d.Seen&seenRegisters == 0 {
		s |= itrace.NoRegisters | itrace.NoSystem
	} else {
		s |= itrace.OnlyChanges
	}
	if d.Seen&seenAccesses == 0 {
		s |= itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored
	}
	return s
}

// digits appends the digits of a number to the words, all or those behind its zeros, and returns them.
func (d *decoder) digits(number []byte, all bool) []byte {
	const most = 8 // bytes
	start := len(d.words)
	for len(number) > most {
		d.words = hex.AppendEncode(d.words, number[len(number)-1:])
		number = number[:len(number)-1]
	}
	value := value(number)
	width := 2 * len(number)
	if !all {
		width = max(1, (bits.Len64(value)+3)/4)
	}
	var digits [2 * most]byte
	swar.AppendHex(digits[:0], value, len(digits))
	d.words = append(d.words, digits[len(digits)-width:]...)
	return d.quote(start)
}

const thumb = 'T' // state of the instruction set

// opcode appends the digits of an opcode, and returns them with its value.
func (d *decoder) opcode(bytes []byte) (digits []byte, number uint64) {
	start := len(d.words)
	switch {
	case d.form.InMemory:
		d.words = hex.AppendEncode(d.words, bytes)
	case d.form.State == thumb && len(bytes) == 4:
		d.digits(bytes[:2], true)
		d.digits(bytes[2:], true)
	default:
		d.digits(bytes, true)
	}
	digits = d.quote(start)
	if d.form.InMemory || d.form.State == thumb || len(bytes) > 8 {
		number, _, _ = itrace.ParseDigits(digits)
	} else {
		number = value(bytes)
	}
	return digits, number
}

var accessWords = [...]string{"MemoryIORead", "MemoryIOWrite", "MemoryRead", "MemoryWrite", "InsnFetch"}

// access adds an access to memory.
func (d *decoder) access(b *itrace.Batch, text []byte, i int, size uint32) {
	const write, fetch = 1, 4
	at := d.data[i].at
	from := at + 2
	kind, addr, data, phys := text[at+1], text[from:from+8], text[from+8:from+16], text[from+16:from+24]
	start := len(d.words)
	d.words = append(append(d.words, accessWords[kind]...), " with address 0x"...)
	addrDigits := d.digits(addr, false)
	translated := string(addr) != string(phys)
	if translated {
		d.words = append(d.words, " => 0x"...)
		d.digits(phys, false)
	}
	d.words = append(d.words, ", value 0x"...)
	digits := d.digits(data, false)
	b.Among(1+i, at, d.quote(start))
	if kind == fetch {
		b.Add(itrace.Remark)
		return
	}
	m := b.Add(itrace.Memory)
	m.Addr, m.AddrDigits, m.Value, m.Digits = value(addr), addrDigits, value(data), digits
	if m.Write = kind&write != 0; translated {
		m.Phys, m.HasPhys = value(phys), true
	}
	if size == 0 || itrace.DigitsFit(digits, size) { // a page's entries have another
		m.Size = size
	}
}

var vl, vtype = []byte("vl"), []byte("vtype")

// vector adds the configuration of vectors.
func (d *decoder) vector(b *itrace.Batch, text []byte, i int) {
	at := d.data[i].at + 1
	start := len(d.words)
	d.words = append(d.words, "Vector configured to VL: 0x"...)
	length := d.digits(text[at:at+8], false)
	d.words = append(d.words, ", VTYPE: 0x"...)
	shape := d.digits(text[at+8:at+16], false)
	b.Among(1+i, at-1, d.quote(start))
	for _, r := range []struct {
		name, digits []byte
		value        uint64
	}{{vl, length, value(text[at : at+8])}, {vtype, shape, value(text[at+8 : at+16])}} {
		record := b.Add(itrace.Register)
		record.Name, record.Digits, record.Value, record.System = r.name, r.digits, r.value, true
	}
}

// atomic adds the operands of an atomic instruction, whose accesses are told by themselves.
func (d *decoder) atomic(b *itrace.Batch, text []byte, i int) {
	const fixed = 4 // the type, and three bytes
	data := &d.data[i]
	size := (data.end - data.at - fixed) / 4
	operand := func(n int) { d.digits(text[data.at+fixed+n*size:data.at+fixed+(n+1)*size], false) }
	start := len(d.words)
	when := "before"
	if text[data.at+1] == 1 {
		when = "after"
	}
	d.words = append(append(append(d.words, "AMO operands "...), when...), " - RD: 0x"...)
	operand(0)
	d.words = append(d.words, ", RS1: 0x"...)
	operand(1)
	d.words = append(d.words, " (memory value: 0x"...)
	operand(3)
	d.words = append(d.words, "), RS2: 0x"...)
	operand(2)
	b.Among(1+i, data.at, d.quote(start))
	b.Add(itrace.Remark)
}

// named is what a register holds.
type named struct{ name, digits []byte }

// registers adds those registers that have changed. The words are of all.
func (d *decoder) registers(b *itrace.Batch, text []byte, i int) {
	const fixed = 3 // the type, and two bytes
	data := &d.data[i]
	start := len(d.words)
	if text[data.at+1] == 1 {
		d.words = append(d.words, "Pre: "...)
	} else {
		d.words = append(d.words, "Post: "...)
	}
	d.values = d.values[:0]
	for at := data.at + fixed; at < data.end; {
		name := text[at+1 : at+1+int(text[at])]
		at += 1 + len(name)
		bytes := text[at+1 : at+1+int(text[at])]
		at += 1 + len(bytes)
		if len(d.values) > 0 {
			d.words = append(d.words, " | "...)
		}
		d.words = append(append(d.words, name...), ": 0x"...)
		d.values = append(d.values, named{name, d.digits(bytes, len(bytes) > 8)})
	}
	b.Among(1+i, data.at, d.quote(start))
	for _, v := range d.values {
		if !d.held.Unchanged(0, v.name, held.Bits(v.digits)) {
			r := b.Add(itrace.Register)
			r.Name, r.Digits = v.name, v.digits
			r.Value, _, _ = itrace.ParseDigits(v.digits)
		}
	}
}
