// Package drmemtrace is what the view tool of DynamoRIO's drmemtrace prints (drrun -t drmemtrace -tool view), of any processor, a
// line for each record:
//
//	RECORD INSTR ": " TID " ifetch " SIZE " byte(s) @ 0x" PC " " BYTES TEXT
//	RECORD INSTR ": " TID " " BYTES                                  the bytes for which there was no room above
//	RECORD INSTR ": " TID " ifetch " SIZE " byte(s) @ 0x" PC " " WORDS          in a trace without encodings
//	RECORD INSTR ": " TID " read " SIZE " byte(s) @ 0x" ADDR " by PC 0x" PC     also write, pref…, iflush, dflush
//	RECORD INSTR ": " TID " <marker: " WORDS ">"
//	RECORD INSTR ": " TID " <thread " TID " exited>"
//
//	       47444       37769:     2765543 ifetch       6 byte(s) @ 0x0000000000404a78 0f 84 5b 01 00 00    jz     $0x404bd9
//	       47446       37770:     2765543 read         8 byte(s) @ 0x00007fdf64e2adc8 by PC 0x0000000000404a7e
//	       10708        8038:     2444839 <marker: kernel xfer from 0x400510 to handler>
//
// RECORD, INSTR, which is the number of an instruction, and SIZE are decimal, PC and ADDR hexadecimal. TID is a thread, a number or
// W and the number of a workload, a point, T and a number: threads are processors, numbered as they come, so that two runs can be
// compared. BYTES are groups of hexadecimal digits, of x86 a byte each in the order of memory, elsewhere words. WORDS are kinds
// such as "conditional jump".
//
// Opcodes are told where there are bytes; data, registers and modes are not. Events are a transfer from the kernel (a signal: an
// interrupt), a system call, which is an exception, and the transfer that ends a signal; other markers are remarks. A time stamp is
// a remark, too: one is told for some thousand instructions. Where a window of tracing ends, or numbers of instructions leave some
// out, the instruction in front says that some are missing behind it.
//
// The header, lines of dashes and the results of the tool are remarks. No line of these tests is from a run here: they are of the
// pages of DynamoRIO's sample traces, and made by the grammar of its source.
package drmemtrace

import (
	"bytes"
	"math"

	"tracewell/itrace"
	"tracewell/itrace/internal/scan"
	"tracewell/itrace/internal/threads"
)

// Dialect is the dialect of drmemtrace's view.
var Dialect = &itrace.Dialect{
	Name:           "drmemtrace",
	Title:          "the view tool of DynamoRIO's drmemtrace",
	EffectsTellCPU: true,
	New:            func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why: func([]byte) string {
		return "numbers of records and instructions, threads, and ifetch, read or write with sizes"
	},
}

// scope is what is told of instructions with encodings.
const scope = itrace.NoMode | itrace.NoRegisters | itrace.NoSystem | itrace.NoLoaded | itrace.NoStored | itrace.TellsEvents

// decoder is the Decoder of the view. Its units are an instruction and the bytes in the line behind it, and any other line; what is
// behind an instruction is looked at up to the next.
type decoder struct {
	threads threads.Table
	room    []byte // opcodes, which do not stand together in the text; it is used again by the next Decode

	lines []line // that have been found, in their order
	first int    // of lines that of the unit at hand
	end   int    // where the line behind them begins
}

// line is a line that has been found, and read up to what tells the kind of its record.
type line struct {
	at     int
	remark bool
	prefix
	scan.Line
}

// mostPassed is how many lines are kept that have been passed.
const mostPassed = 64

// look returns a line by how many it is behind the unit at hand, nil if it is not there yet. It is valid until the next call. As
// what is behind an instruction is looked at, each line is found and read here, once.
func (d *decoder) look(b *itrace.Batch, behind int, last bool) *line {
	i := d.first + behind
	if i == len(d.lines) {
		text, next := b.Line(d.end, last)
		if next < 0 {
			return nil
		}
		l := line{at: d.end, Line: scan.Line{Text: text}}
		if l.remark = isRemark(text); !l.remark {
			l.prefix = parsePrefix(&l.Line)
		}
		d.lines, d.end = append(d.lines, l), next
	}
	return &d.lines[i]
}

