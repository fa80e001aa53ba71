package cva6

import (
	"bytes"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of CVA6.
var Dialect = &itrace.Dialect{
	Name:  "cva6",
	Title: "the traces of CVA6",
	New:   func(itrace.Settings) itrace.Decoder { return &decoder{} },
	Why:   why,
}

func why(head []byte) string {
	switch {
	case bytes.Contains(head, []byte("ns ")) && !bytes.Contains(head, []byte("core ")):
		return "lines of time, cycle, mode, pc and misprediction, as of instr_tracer"
	case !bytes.Contains(head, []byte("core ")):
		return "lines of cycle, pc, mode and opcode, as under Verilator"
	case bytes.Contains(head, []byte("DASM(")):
		return "commit lines behind opcodes in DASM(), as of rvfi_tracer"
	}
	return "commit lines without core behind disassembly, as of rvfi_tracer, and of Spike until 2020"
}

// decoder is the Decoder of CVA6. Its units are the two lines of an instruction, an exception with the line of its value, and any
// other line.
type decoder struct {
	narrow bool // registers have 32 bits
}

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	if d.narrow {
		return append(dst, 1)
	}
	return dst
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	d.narrow = len(state) > 0
	if len(state) > 1 || d.narrow && state[0] != 1 {
		return itrace.ErrState
	}
	return nil
}

// Decode implements itrace.Decoder.
func (d *decoder) Decode(b *itrace.Batch, _ []byte, last bool) int {
	return b.Units(d, last)
}

// tells is what rvfi_tracer tells of every instruction.
const tells = itrace.NoSystem | itrace.NoLoaded | itrace.TellsTrapped | itrace.TellsEvents

const (
	core      = "core"
	message   = "***"
	exception = " exception @ 0x"
	tracers   = "Exception @"
)

// Unit implements itrace.UnitReader.
func (d *decoder) Unit(b *itrace.Batch, line []byte, next int, last bool) int {
	l := scan.Line{Text: line}
	switch {
	case l.Accept(core):
		return d.committed(b, &l, next, last)
	case l.Accept(tracers):
		return d.traced(b, &l, next, last)
	case l.Accept(message):
		b.Add(itrace.Remark)
	case line[0] >= 'A' && line[0] <= 'Z':
		d.trap(b, &l)
	default:
		d.tracerLine(b, &l)
	}
	return next
}

// head is the first line of an instruction.
type head struct {
	interrupt bool
	hart      int32
	cycle     uint64
	commit
	text []byte
}

// commit is what both lines of an instruction begin with, behind the mode.
type commit struct {
	pc, opcode uint64
	pcDigits   []byte
	digits     []byte // of the opcode
	all        []byte // of which this was read
}

// read reads "0x0000000080000318 (0x00004185)".
func (c *commit) read(l *scan.Line) {
	start := l.At
	c.pc, c.pcDigits = l.Address("0x", "0x and an address")
	l.Expect(" (", "an opcode in parentheses")
	c.opcode, c.digits = l.ZeroX("0x and an opcode")
	l.Expect(")", `")"`)
	c.all = l.Text[start:l.At]
	l.End()
}

// readAgain is read in the second line, where the same usually stands as in the first, of which c is.
func (c *commit) readAgain(l *scan.Line) {
	if l.Problem != nil || !bytes.HasPrefix(l.Rest(), c.all) {
		c.read(l)
		return
	}
	l.At += len(c.all)
	l.End()
}

// read reads a line behind "core".
func (h *head) read(l *scan.Line) {
	l.Blanks()
	h.interrupt = l.Accept("INTERRUPT")
	l.Blanks()
	hart := l.Decimal("the number of a hart, or INTERRUPT")
	if hart > 1<<31-1 {
		l.Fail(l.At, "the number of a hart")
	}
	h.hart = int32(hart)
	l.Expect(": ", "a colon and a blank")
	h.commit.read(l)
	l.Blanks()
	if l.Accept("@ ") {
		h.cycle = l.Decimal("a cycle")
		l.Blanks()
	}
	if h.text = l.Rest(); bytes.HasPrefix(h.text, []byte("DASM(")) {
		h.text = nil
	}
}

// committed reads the two lines of an instruction.
func (d *decoder) committed(b *itrace.Batch, l *scan.Line, next int, last bool) int {
	var h head
	h.read(l)
	line, after := b.Peek(next, last)
	if after < 0 && !last {
		return -1
	}
	if l.Problem != nil {
		b.Fail(l.Problem)
		return next
	}
	if h.interrupt {
		e := b.Add(itrace.Event)
		e.CPU, e.Event, e.Name = h.hart, itrace.Interrupt, interruptName
	}
	c := scan.Line{Text: line}
	priv := c.Peek() - '0'
	mode := riscv.Mode(priv)
	c.At = min(1, len(line))
	c.Expect(" ", "a blank")
	body := h.commit
	if body.readAgain(&c); mode == nil || c.Problem != nil || body.pc != h.pc {
		if bytes.Contains(line, []byte(exception)) { // its own line tells it all
			b.Add(itrace.Remark)
			return next
		}
		l.Fail(len(l.Text), "a line that tells what the instruction did behind this one")
		b.Fail(l.Problem)
		return next
	}
	d.instruction(b, &h, &body, mode, &c, next, last)
	return after
}

