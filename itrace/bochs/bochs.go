// Package bochs is what the debugger of Bochs, an emulator of PCs, prints of instructions that it executes: after "trace on" an
// instruction a line, after "trace-mem on" its accesses to memory, and after "trace-reg on" what registers hold behind it:
//
//	"(" CPU ").[" TICKS "] [0x" PHYSICAL "] " SELECTOR ":" OFFSET " (" SYMBOL "): " TEXT " ; " BYTES
//	"[CPU" CPU " " KIND "]: " [ "LIN 0x" ADDR " " ] "PHY 0x" PHYSICAL " (len=" SIZE ", " TYPE ")" DATA [ TAB "; " USE ]
//	"CPU" CPU ":"
//	NAME ": " HEX8 "_" HEX8                   of each register
//	NAME " 0x" HEX ": " names of flags        of the flags
//
//	(0).[31210272] [0x000000007c18] 07c0:0018 (unk. ctxt): push ax                   ; 50
//	[CPU0 WR]: LIN 0x00000000000900fe PHY 0x0000000900fe (len=2, UC): 0x0005
//	[CPU0 RD]: LIN 0x0000000000007cb0 PHY 0x000000007cb0 (len=8, UC): 0x00CF9A00 0x0000FFFF
//
// CPU, TICKS and SIZE are decimal, all else is hexadecimal. OFFSET has four digits in real mode, where the pc is the physical
// address; elsewhere it has more, and is the pc, as of code in segments that begin at 0. Where it is at another place of its page
// than the physical address the segment begins elsewhere, and that address is the pc. BYTES are the opcode in the order of memory.
// DATA is ": 0x" and a number of 1, 2 or 4 bytes, ": " and words of four bytes with 0x, the most significant first, or bytes with
// blanks between in the same order. KIND is RD, WR or RW, which is the read of an instruction that reads and writes: its write
// is the next access, of which only the physical address is told. SR, SW and SRW are the same of a shadow stack. An access with
// USE, such as PTE, is one of the processor's own, and a remark, as is one without an address that is not such a write.
//
// Of registers those are told whose value has changed since the last time; the first time all are. That of the pc is left out, and
// modes are not told. An instruction that had an exception has a line like any other; interrupts are not told. Whether accesses and
// registers are told is known from the instruction that has them.
//
// The debugger's other output is a remark: what it shows at a stop, an instruction without TICKS among it, its prompt, and lines of
// Bochs' log.
package bochs

import (
	"bytes"
	"debug/elf"
	"math"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/internal/held"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of Bochs.
var Dialect = &itrace.Dialect{
	Name:  "bochs",
	Title: "the trace of Bochs' debugger",
	New:   func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why:   why,
}

func why(head []byte) string {
	var more string
	if bytes.Contains(head, []byte("]: LIN 0x")) {
		more = ", with accesses to memory"
	}
	if bytes.Contains(head, registersAhead) {
		more += ", with registers"
	}
	return "instructions with a processor in parentheses, ticks, and segment and offset" + more
}

var (
	pc             = []byte(arch.ByELF(elf.EM_X86_64, 8).PC)
	pcOf32Bits     = []byte(arch.ByELF(elf.EM_386, 4).PC)
	scale          = []byte("ticks")
	registersAhead = []byte("\nCPU0:")
)

// decoder is the Decoder of Bochs. Its units are an instruction with all that is told of it, and any other line.
type decoder struct {
	seen seen
	held held.Values
	room []byte // digits that do not stand together in the text; it is used again by the next Decode
}

// seen is what a trace has had lines of.
type seen byte

const (
	seenAccesses seen = 1 << iota
	seenRegisters
	allSeen = 1<<iota - 1
)

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte { return d.held.AppendFlagged(dst, byte(d.seen)) }

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	flags, err := d.held.RestoreFlagged(state, byte(allSeen))
	d.seen = seen(flags)
	return err
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	d.room = d.room[:0]
	for !b.Full() {
		line, next := b.Line(n, last)
		if next < 0 {
			break
		}
		if isInstruction(line) {
			if next = d.instruction(b, line, next, last); next < 0 {
				break
			}
		} else if len(line) > 0 {
			if isRemark(line) {
				b.Add(itrace.Remark)
			} else {
				b.Fail(itrace.Mismatch(line, 0, "a processor in parentheses, and ticks in brackets"))
			}
		}
		n = next
	}
	return n
}

// isInstruction reports whether a line begins as "(0).[".
func isInstruction(line []byte) bool {
	l := scan.Line{Text: line}
	return l.Accept("(") && digits(&l) && l.Accept(").[")
}

// digits goes behind decimal digits, and reports whether there are some.
func digits(l *scan.Line) bool {
	start := l.At
	for l.Peek()-'0' <= 9 {
		l.At++
	}
	return l.At > start
}

