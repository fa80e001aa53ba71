package tfile

import (
	"fmt"
	"iter"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/trace"
)

// Frame is a view of the bytes of one traceframe, which must not change while it is used.
//
// Its methods see the blocks up to the first one that cannot be read; nothing tells how long that is, so nothing behind it
// can be found. Check says whether there is such a one. (GDB 13.1 shows nothing at all of such a frame.)
type Frame struct {
	bytes        []byte // header included
	order        arch.ByteOrder
	registerSize int
	offset       int64 // of the header in the file
}

// BlockKind is the letter that begins a block.
type BlockKind byte

// The kinds of block.
const (
	BlockRegisters BlockKind = 'R'
	BlockMemory    BlockKind = 'M'
	BlockVariable  BlockKind = 'V'
	BlockStatic    BlockKind = 'S'
)

// The lengths of the blocks ahead of the bytes that they carry.
const (
	registersHead = 1
	memoryHead    = 1 + 8 + 2
	variableHead  = 1 + 4 + 8
	staticHead    = 1 + 2
)

// Block is one block of a frame. Which fields are set follows from the kind.
type Block struct {
	Kind   BlockKind
	Offset int    // of the block's letter from the start of the frame's header
	Bytes  []byte // R, M, S: what was collected, a view of the frame

	Addr  arch.Addr // M: of the first of Bytes
	Value int64     // V
	// Number of a V block has 32 bits in the file, though agent expressions can name only 16.
	Number int32
}

// heads are the lengths of the blocks ahead of the bytes that they carry, by the kind.
var heads = [256]int{
	BlockRegisters: registersHead, BlockMemory: memoryHead, BlockVariable: variableHead, BlockStatic: staticHead,
}

// End returns where the block ends, from the start of the frame's header.
func (b Block) End() int { return b.Offset + heads[b.Kind] + len(b.Bytes) }

// ParseFrame returns a view of the frame that b holds, header first and nothing behind it. registerSize is the length of
// an R block. The blocks are not looked at, which Check does; the error, a *FormatError, is that b is not one whole frame.
func ParseFrame(b []byte, order arch.ByteOrder, registerSize int) (Frame, error) {
	if len(b) < FrameHeader {
		return Frame{}, &FormatError{ErrTruncated, 0, fmt.Sprintf("%d bytes", len(b)), "a frame header of 6 bytes"}
	}
	length := int64(order.Uint32(b[2:]))
	if got := int64(len(b) - FrameHeader); got != length {
		kind := ErrTruncated
		if got > length {
			kind = ErrDamaged
		}
		return Frame{}, &FormatError{kind, 2, fmt.Sprintf("a length of %d", length), fmt.Sprintf("%d, as many bytes as follow", got)}
	}
	return Frame{bytes: b, order: order, registerSize: registerSize}, nil
}

// Bytes returns the whole frame, header included.
func (f Frame) Bytes() []byte { return f.bytes }

// Offset returns where the frame's header is in its file, 0 for a frame of ParseFrame.
func (f Frame) Offset() int64 { return f.offset }

// Len returns the length in bytes of the frame's data, its header not counted.
func (f Frame) Len() int { return max(len(f.bytes)-FrameHeader, 0) }

// Tracepoint returns the number of the tracepoint that made the frame.
func (f Frame) Tracepoint() trace.Number {
	return trace.Number(int16(f.order.Uint16(f.bytes)))
}

// Blocks yields the blocks in the order in which they were collected.
func (f Frame) Blocks() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for b, at := f.block(FrameHeader); at > 0; b, at = f.block(at) {
			if !yield(b) {
				return
			}
		}
	}
}

// block reads the block at offset at and returns the offset behind it, 0 where there is no block: at the end, or where
// the frame cannot be read further.
func (f Frame) block(at int) (b Block, next int) {
	if at >= len(f.bytes) {
		return Block{}, 0
	}
	rest := f.bytes[at:]
	head, length := f.shape(rest)
	if head == 0 || head+length > len(rest) {
		return Block{}, 0
	}
	b = Block{Kind: BlockKind(rest[0]), Offset: at}
	switch b.Kind {
	case BlockMemory:
		b.Addr = arch.Addr(f.order.Uint64(rest[1:]))
	case BlockVariable:
		b.Number = int32(f.order.Uint32(rest[1:]))
		b.Value = int64(f.order.Uint64(rest[5:]))
		return b, at + head
	}
	b.Bytes = rest[head : head+length : head+length]
	return b, at + head + length
}

