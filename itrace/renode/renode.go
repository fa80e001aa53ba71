// Package renode is the text that Renode's execution tracer writes (CreateExecutionTracing, and the script that reads its binary
// files), of any processor; an instruction is a line by the mode, and behind it are lines of what the tracer tracks:
//
//	"0x" PC                                                                     PC
//	"0x" PC ": 0x" OPCODE [ " " TEXT ]                                          PCAndOpcode; TEXT by the script alone
//	"0x" PC ":   " OPCODE "  " TEXT [ " [" SYMBOL "]" ]                         Disassembly
//	"Couldn't disassemble opcode at PC 0x" PC
//	KIND " with address 0x" ADDR [ " => 0x" PHYSICAL ] [ ", value 0x" VALUE ]   TrackMemoryAccesses
//	"Vector configured to VL: 0x" VL ", VTYPE: 0x" VTYPE                        TrackVectorConfiguration
//	"Pre: " | "Post: " NAME ": 0x" VALUE { " | " NAME ": 0x" VALUE }            registers ahead of the instruction, and behind it
//	"AMO operands before - RD: …" | "AMO operands after - RD: …"
//
//	0x20400004: 0x1028293
//	0x20400000:   00000297  auipc t0, 0           [vinit (entry)]
//	MemoryWrite with address 0x80000FFC, value 0x2A
//
// Numbers are hexadecimal. KIND is MemoryRead, MemoryWrite, MemoryIORead or MemoryIOWrite; InsnFetch is a remark. The size of an
// access is not told, so that its data cannot be compared: with the option sizes=opcode it is that of the opcode, of RISC-V. Where
// there are two addresses the first is the virtual one. A configuration of vectors is writes of vl and vtype.
//
// Of registers the tracer tells what those hold that it was asked for; they are written where that has changed since it was told
// the last time, the first time all. What has changed at Pre is an effect of the instruction before. Whether accesses and registers
// are told is known from the instruction that has them. What can be told of operands of atomic instructions is a remark, as their
// accesses have lines of their own.
//
// Modes and exceptions are not told, and all is one processor, as each has a file of its own. Behind an instruction that cannot be
// disassembled the rest of its block is missing, which its record says. Opcodes alone, as by the mode Opcode, say nothing of where
// they were executed and are refused: lines of one number are addresses if, of some that follow each other, a third go on
// by less than 16 bytes.
//
// No line of these tests is from a run here: those of instructions are of Renode's documentation, the others by the grammar of its
// source.
package renode

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/held"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of Renode's execution tracer.
var Dialect = &itrace.Dialect{
	Name:  "renode",
	Title: "Renode's execution trace",
	Options: []itrace.Option{{Name: "sizes", Values: []string{"opcode", "none"},
		Help: "What tells the sizes of accesses: nothing, or opcodes, of the processors that exec-traces.md names."}},
	New: func(s itrace.Settings) itrace.Decoder { return &decoder{sized: s["sizes"] == "opcode"} },
	Why: why,
}

func why(head []byte) string {
	what := "addresses with 0x"
	if bytes.Contains(head, []byte(": 0x")) || bytes.Contains(head, []byte(":   ")) {
		what += " and opcodes"
	}
	if bytes.Contains(head, []byte(" with address 0x")) {
		what += ", with accesses to memory"
	}
	if bytes.Contains(head, []byte("\nPre: ")) || bytes.Contains(head, []byte("\nPost: ")) {
		what += ", with registers"
	}
	return what
}

// decoder is the Decoder of Renode's text. Its units are an instruction with all that is told of it, and any other line.
type decoder struct {
	sized bool // the option
	seen  seen
	held  held.Values
}

// seen is what a trace has had lines of.
type seen byte

const (
	seenAccesses seen = 1 << iota
	seenRegisters
	seenAddresses // lines of one number are addresses
	seenOpcodes   // they are opcodes
	allSeen       = 1<<iota - 1
)

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte { return d.held.AppendFlagged(dst, byte(d.seen)) }

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	flags, err := d.held.RestoreFlagged(state, byte(allSeen))
	d.seen = seen(flags)
	return err
}

// lineKind is what a line is.
type lineKind byte

const (
	isOther       lineKind = iota
	isInstruction          // 0x8000…
	isUnknown              // one that could not be disassembled
	isAccess
	isVector
	isAhead  // Pre
	isBehind // Post
	isRemark
)

// beginnings are those of the lines of each kind but those of instructions, of which most lines are. An access has one of several.
var beginnings = [...]struct {
	text []byte
	kind lineKind
}{
	{[]byte("Memory"), isAccess},
	{[]byte("Post: "), isBehind},
	{[]byte("Pre: "), isAhead},
	{[]byte("Vector configured to VL: "), isVector},
	{[]byte("Couldn't disassemble opcode at PC "), isUnknown},
	{[]byte("InsnFetch with address "), isRemark},
	{[]byte("AMO operands "), isRemark},
}