// mostLines bounds the lines of an instruction: in long mode it has some thirty registers, and instructions with many accesses are
// a line for each round.
const mostLines = 256

// instruction adds the unit that begins with a line, and returns where the next does, or a negative number if that is not known
// yet.
func (d *decoder) instruction(b *itrace.Batch, line []byte, next int, last bool) (end int) {
	end, seen := next, d.seen
	for range mostLines {
		line, after := b.Peek(end, last)
		if after < 0 && !last {
			return -1
		}
		kind := kindOf(line)
		if kind == isOther || after < 0 {
			break
		}
		if kind == isAccess {
			seen |= seenAccesses
		} else {
			seen |= seenRegisters
		}
		end = after
	}
	r := b.Add(itrace.Instruction)
	l := scan.Line{Text: line}
	if parse(&l, r); l.Problem != nil {
		r.Kind, r.Problem = itrace.Unknown, l.Problem
		return next // what belongs to it are remarks
	}
	d.seen = seen
	r.Scope = d.scope()
	u := unit{cpu: r.CPU, time: r.Time}
	for next < end {
		line, after := b.Line(next, last)
		if problem := d.effect(b, line, &u); problem != nil {
			b.Fail(problem)
		}
		next = after
	}
	return end
}

// scope is what is told of an instruction.
func (d *decoder) scope() itrace.Scope {
	s := itrace.NoMode
	if d.seen&seenRegisters == 0 {
		s |= itrace.NoRegisters | itrace.NoSystem
	} else {
		s |= itrace.OnlyChanges
	}
	if d.seen&seenAccesses == 0 {
		s |= itrace.NoLoads | itrace.NoLoaded | itrace.NoStores | itrace.NoStored
	}
	return s
}

// contextEnd is behind the symbol, which may have parentheses itself.
var contextEnd = []byte("): ")

// parse reads the line of an instruction.
func parse(l *scan.Line, r *itrace.Record) {
	l.Expect("(", "a processor in parentheses")
	cpu := l.Decimal("the number of a processor")
	if cpu > math.MaxInt32 {
		l.Fail(1, "the number of a processor")
	}
	l.Expect(").[", "ticks in brackets")
	r.CPU, r.Time, r.Scale = int32(cpu), l.Decimal("ticks"), scale
	l.Expect("] [", "a physical address in brackets")
	r.Phys, r.AddrDigits = l.Address("0x", "0x and a physical address")
	r.Addr, r.HasPhys = r.Phys, true
	l.Expect("] ", `"]" and a blank`)
	l.Hex("a selector")
	l.Expect(":", "a colon and an offset")
	if offset, digits := l.Address("", "an offset"); len(digits) > realMode && offset%pageSize == r.Phys%pageSize {
		r.Addr, r.AddrDigits = offset, digits
	}
	l.Expect(" (", "a symbol in parentheses")
	end := bytes.Index(l.Rest(), contextEnd)
	if end < 0 {
		l.Fail(l.At, "a symbol in parentheses, and a colon")
		return
	}
	l.At += end + len(contextEnd)
	opcode := bytes.LastIndexByte(l.Rest(), ';')
	if opcode < 0 {
		l.Fail(l.At, "an instruction, a semicolon and its bytes")
		return
	}
	r.Disasm = bytes.TrimRight(l.Rest()[:opcode], " ")
	l.At += opcode
	l.Expect("; ", "a semicolon and bytes")
	r.Value, r.Digits = l.Hex("bytes in hexadecimal")
	if !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
}

const (
	realMode = 4 // digits of an offset
	pageSize = 1 << 12
)

// lineKind is what a line behind an instruction is.
type lineKind byte

const (
	isOther lineKind = iota
	isAccess
	isProcessor // ahead of registers
	isRegister
	isFlags
)

// kindOf is the kind of a line, which its first bytes tell.
func kindOf(line []byte) lineKind {
	l := scan.Line{Text: line}
	switch {
	case l.Accept("[CPU"):
		return isAccess
	case l.Accept("CPU") && digits(&l) && l.Accept(":") && l.Done():
		return isProcessor
	}
	if blank := bytes.IndexByte(line[:min(len(line), flagsName+1)], ' '); blank > 3 && bytes.HasPrefix(line[blank:], flagsAhead) {
		return isFlags
	}
	colon := bytes.Index(line[:min(len(line), registerName+len(registerEnd))], registerEnd)
	if colon > 1 && len(line) >= colon+len(registerEnd)+8 {
		return isRegister
	}
	return isOther
}

// The longest names of registers, and of the flags.
const (
	registerName = 3
	flagsName    = 8
)

var (
	registerEnd = []byte(": ")
	flagsAhead  = []byte(" 0x")
)

// unit is what effects of an instruction have in common.
type unit struct {
	cpu  int32
	time uint64
	// of the access that reads what the next writes
	modifies bool
	phys     uint64
	addr     uint64
	digits   []byte
}

