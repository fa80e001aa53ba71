package fast

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/tfile"
	"tracewell/trace"
)

// Slots is all that is known of the slots of a site. The builder lays them out, the reader relies on nothing else when it reads
// one, and Fault writes into them by it.
type Slots struct {
	site int // index
	addr arch.Addr
	size int // of each slot, header included; a multiple of slotAlign
	// plain is what a slot has from slotUnits on if its frame is in it as it is to be; 0, which no slot has, if none ever is.
	plain  uint64
	drops  bool // the pad does rather than wait where the ring is full
	frames []framePlan
	repeat *Repeat // nil if there is a frame for each hit
	causes []cause // of failures; an id is the index in here plus 1
}

// Site returns the index of the site.
func (s *Slots) Site() int { return s.site }

// Size returns the size of each of its slots in bytes.
func (s *Slots) Size() int { return s.size }

// framePlan is where in a slot the frame of one tracepoint is, with every block at its longest. Offsets count from the slot.
type framePlan struct {
	key       trace.Key
	index     int // of the tracepoint
	at, end   int // of the frame, its header included
	blocks    []block
	registers *Registers
	rawAt     int         // what registers need besides is behind the frames; 0 for nothing
	condition int         // failure record of the condition, 0 if that cannot fail
	failures  []int       // failure records of the actions that can fail, in order
	direct    bool        // the bytes in the slot are the frame unless a flag is set: nothing has to be made of them
	shape     tfile.Shape // then
	memory    []span      // contents of the memory blocks in the frame
	threads   []int       // offsets in the frame of values that are the base of thread-local storage
}

// span is a part of a frame, from an offset and up to another.
type span struct{ from, to int }

// block is one block of a frame.
type block struct {
	kind   blockKind
	at     int // offset of its letter
	room   int // bytes of its contents in the slot, without what precedes them
	number trace.VariableNumber
	thread bool // the value of the variable is the base of thread-local storage
	more   bool // continues the range of the block before, and is dropped if that is short
	// printed says what the contents are of a block of that kind, nil if it is not known.
	printed *printed
}

type blockKind uint8

const (
	blockRegisters blockKind = 'R'
	blockMemory    blockKind = 'M'
	blockVariable  blockKind = 'V'
	blockPrinted   blockKind = 'P' // what a printf is given; it is in no frame
)

// header is the number of bytes before the contents of a block.
func (k blockKind) header() int {
	switch k {
	case blockMemory:
		return memoryHeader
	case blockVariable:
		return variableLength - 8
	}
	return 1
}

// length is the number of bytes that a block takes in the slot.
func (b *block) length() int { return b.kind.header() + b.room }

// finish computes what follows from the rest.
func (s *Slots) finish() {
	for i := range s.frames {
		s.frames[i].finish()
	}
	if len(s.frames) == 1 && s.frames[0].direct {
		s.plain = uint64(s.size/slotAlign) | 1<<(8*(slotPresent-slotUnits)) | uint64(s.site)<<(8*(slotSite-slotUnits))
	}
}

// finish computes whether frames are in slots as they are to be, and their shape then.
func (f *framePlan) finish() {
	order := binary.LittleEndian
	length := f.end - f.at
	f.direct = length > frameHeader && (f.registers == nil || f.registers.moves == nil)
	f.memory, f.threads = nil, nil
	f.shape.Reset(length)
	f.shape.Fix(0, order.AppendUint32(order.AppendUint16(nil, uint16(f.key.Number)), uint32(length-frameHeader)))
	for i := range f.blocks {
		b := &f.blocks[i]
		at := b.at - f.at
		f.shape.Fix(at, []byte{byte(b.kind)})
		switch b.kind {
		case blockMemory:
			f.shape.Fix(at+memoryHeader-2, order.AppendUint16(nil, uint16(b.room)))
			f.memory = append(f.memory, span{at + memoryHeader, at + memoryHeader + b.room})
		case blockVariable:
			f.shape.Fix(at+1, order.AppendUint32(nil, uint32(b.number)))
			if b.thread {
				f.threads = append(f.threads, at+variableLength-8)
			}
		case blockPrinted: // which is in no frame
			f.direct = false
		}
	}
}

// cause is an instruction of an expression that can fail.
type cause struct {
	kind   error // of ax
	op     ax.Op
	offset int // in the expression
	size   int // bytes of memory that it reads, 0 for other kinds
}

// layout hands out places in a slot.
type layout struct{ next int }

// take returns the place of n bytes.
func (l *layout) take(n int) int {
	at := l.next
	l.next += n
	return at
}

// align moves on to a multiple of n, a power of two.
func (l *layout) align(n int) { l.next = (l.next + n - 1) &^ (n - 1) }

// RegisterBlock returns the length in bytes of the R blocks of the site, 0 if it collects none.
func (s *Slots) RegisterBlock() int {
	for i := range s.frames {
		if r := s.frames[i].registers; r != nil {
			return r.size
		}
	}
	return 0
}
