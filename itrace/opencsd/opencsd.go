// Package opencsd is what OpenCSD's trc_pkt_lister prints with -decode of a trace of Arm's ETM or PTM: a line for each element,
//
//	"Idx:" N "; ID:" ID "; OCSD_GEN_TRC_ELEM_" ELEMENT "(" text [ " [CC=" N "]; " ] ")"
//	INSTR_RANGE(exec range=0xBEGIN:[0xEND] [ num_i(N) last_sz(N) ] (ISA=SET) E|N TYPE [ <cond>])
//	I_RANGE_NOPATH(first 0xBEGIN:[next 0xEND] num_i(N) )
//	EXCEPTION([ pref ret addr:0xPC[ [addr also prev br tgt]]; ]excep num (0xN) ), EXCEPTION_RET()
//	PE_CONTEXT((ISA=SET) [ EL1 ] [ N; | S; | Root; | Realm; ] 64-bit; [ VMID=0xN; ] [ CTXTID=0xN; ])
//	TIMESTAMP( [ TS=0xN]; ), TRACE_ON( [REASON]), NO_SYNC( [REASON]), ADDR_NACC( 0xADDR ) and others
//
//	Idx:17230; ID:10; OCSD_GEN_TRC_ELEM_TRACE_ON( [begin or filter])
//	Idx:17232; ID:10; OCSD_GEN_TRC_ELEM_PE_CONTEXT((ISA=A64) EL1N; 64-bit; VMID=0x0; CTXTID=0x0; )
//	Idx:17248; ID:10; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0x96a00:[0x96a10] num_i(4) last_sz(4) (ISA=A64) E ISB )
//
// A range becomes its instructions. Those of A64 and A32 have four bytes each; those of T32 two or four, which num_i and
// last_sz tell if all in front of the last have the same: otherwise the first says that some are missing behind it, and the last
// is told. Versions of OpenCSD without num_i are read, too. Of a range without a path the first instruction is told.
//
// Trace IDs are processors, numbered as they come. An exception is an event, at its preferred return address, named by its number;
// 0xe and 0xf, IRQ and FIQ of A-profile, are interrupts. A time stamp is the time of what follows, in ticks, and cycle counts
// add up. Exception level and security are those of the context; as an exception level is less than what other producers call a
// mode, modes are said not to be told. Opcodes, registers and memory are not told: the program has to tell them. A conditional
// instruction that was not executed is skipped, but of A64, where it is a branch that was not taken. The state is A, T, or X of
// A64.
//
// Where the trace begins again, loses synchronisation, or comes to code that OpenCSD has no image of, the instruction
// in front says that some are missing behind it. All other lines that begin with Idx, among them packets, are remarks, as are
// messages of the tool. No line of these tests is from a run here: they are of OpenCSD's documentation and by its source.
package opencsd

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"tracewell/itrace"
	"tracewell/itrace/internal/scan"
	"tracewell/itrace/internal/threads"
)

// Dialect is the dialect of trc_pkt_lister.
var Dialect = &itrace.Dialect{
	Name:           "opencsd",
	Title:          "OpenCSD's trc_pkt_lister",
	EffectsTellCPU: true,
	New:            func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why: func(head []byte) string {
		if bytes.Contains(head, []byte("num_i(")) {
			return "decoded elements of OpenCSD, ranges with numbers of instructions"
		}
		return "decoded elements of OpenCSD"
	},
}

// decoder is the Decoder of trc_pkt_lister. Its units are lines; what is behind a range is looked at up to the next element.
type decoder struct {
	ids  threads.Table
	cpus []cpu
	room []byte // addresses that are not in the text; it is used again by the next Decode
}

// cpu is what is known of a processor.
type cpu struct {
	level    byte // of exceptions, 1 more; 0 if it is not known
	security byte // a place in securities
	timed    bool
	time     uint64
	cycle    uint64
}

