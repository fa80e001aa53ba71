package tfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"tracewell/arch"
)

// File is an open trace file: its definitions, and where its frames are.
type File struct {
	source      source
	header      Header
	definitions []Definition
	findings    []Finding
	orderFrom   OrderSource

	starts  []int64 // of each frame, and at last the end of the last one
	numbers []int16 // tracepoint number of each frame
}

// Option changes how Open reads a file.
type Option func(*options)

type options struct {
	order  arch.ByteOrder
	window int
}

// WithOrder makes Open take the frames to be in the given byte order.
func WithOrder(order arch.ByteOrder) Option { return func(o *options) { o.order = order } }

// Open indexes the trace file of size bytes that r reads; r must stay valid as long as the File is used. The cost is that of
// reading the definitions and, except for frames longer than what is read at once, all of the file.
//
// The error is a *FormatError when the file is no trace file (ErrNotTraceFile, no File) or is readable up to some point only
// (ErrTruncated or ErrTooLong, with a File of what is whole before it). Errors of r come wrapped, without a File.
func Open(r io.ReaderAt, size int64, opts ...Option) (*File, error) {
	return open(source{r: r, size: size}, opts)
}

// OpenBytes is Open for a file in memory. Frames are views of data, which must not change.
func OpenBytes(data []byte, opts ...Option) (*File, error) {
	return open(source{r: bytes.NewReader(data), mem: data, size: int64(len(data))}, opts)
}

func open(src source, opts []Option) (*File, error) {
	chosen := options{window: defaultWindow}
	for _, opt := range opts {
		opt(&chosen)
	}
	f := &File{source: src}
	w := &window{source: src, step: chosen.window}
	end, err := f.readDefinitions(w)
	if err == nil || isPartial(err) {
		if orderErr := f.settleOrder(w, end, chosen.order); orderErr != nil {
			return nil, orderErr
		}
	}
	f.starts = []int64{end}
	if err == nil {
		err = f.index(w)
	}
	if err != nil && !isPartial(err) {
		return nil, err
	}
	return f, err
}

// isPartial reports whether err leaves a File of what is whole before it.
func isPartial(err error) bool {
	var format *FormatError
	return errors.As(err, &format) && format.Kind != ErrNotTraceFile
}

// maxDefinitions bounds the bytes of the definitions, so that a file of another kind that begins like a trace file is not
// read whole in search of an empty line. Descriptions of large machines are below 100 kB.
const maxDefinitions = 16 << 20

// readDefinitions reads the magic and the definition lines, and returns the offset behind the empty line that ends them or,
// with an error, behind the last whole line.
func (f *File) readDefinitions(w *window) (int64, error) {
	head, err := w.at(0, len(magic))
	if err != nil {
		return 0, err
	}
	if head = head[:min(len(head), len(magic))]; string(head) != magic {
		return 0, &FormatError{ErrNotTraceFile, 0, quote(string(head)), fmt.Sprintf("%q", magic)}
	}
	var r headerReader
	end := int64(len(magic))
	for {
		line, err := lineAt(w, end)
		if err != nil {
			f.takeHeader(&r, end)
			return end, err
		}
		start := end
		end += int64(len(line)) + 1
		if len(line) == 0 {
			f.takeHeader(&r, start)
			return end, nil
		}
		r.line(start, string(line))
	}
}

func (f *File) takeHeader(r *headerReader, end int64) {
	r.finish(end)
	f.header, f.definitions, f.findings = r.header, r.definitions, r.findings
}

// lineAt returns the definition line at offset without its LF.
func lineAt(w *window, offset int64) ([]byte, error) {
	for n := MaxLine + 1; ; n *= 4 {
		b, err := w.at(offset, n)
		if err != nil {
			return nil, err
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 && offset+int64(i) < maxDefinitions {
			return b[:i], nil
		}
		const expected = "an empty line after the definitions"
		if offset+int64(len(b)) >= maxDefinitions {
			found := fmt.Sprintf("%d bytes of definitions", offset+int64(len(b)))
			return nil, &FormatError{ErrTooLong, offset, found, expected}
		}
		if len(b) < n {
			found := "the end of the file"
			if len(b) > 0 {
				found = "an unfinished line " + quote(string(b))
			}
			return nil, &FormatError{ErrTruncated, offset, found, expected}
		}
	}
}
