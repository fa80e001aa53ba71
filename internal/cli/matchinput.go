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

// traceInput is an execution trace that is read once, from its beginning: a file, compressed or not, or a pipe. Nothing of it is
// kept, however long it is.
type traceInput struct {
	name   string // for messages
	status fs.FileInfo
	file   *os.File     // of a regular file
	pipe   *waiting     // of anything else
	done   atomic.Int64 // bytes read of the file, as it is, compressed or not
	unpack lazyStream
}

// openTraceInput opens a trace, "-" being standard input. A pipe is opened when it is read.
func openTraceInput(path string, streams Streams) (*traceInput, error) {
	t := &traceInput{name: path}
	var err error
	if path == "-" {
		t.name = "standard input"
		t.status, err = streams.In.Stat()
	} else {
		t.status, err = os.Stat(path)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", t.name, cause(err))
	case t.status.IsDir():
		return nil, fmt.Errorf("%s is a directory, not a trace", t.name)
	case !t.status.Mode().IsRegular() && path == "-":
		t.pipe = newWaiting(func() (io.ReadCloser, error) { return io.NopCloser(streams.In), nil })
	case !t.status.Mode().IsRegular():
		t.pipe = newWaiting(openLater(path))
	case path == "-":
		t.file = streams.In
	default:
		if t.file, err = os.Open(path); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, cause(err))
		}
	}
	t.unpack.of = &counted{t}
	return t, nil
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
	in := match.Input{Name: t.name, Reader: &t.unpack}
	if t.pipe != nil {
		in.Interrupt = t.pipe.giveUp
	}
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
	return fmt.Sprintf("it has changed while it was compared: it had %d bytes at first and has %d now", t.status.Size(), now.Size())
}

// close gives up what reading takes.
func (t *traceInput) close(streams Streams) {
	if t.pipe != nil {
		t.pipe.giveUp()
	}
	t.unpack.close()
	if t.file != nil && t.file != streams.In {
		t.file.Close()
	}
}

// counted reads a trace as it is and counts.
type counted struct{ t *traceInput }

// Read implements io.Reader.
func (c *counted) Read(p []byte) (n int, err error) {
	if c.t.file != nil {
		n, err = c.t.file.Read(p)
	} else {
		n, err = c.t.pipe.Read(p)
	}
	c.t.done.Add(int64(n))
	return n, err
}

// lazyStream is a packed.Stream that is begun when it is read first, so that nobody has to wait for the beginning of a pipe before.
type lazyStream struct {
	of     io.Reader
	stream *packed.Stream
	err    error
}

// Read implements io.Reader.
func (l *lazyStream) Read(p []byte) (int, error) {
	if l.stream == nil && l.err == nil {
		l.stream, l.err = packed.NewStream(l.of)
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.stream.Read(p)
}

func (l *lazyStream) close() {
	if l.stream != nil {
		l.stream.Close()
	}
}

// checkPair refuses two traces of which one would take away what the other is to read.
func checkPair(a, b *traceInput) error {
	if a.pipe != nil && b.pipe != nil && os.SameFile(a.status, b.status) {
		return errors.New("the reference and the other trace are the same pipe, which can be read once only")
	}
	return nil
}