// interruptName is what there is of the cause of an interrupt.
var interruptName = []byte("INTERRUPT")

// access is an access to memory that a line tells.
type access struct {
	addr, value uint64
	addrDigits  []byte
	digits      []byte // of the data, if they are told
}

// effects is what a line tells that an instruction did.
type effects struct {
	name     []byte // of a register
	value    uint64
	digits   []byte
	accesses [2]access
	n        int // of them
}

// read reads " x 3 0x00000001 mem 0x80001080".
func (e *effects) read(l *scan.Line) {
	for !l.Done() {
		l.At++
		at := l.At
		switch class := l.Peek(); {
		case l.Accept("mem "):
			if e.n == len(e.accesses) {
				l.Fail(at, "the end of the line")
				return
			}
			a := &e.accesses[e.n]
			a.addr, a.addrDigits = l.Address("0x", "0x and an address")
			if rest := l.Rest(); bytes.HasPrefix(rest, []byte(" 0x")) {
				l.At++
				a.value, a.digits = l.ZeroX("0x and data")
			}
			if l.Problem == nil {
				e.n++
			}
		case (class == 'x' || class == 'f') && e.n == 0 && e.name == nil:
			l.At++
			l.Blanks()
			if e.name = riscv.Name(class, l.Decimal("the number of a register")); e.name == nil {
				l.Fail(at, "a register")
				return
			}
			l.Expect(" ", "a blank")
			e.value, e.digits = l.ZeroX("0x and a value")
		default:
			l.Fail(at, "x or f with the number of a register, or mem")
		}
		l.End()
	}
}

// instruction adds an instruction with what it did.
func (d *decoder) instruction(b *itrace.Batch, h *head, body *commit, mode []byte, l *scan.Line, next int, last bool) {
	var e effects
	e.read(l)
	d.narrow = d.narrow || l.Problem == nil && len(e.name) > 0 && e.name[0] == 'x' && len(e.digits) <= 8
	i := b.Add(itrace.Instruction)
	i.CPU, i.Time, i.Mode, i.Disasm, i.Value, i.Digits = h.hart, h.cycle, mode, h.text, body.opcode, body.digits
	i.Addr, i.AddrDigits = d.address(body)
	i.Scope = tells
	loads, stores := riscv.Accesses(body.opcode)
	var told [2]bool // a load, a store
	for _, a := range e.accesses[:e.n] {
		if a.digits == nil {
			told[0] = true
		} else {
			told[1] = true
		}
	}
	if loads && !told[0] {
		i.Scope |= itrace.NoLoads
	}
	if stores && !told[1] {
		i.Scope |= itrace.NoStores | itrace.NoStored
	}
	atomic := loads && stores
	if atomic {
		i.Scope |= itrace.NoStored
	}
	b.Line(next, last)
	if e.digits != nil {
		x := b.Add(itrace.Register)
		x.CPU, x.Time, x.Name, x.Value, x.Digits = h.hart, h.cycle, e.name, e.value, e.digits
	}
	for k := range e.accesses[:e.n] {
		a := &e.accesses[k]
		m := b.Add(itrace.Memory)
		m.CPU, m.Time, m.Addr, m.AddrDigits, m.Write = h.hart, h.cycle, a.addr, a.addrDigits, a.digits != nil
		m.Size = riscv.AccessSize(body.opcode)
		if !m.Write || atomic {
			continue
		}
		if m.Size == 0 {
			m.Size = uint32(len(a.digits)+1) / 2
		}
		m.Value, m.Digits = riscv.Accessed(a.value, a.digits, m.Size)
	}
	if l.Problem != nil {
		b.Fail(l.Problem)
	}
}

// address is that of an instruction, without the sign that extends one of 32 bits.
func (d *decoder) address(c *commit) (uint64, []byte) {
	if d.narrow {
		return riscv.Accessed(c.pc, c.pcDigits, 4)
	}
	return c.pc, c.pcDigits
}

// trap reads "ILLEGAL_INSTR exception @ 0x000000008000007c (0x30002673)".
func (d *decoder) trap(b *itrace.Batch, l *scan.Line) {
	name := l.Word("a cause")
	l.Expect(exception, `core, or a cause and "exception @"`)
	l.At = max(l.At-len("0x"), 0)
	var c commit
	if l.Problem == nil {
		c.read(l)
	}
	if l.Problem == nil && !l.Done() {
		l.Fail(l.At, "the end of the line")
	}
	if l.Problem != nil {
		b.Fail(l.Problem)
		return
	}
	pc, digits := d.address(&c)
	i := b.Add(itrace.Instruction)
	i.Addr, i.AddrDigits, i.Value, i.Digits, i.Trapped = pc, digits, c.opcode, c.digits, true
	i.Scope = tells | itrace.NoMode
	e := b.Add(itrace.Event)
	e.Event, e.Name, e.Addr, e.AddrDigits = itrace.Exception, name, pc, digits
}
