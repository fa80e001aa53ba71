package tracepoint

import (
	"errors"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// A buffer is the trace buffer: a ring of frames, each in exactly the bytes that a trace file holds for it.
//
// Terms. A frame's sequence number counts the frames of a run from 0 and never changes; its frame number is its place
// among those still held, so that it shrinks as older ones are dropped. The index has one entry for each held frame; it is
// a ring of its own, so that a frame is found from its number without a walk.
//
// Invariant. No frame is split: when one does not fit between the newest frame and the end of the ring it goes to the
// start, and the bytes left over are a hole that nothing reads. So the frames lie in at most two runs, older and newer,
// and the stream that qTBuffer serves is the one followed by the other, whether or not the ring has wrapped.
//
//	not wrapped      [        head > older > tail        ]
//	wrapped          [ newer > tail     head > older > wrapEnd  hole ]
//
// Rejected: splitting frames at the wrap (every reader would have to join them, which is where gdbserver's qTBuffer
// fails), and moving the frames down to close the hole (a copy of the whole buffer in the path of a hit).
type buffer struct {
	order    arch.ByteOrder
	size     int
	circular bool

	data    []byte // of length size once allocated
	release func() // gives data back, nil if there is nothing to be done for that
	tail    int    // behind the newest frame
	wrapped bool   // the newest frame lies before the oldest
	wrapEnd int    // behind the last frame before the hole, while wrapped
	used    int    // bytes of all held frames
	static  int    // of them bytes of static trace data

	registers int    // length of an R block
	cursor    cursor // where reading without static trace data has come to

	index       []entry // length a power of two, entry of sequence number s at s modulo it
	first, next uint64  // sequence numbers of the oldest frame and of the one to come
}

// An entry locates a frame and keeps what its bytes do not tell: the pc at which it was made, and whether after a step.
// It is 16 bytes, because frames may be as small as their 6-byte header.
type entry struct {
	where uint64 // has static trace data << 63 | offset in the ring << 16 | stepped << 15 | tracepoint number
	pc    arch.Addr
}

func newEntry(offset int, tracepoint trace.Number, pc arch.Addr, stepped bool) entry {
	where := uint64(offset)<<16 | uint64(tracepoint)&trace.MaxNumber
	if stepped {
		where |= 1 << 15
	}
	return entry{where, pc}
}

// staticFlag is the bit of an entry that says that the frame has static trace data.
const staticFlag = 1 << 63

func (e entry) offset() int              { return int(e.where &^ staticFlag >> 16) }
func (e entry) static() bool             { return e.where&staticFlag != 0 }
func (e entry) stepped() bool            { return e.where>>15&1 != 0 }
func (e entry) tracepoint() trace.Number { return trace.Number(e.where & trace.MaxNumber) }

var errBufferFull = errors.New("the trace buffer is full")

// resize drops all frames and makes the ring size bytes long from the next allocate on.
func (b *buffer) resize(size int) {
	if b.release != nil {
		b.release()
	}
	b.size, b.data, b.release = size, nil, nil
	b.reset()
}

// allocate makes room for frames, in memory of the Layout's if that has any. Until then a buffer costs no memory.
func (b *buffer) allocate(memory func(size int) ([]byte, func(), error)) (err error) {
	switch {
	case b.data != nil:
	case memory != nil:
		b.data, b.release, err = memory(b.size)
	default:
		b.data = make([]byte, b.size)
	}
	return err
}

// reset drops all frames and begins to count anew.
func (b *buffer) reset() {
	b.first, b.next = 0, 0
	b.tail, b.wrapped, b.used, b.static = 0, false, 0, 0
	b.cursor = cursor{}
}

func (b *buffer) count() int { return int(b.next - b.first) }

func (b *buffer) entry(sequence uint64) entry { return b.index[sequence&uint64(len(b.index)-1)] }

// head is the offset of the oldest frame.
func (b *buffer) head() int {
	if b.first == b.next {
		return 0
	}
	return b.entry(b.first).offset()
}

// append stores a whole frame, or nothing and errBufferFull. A circular buffer drops its oldest frames to make room,
// but none for a frame that would not fit into it at all.
func (b *buffer) append(frame []byte, tracepoint trace.Number, pc arch.Addr, stepped bool) error {
	if len(frame) > len(b.data) {
		return errBufferFull
	}
	at, ok := b.room(len(frame))
	for ; !ok; at, ok = b.room(len(frame)) {
		if !b.circular {
			return errBufferFull
		}
		b.dropOldest()
	}
	if at < b.tail {
		b.wrapped, b.wrapEnd = true, b.tail
	}
	copy(b.data[at:], frame)
	b.tail = at + len(frame)
	b.used += len(frame)
	b.push(newEntry(at, tracepoint, pc, stepped))
	return nil
}

// room finds where n bytes fit without dropping a frame.
func (b *buffer) room(n int) (at int, ok bool) {
	switch head := b.head(); {
	case b.wrapped:
		return b.tail, head-b.tail >= n
	case b.size-b.tail >= n:
		return b.tail, true
	default:
		return 0, head >= n
	}
}

func (b *buffer) push(e entry) {
	if b.count() == len(b.index) {
		b.growIndex()
	}
	b.index[b.next&uint64(len(b.index)-1)] = e
	b.next++
}

// growIndex doubles the index. Its cost is spread over as many frames as it had entries.
func (b *buffer) growIndex() {
	grown := make([]entry, max(64, 2*len(b.index)))
	for s := b.first; s < b.next; s++ {
		grown[s&uint64(len(grown)-1)] = b.entry(s)
	}
	b.index = grown
}

func (b *buffer) dropOldest() {
	oldest := b.head()
	b.used -= len(b.frame(b.first))
	b.static -= b.staticLength(b.first)
	b.first++
	switch {
	case b.first == b.next:
		b.tail, b.wrapped = 0, false
	case b.head() < oldest:
		b.wrapped = false
	}
}

// frame returns the bytes of a held frame, valid until the next append.
func (b *buffer) frame(sequence uint64) []byte {
	at := b.entry(sequence).offset()
	size := int(b.order.Uint32(b.data[at+2:]))
	return b.data[at : at+tfile.FrameHeader+size]
}

// runs returns all frames in order as one or two stretches of bytes, valid until the next append.
func (b *buffer) runs() (older, newer []byte) {
	if b.wrapped {
		return b.data[b.head():b.wrapEnd], b.data[:b.tail]
	}
	return b.data[b.head():b.tail], nil
}

// readAt copies from the stream of whole frames, oldest first and without static trace data, and returns how much of dst it
// filled. The offset must not be negative.
func (b *buffer) readAt(offset int64, dst []byte) int {
	if b.static > 0 {
		return b.readPlain(offset, dst)
	}
	older, newer := b.runs()
	n := 0
	if offset < int64(len(older)) {
		n = copy(dst, older[offset:])
		offset = int64(len(older))
	}
	if rest := offset - int64(len(older)); rest < int64(len(newer)) {
		n += copy(dst[n:], newer[rest:])
	}
	return n
}