// shape returns the length of the fixed part of the block that rest begins with, and of the bytes that it carries. The fixed
// part is 0 if the letter is none that has a known length; if rest is shorter than the fixed part the other is 0.
func (f Frame) shape(rest []byte) (head, length int) {
	switch BlockKind(rest[0]) {
	case BlockRegisters:
		if f.registerSize > 0 {
			return registersHead, f.registerSize
		}
	case BlockMemory:
		if len(rest) >= memoryHead {
			length = int(f.order.Uint16(rest[memoryHead-2:]))
		}
		return memoryHead, length
	case BlockVariable:
		return variableHead, 0
	case BlockStatic:
		if len(rest) >= staticHead {
			length = int(f.order.Uint16(rest[staticHead-2:]))
		}
		return staticHead, length
	}
	return 0, 0
}

// Check reads all blocks and returns a *FormatError of kind ErrDamaged about the first that cannot be read, nil if there is
// none.
func (f Frame) Check() error {
	at := FrameHeader
	for _, next := f.block(at); next > 0; _, next = f.block(at) {
		at = next
	}
	if at >= len(f.bytes) {
		return nil
	}
	rest := f.bytes[at:]
	e := &FormatError{Kind: ErrDamaged, Offset: f.offset + int64(at)}
	switch head, length := f.shape(rest); {
	case head > 0:
		e.Found = fmt.Sprintf("%d bytes to the end of the frame", len(rest))
		e.Expected = fmt.Sprintf("a %c block of %d", rest[0], head+length)
	case rest[0] == byte(BlockRegisters):
		e.Found, e.Expected = "an R block", "an R line in the definitions that tells its length"
	default:
		e.Found, e.Expected = text.Quote(string(rest)), "a block (R, M, V or S)"
	}
	return e
}

// Registers returns the registers of the frame, laid out as in a g packet; nil if none were collected. Of several R blocks
// it is the first, as in GDB 13.1.
func (f Frame) Registers() []byte { return f.first(BlockRegisters) }

// Static returns the data of a static tracepoint, nil if there is none.
func (f Frame) Static() []byte { return f.first(BlockStatic) }

// first returns the bytes of the first block of a kind.
func (f Frame) first(kind BlockKind) []byte {
	for b, at := f.block(FrameHeader); at > 0; b, at = f.block(at) {
		if b.Kind == kind {
			return b.Bytes
		}
	}
	return nil
}

// Variable returns the value of a trace state variable, and false if it was not collected. Of several V blocks for it the
// last counts.
func (f Frame) Variable(n trace.VariableNumber) (value int64, ok bool) {
	for b, at := f.block(FrameHeader); at > 0; b, at = f.block(at) {
		if b.Kind == BlockVariable && b.Number == int32(n) {
			value, ok = b.Value, true
		}
	}
	return value, ok
}

// ReadMemory copies collected memory from addr on to p, as far as it was collected without a gap, and returns how many bytes
// that is. Where blocks overlap the first one that holds an address counts, from there to its end; so one read may mix bytes
// of several moments, as one of GDB 13.1 does.
func (f Frame) ReadMemory(addr arch.Addr, p []byte) int {
	n := 0
	for n < len(p) {
		got := copy(p[n:], f.memoryAt(addr+arch.Addr(n)))
		if got == 0 {
			break
		}
		n += got
	}
	return n
}

// memoryAt returns the bytes from addr on of the first M block that holds addr.
func (f Frame) memoryAt(addr arch.Addr) []byte {
	for b, at := f.block(FrameHeader); at > 0; b, at = f.block(at) {
		if b.Kind == BlockMemory && uint64(addr-b.Addr) < uint64(len(b.Bytes)) {
			return b.Bytes[addr-b.Addr:]
		}
	}
	return nil
}
