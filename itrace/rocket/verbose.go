package rocket

import (
	"bytes"
	"math"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// cycle is a line of +verbose.
type cycle struct {
	hart            int32
	time            uint64
	valid, writes   bool
	pc, opcode      uint64
	digits          []byte // of the pc
	opDigits        []byte
	register        uint8 // that is written
	written         uint64
	writtenDigits   []byte
	disassemblyFrom int
}

// cycle reads a line of +verbose.
func (r *reader) cycle(b *itrace.Batch, l *scan.Line) {
	var c cycle
	if c.read(l); l.Problem != nil {
		return
	}
	// The counter has 32 bits: one that is far below that of the line before has begun anew.
	const half = 1 << 31
	c.time |= r.time &^ math.MaxUint32
	if c.time+half < r.time {
		c.time += 1 << 32
	}
	r.time = c.time
	if !c.valid && !r.trapped {
		r.idle(b, &c)
		return
	}
	i := b.Add(itrace.Instruction)
	i.CPU, i.Time, i.Addr, i.AddrDigits, i.Value, i.Digits = c.hart, c.time, c.pc, c.digits, c.opcode, c.opDigits
	i.Scope, i.Trapped = tells|itrace.NoMode, !c.valid
	if r.trapped {
		i.Scope |= itrace.TellsTrapped
	}
	if text := l.Text[c.disassemblyFrom:]; !bytes.HasPrefix(text, []byte("DASM(")) {
		i.Disasm = text
	}
	r.pass(c.hart)
	if i.Trapped {
		return
	}
	class, rd := c.destination()
	own := c.writes && (class == unknownClass || class == 'x' && rd == c.register)
	later := !own && c.mayBeLate() && (class != 'x' || rd != 0)
	if later {
		i.Scope |= itrace.NoRegisters
	}
	switch {
	case own:
		add(b, late{hart: c.hart, class: 'x', number: c.register}, c.written, c.writtenDigits).Time = c.time
	case c.writes: // by an instruction before
		r.writtenLate(b, &c)
	}
	if later && class != unknownClass {
		r.wait(c.hart, class, rd)
	}
}

// idle reads a line of no instruction. It may show what one before has written.
func (r *reader) idle(b *itrace.Batch, c *cycle) {
	if !r.writtenLate(b, c) {
		b.Add(itrace.Remark)
	}
}

// writtenLate adds what a line shows that is written by an earlier instruction, if it does.
func (r *reader) writtenLate(b *itrace.Batch, c *cycle) bool {
	if !c.writes {
		return false
	}
	o, waits := r.arrive(c.hart, 'x', c.register)
	if waits {
		add(b, o, c.written, c.writtenDigits).Time = c.time
	}
	return waits
}

// read reads a line up to the disassembly.
func (c *cycle) read(l *scan.Line) {
	if l.Accept("S") {
		l.Decimal("a number")
	}
	l.Expect("C", "C and the number of a hart")
	hart := l.Decimal("the number of a hart")
	if hart > math.MaxInt32 {
		l.Fail(l.At, "the number of a hart")
	}
	c.hart = int32(hart)
	l.Expect(":", `":"`)
	l.Blanks()
	c.time = l.Decimal("a cycle") & math.MaxUint32
	c.valid = bit(l, " [")
	l.Expect(" pc=[", "pc= and an address in brackets")
	c.pc, c.digits = l.Address("", "an address in hexadecimal")
	l.Expect("] W", "W and a register in brackets")
	c.register, c.written, c.writtenDigits = operand(l)
	c.writes = bit(l, "[")
	for range 2 {
		l.Expect(" R", "R and a register in brackets")
		operand(l)
	}
	l.Expect(" inst=[", "inst= and an opcode in brackets")
	c.opcode, c.opDigits = l.Hex("an opcode in hexadecimal")
	l.Expect("]", `"]"`)
	l.Blanks()
	c.disassemblyFrom = l.At
}

// bit reads 0 or 1 in brackets, behind a text.
func bit(l *scan.Line, before string) bool {
	l.Expect(before, "0 or 1 in brackets")
	is := l.Accept("1")
	if !is {
		l.Expect("0", "0 or 1")
	}
	l.Expect("]", `"]"`)
	return is
}

// operand reads "[r 3=000000007fff7fff]".
func operand(l *scan.Line) (register uint8, value uint64, digits []byte) {
	const mostRegister = 31
	l.Expect("[r", "r and a register in brackets")
	l.Blanks()
	at := l.At
	n := l.Decimal("the number of a register")
	if n > mostRegister {
		l.Fail(at, "the number of a register")
	}
	l.Expect("=", `"=" and a value`)
	value, digits = l.Hex("a value in hexadecimal")
	l.Expect("]", `"]"`)
	return uint8(n), value, digits
}

// The opcodes of instructions that may write their register later than others do.
const (
	opLoad      = 0x03
	opLoadFloat = 0x07
	opCustom0   = 0x0b
	opCustom1   = 0x2b
	opAtomic    = 0x2f
	opInteger   = 0x33
	opInteger32 = 0x3b
	opMulAdd    = 0x43 // the first of four
	opNMulAdd   = 0x4f // the last
	opCompute   = 0x53 // of floating point
	opCustom2   = 0x5b
	opCustom3   = 0x7b
)

// unknownClass is that of the register that a compressed instruction writes: whether it does the line tells by its number.
const unknownClass = '?'

// destination is the register that the instruction writes; class is 0 if it writes none.
func (c *cycle) destination() (class byte, number uint8) {
	if riscv.IsCompressed(c.opcode) {
		return unknownClass, c.register
	}
	return riscv.Destination(c.opcode)
}

// mayBeLate reports whether the instruction may write its register later than others do.
func (c *cycle) mayBeLate() bool {
	if riscv.IsCompressed(c.opcode) {
		return c.register != 0
	}
	const multiplication = 1 // funct7, also of divisions
	switch op := c.opcode & 0x7f; op {
	case opLoad, opLoadFloat, opAtomic, opCompute, opCustom0, opCustom1, opCustom2, opCustom3:
		return true
	case opInteger, opInteger32:
		return c.opcode>>25 == multiplication
	default:
		return op >= opMulAdd && op <= opNMulAdd
	}
}
