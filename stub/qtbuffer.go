package stub

import (
	"errors"
	"io"
	"slices"

	"tracewell/rsp"
	"tracewell/rsp/request"
)

// circularBuffer is QTBuffer:circular.
func (x *session) circularBuffer(on bool) ([]byte, error) {
	x.engine.SetCircular(on)
	return replyOK, nil
}

// bufferSize is QTBuffer:size.
func (x *session) bufferSize(size int64) ([]byte, error) {
	return replyOK, x.engine.SetBufferSize(size)
}

// readBuffer is qTBuffer. The digits are lower case because GDB takes a reply that begins with E for an error.
func (x *session) readBuffer(p request.BufferPart) ([]byte, error) {
	size := int(min(p.Length, uint64(x.packetSize/2)))
	x.chunk = slices.Grow(x.chunk[:0], size)[:size]
	n, err := x.recorded.ReadBuffer(p.Offset, x.chunk)
	if errors.Is(err, io.EOF) {
		return []byte("l"), nil
	}
	if err == nil && n == 0 {
		err = errNoLength
	}
	if err != nil {
		return nil, err
	}
	x.digits = rsp.AppendHexBytes(x.digits[:0], x.chunk[:n])
	return x.digits, nil
}
