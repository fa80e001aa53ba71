package stub

import (
	"errors"
	"io"
	"slices"

	"tracewell/rsp/request"
)

// circularBuffer is QTBuffer:circular.
func (x *session) circularBuffer(on bool) error {
	x.engine.SetCircular(on)
	return nil
}

// bufferSize is QTBuffer:size.
// GDB sends -1 for "set trace-buffer-size unlimited", which the engine reads as its default size.
func (x *session) bufferSize(size int64) error {
	return x.engine.SetBufferSize(size)
}

// readBuffer is qTBuffer. The digits are lower case because GDB takes a reply that begins with E for an error.
func (x *session) readBuffer(p request.BufferPart) ([]byte, error) {
	// GDB asks for as much as fits its packets, record --remote for as much as fits ours.
	size := int(min(p.Length, uint64(x.packetSize/2)))
	// Both this and the reply are used again: tsave of a large buffer takes thousands of these packets.
	x.chunk = slices.Grow(x.chunk[:0], size)[:size]
	n, err := x.recorded.ReadBuffer(p.Offset, x.chunk)
	switch {
	case errors.Is(err, io.EOF):
		// The form of the reply has l for no bytes.
		return nil, nil
	case err == nil && n == 0:
		err = errNoLength
	}
	return x.chunk[:n], err
}
