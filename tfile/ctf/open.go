package ctf

import (
	"io"
	"sync"

	"tracewell/tfile"
	"tracewell/trace"
)

// Trace is an open trace: its definitions, and where its frames are. It is a tfile.Content, does not change once it is open,
// and may be used by several goroutines.
type Trace struct {
	stream   io.ReaderAt
	layout   *layout
	header   tfile.Header
	findings []tfile.Finding

	starts  []int64  // of the packet of each frame, and at last the end of the last one
	numbers []uint16 // tracepoint number of each frame
	readers sync.Pool
}

// Open reads the metadata and the headers of the packets of a stream of size bytes, which must stay valid as long as the
// Trace is used.
//
// The error is a *MetadataError, without a Trace; a *tfile.FormatError (ErrTruncated or ErrDamaged), with a Trace of what is
// whole before it; or wraps one of the stream, without a Trace.
func Open(metadata []byte, stream io.ReaderAt, size int64, opts ...Option) (*Trace, error) {
	declared, err := parse(metadata)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(declared)
	if err != nil {
		return nil, err
	}
	t := &Trace{stream: stream, layout: l}
	t.readers.New = func() any { return &frameReader{events: events{layout: l}} }
	t.header = tfile.Header{Order: l.order, RegisterSize: l.registerSize}
	kept, err := t.restore(declared.env)
	if err != nil {
		return nil, err
	}
	streamErr := t.index(&window{r: stream, size: size}, !kept, choose(opts).progress)
	if streamErr != nil && !isPartial(streamErr) {
		return nil, streamErr
	}
	return t, streamErr
}

// Header returns the definitions. They are the Trace's own and must not be changed.
func (t *Trace) Header() tfile.Header { return t.header }

// Findings returns what of the definitions could not be understood; it is not in the Header.
func (t *Trace) Findings() []tfile.Finding { return t.findings }

// NumFrames returns how many frames there are in whole packets.
func (t *Trace) NumFrames() int { return len(t.numbers) }

// Tracepoint returns the number of the tracepoint that made frame i, without reading the frame. It panics if there is no
// such frame.
func (t *Trace) Tracepoint(i int) trace.Number { return trace.Number(t.numbers[i]) }