var (
	levels     = [...][]byte{nil, []byte("EL0"), []byte("EL1"), []byte("EL2"), []byte("EL3")}
	securities = [...][]byte{nil, []byte("s"), []byte("ns"), []byte("root"), []byte("realm")}
	scale      = []byte("ticks")
)

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	for i := range d.cpus {
		c := &d.cpus[i]
		dst = append(dst, c.level, c.security, 0)
		if c.timed {
			dst[len(dst)-1] = 1
		}
		dst = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, c.time), c.cycle)
	}
	at := len(dst)
	if dst = d.ids.AppendState(dst); len(d.cpus) > 0 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(dst)-at))
	}
	return dst
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	const size, tail = 3 + 8 + 8, 4
	if d.cpus = d.cpus[:0]; len(state) == 0 {
		return d.ids.Restore(nil)
	}
	if len(state) < tail {
		return itrace.ErrState
	}
	all := state[:len(state)-tail]
	ids := uint64(binary.LittleEndian.Uint32(state[len(all):]))
	if ids > uint64(len(all)) || (len(all)-int(ids))%size != 0 {
		return itrace.ErrState
	}
	if err := d.ids.Restore(all[len(all)-int(ids):]); err != nil {
		return err
	}
	for at := 0; at < len(all)-int(ids); at += size {
		c := cpu{level: all[at], security: all[at+1], timed: all[at+2] == 1}
		c.time, c.cycle = binary.LittleEndian.Uint64(all[at+3:]), binary.LittleEndian.Uint64(all[at+11:])
		if int(c.level) >= len(levels) || int(c.security) >= len(securities) {
			return itrace.ErrState
		}
		d.cpus = append(d.cpus, c)
	}
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
		if len(line) > 0 {
			gap, known := false, true
			if bytes.Contains(line, range_) {
				if gap, known = gapBehind(b, line, next, last); !known {
					break
				}
			}
			if problem := d.line(b, line, gap); problem != nil {
				b.Fail(problem)
			}
		}
		n = next
	}
	return n
}

var range_ = []byte("_RANGE")

// mostLooked is how many lines there may be up to the next element.
const mostLooked = 256

// elementAhead is what the names of elements begin with.
var elementAhead = []byte("OCSD_GEN_TRC_ELEM_")

// element splits a line into the trace ID and the element, which is empty for other lines.
func element(line []byte) (id, name []byte) {
	at := bytes.Index(line, elementAhead)
	from := bytes.Index(line, idAhead)
	if at < 0 || from < 0 || from > at || !bytes.HasPrefix(line, idx) {
		return nil, nil
	}
	return line[from:at], line[at+len(elementAhead):]
}

var (
	idx     = []byte("Idx:")
	idAhead = []byte("ID:")
)

// losses are the elements in front of which something is missing.
var losses = [][]byte{[]byte("TRACE_ON("), []byte("NO_SYNC("), []byte("ADDR_NACC("), []byte("ADDR_UNKNOWN(")}

// follows are those that say how the trace goes on.
var follows = [][]byte{
	[]byte("INSTR_RANGE("), []byte("I_RANGE_NOPATH("), []byte("EXCEPTION("), []byte("EXCEPTION_RET("), []byte("EO_TRACE("),
}

// gapBehind reports whether instructions of the processor of a line are missing behind it, and whether that is known yet.
func gapBehind(b *itrace.Batch, line []byte, at int, last bool) (gap, known bool) {
	id, _ := element(line)
	for range mostLooked {
		behind, next := b.Peek(at, last)
		if next < 0 {
			return false, last
		}
		at = next
		other, name := element(behind)
		if !bytes.Equal(other, id) || len(name) == 0 {
			continue
		}
		if begins(name, losses) {
			return true, true
		}
		if begins(name, follows) {
			return false, true
		}
	}
	return false, true
}

func begins(text []byte, beginnings [][]byte) bool {
	for _, b := range beginnings {
		if bytes.HasPrefix(text, b) {
			return true
		}
	}
	return false
}

// messages are the beginnings of what the tool says besides.
var messages = [][]byte{
	[]byte("Trace "), []byte("-----"), []byte("====="), []byte("** "), []byte("Test Command Line"), []byte("trc_pkt_lister"),
	[]byte("Using "), []byte("Gen_Info"), []byte("Frame Data"), []byte("ID:"), []byte("Total "), []byte("Packet "),
	[]byte("Error:"), []byte("WARNING"), []byte("INFO"),
}

