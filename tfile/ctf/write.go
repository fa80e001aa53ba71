package ctf

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"tracewell/tfile"
	"tracewell/trace"
)

// Option changes how Write and Open work.
type Option func(*options)

type options struct {
	progress func(done int64)
}

// WithProgress has the function called now and then with how much is done: frames by Write, bytes of the stream by Open.
func WithProgress(f func(done int64)) Option { return func(o *options) { o.progress = f } }

func choose(opts []Option) options {
	chosen := options{progress: func(int64) {}}
	for _, opt := range opts {
		opt(&chosen)
	}
	return chosen
}

// writeBuffer is how much is gathered before it is written.
const writeBuffer = 1 << 16

// Progress is told every so many bytes or frames, whichever comes first.
const (
	progressBytes  = 1 << 20
	progressFrames = 1000
)

// Write writes a trace: the stream first and, once that is whole, the metadata, without which nobody takes it for a trace.
//
// Nothing of c is lost: Open gives the same frames and the same Header. What GDB shows of it is less, and where a count does
// not fit the int that GDB keeps it in, it shows the largest instead. Errors are those of c and of the writers; that the
// Header tells no byte order or no register size; that a frame is of a tracepoint from outside 1 to trace.MaxNumber; or
// that one is too long for a packet (512 MiB).
func Write(metadata, stream io.Writer, c tfile.Content, opts ...Option) error {
	h := c.Header()
	switch {
	case h.Order == nil:
		return errors.New("CTF trace without a byte order")
	case h.RegisterSize <= 0:
		return fmt.Errorf("CTF trace with register blocks of %d bytes", h.RegisterSize)
	}
	p := &packetBuilder{order: h.Order}
	out := bufio.NewWriterSize(stream, writeBuffer)
	p.begin(0)
	p.definitions(&h)
	packet, err := p.finish()
	if err != nil {
		return err
	}
	out.Write(packet)
	if err := p.frames(out, c, choose(opts).progress); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = metadata.Write(describe(h.Order, h.RegisterSize, p.added, lines(&h)))
	return err
}

// frames writes a packet for each frame.
func (p *packetBuilder) frames(out io.Writer, c tfile.Content, progress func(int64)) error {
	var buf []byte
	silent := 0
	for i := range c.NumFrames() {
		frame, err := c.ReadFrame(i, buf)
		if err != nil {
			return err
		}
		buf = frame.Bytes()
		packet, err := p.frame(frame)
		if err != nil {
			return fmt.Errorf("frame %d: %w", i, err)
		}
		if _, err := out.Write(packet); err != nil {
			return err
		}
		if silent += len(packet); silent >= progressBytes || (i+1)%progressFrames == 0 {
			progress(int64(i + 1))
			silent = 0
		}
	}
	return nil
}

// frame makes the packet of a frame: an event for each block, in their order, and one for what is no block.
func (p *packetBuilder) frame(f tfile.Frame) ([]byte, error) {
	n := f.Tracepoint()
	if n < 1 {
		return nil, fmt.Errorf("it is of tracepoint %d, which is not from 1 to %d", n, trace.MaxNumber)
	}
	p.begin(n)
	end := tfile.FrameHeader
	for b := range f.Blocks() {
		p.block(b)
		end = b.End()
	}
	if rest := f.Bytes()[end:]; len(rest) > 0 {
		p.rest(rest)
	}
	return p.finish()
}