// pass goes behind some lines, and returns where the next begins.
func (d *decoder) pass(n int) int {
	if d.first += n; d.first > mostPassed || d.first == len(d.lines) {
		d.lines, d.first = append(d.lines[:0], d.lines[d.first:]...), 0
	}
	if len(d.lines) == 0 {
		return d.end
	}
	return d.lines[d.first].at
}

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte { return d.threads.AppendState(dst) }

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error { return d.threads.Restore(state) }

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	d.room, d.lines, d.first, d.end = d.room[:0], d.lines[:0], 0, 0
	for !b.Full() {
		l := d.look(b, 0, last)
		if l == nil {
			break
		}
		lines := 1
		if len(l.Text) > 0 {
			if lines = d.unit(b, *l, last); lines == 0 {
				break
			}
		}
		n = d.pass(lines)
	}
	return n
}

// prefix is what every record begins with.
type prefix struct {
	instruction uint64
	thread      threads.ID
}

// parsePrefix reads "47446 37770: 2765543 " and "10 2: W0.T292 ", with blanks.
func parsePrefix(l *scan.Line) (p prefix) {
	l.Blanks()
	l.Decimal("the number of a record")
	l.End()
	l.Blanks()
	p.instruction = l.Decimal("the number of an instruction")
	l.Expect(": ", "a colon and a thread")
	l.Blanks()
	if l.Accept("W") {
		p.thread.Of = l.Decimal("the number of a workload")
		l.Expect(".T", ".T and the number of a thread")
	}
	p.thread.Number = l.Decimal("the number of a thread")
	l.End()
	l.Blanks()
	return p
}

// cpu numbers the thread of a line, unless that has a problem.
func (d *decoder) cpu(l *scan.Line, t threads.ID) int32 {
	if l.Problem != nil {
		return 0
	}
	cpu, ok := d.threads.CPU(t)
	if !ok {
		l.Fail(0, "a thread among the first")
	}
	return cpu
}

// unit adds what begins with a line, and returns how many lines it has, none if that is not known yet.
func (d *decoder) unit(b *itrace.Batch, l line, last bool) (lines int) {
	if l.remark || l.Problem != nil || !l.Accept("ifetch ") {
		scan.Again(b, l.at, l.Text, last)
		switch {
		case l.remark:
			b.Add(itrace.Remark)
			return 1
		case l.Problem == nil:
			l.Problem = d.other(b, &l.Line, l.prefix)
		}
		if l.Problem != nil {
			b.Fail(l.Problem)
		}
		return 1
	}
	gap, known := d.gapBehind(b, last, l.instruction)
	if !known {
		return 0
	}
	addr, digits, size := place(&l.Line)
	from := len(d.room)
	l.Blanks()
	left := d.bytes(&l.Line, 2*int(size))
	lines = 1
	if left > 0 && left < 2*int(size) {
		// The line behind has the rest, if it has nothing else.
		if behind := d.look(b, 1, last); behind != nil && !behind.remark && behind.Problem == nil && behind.prefix == l.prefix {
			if rest := behind.Line; d.bytes(&rest, left) == 0 && rest.Done() {
				left, lines = 0, 2
			}
		}
	}
	scan.Again(b, l.at, l.Text, last)
	cpu := d.cpu(&l.Line, l.thread)
	if l.Problem != nil {
		b.Fail(l.Problem)
		return 1
	}
	r := b.Add(itrace.Instruction)
	r.CPU, r.ID, r.Addr, r.AddrDigits, r.Disasm, r.Scope = cpu, l.instruction, addr, digits, l.Rest(), scope
	if left == 0 && size > 0 {
		r.Value, _, _ = scan.ParseDigits(d.room[from:])
		r.Digits = d.room[from:len(d.room):len(d.room)]
	} else {
		r.Scope |= itrace.NoOpcode
	}
	if gap {
		r.Scope |= itrace.Gaps
	}
	return lines
}

// place reads "   6 byte(s) @ 0x0000000000404a78".
func place(l *scan.Line) (addr uint64, digits []byte, size uint32) {
	l.Blanks()
	start := l.At
	n := l.Decimal("a size in bytes")
	if n > math.MaxUint16 {
		l.Fail(start, "a size in bytes")
	}
	l.Expect(" byte(s) @ ", `"byte(s) @"`)
	addr, digits = l.Address("0x", "0x and an address")
	l.End()
	return addr, digits, uint32(n)
}

// bytes puts groups of digits together that have the same width, until there are so many or something else comes; it goes behind
// them and blanks, and returns how many are left.
func (d *decoder) bytes(l *scan.Line, left int) int {
	width := 0
	for left > 0 && !l.Done() {
		end := scan.HexEnd(l.Text, l.At)
		if n := end - l.At; n == 0 || n%2 != 0 || n > left || width > 0 && n != width || end < len(l.Text) && l.Text[end] != ' ' {
			break
		}
		width = end - l.At
		d.room = append(d.room, l.Text[l.At:end]...)
		left -= width
		l.At = end
		l.Blanks()
	}
	return left
}

