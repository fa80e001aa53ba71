package tracetext

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"tracewell/tfile"
)

// A framer makes the bytes of frames of their statements.
type framer struct {
	setup
	finished func(frame []byte) error // takes a whole frame

	bytes   []byte // of the frame that is being made; none if none is
	block   tfile.BlockKind
	start   int    // of what the block carries, in bytes
	next    uint64 // M: address of the byte that comes next; S and raw: how many there were
	implied int    // bytes of R blocks so far
	scratch []byte // what the line at hand stands for
}

// blockRaw stands for bytes that make no block.
const blockRaw tfile.BlockKind = '?'

// frameStatements are the statements that begin a block.
var frameStatements = map[string]func(*framer, *cursor){
	"registers": (*framer).beginRegisters,
	"memory":    (*framer).beginMemory,
	"variable":  (*framer).variable,
	"static":    (*framer).beginStatic,
	"raw":       (*framer).beginRaw,
}

// begin begins a frame, of which the statement has the rest.
func (f *framer) begin(c *cursor) error {
	c.literal("of", "tracepoint")
	n := c.signed("the number of a tracepoint", math.MinInt16, math.MaxInt16)
	if n == 0 {
		c.fail("a number other than 0, which would end the file")
	}
	f.bytes = f.order.AppendUint16(f.bytes[:0], uint16(n))
	f.bytes = f.order.AppendUint32(f.bytes, 0)
	f.block, f.implied = 0, 0
	return c.end()
}

// statement takes a statement in a frame, of which word is the first word.
func (f *framer) statement(word []byte, c *cursor) error {
	begin := frameStatements[string(word)]
	switch {
	case begin != nil && len(f.bytes) == 0:
		c.fail("frame or end")
	case begin != nil:
		begin(f, c)
	case f.block == tfile.BlockRegisters && word[0] == '+':
		f.nameless(word, c)
	case f.block == tfile.BlockRegisters:
		f.register(word, c)
	case f.block == tfile.BlockMemory, f.block == tfile.BlockStatic, f.block == blockRaw:
		f.row(word, c)
	default:
		c.fail("registers, memory, variable, static, raw, frame or end")
	}
	return c.end()
}

// finish completes the frame that is being made, if there is one.
func (f *framer) finish() error {
	if len(f.bytes) == 0 {
		return nil
	}
	n := len(f.bytes) - tfile.FrameHeader
	if n > math.MaxUint32 {
		return fmt.Errorf("a frame of %d bytes, of which a trace file can hold %d", n, math.MaxUint32)
	}
	f.order.PutUint32(f.bytes[2:], uint32(n))
	err := f.finished(f.bytes)
	f.bytes = f.bytes[:0]
	return err
}

func (f *framer) beginRegisters(c *cursor) {
	if f.size == 0 {
		c.failure("the size of a register block is not known, expected register-size among the definitions")
		return
	}
	if f.implied += f.size; f.implied > maxImplied {
		c.failure(fmt.Sprintf("found %d bytes of registers in a frame, expected at most %d; as raw bytes there may be more",
			f.implied, maxImplied))
		return
	}
	f.bytes = append(f.bytes, byte(tfile.BlockRegisters))
	f.block, f.start = tfile.BlockRegisters, len(f.bytes)
	f.bytes = slices.Grow(f.bytes, f.size)[:f.start+f.size]
	clear(f.bytes[f.start:])
}

// register takes the value of a register: a number behind 0x, or its bytes as they lie in the block.
func (f *framer) register(word []byte, c *cursor) {
	r, known := f.registers.byName[string(word)]
	if !known {
		c.fail("a register that the target description has in the block, +OFFSET, or the next block")
		return
	}
	slot := f.bytes[f.start+r.offset:][:r.size]
	value := *c
	if number := value.next(); len(number) > 2 && number[0] == '0' && number[1] == 'x' {
		*c = value
		f.number(number[2:], slot, c)
		return
	}
	f.scratch = c.bytes(f.scratch[:0])
	if copy(slot, f.scratch); len(f.scratch) != r.size {
		c.failure(fmt.Sprintf("found %d bytes, expected the %d of the register or a number behind 0x", len(f.scratch), r.size))
	}
}

// number puts a number, of which digits are the hexadecimal digits, in a slot.
func (f *framer) number(digits, slot []byte, c *cursor) {
	clear(slot)
	for i := range digits {
		digit := digitValues[digits[len(digits)-1-i]]
		at := i / 2
		if digit == notDigit || at >= len(slot) {
			c.fail(fmt.Sprintf("a number of at most %d bytes", len(slot)))
			return
		}
		if f.bigEndian {
			at = len(slot) - 1 - at
		}
		slot[at] |= digit << (i % 2 * 4)
	}
}

