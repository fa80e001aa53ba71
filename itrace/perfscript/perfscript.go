// Package perfscript is what perf script --insn-trace prints of a trace of Intel PT or Arm's ETM, of any processor: a line for
// each instruction,
//
//	COMM TID [ "[" CPU "]" ] TIME ": " [ EVENT ] PC [ SYMBOL ] [ "(" FILE ")" ] [ "insn: " BYTES | TAB TEXT ]
//
//	           pushw   10349 [000] 10586.869237014:            401000 [unknown] (./pushw)           pushw $0x1234
//	           sleep 36660 [016] 1057036.806464404:  ffffffff811dfbae trace_call_bpf+0x6e ([kernel.kallsyms]) insn: 48 8d 73
//	 instruction trace error type 1 time 10586.869237224 cpu 0 pid 10349 tid 10349 ip 0x40100d code 5: Failed to get instruction
//
// COMM is the name of a program and may have blanks, so that the line is read from TIME on, which has seconds, a point and six
// or nine digits. TID is decimal, or a process, a slash and a thread. PC is hexadecimal without 0x, BYTES are the opcode in the
// order of memory, and TEXT, which stands behind a tab or two blanks, is the instruction in words (--xed, --insn-trace=disasm). The
// fields COMM, TID, CPU, SYMBOL and FILE need not be there (-F). EVENT is a name that ends with a colon, and perhaps a number ahead
// of it: lines of other events than instructions are remarks, as branches alone do not say what was executed.
//
// Threads are processors, numbered as they come, so that two runs can be compared; of thread 0, which is idle, each CPU has one.
// TIME is told in ns. Registers, memory and modes are not told. An instruction in front of an error of the trace says that some are
// missing behind it. Lines of errors, warnings and comments are remarks.
//
// No line of these tests is from a run here: they are of the manuals and mails of perf's authors.
package perfscript

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/scan"
	"tracewell/itrace/internal/threads"
)

// Dialect is the dialect of perf script.
var Dialect = &itrace.Dialect{
	Name:  "perf",
	Title: "perf script --insn-trace",
	New:   func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why:   why,
}

func why(head []byte) string {
	const what = "threads, times in seconds and addresses, as of perf script"
	switch {
	case bytes.Contains(head, opcodeAhead):
		return what + " with instructions in bytes"
	case bytes.Contains(head, traceError):
		return what + ", with errors of the trace"
	}
	return what
}

// decoder is the Decoder of perf script. Its units are lines; the one behind an instruction is looked at, too.
type decoder struct {
	threads threads.Table
	room    []byte // opcodes, which do not stand together in the text; it is used again by the next Decode
}

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte { return d.threads.AppendState(dst) }

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error { return d.threads.Restore(state) }

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	d.room = d.room[:0]
	for !b.Full() {
		line, next := b.Line(n, last)
		if next < 0 {
			break
		}
		behind, after := b.Peek(next, last)
		if after < 0 && !last {
			break
		}
		switch {
		case len(line) == 0:
		case isRemark(line):
			b.Add(itrace.Remark)
		default:
			d.line(b, line, after >= 0 && bytes.HasPrefix(bytes.TrimLeft(behind, " "), traceError))
		}
		n = next
	}
	return n
}

var (
	traceError   = []byte("instruction trace error")
	warning      = []byte("Warning:")
	errors       = []byte("instruction trace errors")
	opcodeAhead  = []byte("insn:")
	instructions = []byte("instructions")
	scale        = []byte("ns")
)

// isRemark reports whether a line says something of the trace, or is a comment.
func isRemark(line []byte) bool {
	if line[0] == '#' || bytes.HasSuffix(line, errors) {
		return true
	}
	line = bytes.TrimLeft(line, " ")
	return bytes.HasPrefix(line, traceError) || bytes.HasPrefix(line, warning)
}

