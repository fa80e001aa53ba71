package tracepoint

import (
	"bytes"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// A collector gathers what one frame is to hold. It is the world that the frame's agent expressions see.
//
// Performing an action only notes a block: registers and variables are taken at once, memory is put off. When the frame is
// called for, all noted memory is read in one batch, since on a remote target each read is a round trip, and then the blocks
// are written in the order in which the actions asked for them. Only what an expression computes with is read at once.
//
// Terms. The arena holds the bytes of memory blocks, one after the other. A block is settled once its memory was read; it
// then is as long as what could be read, and the arena has been closed up behind it.
//
// The arena is bounded by the size of the trace buffer, however much the actions ask for: what is noted beyond that is
// settled first, as it may turn out to be mostly unreadable, and then if still too much the frame cannot fit anyway.
type collector struct {
	engine   *Engine
	snapshot Snapshot

	registers []byte // of the R block
	static    []byte // of the S block
	hasStatic bool   // there is one
	blocks    []block
	settled   int // blocks whose memory was read
	arena     []byte
	noted     int  // bytes of the arena once it has grown for the blocks that are not settled
	overflow  bool // the frame cannot fit in the buffer

	reads []Read
	word  [8]byte // what Ref reads
	out   tfile.Builder
	bytes []byte // of the frame last made
}

// A block is one block of the frame, or several if its memory is too long for one. A string is memory that ends with its
// first zero byte, and limit is how long it may be at most; its first chunk is read with the batch, the rest, which few
// have, after it.
type block struct {
	kind     blockKind
	addr     arch.Addr
	offset   int // in the arena
	length   int
	limit    uint64
	variable trace.VariableNumber
	value    int64
}

type blockKind uint8

const (
	registerBlock blockKind = iota
	memoryBlock
	stringBlock
	variableBlock
)

// stringChunk is how much of a string is read at a time: more than most have, less than a page.
const stringChunk = 256

// begin makes ready for a frame, or for a condition, which records nothing.
func (c *collector) begin(s Snapshot) {
	c.snapshot = s
	c.blocks, c.reads = c.blocks[:0], c.reads[:0]
	c.arena = c.arena[:0]
	c.settled, c.noted, c.overflow = 0, 0, false
	c.hasStatic = false
}

// release lets go of the snapshot.
func (c *collector) release() { c.snapshot = nil }

// perform does one action of a tracepoint with that marker.
func (c *collector) perform(op *operation, marker Marker) error {
	switch op.Kind {
	case trace.CollectRegisters:
		c.noteRegisters()
	case trace.CollectMemory:
		return c.noteRelative(op)
	case trace.CollectExpression:
		return c.engine.machine.Run(op.program, c)
	case trace.CollectStatic:
		c.noteStatic(marker)
	}
	return nil
}

// noteStatic takes the static trace data, of which there is none away from markers. There is one S block in a frame.
func (c *collector) noteStatic(marker Marker) {
	if marker == nil || c.hasStatic {
		return
	}
	c.static, c.hasStatic = marker.AppendStatic(c.static[:0], c.snapshot), true
	c.static = c.static[:min(len(c.static), tfile.MaxBlock)]
}

// noteRegisters takes the whole register block: the file format has no way to say that some of it is missing, so the mask
// of the action is not looked at (gdbserver does the same). There is one R block in a frame. If the thread has no registers
// to give any more there is none.
func (c *collector) noteRegisters() {
	layout := &c.engine.layout
	if layout.RegisterBlock == 0 || slices.ContainsFunc(c.blocks, func(b block) bool { return b.kind == registerBlock }) {
		return
	}
	c.registers = slices.Grow(c.registers[:0], layout.RegisterBlock)[:layout.RegisterBlock]
	if c.snapshot.Registers(c.registers) != nil {
		return
	}
	pc := uint64(c.snapshot.PC())
	switch at := c.registers[layout.PCOffset:]; layout.PCSize {
	case 4:
		layout.Order.PutUint32(at, uint32(pc))
	case 8:
		layout.Order.PutUint64(at, pc)
	}
	c.blocks = append(c.blocks, block{kind: registerBlock})
}

// noteRelative does an M action, whose address may be relative to a register.
func (c *collector) noteRelative(op *operation) error {
	addr := op.Offset
	if op.Base != trace.Absolute {
		base, err := c.snapshot.Register(op.Base)
		if err != nil {
			return fmt.Errorf("memory at register %d plus %#x: %w", op.Base, op.Offset, err)
		}
		addr += base
	}
	if op.Length > 0 {
		c.TraceMemory(arch.Addr(addr), op.Length)
	}
	return nil
}

// TraceMemory is part of ax.Env.
func (c *collector) TraceMemory(addr arch.Addr, size uint64) {
	c.note(block{kind: memoryBlock, addr: addr}, size)
}

// TraceString is part of ax.Env.
func (c *collector) TraceString(addr arch.Addr, limit uint64) {
	c.note(block{kind: stringBlock, addr: addr, limit: limit}, min(limit, stringChunk))
}

// TraceVariable is part of ax.Env.
func (c *collector) TraceVariable(n uint16) {
	number := trace.VariableNumber(n)
	c.engine.mention(number)
	value, _ := c.engine.variable(number)
	c.blocks = append(c.blocks, block{kind: variableBlock, variable: number, value: value})
}

// note puts off a read of size bytes.
func (c *collector) note(b block, size uint64) {
	if size > uint64(c.engine.buffer.size-c.noted) {
		c.settle()
		room := c.engine.buffer.size - c.noted
		if room <= 0 {
			c.overflow = true
			return
		}
		size = min(size, uint64(room)) // all of it readable would leave no room for the header
	}
	b.offset, b.length = c.noted, int(size)
	c.noted += int(size)
	c.blocks = append(c.blocks, b)
}

// settle reads the memory of the blocks that are noted so far.
func (c *collector) settle() {
	filled := len(c.arena)
	c.arena = slices.Grow(c.arena, c.noted-filled)[:c.noted]
	c.reads = c.reads[:0]
	for _, b := range c.blocks[c.settled:] {
		if b.isMemory() {
			c.reads = append(c.reads, Read{Addr: b.addr, Dst: c.arena[b.offset : b.offset+b.length]})
		}
	}
	if len(c.reads) > 0 {
		c.snapshot.ReadBatch(c.reads)
	}
	c.closeUp(filled)
	c.settled = len(c.blocks)
	c.noted = len(c.arena)
}

func (b *block) isMemory() bool { return b.kind == memoryBlock || b.kind == stringBlock }

// closeUp shortens the blocks just read to what there was to read and moves them together from filled on.
func (c *collector) closeUp(filled int) {
	unread := c.reads
	for i := c.settled; i < len(c.blocks); i++ {
		b := &c.blocks[i]
		if !b.isMemory() {
			continue
		}
		data := unread[0].Dst[:unread[0].N]
		whole := unread[0].N == b.length
		unread = unread[1:]
		if end := bytes.IndexByte(data, 0); b.kind == stringBlock && end >= 0 {
			data, whole = data[:end+1], false
		}
		b.offset, b.length = filled, len(data)
		filled += copy(c.arena[filled:], data)
		if !whole {
			b.limit = 0 // a string ends here
		}
	}
	c.arena = c.arena[:filled]
}

// frame makes the frame of tracepoint n, valid until begin. It is errBufferFull for a frame larger than the buffer. Static
// trace data comes last, so that what is before it is a frame without.
func (c *collector) frame(n trace.Number) ([]byte, error) {
	c.settle()
	limit := c.engine.buffer.size
	c.out.Begin(c.bytes[:0], n)
	for i := range c.blocks {
		c.write(&c.blocks[i])
		if c.overflow || c.out.Len() > limit {
			return nil, errBufferFull
		}
	}
	if c.hasStatic {
		c.out.AppendStatic(c.static)
		if c.out.Len() > limit {
			return nil, errBufferFull
		}
	}
	c.bytes = c.out.Finish()
	return c.bytes, nil
}

// write appends a settled block to the frame. Memory of which nothing could be read has no block.
func (c *collector) write(b *block) {
	switch b.kind {
	case registerBlock:
		copy(c.out.Registers(len(c.registers)), c.registers)
	case variableBlock:
		c.out.Variable(b.variable, b.value)
	case memoryBlock:
		c.out.AppendMemory(b.addr, c.arena[b.offset:b.offset+b.length])
	case stringBlock:
		kept := len(c.arena)
		c.out.AppendMemory(b.addr, c.wholeString(b))
		c.arena = c.arena[:kept]
	}
}

// wholeString returns the bytes of a string, after reading what was longer than a chunk to the end of the arena.
func (c *collector) wholeString(b *block) []byte {
	if b.limit <= uint64(b.length) {
		return c.arena[b.offset : b.offset+b.length]
	}
	start := len(c.arena)
	c.arena = append(c.arena, c.arena[b.offset:b.offset+b.length]...)
	for end := false; !end; {
		length := len(c.arena) - start
		if length > c.engine.buffer.size {
			c.overflow = true
			break
		}
		size := int(min(b.limit-uint64(length), stringChunk))
		c.arena = slices.Grow(c.arena, size)
		chunk := c.arena[len(c.arena) : len(c.arena)+size]
		chunk, end = c.readString(b.addr+arch.Addr(length), chunk)
		c.arena = c.arena[:len(c.arena)+len(chunk)]
		end = end || uint64(len(c.arena)-start) == b.limit
	}
	return c.arena[start:]
}

// readString fills chunk from addr up to and including the first zero byte and returns what it filled, and whether that is
// all there is to read of the string.
func (c *collector) readString(addr arch.Addr, chunk []byte) (filled []byte, end bool) {
	n := c.snapshot.ReadMemory(addr, chunk)
	if zero := bytes.IndexByte(chunk[:n], 0); zero >= 0 {
		return chunk[:zero+1], true
	}
	return chunk[:n], n < len(chunk)
}
