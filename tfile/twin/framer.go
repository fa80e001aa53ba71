package twin

import (
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
		c.fail("another number than 0, which would end the file")
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
	n := len(f.bytes) - frameHead
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
		c.failure(fmt.Sprintf("%d bytes of registers in a frame, expected %d at most; raw has more", f.implied, maxImplied))
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
		c.fail("a register of the target description that lies in the block, +OFFSET, or the next block")
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
			c.fail(fmt.Sprintf("a number of %d bytes at most, in hexadecimal digits", len(slot)))
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
		c.failure(fmt.Sprintf("%d bytes at offset %d, expected %d at most, to the end of the block", len(f.scratch), offset, n))
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

// take takes the bytes of the rest of the line. A block that is full goes on in another one.
func (f *framer) take(c *cursor) {
	if f.block == blockRaw {
		before := len(f.bytes)
		f.bytes = c.bytes(f.bytes)
		f.next += uint64(len(f.bytes) - before)
		return
	}
	f.scratch = c.bytes(f.scratch[:0])
	for left := f.scratch; len(left) > 0; {
		room := tfile.MaxBlock - (len(f.bytes) - f.start)
		if room == 0 {
			f.beginBytes(f.block)
			room = tfile.MaxBlock
		}
		n := min(room, len(left))
		f.bytes = append(f.bytes, left[:n]...)
		f.next += uint64(n)
		left = left[n:]
		f.order.PutUint16(f.bytes[f.start-2:], uint16(len(f.bytes)-f.start))
	}
}

func (f *framer) variable(c *cursor) {
	var n int32
	if first := c.peek(); first == '$' || first == '"' {
		name := c.variableName()
		var known bool
		if n, known = f.numbers[name]; !known {
			c.fail("a variable that is defined, and once only, or a number")
		}
	} else {
		n = int32(c.signed("the number or the name of a variable", math.MinInt32, math.MaxInt32))
	}
	c.literal("=")
	value := c.signed("a value", math.MinInt64, math.MaxInt64)
	f.bytes = append(f.bytes, byte(tfile.BlockVariable))
	f.bytes = f.order.AppendUint32(f.bytes, uint32(n))
	f.bytes = f.order.AppendUint64(f.bytes, uint64(value))
	f.block = tfile.BlockVariable
}