// line adds a line with a time.
func (d *decoder) line(b *itrace.Batch, line []byte, gap bool) {
	at, time, end := timeOf(line)
	if at < 0 {
		b.Fail(itrace.Mismatch(line, 0, "a thread, and a time in seconds with a point and a colon"))
		return
	}
	l := scan.Line{Text: line, At: end}
	l.Blanks()
	if name := event(&l); len(name) > 0 && !bytes.HasPrefix(name, instructions) {
		b.Add(itrace.Remark)
		return
	}
	addr, digits := l.Address("", "an address without 0x")
	l.End()
	id, problem := threadOf(line, at)
	if l.Problem == nil {
		l.Problem = problem
	}
	if l.Problem == nil {
		if _, known := d.threads.CPU(id); !known {
			l.Fail(0, "a thread among the first")
		}
	}
	if l.Problem != nil {
		b.Fail(l.Problem)
		return
	}
	r := b.Add(itrace.Instruction)
	r.CPU, _ = d.threads.CPU(id)
	r.Time, r.Scale, r.Addr, r.AddrDigits, r.Scope = time, scale, addr, digits, itrace.FlowOnly
	if gap {
		r.Scope |= itrace.Gaps
	}
	if opcode := scan.LastIndex(l.Rest(), opcodeAhead); opcode >= 0 {
		l.At += opcode + len(opcodeAhead)
		l.Blanks()
		if r.Digits = d.opcode(&l); len(r.Digits) > 0 {
			r.Value, _, _ = scan.ParseDigits(r.Digits)
			r.Scope &^= itrace.NoOpcode
		}
		return
	}
	r.Disasm = text(l.Rest())
}

// timeOf finds the first word such as "10586.869237014:", which is there in nanoseconds, and where it begins and ends. at is
// negative if there is none.
func timeOf(line []byte) (at int, time uint64, end int) {
	const micro, nano = 6, 9 // digits
	for from := 0; ; {
		if end = scan.IndexByte(line, from, ':'); end == len(line) {
			return -1, 0, 0
		}
		from = end + 1
		point := end
		for point > 0 && line[point-1]-'0' <= 9 {
			point--
		}
		digits := end - point
		if digits != micro && digits != nano || point < 2 || line[point-1] != '.' {
			continue
		}
		at = point - 1
		for at > 0 && line[at-1]-'0' <= 9 {
			at--
		}
		seconds, ok := scan.ParseDecimal(line[at : point-1])
		if !ok || at > 0 && line[at-1] != ' ' || seconds > 1<<33 {
			continue
		}
		fraction, _ := scan.ParseDecimal(line[point:end])
		if digits == micro {
			fraction *= 1000
		}
		return at, seconds*1e9 + fraction, end + 1
	}
}

// threadOf reads what stands in front of the time, from its end: "36660 [016] " or "36660/36661 [016] ".
func threadOf(line []byte, at int) (id threads.ID, problem *itrace.SyntaxError) {
	words := bytes.TrimRight(line[:at], " ")
	if n := len(words); n > 0 && words[n-1] == ']' {
		open := bytes.LastIndexByte(words, '[')
		number, ok := scan.ParseDecimal(words[open+1 : n-1])
		if open < 0 || !ok {
			return id, itrace.Mismatch(line, max(open, 0), "the number of a processor in brackets")
		}
		id.Of = number
		words = bytes.TrimRight(words[:open], " ")
	}
	if len(words) == 0 {
		return id, nil
	}
	start := bytes.LastIndexAny(words, " /") + 1
	number, ok := scan.ParseDecimal(words[start:])
	if !ok {
		return id, itrace.Mismatch(line, start, "the number of a thread")
	}
	if id.Number = number; number != 0 {
		id.Of = 0
	}
	return id, nil
}

// event goes behind the name of an event and returns it, if there is one.
func event(l *scan.Line) (name []byte) {
	read := *l
	for range 2 { // a number may be ahead of it
		name = read.Word("an event")
		read.Blanks()
		if len(name) > 1 && name[len(name)-1] == ':' {
			l.At = read.At
			return name
		}
		if _, number := scan.ParseDecimal(name); !number {
			break
		}
	}
	return nil
}

// opcode reads bytes with blanks between.
func (d *decoder) opcode(l *scan.Line) []byte {
	from := len(d.room)
	for {
		end := scan.HexEnd(l.Text, l.At)
		if end != l.At+2 {
			return d.room[from:len(d.room):len(d.room)]
		}
		d.room = append(d.room, l.Text[l.At:end]...)
		l.At = end
		l.Blanks()
	}
}

// text is the instruction in words at the end of a line, behind a parenthesis and a tab or two blanks.
func text(rest []byte) []byte {
	for at := scan.IndexByte(rest, 0, ')'); at < len(rest); at = scan.IndexByte(rest, at+1, ')') {
		if behind := rest[at+1:]; len(behind) > 1 && (behind[0] == '\t' || behind[0] == ' ' && behind[1] == ' ') {
			return bytes.TrimLeft(behind, " \t")
		}
	}
	return nil
}
