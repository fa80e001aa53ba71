package rvfi

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strconv"

	arch "tracewell/arch/riscv"
	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/swar"
)

// decoder is the Decoder of RVFI-DII. Its units are packets.
type decoder struct {
	seen   bool // a packet, since the beginning or a reset; of the last:
	trap   bool
	order  uint64
	next   uint64 // pc_wdata
	words  []byte // of all packets of a Decode
	packet packet
}

const stateSize = 17

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	if !d.seen {
		return dst
	}
	trap := byte(0)
	if d.trap {
		trap = 1
	}
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(append(dst, trap), d.order), d.next)
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	*d = decoder{words: d.words}
	if len(state) == 0 {
		return nil
	}
	if len(state) != stateSize || state[0] > 1 {
		return itrace.ErrState
	}
	d.seen, d.trap = true, state[0] == 1
	d.order, d.next = binary.LittleEndian.Uint64(state[1:]), binary.LittleEndian.Uint64(state[9:])
	return nil
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, text []byte, last bool) (n int) {
	d.words = d.words[:0]
	for !b.Full() {
		rest := text[n:]
		if len(rest) < size {
			if last && len(rest) > 0 {
				d.refuse(b, n, rest, &itrace.SyntaxError{Column: len(rest) + 1,
					Found:    "the end after " + strconv.Itoa(len(rest)) + " bytes",
					Expected: "the " + strconv.Itoa(size) + " of a packet"})
				n = len(text)
			}
			break
		}
		d.packet.parse(rest)
		valid := d.packet.valid()
		if valid && (!d.seen || d.packet.order == d.order+1 || d.follows()) {
			d.add(b, n)
			n += size
			continue
		}
		length := again(rest, last)
		switch {
		case length == 0:
			return n
		case valid && length == size: // others are missing in front of it
			d.add(b, n)
		case valid:
			d.refuse(b, n, rest[:length], &itrace.SyntaxError{Column: length + 1, Found: "the beginning of a packet",
				Expected: "the " + strconv.Itoa(size) + " bytes of this one"})
		default:
			d.refuse(b, n, rest[:length], d.packet.problem())
		}
		n += length
	}
	return n
}

// follows reports whether the packet is the next of the trace.
func (d *decoder) follows() bool {
	return d.packet.follows(&packet{order: d.order, next: d.next, insn: 1})
}

// refuse adds that some bytes are no packet. The next may be any.
func (d *decoder) refuse(b *itrace.Batch, at int, bytes []byte, problem *itrace.SyntaxError) {
	start := len(d.words)
	d.words = hex.AppendEncode(d.words, bytes)
	b.Packet(at, d.words[start:len(d.words):len(d.words)])
	b.Fail(problem)
	d.seen = false
}

// again returns how far behind the beginning of what is no packet packets begin again: at the next if that is one and is followed
// by another, and else where two follow each other, within the length of a packet. It is 0 if that is not known yet. Where none
// does it is the length of a packet.
func again(text []byte, last bool) int {
	if len(text) < 3*size && !last {
		return 0
	}
	for _, numbered := range []bool{true, false} { // a place beside that of a packet has addresses that follow each other, too
		for _, at := range offsets {
			var p, q packet
			if at+2*size > len(text) {
				continue
			}
			p.parse(text[at:])
			q.parse(text[at+size:])
			if p.valid() && q.valid() && p.insn|q.insn != 0 && (q.order == p.order+1 || !numbered && q.follows(&p)) {
				return at
			}
		}
	}
	return size
}

// offsets are the places where packets may begin again, the most likely first.
var offsets = func() (offsets [size]int) {
	offsets[0] = size
	for i := 1; i < size; i++ {
		offsets[i] = i
	}
	return offsets
}()

// problem says why bytes are no packet.
func (p *packet) problem() *itrace.SyntaxError {
	wrong := func(at int, name string, value uint64, expected string) *itrace.SyntaxError {
		return &itrace.SyntaxError{Column: at + 1, Found: name + " " + strconv.FormatUint(value, 10), Expected: expected}
	}
	if p.insn >= opcodes {
		return wrong(24, "insn", p.insn, "an opcode of 32 bits")
	}
	for i, value := range []uint8{p.rs1Addr, p.rs2Addr, p.rdAddr} {
		if value >= registers {
			return wrong(82+i, []string{"rs1_addr", "rs2_addr", "rd_addr"}[i], uint64(value), "the number of a register")
		}
	}
	for i, value := range []uint8{p.trap, p.halt, p.intr} {
		if value >= flags {
			return wrong(85+i, []string{"trap", "halt", "intr"}[i], uint64(value), "0 or 1")
		}
	}
	return nil
}

