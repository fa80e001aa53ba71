package input

import (
	"errors"
	"io"
	"sync"

	"tracewell/internal/routine"
)

// CancellableReader reads a pipe whose reads can be cancelled. Opening a FIFO blocks until a writer opens it, and reading one until
// something is written; neither call can be interrupted, so a goroutine of the reader's own does both. Two buffers travel between
// the goroutine and Read: while one is consumed the other is filled.
type CancellableReader struct {
	pieces    chan piece
	used      chan []byte // empty buffers
	rest      []byte      // of the latest piece, not yet returned by Read
	buffer    []byte      // that rest is in
	err       error       // to return after rest
	cancelled chan struct{}
	once      sync.Once
}

// piece is the result of one Read of the pipe; its bytes are valid until the buffer goes back to used.
type piece struct {
	bytes []byte
	err   error
}

// pieceSize is the size of a buffer in bytes: twice the capacity of a pipe on Linux, so that one read empties it.
const pieceSize = 1 << 17

// errCancelled is the error of a Read after Cancel.
var errCancelled = errors.New("reading was cancelled")

// newCancellableReader reads the pipe that open opens, and closes it at its end, after an error or once it is cancelled.
func newCancellableReader(open func() (io.ReadCloser, error)) *CancellableReader {
	r := &CancellableReader{pieces: make(chan piece), used: make(chan []byte, 2), cancelled: make(chan struct{})}
	r.used <- make([]byte, pieceSize)
	r.used <- make([]byte, pieceSize)
	routine.Go(func() { r.readAll(open) })
	return r
}

// readAll is the goroutine. It owns the pipe, so nobody else closes it, and it reads ahead by one buffer at most: without an
// empty one it waits, and so does the program that writes the pipe.
func (r *CancellableReader) readAll(open func() (io.ReadCloser, error)) {
	source, err := open()
	if err != nil {
		r.hand(piece{err: err})
		return
	}
	defer source.Close()
	for more := true; more; {
		var buffer []byte
		select {
		case buffer = <-r.used:
		case <-r.cancelled:
			return
		}
		n, err := source.Read(buffer)
		more = r.hand(piece{buffer[:n], err}) && err == nil
	}
}

// hand passes a piece to Read. It returns false if reading was cancelled.
func (r *CancellableReader) hand(p piece) bool {
	select {
	case r.pieces <- p:
		return true
	case <-r.cancelled:
		return false
	}
}

// Read implements io.Reader. It must not be called by two goroutines at a time. Bytes that came with an error are returned before
// it.
func (r *CancellableReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.buffer != nil {
			r.used <- r.buffer[:cap(r.buffer)]
			r.buffer = nil
		}
		select {
		case next := <-r.pieces:
			r.rest, r.buffer, r.err = next.bytes, next.bytes, next.err
		case <-r.cancelled:
			return 0, errCancelled
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Cancel makes Read return an error, at once and from then on. The goroutine ends when the system call that it is blocked in
// returns, which for a pipe that nobody writes is never: the process ends without it.
func (r *CancellableReader) Cancel() { r.once.Do(func() { close(r.cancelled) }) }