// mostLooked is how many lines there may be up to the next instruction.
const mostLooked = 256

var (
	window = []byte("<marker: window ")
	fetch  = []byte("ifetch ")
)

// gapBehind reports whether instructions are missing behind the unit at hand, which is one of a number, and whether that is known
// yet.
func (d *decoder) gapBehind(b *itrace.Batch, last bool, instruction uint64) (gap, known bool) {
	for i := 1; i <= mostLooked; i++ {
		l := d.look(b, i, last)
		switch {
		case l == nil:
			return gap, last
		case l.remark:
			continue
		case l.Problem != nil:
			return gap, true
		}
		rest := l.Rest()
		if bytes.HasPrefix(rest, window) {
			gap = true
		}
		if bytes.HasPrefix(rest, fetch) {
			return gap || l.instruction > instruction+1, true
		}
	}
	return gap, true
}

// events are the markers that tell of something that happened, up to an address if there is one.
var events = []struct {
	beginning, name []byte
	kind            itrace.EventKind
	addressed       bool
}{
	{[]byte("<marker: kernel xfer from 0x"), []byte("kernel xfer"), itrace.Interrupt, true},
	{[]byte("<marker: syscall xfer from 0x"), []byte("syscall xfer"), itrace.OtherEvent, true},
	{[]byte("<marker: rseq abort from 0x"), []byte("rseq abort"), itrace.Interrupt, true},
	{[]byte("<marker: system call "), nil, itrace.Exception, false}, // the name has the number
}

// systemCallFailed begins as a system call does.
var systemCallFailed = []byte("<marker: system call failed")

// other adds a record that is no instruction.
func (d *decoder) other(b *itrace.Batch, l *scan.Line, p prefix) *itrace.SyntaxError {
	if l.Peek() == '<' {
		return d.marker(b, l, p)
	}
	start := l.At
	name := l.Word("ifetch, read, write or a marker")
	write := string(name) == "write"
	addr, digits, size := place(l)
	l.Expect(" by PC ", `"by PC"`)
	l.Address("0x", "0x and the address of an instruction")
	if !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
	cpu := d.cpu(l, p.thread)
	if l.Problem != nil {
		return l.Problem
	}
	switch {
	case write, string(name) == "read":
		m := b.Add(itrace.Memory)
		m.CPU, m.Addr, m.AddrDigits, m.Size, m.Write = cpu, addr, digits, size, write
	case bytes.HasPrefix(name, []byte("pref")), string(name) == "iflush", string(name) == "dflush":
		b.Add(itrace.Remark)
	default:
		return itrace.Mismatch(l.Text, start, "ifetch, read, write or a marker")
	}
	return nil
}

// marker adds an event, or a remark.
func (d *decoder) marker(b *itrace.Batch, l *scan.Line, p prefix) *itrace.SyntaxError {
	if l.Text[len(l.Text)-1] != '>' {
		l.Fail(len(l.Text), "> at the end of a marker")
		return l.Problem
	}
	for i := range events {
		e := &events[i]
		if !bytes.HasPrefix(l.Rest(), e.beginning) || bytes.HasPrefix(l.Rest(), systemCallFailed) {
			continue
		}
		name := e.name
		if name == nil {
			name = l.Rest()[len("<marker: ") : len(l.Rest())-1]
		}
		var addr uint64
		var digits []byte
		if e.addressed {
			l.At += len(e.beginning)
			if addr, digits = l.Address("", "an address"); l.Problem != nil {
				return l.Problem
			}
		}
		cpu := d.cpu(l, p.thread)
		if l.Problem != nil {
			return l.Problem
		}
		r := b.Add(itrace.Event)
		r.CPU, r.Event, r.Name, r.Addr, r.AddrDigits = cpu, e.kind, name, addr, digits
		return nil
	}
	b.Add(itrace.Remark)
	return nil
}

// remarks are the beginnings of what is printed besides.
var remarks = [][]byte{
	[]byte("-----"), []byte("Output format:"), []byte("<--record#->"), []byte("View tool results:"), []byte("<...>"),
}

var total = []byte(" : total ")

// isRemark reports whether a line is no record.
func isRemark(line []byte) bool {
	if len(line) == 0 {
		return true
	}
	for _, beginning := range remarks {
		if bytes.HasPrefix(line, beginning) {
			return true
		}
	}
	return line[0] == ' ' && bytes.Contains(line, total)
}