// line adds what a line tells.
func (d *decoder) line(b *itrace.Batch, line []byte, gap bool) *itrace.SyntaxError {
	l := scan.Line{Text: line}
	if !l.Accept("Idx:") {
		if begins(line, messages) {
			b.Add(itrace.Remark)
			return nil
		}
		return itrace.Mismatch(line, 0, "Idx and the place of a packet")
	}
	l.Decimal("the place of a packet")
	l.Expect("; ID:", "a semicolon and ID")
	id, _ := l.Hex("a trace ID in hexadecimal")
	l.Expect(";", "a semicolon")
	l.Blanks()
	if l.Problem != nil {
		return l.Problem
	}
	if !l.Accept(string(elementAhead)) {
		b.Add(itrace.Remark) // a packet
		return nil
	}
	n, ok := d.ids.CPU(threads.ID{Number: id})
	if !ok || n > mostIDs {
		return itrace.Mismatch(line, 0, "a trace ID among the first")
	}
	for int(n) >= len(d.cpus) {
		d.cpus = append(d.cpus, cpu{})
	}
	d.element(b, &l, n, gap)
	return l.Problem
}

// mostIDs is how many there are: they have seven bits.
const mostIDs = 1 << 7

// element adds what an element tells, from its name on.
func (d *decoder) element(b *itrace.Batch, l *scan.Line, n int32, gap bool) {
	c := &d.cpus[n]
	switch {
	case l.Accept("INSTR_RANGE(exec range="):
		d.instructions(b, l, n, gap)
	case l.Accept("I_RANGE_NOPATH(first "):
		addr, digits := l.Address("0x", "0x and an address")
		if l.Problem == nil {
			d.instruction(b, n, addr, digits).Scope |= itrace.Gaps
		}
	case l.Accept("EXCEPTION_RET("):
		e := b.Add(itrace.Event)
		e.CPU, e.Name = n, exceptionReturn
	case l.Accept("EXCEPTION("):
		exception(b, l, n)
	default:
		switch {
		case l.Accept("PE_CONTEXT("):
			c.context(l.Rest())
		case l.Accept("TIMESTAMP( [ TS="):
			time, _ := l.Address("0x", "0x and a time")
			if l.Problem != nil {
				return
			}
			c.timed, c.time = true, time
		}
		b.Add(itrace.Remark)
	}
	if cycles := scan.LastIndex(l.Text, cyclesAhead); cycles >= 0 && l.Problem == nil {
		count := scan.Line{Text: l.Text, At: cycles + len(cyclesAhead)}
		c.cycle += count.Decimal("cycles")
	}
}

var (
	cyclesAhead     = []byte("[CC=")
	exceptionReturn = []byte("exception return")
)

// context reads "(ISA=A64) EL1N; 64-bit; VMID=0x0; ".
func (c *cpu) context(text []byte) {
	c.level, c.security = 0, 0
	_, text, _ = bytes.Cut(text, []byte(") "))
	if len(text) > 2 && text[0] == 'E' && text[1] == 'L' && text[2]-'0' < byte(len(levels)-1) {
		c.level = text[2] - '0' + 1
		text = text[3:]
	}
	for i, letter := range []string{"S; ", "N; ", "Root; ", "Realm; "} {
		if bytes.HasPrefix(text, []byte(letter)) {
			c.security = byte(i + 1)
		}
	}
}

// exception reads "pref ret addr:0x80; excep num (0x0e) )".
func exception(b *itrace.Batch, l *scan.Line, n int32) {
	const irq, fiq = 14, 15
	var addr uint64
	var digits []byte
	if l.Accept("pref ret addr:") {
		addr, digits = l.Address("0x", "0x and an address")
		l.Accept(" [addr also prev br tgt]")
		l.Expect("; ", "a semicolon")
	}
	l.Expect("excep num (", "the number of an exception")
	number, name := l.ZeroX("0x and the number of an exception")
	l.Expect(")", "a parenthesis")
	if l.Problem != nil {
		return
	}
	e := b.Add(itrace.Event)
	e.CPU, e.Event, e.Name, e.Addr, e.AddrDigits = n, itrace.Exception, name, addr, digits
	if number == irq || number == fiq {
		e.Event = itrace.Interrupt
	}
}