// nameless takes bytes of the register block from an offset on.
func (f *framer) nameless(word []byte, c *cursor) {
	offset, ok := parseNumber(word[1:])
	if !ok || offset >= uint64(f.size) {
		c.fail(fmt.Sprintf("an offset in a block of %d bytes", f.size))
		return
	}
	f.scratch = c.bytes(f.scratch[:0])
	if n := copy(f.bytes[f.start+int(offset):], f.scratch); n < len(f.scratch) {
		c.failure(fmt.Sprintf("found %d bytes at offset %d, expected at most the %d to the end of the block",
			len(f.scratch), offset, n))
	}
}

func (f *framer) beginMemory(c *cursor) {
	f.next = c.unsigned("an address", math.MaxUint64)
	f.beginBytes(tfile.BlockMemory)
	f.take(c)
}

func (f *framer) beginStatic(c *cursor) {
	f.next = 0
	f.beginBytes(tfile.BlockStatic)
	f.takeAt(c)
}

func (f *framer) beginRaw(c *cursor) {
	f.next = 0
	f.beginBytes(blockRaw)
	f.takeAt(c)
}

// beginBytes begins a block of bytes that are told row by row.
func (f *framer) beginBytes(kind tfile.BlockKind) {
	f.block = kind
	if kind != blockRaw {
		f.bytes = append(f.bytes, byte(kind))
		if kind == tfile.BlockMemory {
			f.bytes = f.order.AppendUint64(f.bytes, f.next)
		}
		f.bytes = f.order.AppendUint16(f.bytes, 0)
	}
	f.start = len(f.bytes)
}

// row takes a further row of bytes, behind its place.
func (f *framer) row(word []byte, c *cursor) {
	if !f.place(word) {
		c.fail(f.placeName() + ", where the bytes above end, or the next block")
		return
	}
	f.take(c)
}

// takeAt takes bytes that may stand behind their place.
func (f *framer) takeAt(c *cursor) {
	if c.peek() == '+' && !f.place(c.next()) {
		c.fail(f.placeName())
		return
	}
	f.take(c)
}

// place reports whether word is the place of the byte that comes next.
func (f *framer) place(word []byte) bool {
	if f.block != tfile.BlockMemory {
		if word[0] != '+' {
			return false
		}
		word = word[1:]
	}
	n, ok := parseNumber(word)
	return ok && n == f.next
}

func (f *framer) placeName() string {
	if f.block == tfile.BlockMemory {
		return fmt.Sprintf("%#x", f.next)
	}
	return fmt.Sprintf("+%#x", f.next)
}

// take takes the bytes of the rest of the line.
func (f *framer) take(c *cursor) {
	f.grow(len(c.text))
	before := len(f.bytes)
	f.bytes = c.bytes(f.bytes)
	f.next += uint64(len(f.bytes) - before)
	if f.block != blockRaw {
		f.split()
	}
}

// split puts the length of a block ahead of it and what it has no room for in blocks of the same kind behind it.
func (f *framer) split() {
	n := len(f.bytes) - f.start
	if n <= tfile.MaxBlock {
		f.order.PutUint16(f.bytes[f.start-2:], uint16(n))
		return
	}
	left := bytes.Clone(f.bytes[f.start+tfile.MaxBlock:])
	f.bytes = f.bytes[:f.start+tfile.MaxBlock]
	f.order.PutUint16(f.bytes[f.start-2:], tfile.MaxBlock)
	for f.next -= uint64(len(left)); len(left) > 0; {
		part := left[:min(tfile.MaxBlock, len(left))]
		f.beginBytes(f.block)
		f.grow(len(part))
		f.bytes = append(f.bytes, part...)
		f.order.PutUint16(f.bytes[f.start-2:], uint16(len(part)))
		f.next += uint64(len(part))
		left = left[len(part):]
	}
}

// grow makes room for n bytes and more. It doubles what there is, since to grow in smaller steps is most of the work on a
// frame of many megabytes.
func (f *framer) grow(n int) {
	if cap(f.bytes)-len(f.bytes) < n {
		f.bytes = slices.Grow(f.bytes, max(n, len(f.bytes)))
	}
}

func (f *framer) variable(c *cursor) {
	n := f.variableNumber(c)
	c.literal("=")
	value := c.signed("a value", math.MinInt64, math.MaxInt64)
	f.bytes = append(f.bytes, byte(tfile.BlockVariable))
	f.bytes = f.order.AppendUint32(f.bytes, uint32(n))
	f.bytes = f.order.AppendUint64(f.bytes, uint64(value))
	f.block = tfile.BlockVariable
}

// variableNumber expects a variable, by its name behind a $ or by its number.
func (f *framer) variableNumber(c *cursor) int32 {
	if c.peek() != '$' {
		return int32(c.signed("a variable, $ and its name, or a number", math.MinInt32, math.MaxInt32))
	}
	n, known := f.numbers[string(c.next()[1:])]
	if !known {
		c.fail("a variable of which the definitions tell the number, and one only")
	}
	return n
}
