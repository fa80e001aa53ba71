package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"tracewell/internal/packed"
	"tracewell/itrace/match"
)

// traceInput is an execution trace that is read once, from its beginning: a file, compressed or not, or a pipe. Nothing of it
// is kept, however long it is.
type traceInput struct {
	name   string // for messages
	status fs.FileInfo
	file   *os.File // of a regular file
	close  func()
	pipe   *waiting // of anything else
	raw    counted
	stream *packed.Stream // of raw, from the first Read on: before, a pipe may have nothing to tell whether it is compressed
	err    error          // why there is no stream
}

// openTraceInput opens a trace, "-" being standard input. A pipe is opened when it is read.
func openTraceInput(path string, streams Streams) (t *traceInput, err error) {
	t = &traceInput{name: path}
	if path == "-" {
		t.name = "standard input"
		t.status, err = streams.In.Stat()
	} else {
		t.status, err = os.Stat(path)
	}
	switch {
	case err != nil:
	case t.status.IsDir():
		err = errors.New("it is a directory, not a trace")
	case !t.status.Mode().IsRegular():
		open := func() (io.ReadCloser, error) { return os.Open(path) }
		if path == "-" {
			open = func() (io.ReadCloser, error) { return io.NopCloser(streams.In), nil }
		}
		t.pipe = newWaiting(open)
		t.raw.Reader, t.close = t.pipe, t.pipe.giveUp
	case path == "-":
		t.file, t.close = streams.In, func() {}
		t.raw.Reader = t.file
	default:
		t.file, err = os.Open(path)
		t.raw.Reader, t.close = t.file, func() { t.file.Close() }
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, cause(err))
	}
	return t, nil
}

// Read implements io.Reader for the content, unpacked.
func (t *traceInput) Read(p []byte) (int, error) {
	if t.begin(); t.err != nil {
		return 0, t.err
	}
	return t.stream.Read(p)
}

// begin finds out whether the trace is compressed.
func (t *traceInput) begin() {
	if t.stream == nil && t.err == nil {
		t.stream, t.err = packed.NewStream(&t.raw)
	}
}

// Close gives up what reading takes.
func (t *traceInput) Close() error {
	t.close()
	return t.closeStream()
}

// closeStream gives up what unpacking takes.
func (t *traceInput) closeStream() error {
	if t.stream == nil {
		return nil
	}
	return t.stream.Close()
}

// counted counts what is read.
type counted struct {
	io.Reader
	done atomic.Int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done.Add(int64(n))
	return n, err
}

// cause is an error of the file system without the name of the file.
func cause(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// input is the trace for the library.
func (t *traceInput) input() match.Input {
	in := match.Input{Name: t.name, Reader: t}
	if t.pipe != nil {
		in.Interrupt = t.pipe.giveUp
		return in
	}
	t.begin()
	in.Ready = t.err == nil && t.stream.Method == nil
	return in
}

// changed says that the file is another than it was when it was opened, "" that it is not.
func (t *traceInput) changed() string {
	if t.file == nil {
		return ""
	}
	now, err := t.file.Stat()
	switch {
	case err != nil || now.Size() == t.status.Size() && now.ModTime().Equal(t.status.ModTime()):
		return ""
	case now.Size() == t.status.Size():
		return "it has been written to while it was compared"
	}
	return fmt.Sprintf("it has changed while it was compared: it had %d bytes at first and has %d now",
		t.status.Size(), now.Size())
}

// checkPair refuses two traces of which one would take away what the other is to read.
func checkPair(a, b *traceInput) error {
	if a.pipe != nil && b.pipe != nil && os.SameFile(a.status, b.status) {
		return errors.New("the reference and the other trace are the same pipe, which can be read once only")
	}
	return nil
}