// effect adds what is told in a line behind an instruction.
func (d *decoder) effect(b *itrace.Batch, line []byte, u *unit) *itrace.SyntaxError {
	l := scan.Line{Text: line}
	kind := kindOf(line)
	switch kind {
	case isAccess:
		return d.access(b, &l, u)
	case isRegister, isFlags:
	default:
		return nil
	}
	end := 0
	for line[end] != ':' && line[end] != ' ' {
		end++
	}
	name := line[:end]
	l.At = end
	l.Blanks()
	l.Accept(":")
	l.Blanks()
	value, digits := d.number(&l, "_")
	if kind == isRegister {
		l.End()
	}
	if l.Problem != nil {
		return l.Problem
	}
	if string(name) == string(pc) || string(name) == string(pcOf32Bits) || d.held.Unchanged(u.cpu, name, value) {
		return nil
	}
	r := b.Add(itrace.Register)
	r.CPU, r.Time, r.Scale = u.cpu, u.time, scale
	r.Name, r.Value, r.Digits, r.System = name, value, digits, kind == isFlags
	return nil
}

// number reads hexadecimal digits in one or more groups, each with 0x or not, and what is between them.
func (d *decoder) number(l *scan.Line, between string) (value uint64, digits []byte) {
	from := len(d.room)
	for {
		l.Accept("0x")
		v, group := l.Hex("hexadecimal digits")
		if !l.Accept(between) {
			if len(d.room) == from {
				return v, group
			}
			d.room = append(d.room, group...)
			digits = d.room[from:len(d.room):len(d.room)]
			value = scan.Value(digits)
			return value, digits
		}
		d.room = append(d.room, group...)
	}
}

// access adds an access to memory, or a remark if it is one that no instruction asked for.
func (d *decoder) access(b *itrace.Batch, l *scan.Line, u *unit) *itrace.SyntaxError {
	l.Expect("[CPU", "a processor in brackets")
	l.Decimal("the number of a processor")
	l.Expect(" ", "a blank")
	start := l.At
	for l.Peek() >= 'A' && l.Peek() <= 'Z' {
		l.At++
	}
	kind := l.Text[start:l.At]
	l.Expect("]: ", `"]:" and a blank`)
	var addr uint64
	var digits []byte
	if l.Accept("LIN ") {
		addr, digits = l.Address("0x", "0x and a linear address")
		l.Expect(" ", "a blank")
	}
	l.Expect("PHY ", "PHY and a physical address")
	phys, _ := l.Address("0x", "0x and a physical address")
	l.Expect(" (len=", "a size")
	at := l.At
	size := l.Decimal("a size in bytes")
	if size == 0 || size > mostBytes {
		l.Fail(at, "a size in bytes")
	}
	l.Expect(", ", "a type of memory")
	l.Word("a type of memory")
	l.Accept(":")
	l.Blanks()
	value, data := d.number(l, " ")
	use := l.Accept("\t; ")
	if !use && !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
	if l.Problem != nil {
		return l.Problem
	}
	modifies, read, write := u.modifies, false, false
	u.modifies = false
	switch string(kind) {
	case "RD", "SR":
		read = true
	case "WR", "SW":
		write = true
	case "RW", "SRW":
		u.modifies = true
	}
	switch {
	case write && len(digits) == 0 && modifies && u.phys == phys:
		addr, digits = u.addr, u.digits
	case use || len(digits) == 0 || !write && !u.modifies && !read:
		b.Add(itrace.Remark)
		return nil
	}
	u.phys, u.addr, u.digits = phys, addr, digits
	m := b.Add(itrace.Memory)
	m.CPU, m.Time, m.Scale = u.cpu, u.time, scale
	m.Addr, m.AddrDigits, m.Size, m.Write = addr, digits, uint32(size), write
	m.Phys, m.HasPhys, m.Value, m.Digits = phys, true, value, data
	return nil
}

// mostBytes is how many an access may have.
const mostBytes = 1 << 16

// remarks are the beginnings of what the debugger prints besides.
var remarks = [][]byte{
	[]byte("Next at t="), []byte("Tracing "), []byte("Memory-Tracing "), []byte("Register-Tracing "), []byte("<bochs"),
	[]byte("====="), []byte("Please choose "), []byte("Bochs is exiting"),
	[]byte("CPU "),
}

// isRemark reports whether a line is one that says nothing of what was executed, or of an instruction that cannot be read.
func isRemark(line []byte) bool {
	if kindOf(line) != isOther {
		return true
	}
	for _, beginning := range remarks {
		if bytes.HasPrefix(line, beginning) {
			return true
		}
	}
	l := scan.Line{Text: line}
	if l.Accept("(") {
		return digits(&l) && l.Accept(") ")
	}
	// Bochs' log: "00031210305i[CPU0  ] …".
	return digits(&l) && l.At > 10 && len(l.Rest()) > 1 && l.Rest()[1] == '['
}
