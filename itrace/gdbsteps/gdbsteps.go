// Package gdbsteps is what GDB prints of instructions one by one, of any processor: x/i $pc, or display/i $pc, between steps, and
// the instructions that it has recorded (record instruction-history, of the method btrace):
//
//	"=> 0x" PC [ " <" SYMBOL [ "+" N ] ">" ] ":" TAB TEXT
//	ID TAB ( "   " | "?  " ) "0x" PC [ " <" SYMBOL [ "+" N ] ">" ] ":" TAB [ BYTES TAB ] TEXT
//
//	=> 0x401010 <_start+16>:	call   0x40103f <fact>
//	12	   0x0000000000401012 <main+4>:	55	push   %rbp
//
// PC is hexadecimal, ID a decimal number. A question mark is in front of what was executed speculatively. BYTES, which the modifier
// /r asks for, are not read: they are in the order of memory or not, depending on the processor, of which nothing is told.
// Registers, memory and modes are not told either, and all threads are one processor.
//
// What GDB prints besides at each stop is a remark: the frame and its source line, names of displays, stops and threads. Where the
// line behind an instruction is a gap of the recording (ID TAB "[disabled]"), or says that the program was continued in another
// way than by stepi, the instruction says that some are missing behind it.
package gdbsteps

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of GDB's steps.
var Dialect = &itrace.Dialect{
	Name:  "gdb",
	Title: "GDB's steps and recorded instructions",
	New:   func(itrace.Settings) itrace.Decoder { return decoder{} },
	Why:   why,
}

func why(head []byte) string {
	if bytes.Contains(head, []byte("=> 0x")) {
		return "instructions at the pc, as of x/i $pc between steps"
	}
	return "numbered instructions, as of record instruction-history"
}

// decoder is the Decoder of GDB's steps. Its units are lines; the one behind an instruction is looked at, too.
type decoder struct{ itrace.Stateless }

// Decode implements itrace.Decoder.
func (d decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	line, next := b.Line(n, last)
	for next >= 0 && !b.Full() {
		added := b.Len()
		var r *itrace.Record
		if len(line) > 0 {
			r = addLine(b, line)
		}
		behind, after := b.Line(next, last)
		if after < 0 && !last {
			b.Truncate(added)
			break
		}
		if r != nil && left(behind) {
			r.Scope |= itrace.Gaps
		}
		n, line, next = next, behind, after
	}
	return n
}

// symbolEnd is what ends a symbol, and no symbol of C++ contains.
var symbolEnd = []byte(">:\t")

// addLine adds a line, and returns the record if it is an instruction.
func addLine(b *itrace.Batch, line []byte) *itrace.Record {
	l := scan.Line{Text: line}
	id, numbered := number(&l)
	switch {
	case numbered && l.Peek() != '[', !numbered && l.Accept("=> "):
	case numbered, isRemark(line):
		b.Add(itrace.Remark)
		return nil
	default:
		b.Fail(itrace.Mismatch(line, 0, `"=> 0x" and an address, or a number and an address`))
		return nil
	}
	r := b.Add(itrace.Instruction)
	r.ID, r.Scope = id, itrace.FlowOnly
	r.Addr, r.AddrDigits = l.Address("0x", "0x and an address")
	if l.Accept(" <") {
		if end := bytes.Index(l.Rest(), symbolEnd); end >= 0 {
			l.At += end + 1
		} else {
			l.Fail(l.At, "a symbol, >, a colon and a tab")
		}
	}
	l.Expect(":\t", "a colon and a tab")
	if l.Problem != nil {
		r.Kind, r.Problem = itrace.Unknown, l.Problem
		return r
	}
	r.Disasm = l.Rest()
	if opcode, text, ok := scan.Cut(r.Disasm, '\t'); ok && isBytes(opcode) {
		r.Disasm = text
	}
	return r
}

// number reads what stands in front of a recorded instruction, or of a gap. That of a source line has something else behind it.
func number(l *scan.Line) (id uint64, ok bool) {
	if l.Peek()-'0' > 9 {
		return 0, false
	}
	read := *l
	id = read.Decimal("a number")
	if read.Problem != nil || !read.Accept("\t") {
		return 0, false
	}
	read.Accept("?")
	read.Blanks()
	if read.Peek() != '[' && !bytes.HasPrefix(read.Rest(), zeroX) {
		return 0, false
	}
	*l = read
	return id, true
}

var zeroX = []byte("0x")

// isBytes reports whether a text is bytes in hexadecimal with blanks between. A mnemonic alone may be one: of ARM, "b".
func isBytes(text []byte) bool {
	if len(text)%3 != 2 {
		return false
	}
	for i, c := range text {
		switch {
		case i%3 == 2:
			if c != ' ' {
				return false
			}
		case scan.HexEnd(text[i:i+1], 0) == 0:
			return false
		}
	}
	return true
}

// left reports whether a line says that the program went on, or that the recording did not, so that instructions are missing.
func left(line []byte) bool {
	l := scan.Line{Text: line}
	if _, numbered := number(&l); numbered {
		return l.Peek() == '['
	}
	return bytes.HasPrefix(line, []byte("Continuing.")) || bytes.HasPrefix(line, []byte("Run till exit"))
}

// isRemark reports whether a line is one of those that GDB prints besides.
func isRemark(line []byte) bool {
	switch first := line[0]; {
	case bytes.HasPrefix(line, zeroX): // a frame or a source line, with its pc
		rest := line[scan.HexEnd(line, len(zeroX)):]
		return bytes.HasPrefix(rest, tab) || bytes.HasPrefix(rest, in)
	case first-'0' <= 9:
		end := 0
		for end < len(line) && line[end]-'0' <= 9 {
			end++
		}
		// A source line behind its number, or a display.
		return bytes.HasPrefix(line[end:], tab) || bytes.HasPrefix(line[end:], display)
	case first == '[':
		return line[len(line)-1] == ']'
	}
	for _, beginning := range remarks {
		if bytes.HasPrefix(line, beginning) {
			return true
		}
	}
	return isStop(line)
}

// isStop reports whether a line is a frame at the beginning of a source line, "f (x=1) at file.c:12", or says where a script has
// ended because the program has.
func isStop(line []byte) bool {
	if bytes.Contains(line, from) || bytes.HasSuffix(line, failed) {
		return true
	}
	end := len(line)
	for end > 0 && line[end-1]-'0' <= 9 {
		end--
	}
	return end > 0 && end < len(line) && line[end-1] == ':' && bytes.Contains(line, at)
}

var (
	tab     = []byte("\t")
	display = []byte(": x/")
	in      = []byte(" in ")
	at      = []byte(") at ")
	from    = []byte(") from /")
	failed  = []byte(": Error in sourced command file:")
	remarks = [][]byte{
		[]byte("Program "), []byte("Breakpoint "), []byte("Temporary breakpoint "), []byte("Hardware "), []byte("Watchpoint "),
		[]byte("Catchpoint "), []byte("Thread "), []byte("Starting program"), []byte("Continuing."), []byte("Run till exit"),
		[]byte("Old value"), []byte("New value"), []byte("Value returned"), []byte("Reading symbols"), []byte("Using host libthread_db"),
		[]byte("(gdb)"), []byte("No registers."), []byte("The program "), []byte("warning: "), []byte("#"),
	}
)
