package tracetext

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"tracewell/arch"
	"tracewell/tfile"
)

// firstLine begins every text, and begins each of the files in a text of several. The 1 is the version.
const firstLine = "tracewell trace text 1"

// markerBytes is the length of an end marker as GDB writes it.
const markerBytes = 4

// orders has the byte orders by whether they are little endian.
var orders = map[bool]arch.ByteOrder{true: binary.LittleEndian, false: binary.BigEndian}

// Is reports whether a file that begins with head is a text for Read: whether its first line, or the first behind comments
// that lie in head, is that of a text. The version is not looked at.
func Is(head []byte) bool {
	for bytes.HasPrefix(head, []byte("#")) || bytes.HasPrefix(head, []byte("\n")) {
		_, head, _ = bytes.Cut(head, []byte("\n"))
	}
	return bytes.HasPrefix(head, []byte("tracewell trace text "))
}

// Option changes how Write, WriteContent and Read work.
type Option func(*options)

type options struct {
	order  arch.ByteOrder
	report func(done int64)
}

// WithOrder makes Write take the frames to be in the given byte order. Without it Write goes by what tfile.Open finds.
func WithOrder(order arch.ByteOrder) Option { return func(o *options) { o.order = order } }

// WithProgress has report called from time to time, about every megabyte or 1000 frames, with how much is done: bytes of the
// trace file for Write, frames for WriteContent, bytes of the text for Read.
func WithProgress(report func(done int64)) Option { return func(o *options) { o.report = report } }

func optionsOf(opts []Option) options {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// The steps in which progress is reported.
const (
	reportBytes  = 1 << 20
	reportFrames = 1000
)

// progress reports how far the work has come, in steps.
type progress struct {
	report func(done int64) // nil for nobody
	step   int64
	next   int64
}

func (p *progress) reached(done int64) {
	if p.report != nil && done >= p.next {
		p.report(done)
		p.next = done + p.step
	}
}

// Write writes the text of the trace file of size bytes that r reads. Whatever the file holds, Read makes the same bytes of
// the text again. The error is one of r or of w, or tfile.ErrNotTraceFile if the file does not begin as a trace file does.
func Write(w io.Writer, r io.ReaderAt, size int64, opts ...Option) error {
	o := optionsOf(opts)
	t := &writer{
		textWriter: textWriter{out: w},
		progress:   progress{report: o.report, step: reportBytes},
		source:     r,
		size:       size,
		order:      o.order,
		in:         bufio.NewReaderSize(io.NewSectionReader(r, 0, size), readBytes),
	}
	return t.files()
}

// WriteContent writes the text of the file that tfile.Write makes of c when it keeps all there is: lines that nobody knows,
// static data, what cannot be read. Its errors are those of tfile.Write.
func WriteContent(w io.Writer, c tfile.Content, opts ...Option) error {
	h := c.Header()
	keep := []tfile.WriterOption{tfile.KeepUnknownLines(), tfile.KeepStatic(), tfile.KeepDamaged()}
	var head bytes.Buffer
	if _, err := tfile.NewWriter(&head, h, keep...); err != nil {
		return err
	}
	f, err := tfile.OpenBytes(append(head.Bytes(), 0, 0), tfile.WithOrder(h.Order))
	if err != nil {
		return err
	}
	frames, err := tfile.NewWriter(io.Discard, h, keep...) // to refuse what tfile.Write would
	if err != nil {
		return err
	}
	t := &textWriter{out: w}
	t.header(f.Header(), f.Definitions())
	t.beginFrames(f.Header().RegisterSize)
	done := progress{report: optionsOf(opts).report, step: reportFrames}
	var buf []byte
	for i := range c.NumFrames() {
		frame, err := c.ReadFrame(i, buf)
		if err != nil {
			return err
		}
		buf = frame.Bytes()
		if err := frames.WriteFrame(buf); err != nil {
			return err
		}
		if t.showFrame(frame); t.err != nil {
			return t.err
		}
		done.reached(int64(i) + 1)
	}
	t.showEnd(markerBytes)
	return t.flush()
}

// Read reads a text and writes the trace file that it describes. The error is one of r or of w, or an *Error that says where
// the text is wrong; what was written until then is no whole file.
func Read(r io.Reader, w io.Writer, opts ...Option) error {
	return newReader(r, w, optionsOf(opts).report).read()
}