// kindOf returns the kind of a line, and where what it says begins.
func kindOf(line []byte) (kind lineKind, at int) {
	if len(line) > 1 && line[0] == '0' && line[1] == 'x' {
		return isInstruction, len("0x")
	}
	for i := range beginnings {
		if b := &beginnings[i]; len(line) > 0 && line[0] == b.text[0] && bytes.HasPrefix(line, b.text) {
			return b.kind, len(b.text)
		}
	}
	return isOther, 0
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) (n int) {
	for !b.Full() {
		line, next := b.Line(n, last)
		if next < 0 {
			break
		}
		switch kind, _ := kindOf(line); {
		case len(line) == 0:
		case kind == isInstruction || kind == isUnknown:
			if next = d.instruction(b, line, n, next, last); next < 0 {
				return n
			}
		case kind == isOther:
			b.Fail(itrace.Mismatch(line, 0, "0x and an address, or what an instruction did"))
		default:
			b.Add(itrace.Remark) // of an instruction that the trace lacks
		}
		n = next
	}
	return n
}

// mostLines bounds the lines of an instruction: one of vectors has an access for each element.
const mostLines = 1 << 10

// instruction adds the unit that begins with a line at a place, and returns where the next does, or a negative number if that is
// not known yet.
func (d *decoder) instruction(b *itrace.Batch, line []byte, at, next int, last bool) (end int) {
	if d.seen&(seenAddresses|seenOpcodes) == 0 && alone(line) {
		kind := guess(b, at, last)
		if kind == 0 {
			return -1
		}
		d.seen |= kind
		b.Line(at, last)
	}
	end, seen, ahead := next, d.seen, false
	for range mostLines {
		line, after := b.Peek(end, last)
		if after < 0 && !last {
			return -1
		}
		kind, _ := kindOf(line)
		if kind < isAccess || after < 0 {
			break
		}
		switch kind {
		case isAccess:
			seen |= seenAccesses
		case isAhead, isBehind:
			seen |= seenRegisters
		}
		ahead, end = ahead || kind == isAhead, after
	}
	if ahead {
		d.seen |= seenRegisters // what they hold is kept even if the instruction cannot be read
		d.effects(b, next, end, last, 0, true)
		b.Line(at, last)
	}
	kind, from := kindOf(line)
	r := b.Add(itrace.Instruction)
	if problem := d.parse(line, kind, from, r); problem != nil {
		r.Kind, r.Problem = itrace.Unknown, problem
		return next // what belongs to it are remarks
	}
	d.seen = seen
	size := uint32(0)
	if d.sized {
		size = riscv.AccessSize(r.Value)
	}
	if r.Scope |= d.scope(); size == 0 {
		r.Scope |= itrace.NoLoaded | itrace.NoStored
	}
	d.effects(b, next, end, last, size, false)
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

// alone reports whether a line is one number.
func alone(line []byte) bool { return len(line) > 2 && scan.HexEnd(line, 2) == len(line) }

const (
	enough     = 16 // lines of one number, to know what they are
	mostLooked = 1 << 12
	longest    = 15 // bytes of an instruction
	few        = 3  // steps, which say nothing
)

// guess says what lines of one number are, from a place on: whether enough of them follow each other as instructions do. It is 0 if
// there are too few yet. Numbers that are the same again are loops of one instruction, or the same instruction again.
func guess(b *itrace.Batch, at int, last bool) seen {
	numbers, steps, short := 0, 0, 0
	before := uint64(0)
	for range mostLooked {
		line, next := b.Line(at, last)
		if next < 0 {
			if !last {
				return 0
			}
			break
		}
		at = next
		if kind, _ := kindOf(line); kind != isInstruction || !alone(line) {
			continue
		}
		number, _ := itrace.ParseHex(line[2:])
		if numbers > 0 && number != before {
			steps++
			if number-before <= longest {
				short++
			}
		}
		before = number
		if numbers++; numbers == enough {
			break
		}
	}
	if steps > few && 3*short < steps {
		return seenOpcodes
	}
	return seenAddresses
}

// parse reads the line of an instruction, whose text begins with what its kind does, up to a place.
func (d *decoder) parse(line []byte, kind lineKind, from int, r *itrace.Record) *itrace.SyntaxError {
	if d.seen&seenOpcodes != 0 && alone(line) {
		return itrace.Mismatch(line, 0, "an address with an opcode; opcodes alone do not tell where they were executed")
	}
	l := scan.Line{Text: line}
	if kind == isUnknown {
		l.At, r.Scope = from, itrace.Gaps
	}
	r.Addr, r.AddrDigits = l.Address("0x", "0x and an address")
	if l.Done() {
		r.Scope |= itrace.NoOpcode
		return l.Problem
	}
	l.Expect(":", "a colon and an opcode, or the end of the line")
	l.Blanks()
	l.Accept("0x")
	r.Value, r.Digits = l.Hex("an opcode in hexadecimal")
	l.End()
	l.Blanks()
	r.Disasm = withoutSymbol(line, l.At)
	return l.Problem
}

var (
	entry   = []byte(" (entry)]")
	guessed = []byte(" (guessed)]")
	opening = []byte(" [")
)

// disassembly is how wide that is made in front of a symbol.
const disassembly = 60

// withoutSymbol is an instruction in words that begins at a place of a line, without the symbol behind it. That is known from
// operands in brackets by its column, or by how it ends.
func withoutSymbol(line []byte, at int) []byte {
	from := min(disassembly, len(line))
	if bytes.HasSuffix(line, entry) || bytes.HasSuffix(line, guessed) {
		from = 0
	}
	if from = max(from, at); len(line) > from && line[len(line)-1] == ']' {
		if symbol := bytes.Index(line[from:], opening); symbol >= 0 {
			return bytes.TrimRight(line[at:from+symbol], " ")
		}
	}
	return line[at:]
}

// effects adds what lines tell that stand behind an instruction: those of Pre, or all others.
func (d *decoder) effects(b *itrace.Batch, at, end int, last bool, size uint32, ahead bool) {
	for at < end {
		line, next := b.Line(at, last)
		kind, from := kindOf(line)
		l := scan.Line{Text: line, At: from}
		switch {
		case (kind == isAhead) != ahead:
		case kind == isAccess:
			access(b, &l, size)
		case kind == isVector:
			register(b, vl, &l)
			l.Expect(", VTYPE: ", "a comma and VTYPE")
			register(b, vtype, &l)
		case kind == isAhead || kind == isBehind:
			d.registers(b, &l)
		default:
			b.Add(itrace.Remark)
		}
		if l.Problem != nil {
			b.Fail(l.Problem)
		}
		at = next
	}
}

var vl, vtype = []byte("vl"), []byte("vtype")

// access reads "Read with address 0x80000FFC, value 0x2A" behind "Memory".
func access(b *itrace.Batch, l *scan.Line, size uint32) {
	start := l.At
	l.Accept("IO")
	write := l.Accept("Write")
	if !write && !l.Accept("Read") {
		l.Fail(start, "Read or Write")
	}
	l.Expect(" with address ", `"with address"`)
	addr, digits := l.Address("0x", "0x and an address")
	phys, translated := addr, l.Accept(" => ")
	if translated {
		phys, _ = l.Address("0x", "0x and a physical address")
	}
	var value uint64
	var data []byte
	if !l.Done() {
		l.Expect(", value ", "a comma and a value")
		value, data = l.ZeroX("0x and a value")
		end(l)
	}
	if l.Problem != nil {
		return
	}
	m := b.Add(itrace.Memory)
	m.Addr, m.AddrDigits, m.Phys, m.HasPhys, m.Write = addr, digits, phys, translated, write
	m.Value, m.Digits = value, data
	if size == 0 || itrace.DigitsFit(data, size) { // a page's entries have another
		m.Size = size
	}
}

// register reads the value of a register of control and status.
func register(b *itrace.Batch, name []byte, l *scan.Line) {
	value, digits := l.ZeroX("0x and a value")
	if l.Problem != nil {
		return
	}
	r := b.Add(itrace.Register)
	r.Name, r.Value, r.Digits, r.System = name, value, digits, true
}

// registers reads "x1: 0x80000000 | x2: 0x0", and adds those that have changed.
func (d *decoder) registers(b *itrace.Batch, l *scan.Line) {
	for {
		start := l.At
		for l.Peek() > ' ' && l.Peek() != ':' {
			l.At++
		}
		name := l.Text[start:l.At]
		if len(name) == 0 {
			l.Fail(start, "the name of a register")
		}
		l.Expect(": ", "a colon and a value")
		value, digits := l.ZeroX("0x and a value")
		more := l.Accept(" | ")
		if !more {
			end(l)
		}
		if l.Problem != nil {
			return
		}
		if !d.held.Unchanged(0, name, held.Bits(digits)) {
			r := b.Add(itrace.Register)
			r.Name, r.Value, r.Digits = name, value, digits
		}
		if !more {
			return
		}
	}
}

// end makes sure that the line ends.
func end(l *scan.Line) {
	if !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
}
