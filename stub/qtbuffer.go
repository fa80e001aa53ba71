package stub

import (
	"errors"
	"io"
	"math"
	"slices"

	"tracewell/rsp"
)

// circularBuffer is QTBuffer:circular.
func (x *session) circularBuffer(args string) ([]byte, error) {
	on, err := parseFlag(args)
	if err != nil {
		return nil, err
	}
	x.engine.SetCircular(on)
	return replyOK, nil
}

// bufferSize is QTBuffer:size. GDB sends -1 for the default, as that text or as the 32 or 64 bits of it.
func (x *session) bufferSize(args string) ([]byte, error) {
	in := rsp.NewScanner(args)
	size := int64(-1)
	if !in.AcceptText("-1") {
		v := in.HexField()
		if v != math.MaxUint32 && v != math.MaxUint64 {
			size = int64(min(v, math.MaxInt64))
		}
	}
	if err := in.End(); err != nil {
		return nil, err
	}
	return replyOK, x.engine.SetBufferSize(size)
}

// readBuffer is qTBuffer. The digits are lower case because GDB takes a reply that begins with E for an error.
func (x *session) readBuffer(args string) ([]byte, error) {
	in := rsp.NewScanner(args)
	offset := in.HexUpTo(math.MaxInt64)
	in.Literal(',')
	length := in.HexField()
	if err := in.End(); err != nil {
		return nil, err
	}
	size := int(min(length, uint64(x.packetSize/2)))
	x.chunk = slices.Grow(x.chunk[:0], size)[:size]
	n, err := x.recorded.ReadBuffer(int64(offset), x.chunk)
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