// add adds the records of the packet, which begins at a place of the text.
func (d *decoder) add(b *itrace.Batch, at int) {
	p := &d.packet
	words, places := p.appendWords(d.words)
	line := words[len(d.words):len(words):len(words)]
	d.words = words
	b.Packet(at, line)
	if d.seen && p.order > d.order+1 && p.pc != d.next && !p.resets() {
		b.Fail(&itrace.SyntaxError{Column: 1, Found: "order " + strconv.FormatUint(p.order, 10),
			Expected: "order " + strconv.FormatUint(d.order+1, 10) + ", as packets before end with"})
	}
	if p.intr != 0 && !(d.seen && d.trap) {
		e := b.Add(itrace.Event)
		e.Event, e.Name = itrace.Interrupt, intrName
	}
	d.addRecords(b, p, line, &places)
	d.seen, d.trap, d.order, d.next = !p.resets(), p.trap != 0, p.order, p.next
}

var intrName, haltName = []byte("intr"), []byte("halt")

// scope is what is told of all instructions.
const scope = itrace.NoMode | itrace.NoSystem | itrace.TellsTrapped

// addRecords adds the records of a packet, whose line has digits at some places.
func (d *decoder) addRecords(b *itrace.Batch, p *packet, line []byte, places *places) {
	if p.resets() {
		e := b.Add(itrace.Event)
		e.Event, e.Name = itrace.Reset, haltName
		return
	}
	r := b.Add(itrace.Instruction)
	r.Addr, r.AddrDigits, r.Value, r.Digits, r.ID = p.pc, places.pc.of(line), p.insn, places.insn.of(line), p.order
	if riscv.IsCompressed(p.insn) {
		r.Digits = r.Digits[len(r.Digits)-4:]
		r.Value &= 1<<16 - 1
	}
	r.Scope, r.Trapped = scope|p.untold(), p.trap != 0
	if n := p.reads(); n > 0 {
		r.Scope |= itrace.TellsReads
		addRead(b, p.rs1Addr, p.rs1, places.rs1.of(line))
		if n > 1 {
			addRead(b, p.rs2Addr, p.rs2, places.rs2.of(line))
		}
	}
	if p.rdAddr != 0 {
		addRegister(b, itrace.Register, p.rdAddr, p.rd, places.rd.of(line))
	}
	d.addAccesses(b, false, p.rmask, p.loaded, p.addr, places.addr.of(line), places.loaded.of(line))
	d.addAccesses(b, true, p.wmask, p.stored, p.addr, places.addr.of(line), places.stored.of(line))
	if p.halt != 0 {
		e := b.Add(itrace.Event)
		e.Event, e.Name = itrace.OtherEvent, haltName
	}
}

// reads returns how many registers the packet tells reads of: those of the opcode, 0 if it has others. Where it has x0 alone that
// may be because none are told.
func (p *packet) reads() (n int) {
	rs1, rs2, n := sources(p.insn)
	if n == 0 || rs1 != p.rs1Addr || n > 1 && rs2 != p.rs2Addr || rs1 == 0 && (n == 1 || rs2 == 0) {
		return 0
	}
	return n
}

// sources are the registers that an instruction reads, by its opcode, and how many.
func sources(opcode uint64) (first, second uint8, n int) {
	if riscv.IsCompressed(opcode) {
		whole, ok := arch.Expand(uint16(opcode), false)
		if !ok {
			return 0, 0, 0
		}
		opcode = uint64(whole)
	}
	return riscv.Sources(opcode)
}

// addRead adds the read of a register, which a line has no digits of if it is x0.
func addRead(b *itrace.Batch, number uint8, value uint64, digits []byte) {
	if len(digits) == 0 {
		digits = zero
	}
	addRegister(b, itrace.RegisterRead, number, value, digits)
}

var zero = []byte("00000000")

func addRegister(b *itrace.Batch, kind itrace.Kind, number uint8, value uint64, digits []byte) {
	r := b.Add(kind)
	r.Name, r.Value, r.Digits = riscv.Name('x', uint64(number)), value, digits
}

// addAccesses adds an access for each run of bits in a mask.
func (d *decoder) addAccesses(b *itrace.Batch, write bool, mask uint8, data, addr uint64, addrDigits, digits []byte) {
	for mask != 0 {
		from := bits.TrailingZeros8(mask)
		n := bits.TrailingZeros8(^(mask >> from))
		mask &^= (1<<n - 1) << from
		m := b.Add(itrace.Memory)
		m.Addr, m.AddrDigits, m.Size, m.Write = addr+uint64(from), addrDigits, uint32(n), write
		if from > 0 { // the line does not have this address
			start := len(d.words)
			d.words = swar.AppendHex(d.words, m.Addr, width(m.Addr))
			m.AddrDigits = d.words[start:len(d.words):len(d.words)]
		}
		m.Value, m.Digits = data>>(8*from), digits[len(digits)-2*(from+n):len(digits)-2*from]
		if n < 8 {
			m.Value &= 1<<(8*n) - 1
		}
	}
}

