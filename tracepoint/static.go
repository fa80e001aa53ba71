package tracepoint

import (
	"tracewell/arch"
	"tracewell/tfile"
)

// Static trace data is the last block of a frame (see collector.frame), and it is for those who look at the frame in the
// buffer: it does not go into trace files, nor into the stream that a client makes one of. GDB (13.1 to 18) shows nothing at
// all of a frame in a file that has such a block, and could not show the block itself.

// plainLength is how long a frame is without static trace data.
func plainLength(f tfile.Frame) int {
	for b := range f.Blocks() {
		if b.Kind == tfile.BlockStatic {
			return b.Offset
		}
	}
	return len(f.Bytes())
}

// withoutStatic cuts the static trace data off a copy of a frame.
func withoutStatic(f tfile.Frame, order arch.ByteOrder) []byte {
	bytes := f.Bytes()[:plainLength(f)]
	order.PutUint32(bytes[2:], uint32(len(bytes)-tfile.FrameHeader))
	return bytes
}

// A cursor is a place in the stream of frames without static trace data: the offset at which a frame begins in it. Reading
// goes on where it was, as clients do, and does not look at all the frames before.
type cursor struct {
	first, sequence uint64 // of the oldest frame, from which offsets count, and of this one
	offset          int64
}

// markStatic says that the newest frame has static trace data.
func (b *buffer) markStatic() {
	newest := b.next - 1
	b.index[newest&uint64(len(b.index)-1)].where |= staticFlag
	b.static += b.staticLength(newest)
}

// staticLength is how many bytes of a held frame are static trace data.
func (b *buffer) staticLength(sequence uint64) int {
	if !b.entry(sequence).static() {
		return 0
	}
	f := b.view(sequence)
	return f.Len() + tfile.FrameHeader - plainLength(f)
}

// view is a held frame, valid until the next append.
func (b *buffer) view(sequence uint64) tfile.Frame {
	f, err := tfile.ParseFrame(b.frame(sequence), b.order, b.registers)
	if err != nil {
		panic("tracepoint: frame of the trace buffer: " + err.Error())
	}
	return f
}

// readPlain is readAt without static trace data.
func (b *buffer) readPlain(offset int64, dst []byte) int {
	c := b.cursor
	if c.first != b.first || c.offset > offset || c.sequence < b.first || c.sequence > b.next {
		c = cursor{first: b.first, sequence: b.first}
	}
	n := 0
	for c.sequence < b.next && n < len(dst) {
		frame := b.frame(c.sequence)
		length := len(frame) - b.staticLength(c.sequence)
		if at := offset + int64(n) - c.offset; at < int64(length) {
			n += b.copyPlain(dst[n:], frame[:length], int(at))
		}
		if offset+int64(n) < c.offset+int64(length) {
			break
		}
		c.offset += int64(length)
		c.sequence++
	}
	b.cursor = c
	return n
}

// copyPlain copies from the frame that remains without static trace data, whose header tells another length.
func (b *buffer) copyPlain(dst, frame []byte, at int) int {
	var header [tfile.FrameHeader]byte
	copy(header[:], frame)
	b.order.PutUint32(header[2:], uint32(len(frame)-tfile.FrameHeader))
	n := 0
	if at < tfile.FrameHeader {
		n = copy(dst, header[at:])
		at = tfile.FrameHeader
		if n == len(dst) {
			return n
		}
	}
	return n + copy(dst[n:], frame[at:])
}
