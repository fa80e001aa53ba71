// Package picorv32 is what showtrace.py, the script of PicoRV32, makes of the words that this core traces and of its program: a
// line for each word,
//
//	( "IRQ" | "   " ) " " ( "=" | "@" | ">" ) HEX8 " | " PC8 " | " OPCODE " | " TEXT
//	( "IRQ" | "   " ) " " ( "=" | "@" | ">" ) HEX8 " ** NO INFORMATION ON INSN AT " PC8 "! **"
//	( "IRQ" | "   " ) " " ( "=" | "@" | ">" ) HEX8 " ** " text " **"
//
//	    =00000001 | 8000016c | 00100313 | li t1,1
//	    >8000017c | 80000104 | 078000ef | jal 8000017c <sort_bytes>
//	    @80001000 | 80000170 | 0062a023 | sw t1,0(t0)
//	    =00000001 | 80000170 | 0062a023 | sw t1,0(t0)
//
// All numbers are hexadecimal in lower case; OPCODE has eight digits, or four behind four blanks. IRQ is there while an interrupt
// is handled. The word of an instruction is = and its result, or > and where it jumped to; a load or a store has two, @ and its
// address, and = and what it loaded, extended to 32 bits, or the register that it stored. The result is that of the register that
// the opcode names; of a branch that was not taken, and of register 0, it means nothing. What a jump links to is not told, nor is
// what instructions write that the core does not define. Digits that the core did not know the script writes as 0.
//
// Modes and exceptions are not told. That the core has begun to handle an interrupt is an event ahead of the first instruction with
// IRQ. The script takes its handler to be at 0x10, and begins at the first jump: the first instructions are remarks, as is
// what it cannot find a place for. An instruction in front of such lines says that some are missing behind it. One that is not in
// the program has a pc and nothing else.
package picorv32

import (
	"bytes"

	"tracewell/arch/riscv"
	"tracewell/itrace"
	names "tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of PicoRV32's script.
var Dialect = &itrace.Dialect{
	Name:  "picorv32",
	Title: "PicoRV32's showtrace.py",
	New:   func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why: func([]byte) string {
		return "words of PicoRV32 marked =, @ or >, with pcs, opcodes and instructions, as showtrace.py writes them"
	},
}

// decoder is the Decoder of PicoRV32's script. Its units are an instruction with all its words, and any other line; the line behind
// an instruction is looked at, too.
type decoder struct{ handling bool } // an interrupt

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	if d.handling {
		dst = append(dst, 1)
	}
	return dst
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	d.handling = len(state) > 0
	if len(state) > 1 || len(state) == 1 && state[0] != 1 {
		return itrace.ErrState
	}
	return nil
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) int {
	return b.Units(d, last)
}

// word is a line.
type word struct {
	kind     byte   // =, @ or >
	handling bool   // IRQ
	payload  []byte // digits
	value    uint64
	note     bool // there is no instruction, but perhaps its place
	at       int  // where that begins
	pc       uint64
	pcDigits []byte
	opcode   uint64
	digits   []byte // of the opcode
	text     []byte
}

const noInstruction = " ** NO INFORMATION ON INSN AT "

var noteEnd = []byte(" **")

// parse reads a line.
func parse(line []byte) (w word, problem *itrace.SyntaxError) {
	l := scan.Line{Text: line}
	if !l.Accept("    ") {
		l.Expect("IRQ ", "IRQ or blanks, and a word")
		w.handling = true
	}
	switch w.kind = l.Peek(); w.kind {
	case '=', '@', '>':
		l.At++
	default:
		l.Fail(l.At, "=, @ or >")
	}
	w.value, w.payload = number(&l, "eight hexadecimal digits")
	w.at = l.At
	switch {
	case l.Accept(" | "):
		w.pc, w.pcDigits = number(&l, "a pc of eight digits")
		l.Expect(" | ", `" | " and an opcode`)
		l.Accept("    ")
		w.opcode, w.digits = l.Hex("an opcode in hexadecimal")
		l.Expect(" | ", `" | " and an instruction`)
		w.text = l.Rest()
		l.At = len(line)
	case l.Accept(noInstruction):
		w.note = true
		w.pc, w.pcDigits = number(&l, "a pc of eight digits")
		l.Expect("! **", "! **")
	case l.Accept(" ** "):
		if w.note = true; !bytes.HasSuffix(line, noteEnd) {
			l.Fail(l.At, "a note that ends with **")
		}
		l.At = len(line)
	default:
		l.Fail(l.At, `" | " and a pc, or **`)
	}
	if !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
	return w, l.Problem
}

// number reads eight digits.
func number(l *scan.Line, expected string) (value uint64, digits []byte) {
	start := l.At
	value, digits = l.Hex(expected)
	if len(digits) != 8 {
		l.Fail(start, expected)
	}
	return value, digits
}

