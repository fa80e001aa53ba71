package tfile

import (
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/trace"
)

// MaxBlock is the most bytes that one M or S block carries.
const MaxBlock = 0xffff

// Builder makes one frame at a time in the bytes of a trace file. It appends to a buffer and allocates only when that has
// no room. The slices that its methods return for the caller to fill are valid until the next method call.
type Builder struct {
	Order arch.ByteOrder

	buf   []byte
	start int // of the frame in buf
	last  int // of the block added last, from start
}

// Begin starts a frame of tracepoint n behind what is in buf, and forgets a frame that was not finished. It panics if a
// frame cannot carry the number, which the definition of a tracepoint has to see to: 0 would end the file, and one above
// trace.MaxNumber would come out as another.
func (b *Builder) Begin(buf []byte, n trace.Number) {
	if n < 1 || n > trace.MaxNumber {
		panic(fmt.Sprintf("tfile: frame of tracepoint %d, which is not from 1 to %d", n, trace.MaxNumber))
	}
	b.start = len(buf)
	buf = b.Order.AppendUint16(buf, uint16(n))
	b.buf = b.Order.AppendUint32(buf, 0)
}

// Len returns the length of the frame so far, header included: the place of the block that is added next.
func (b *Builder) Len() int { return len(b.buf) - b.start }

// Registers adds an R block and returns the size bytes to fill.
func (b *Builder) Registers(size int) []byte {
	b.block(BlockRegisters)
	return b.extend(size)
}

// Memory adds an M block for size bytes at addr, MaxBlock at most, and returns the bytes to fill. For a longer range call
// it again for what is left, or use AppendMemory.
func (b *Builder) Memory(addr arch.Addr, size int) []byte {
	size = min(size, MaxBlock)
	b.block(BlockMemory)
	b.buf = b.Order.AppendUint64(b.buf, uint64(addr))
	b.buf = b.Order.AppendUint16(b.buf, uint16(size))
	return b.extend(size)
}

// AppendMemory adds as many M blocks as it takes for all of p, which was found at addr.
func (b *Builder) AppendMemory(addr arch.Addr, p []byte) {
	for len(p) > 0 {
		n := copy(b.Memory(addr, len(p)), p)
		addr, p = addr+arch.Addr(n), p[n:]
	}
}

// ShrinkMemory cuts the M block added last to its first n bytes, for a read that came back short; to nothing at all if n is
// 0. No other block may have been added since.
func (b *Builder) ShrinkMemory(n int) { b.ShrinkMemoryAt(b.last, n) }

// ShrinkMemoryAt is ShrinkMemory for the M block at a place that Len returned before it was added. It moves what follows, so
// of several blocks the last must be shrunk first.
func (b *Builder) ShrinkMemoryAt(place, n int) {
	block := b.buf[b.start+place:]
	if block[0] != byte(BlockMemory) {
		panic(fmt.Sprintf("tfile: %c block at %d to be shrunk", block[0], place))
	}
	size := int(b.Order.Uint16(block[memoryHead-2:]))
	if n > size {
		panic(fmt.Sprintf("tfile: memory of %d bytes to be shrunk to %d", size, n))
	}
	b.Order.PutUint16(block[memoryHead-2:], uint16(n))
	keep := memoryHead + n
	if n == 0 {
		keep = 0
	}
	moved := copy(block[keep:], block[memoryHead+size:])
	b.buf = b.buf[:b.start+place+keep+moved]
}

// Variable adds a V block.
func (b *Builder) Variable(n trace.VariableNumber, value int64) {
	b.block(BlockVariable)
	b.buf = b.Order.AppendUint32(b.buf, uint32(n))
	b.buf = b.Order.AppendUint64(b.buf, uint64(value))
}

// AppendStatic adds as many S blocks as it takes for all of p, and one for an empty p.
func (b *Builder) AppendStatic(p []byte) {
	for more := true; more; more = len(p) > 0 {
		n := min(len(p), MaxBlock)
		b.block(BlockStatic)
		b.buf = b.Order.AppendUint16(b.buf, uint16(n))
		b.buf = append(b.buf, p[:n]...)
		p = p[n:]
	}
}

// Finish completes the frame and returns the buffer that Begin was given with the frame behind what was in it.
func (b *Builder) Finish() []byte {
	b.Order.PutUint32(b.buf[b.start+2:], uint32(b.Len()-FrameHeader))
	return b.buf
}

// block starts a block.
func (b *Builder) block(kind BlockKind) {
	b.last = b.Len()
	b.buf = append(b.buf, byte(kind))
}

// extend adds n bytes and returns them. They hold whatever the buffer held before.
func (b *Builder) extend(n int) []byte {
	at := len(b.buf)
	b.buf = slices.Grow(b.buf, n)[:at+n]
	return b.buf[at:]
}
