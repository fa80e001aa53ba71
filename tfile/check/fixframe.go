package check

import (
	"fmt"
	"math"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/tfile"
)

// fixFrame appends to dst what can be saved of a frame: nothing if it has to be left out, else a frame of a number in range
// that has blocks which GDB can read, and at most one R block, of x.size bytes; one of them where GDB needs it.
func (x *fixer) fixFrame(dst []byte, f tfile.Frame) []byte {
	x.frame = f
	number := x.number(f.Tracepoint())
	if number < 1 {
		x.tellFrame("left out, as there is no number for its tracepoint")
		return dst
	}
	if number != f.Tracepoint() {
		x.tellFrame(fmt.Sprintf("now of tracepoint %d", number))
	}
	order := x.header.Order
	start := len(dst)
	dst = order.AppendUint16(dst, uint16(number))
	// The length is written over this when the blocks are known.
	dst = order.AppendUint32(dst, 0)
	dst = x.fixBlocks(dst, x.readable(f))
	if x.choosy() && !x.registers {
		x.tellFrame("left out, as there are no registers, without which GDB crashes on this architecture")
		return dst[:start]
	}
	order.PutUint32(dst[start+2:], uint32(len(dst)-start-tfile.FrameHeader))
	return dst
}

// choosy reports whether frames without registers are left out, because GDB dies of them.
func (x *fixer) choosy() bool {
	return x.needsRegisters != nil && x.needsRegisters.Severity == tfile.Crashes
}

// readable is the frame with register blocks of the size with which it can be read furthest: to its end, as a rule.
func (x *fixer) readable(f tfile.Frame) tfile.Frame {
	d := x.broken[f.Tracepoint()]
	if d == nil || f.Check() == nil {
		return f
	}
	// Other frames of the tracepoint have decided which size is meant; a single frame could be read with several.
	size := x.inferred(f.Tracepoint(), d)
	if size == 0 {
		return f
	}
	other, err := tfile.ParseFrame(f.Bytes(), x.header.Order, size)
	if err != nil {
		return f
	}
	return other
}

// fixBlocks appends the blocks of a frame.
// Blocks stay in their order: GDB 13.1 takes the first block that has an address, and Tracewell, too.
func (x *fixer) fixBlocks(dst []byte, f tfile.Frame) []byte {
	registers, read := 0, tfile.FrameHeader
	x.registers = false
	for b := range f.Blocks() {
		read = b.End()
		whole := f.Bytes()[b.Offset:read]
		switch b.Kind {
		case tfile.BlockRegisters:
			if registers++; registers == 1 {
				dst = x.fixRegisters(dst, b.Bytes)
			} else {
				// GDB shows the first R block, so that nothing changes for it.
				x.tellFrame("registers that come again left out")
			}
		case tfile.BlockStatic:
			// GDB 13.1 gives up a frame at the letter S; the other blocks of the frame become readable without it.
			x.tellFrame("data of static tracepoints left out, which GDB cannot read")
		case tfile.BlockMemory:
			dst = x.fixMemory(dst, b)
		case tfile.BlockVariable:
			dst = append(dst, whole...)
		}
	}
	if left := len(f.Bytes()) - read; left > 0 {
		x.tellFrame("cut off where it cannot be read further")
	}
	return dst
}

// fixRegisters appends an R block. One that is too long loses what is behind the registers that the target description has.
// One that is too short is left out whole: registers that are missing would read as zero, which invents values.
func (x *fixer) fixRegisters(dst, registers []byte) []byte {
	switch {
	case len(registers) < x.size:
		x.tellFrame(fmt.Sprintf("registers left out, of which there are %d bytes only", len(registers)))
		return dst
	case len(registers) > x.size:
		x.tellFrame(fmt.Sprintf("register block of %d bytes cut to the %d that other frames or the target description have",
			len(registers), x.size))
	}
	x.registers = true
	dst = append(dst, byte(tfile.BlockRegisters))
	return append(dst, registers[:x.size]...)
}

// fixMemory appends an M block, in two where the address space ends in it.
func (x *fixer) fixMemory(dst []byte, b tfile.Block) []byte {
	first := len(b.Bytes)
	// An address that has wrapped to exactly 0 is the end of the address space itself, and the block ends with it.
	if behind := b.Addr + arch.Addr(len(b.Bytes)); behind != 0 && behind < b.Addr {
		first -= int(behind)
		x.tellFrame("memory block split where the address space ends")
	}
	if len(b.Bytes) == 0 {
		x.tellFrame("memory blocks without bytes left out")
	}
	dst = x.memoryBlock(dst, b.Addr, b.Bytes[:first])
	return x.memoryBlock(dst, 0, b.Bytes[first:])
}

func (x *fixer) memoryBlock(dst []byte, addr arch.Addr, p []byte) []byte {
	if len(p) == 0 {
		return dst
	}
	dst = append(dst, byte(tfile.BlockMemory))
	dst = x.header.Order.AppendUint64(dst, uint64(addr))
	dst = x.header.Order.AppendUint16(dst, uint16(len(p)))
	return append(dst, p...)
}

// readCut saves what can be saved of a last frame that the end of the file cuts off, if a whole block is in it.
func (x *fixer) readCut() error {
	at := x.framesEnd()
	size := x.options.Size - at
	if !x.truncated || x.options.Source == nil || size <= tfile.FrameHeader || size > tfile.FrameHeader+math.MaxUint32 {
		return nil
	}
	b := make([]byte, size)
	if n, err := x.options.Source.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("the frame at offset %d, which is cut off: %w", at, err)
	}
	// The frame's own length says how long it was to be, which is more than there is: for the copy it is what is left.
	x.header.Order.PutUint32(b[2:], uint32(size-tfile.FrameHeader))
	f, err := tfile.ParseFrame(b, x.header.Order, x.header.RegisterSize)
	if err != nil || x.tracepoints[f.Tracepoint()] == nil {
		return nil // it is no frame
	}
	fixed := x.fixFrame(nil, f)
	// What was changed in it is told as one thing, and counts for no other frame.
	clear(x.notes)
	if len(fixed) > tfile.FrameHeader {
		x.cut = fixed
		x.tell(at, "the frame that is cut off is kept up to its last whole block, %s", text.Plural(len(fixed)-tfile.FrameHeader, "byte"))
	}
	return nil
}
