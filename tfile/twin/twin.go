package twin

import (
	"bytes"
	"errors"
	"io"

	"tracewell/arch"
	"tracewell/tfile"
)

// firstLine begins every text, and begins each of the files in a text of several. The 1 is the version.
const firstLine = "tracewell trace text 1"

// Is reports whether a file that begins with head is a text that Read may be given; 21 bytes are enough to tell. The version
// is not looked at.
func Is(head []byte) bool { return bytes.HasPrefix(head, []byte("tracewell trace text ")) }

// Option changes how Write, WriteContent and Read work.
type Option func(*options)

type options struct {
	order    arch.ByteOrder
	progress func(done int64)
}

// WithOrder makes Write take the frames to be in the given byte order. Without it Write goes by what tfile.Open finds.
func WithOrder(order arch.ByteOrder) Option { return func(o *options) { o.order = order } }

// WithProgress has report called from time to time, about every megabyte, with how much is done: bytes of the trace file
// for Write, frames for WriteContent, bytes of the text for Read.
func WithProgress(report func(done int64)) Option { return func(o *options) { o.progress = report } }

// Write writes the text of the trace file of size bytes that r reads. Whatever the file holds, Read makes the same bytes of
// the text again. The error is one of r or w, or tfile.ErrNotTraceFile if the file does not begin as a trace file does.
func Write(w io.Writer, r io.ReaderAt, size int64, opts ...Option) error {
	return errors.New("not there yet")
}

// WriteContent writes the text of the file that tfile.Write makes of c. Its errors are those of tfile.Write.
func WriteContent(w io.Writer, c tfile.Content, opts ...Option) error {
	return errors.New("not there yet")
}

// Read reads a text and writes the trace file that it describes. The error is one of r or w, or an *Error that says where
// the text is wrong; what was written until then is no whole file.
func Read(r io.Reader, w io.Writer, opts ...Option) error {
	return errors.New("not there yet")
}
