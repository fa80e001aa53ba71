// Package input opens the files that commands read, compressed or not, and standard input: trace files with their symbols, in
// whatever format, and execution traces, which are read once.
//
// There are two ways to read a file. PackedFile is for random access: trace files, whose frames are read in any order, and again. A
// plain file is read where it is; a compressed file and a pipe are unpacked once, into memory or a temporary file. Stream is for
// traces that may be longer than any disk: it is read from the beginning to the end, and nothing of it is kept.
//
// Compression is recognised by the first bytes, never by the name, so "-" and pipes may be compressed as well. A compressed file
// that is cut off counts as far as it can be unpacked; the error is kept beside the content, so that a command can use what is
// there and still end with status 2.
//
// Work of more than a second shows a progress bar on standard error if that is a terminal. What is odd in a file but does not keep
// it from being read is printed to standard error as warnings, behind the name of the file.
package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/packed"
	"tracewell/itrace/match"
)

// Stream is an execution trace that is read once, from its beginning: a file, compressed or not, or a pipe. Nothing of it
// is kept, however long it is.
type Stream struct {
	Name   string // for messages
	Status fs.FileInfo
	File   *os.File // of a regular file
	close  func()
	Pipe   *CancellableReader // of anything else
	Raw    counted
	stream *packed.Stream // of raw, from the first Read on: before, a pipe may have nothing to tell whether it is compressed
	err    error          // why there is no stream
}

// OpenStream opens a trace, "-" being standard input. A pipe is opened by the goroutine that reads it: opening a FIFO blocks until
// somebody opens it for writing, which must not keep two of them from being opened in either order, nor Ctrl-C from working.
func OpenStream(path string, streams console.Streams) (t *Stream, err error) {
	t = &Stream{Name: path}
	if path == "-" {
		t.Name = "standard input"
		t.Status, err = streams.In.Stat()
	} else {
		t.Status, err = os.Stat(path)
	}
	switch {
	case err != nil:
	case t.Status.IsDir():
		err = errors.New("it is a directory, not a trace")
	case !t.Status.Mode().IsRegular():
		open := func() (io.ReadCloser, error) { return os.Open(path) }
		if path == "-" {
			open = func() (io.ReadCloser, error) { return io.NopCloser(streams.In), nil }
		}
		t.Pipe = newCancellableReader(open)
		t.Raw.Reader, t.close = t.Pipe, t.Pipe.Cancel
	case path == "-":
		t.File, t.close = streams.In, func() {}
		t.Raw.Reader = t.File
	default:
		t.File, err = os.Open(path)
		t.Raw.Reader, t.close = t.File, func() { t.File.Close() }
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, Cause(err))
	}
	return t, nil
}

// Read implements io.Reader for the content, unpacked.
func (t *Stream) Read(p []byte) (int, error) {
	if t.begin(); t.err != nil {
		return 0, t.err
	}
	return t.stream.Read(p)
}

// begin detects whether the trace is compressed, which reads its first bytes. It waits for them if it is a pipe.
func (t *Stream) begin() {
	if t.stream == nil && t.err == nil {
		t.stream, t.err = packed.NewStream(&t.Raw)
	}
}

// Close closes the file or cancels the reading of the pipe. Standard input stays open.
func (t *Stream) Close() error {
	t.close()
	return t.CloseStream()
}

// CloseStream ends the goroutines that unpack, and leaves the file open for somebody else to read.
func (t *Stream) CloseStream() error {
	if t.stream == nil {
		return nil
	}
	return t.stream.Close()
}

// counted counts the bytes that are read, as they are in the file, for progress bars, which other goroutines move.
type counted struct {
	io.Reader
	Done atomic.Int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.Done.Add(int64(n))
	return n, err
}

// Cause is an error of the file system without the name of the file, for messages that have the name in front already.
func Cause(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Input is the trace for itrace/match. A pipe may block for ever, so it can be interrupted; an uncompressed file is ready to be
// read without a goroutine in between.
func (t *Stream) Input() match.Input {
	in := match.Input{Name: t.Name, Reader: t}
	if t.Pipe != nil {
		in.Interrupt = t.Pipe.Cancel
		return in
	}
	t.begin()
	in.Ready = t.err == nil && t.stream.Method == nil
	return in
}

// Changed describes how a file has changed since it was opened, "" if it has not: a comparison of a trace that is still being
// written is one of its beginning.
func (t *Stream) Changed() string {
	if t.File == nil {
		return ""
	}
	// Some file systems keep times of seconds only, but a file that grows has another size as well.
	now, err := t.File.Stat()
	switch {
	case err != nil || now.Size() == t.Status.Size() && now.ModTime().Equal(t.Status.ModTime()):
		return ""
	case now.Size() == t.Status.Size():
		return "it has been written to while it was compared"
	}
	return fmt.Sprintf("it has changed while it was compared: it had %d bytes at first and has %d now",
		t.Status.Size(), now.Size())
}

// CheckPair refuses two traces of which one would take away what the other is to read. A regular file may be both: each Stream
// opens it for itself.
func CheckPair(a, b *Stream) error {
	if a.Pipe != nil && b.Pipe != nil && os.SameFile(a.Status, b.Status) {
		return errors.New("the reference and the other trace are the same pipe, which can be read once only")
	}
	return nil
}