// instruction adds an instruction of a processor.
func (d *decoder) instruction(b *itrace.Batch, n int32, addr uint64, digits []byte) *itrace.Record {
	c := &d.cpus[n]
	r := b.Add(itrace.Instruction)
	r.CPU, r.Addr, r.AddrDigits, r.Scope = n, addr, digits, itrace.FlowOnly|itrace.TellsEvents
	r.Mode, r.Security, r.Cycle = levels[c.level], securities[c.security], c.cycle
	if c.timed {
		r.Time, r.Scale = c.time, scale
	}
	return r
}

// Sizes of instructions.
const (
	word = 4
	half = 2
)

// mostInstructions bounds those of a range.
const mostInstructions = 1 << 14

// instructions reads "0x80:[0x90] num_i(4) last_sz(4) (ISA=A64) E ISB )" and adds them.
func (d *decoder) instructions(b *itrace.Batch, l *scan.Line, n int32, gap bool) {
	begin, digits := l.Address("0x", "0x and the begin of a range")
	l.Expect(":[", `":[" and the end of a range`)
	at := l.At
	end, _ := l.Address("0x", "0x and the end of a range")
	l.Expect("] ", `"]" and a blank`)
	counted := l.Accept("num_i(")
	count, last := uint64(0), uint64(0)
	if counted {
		count = l.Decimal("a number of instructions")
		l.Expect(") last_sz(", "last_sz")
		last = l.Decimal("a size in bytes")
		l.Expect(") ", "a parenthesis and a blank")
	}
	l.Expect("(ISA=", "an instruction set")
	set := l.Word("an instruction set")
	l.Blanks()
	executed := l.Accept("E ")
	if !executed {
		l.Expect("N ", "E or N")
	}
	size, state := sizeOf(set)
	bytesOf := end - begin
	if !counted {
		count, last = 1, min(bytesOf, word)
		if size > 0 {
			count, last = bytesOf/size, size
		}
	}
	if last == 0 || last > word || count == 0 || count > mostInstructions || bytesOf > word*count || bytesOf < last {
		l.Fail(at, "an end that fits the instructions of a range")
	}
	if l.Problem != nil {
		return
	}
	conditional := bytes.Contains(l.Rest(), []byte("<cond>"))
	// Those in front of the last all have the same size, or only the first has a place that is known.
	front := bytesOf - last
	switch {
	case front == word*(count-1):
		size = word
	case front == half*(count-1):
		size = half
	default:
		size = 0
	}
	var r *itrace.Record
	for i := uint64(0); i < count; i++ {
		addr := begin + i*size
		if i == count-1 {
			addr = end - last
		}
		if i > 0 {
			digits = d.digits(addr, len(digits))
		}
		r = d.instruction(b, n, addr, digits)
		r.State = state
		if size == 0 && count > 1 && i == 0 {
			r.Scope |= itrace.Gaps
			i = count - 2
		}
	}
	r.Skipped = !executed && conditional && state != 'X'
	if gap || !counted && size == 0 {
		r.Scope |= itrace.Gaps
	}
}

// sizeOf returns how many bytes each instruction of a set has, 0 if that differs, and the letter that stands for the set.
func sizeOf(set []byte) (size uint64, state byte) {
	switch string(bytes.TrimSuffix(set, []byte(")"))) {
	case "A64":
		return word, 'X'
	case "A32":
		return word, 'A'
	case "T32":
		return 0, 'T'
	}
	return 0, 0
}

// digits are those of an address, so many at least.
func (d *decoder) digits(addr uint64, width int) []byte {
	var digits [16]byte
	text := strconv.AppendUint(digits[:0], addr, 16)
	from := len(d.room)
	for range width - len(text) {
		d.room = append(d.room, '0')
	}
	d.room = append(d.room, text...)
	return d.room[from:len(d.room):len(d.room)]
}