// Unit implements itrace.UnitReader.
func (d *decoder) Unit(b *itrace.Batch, line []byte, next int, last bool) int {
	w, problem := parse(line)
	if problem != nil {
		b.Fail(problem)
		return next
	}
	if w.note && len(w.pcDigits) == 0 {
		b.Add(itrace.Remark)
		return next
	}
	behind, after := b.Peek(next, last)
	if after < 0 && !last {
		return -1
	}
	// A load or store has its second word in the line behind.
	var second word
	end, whole := next, false
	if w.kind == '@' && after >= 0 {
		second, problem = parse(behind)
		whole = problem == nil && second.kind == '=' && !second.note && second.pc == w.pc
	}
	if whole {
		end = after
		if behind, after = b.Peek(end, last); after < 0 && !last {
			return -1
		}
	}
	gap := after >= 0 && isGap(behind)
	i := instructionOf(&w)
	if w.kind == '@' && !w.note && !i.load && !i.store {
		b.Fail(itrace.Mismatch(line, mark, "= or >, as this is no load and no store"))
		return next
	}
	if w.handling && !d.handling {
		e := b.Add(itrace.Event)
		e.Event, e.Name = itrace.Interrupt, irq
	}
	d.handling = w.handling
	r := b.Add(itrace.Instruction)
	r.Addr, r.AddrDigits, r.Value, r.Digits, r.Disasm, r.Scope = w.pc, w.pcDigits, w.opcode, w.digits, w.text, scope|i.untold
	switch {
	case w.note:
		r.Scope |= itrace.FlowOnly | itrace.Gaps
		return end
	case gap:
		r.Scope |= itrace.Gaps
	}
	result := &w
	if w.kind == '@' {
		m := b.Add(itrace.Memory)
		m.Addr, m.AddrDigits, m.Size, m.Write = w.value, w.payload, names.AccessSize(w.opcode), i.store
		if whole {
			m.Value, m.Digits = names.Accessed(second.value, second.payload, m.Size)
		}
		if !whole {
			return end
		}
		result = &second
		b.Line(next, last)
	}
	if result.kind == '=' && len(i.writes) > 0 {
		r := b.Add(itrace.Register)
		r.Name, r.Value, r.Digits = i.writes, result.value, result.payload
	}
	return end
}

var (
	irq      = []byte("IRQ")
	found    = []byte("** FOUND BRANCH ")
	skipping = []byte("** SKIPPING ")
)

// isGap reports whether a line has a word that the script had no place for.
func isGap(line []byte) bool {
	const behindWord = mark + len("=00000000 ")
	return len(line) > behindWord && (bytes.HasPrefix(line[behindWord:], found) || bytes.HasPrefix(line[behindWord:], skipping))
}

// mark is where a line says what its word is.
const mark = 4

// scope is what is told of all instructions.
const scope = itrace.NoMode | itrace.NoSystem | itrace.TellsEvents

// instruction is what an opcode says of its words.
type instruction struct {
	load, store bool
	writes      []byte       // the register that its result is of, nil for none
	untold      itrace.Scope // of what it does
}

// instructionOf decodes the opcode of a word.
func instructionOf(w *word) (i instruction) {
	const (
		loads, stores, branches  = 0x03, 0x23, 0x63
		linksTo, links           = 0x67, 0x6f
		immediate, pcRelative    = 0x13, 0x17
		registers, upper, system = 0x33, 0x37, 0x73
		fence, interrupts        = 0x0f, 0x0b
		setsQ, returns, timers   = 1, 2, 5
	)
	opcode := uint32(w.opcode)
	if names.IsCompressed(w.opcode) {
		var ok bool
		if opcode, ok = riscv.Expand(uint16(w.opcode), false); !ok {
			return instruction{untold: itrace.NoRegisters}
		}
	}
	destination := opcode >> 7 & 31
	switch opcode & 0x7f {
	case loads:
		if i.load = true; w.kind != '@' { // the beginning has been cut off
			i.untold = itrace.NoLoads | itrace.NoLoaded
		}
	case stores:
		if i.store = true; w.kind != '@' {
			i.untold = itrace.NoStores | itrace.NoStored
		}
		return i
	case branches, fence:
		return i
	case linksTo, links:
		if destination != 0 {
			i.untold = itrace.NoRegisters
		}
		return i
	case immediate, pcRelative, registers, upper, system:
	case interrupts:
		switch function := opcode >> 25; {
		case function == returns:
			return i
		case function == setsQ:
			i.writes = ofInterrupts[destination&3]
			return i
		case function > timers:
			i.untold = itrace.NoRegisters
			return i
		}
	default:
		i.untold = itrace.NoRegisters
		return i
	}
	if destination != 0 {
		i.writes = names.Name('x', uint64(destination))
	}
	return i
}

// ofInterrupts are the registers that only handlers of interrupts can reach.
var ofInterrupts = [...][]byte{{'q', '0'}, {'q', '1'}, {'q', '2'}, {'q', '3'}}