// place is where digits stand in a line.
type place struct{ from, to int16 }

func (p place) of(line []byte) []byte { return line[p.from:p.to:p.to] }

// places are those of a line.
type places struct{ pc, insn, rs1, rs2, rd, addr, loaded, stored place }

// mostWords is more than a line has bytes.
const mostWords = 512

// label is the name of a field with what stands around it, and how long that is. It is copied at once, whatever its length.
type label struct {
	text   [16]byte
	length int
}

func newLabel(text string) *label {
	l := &label{length: len(text)}
	copy(l.text[:], text)
	return l
}

var (
	labelPC, labelNext, labelInsn  = newLabel(" pc_rdata="), newLabel(" pc_wdata="), newLabel(" insn=")
	labelRS1Addr, labelRS1         = newLabel(" rs1_addr="), newLabel(" rs1_data=")
	labelRS2Addr, labelRS2         = newLabel(" rs2_addr="), newLabel(" rs2_data=")
	labelRDAddr, labelRD           = newLabel(" rd_addr="), newLabel(" rd_wdata=")
	labelAddr                      = newLabel(" mem_addr=")
	labelRMask, labelLoaded        = newLabel(" mem_rmask="), newLabel(" mem_rdata=")
	labelWMask, labelStored        = newLabel(" mem_wmask="), newLabel(" mem_wdata=")
	labelTrap, labelHalt, labelInt = newLabel(" trap="), newLabel(" halt="), newLabel(" intr=")
)

// appendWords appends the line of a packet, and says where its digits are.
func (p *packet) appendWords(dst []byte) ([]byte, places) {
	if cap(dst)-len(dst) < mostWords {
		// Lines that have been appended stay where they are.
		dst = append(make([]byte, 0, 2*cap(dst)+mostWords), dst...)
	}
	start := len(dst)
	l := liner{text: dst[start : start+mostWords]}
	var at places
	l.at = len(strconv.AppendUint(append(l.text[:0], "order="...), p.order, 10))
	at.pc = l.hex(labelPC, p.pc, width(p.pc))
	at.insn = l.hex(labelInsn, p.insn, 8)
	if l.number(labelRS1Addr, p.rs1Addr); p.rs1Addr != 0 || p.rs1 != 0 {
		at.rs1 = l.hex(labelRS1, p.rs1, width(p.rs1))
	}
	if l.number(labelRS2Addr, p.rs2Addr); p.rs2Addr != 0 || p.rs2 != 0 {
		at.rs2 = l.hex(labelRS2, p.rs2, width(p.rs2))
	}
	if l.number(labelRDAddr, p.rdAddr); p.rdAddr != 0 || p.rd != 0 {
		at.rd = l.hex(labelRD, p.rd, width(p.rd))
	}
	if p.rmask|p.wmask != 0 || p.addr != 0 {
		at.addr = l.hex(labelAddr, p.addr, width(p.addr))
	}
	if l.mask(labelRMask, p.rmask); p.rmask != 0 || p.loaded != 0 {
		at.loaded = l.hex(labelLoaded, p.loaded, width(p.loaded|uint64(p.rmask)<<28))
	}
	if l.mask(labelWMask, p.wmask); p.wmask != 0 || p.stored != 0 {
		at.stored = l.hex(labelStored, p.stored, width(p.stored|uint64(p.wmask)<<28))
	}
	l.hex(labelNext, p.next, width(p.next))
	if p.trap|p.halt|p.intr != 0 {
		l.number(labelTrap, p.trap)
		l.number(labelHalt, p.halt)
		l.number(labelInt, p.intr)
	}
	return dst[:start+l.at], at
}

// width is how many digits a number is written with: processors have 32 bits or 64.
func width(value uint64) int {
	if value>>32 == 0 {
		return 8
	}
	return 16
}

// liner writes a line, for which there is room.
type liner struct {
	text []byte
	at   int
}

func (l *liner) label(name *label) {
	*(*[16]byte)(l.text[l.at:]) = name.text
	l.at += name.length
}

// hex writes a word with digits.
func (l *liner) hex(name *label, value uint64, width int) place {
	l.label(name)
	from := l.at
	l.at = len(swar.AppendHex(l.text[:from], value, width))
	return place{int16(from), int16(l.at)}
}

// number writes a word with a number in decimal unless that is 0.
func (l *liner) number(name *label, value uint8) {
	if value != 0 {
		l.label(name)
		l.at = len(strconv.AppendUint(l.text[:l.at], uint64(value), 10))
	}
}

// mask is number for two digits in hexadecimal.
func (l *liner) mask(name *label, value uint8) {
	if value != 0 {
		const digits = "0123456789abcdef"
		l.label(name)
		l.text[l.at], l.text[l.at+1] = digits[value>>4], digits[value&0xf]
		l.at += 2
	}
}
