package input

import (
	"errors"
	"io"
	"sync"

	"tracewell/internal/routine"
)

// waiting reads a pipe in a goroutine of its own, which opens it as well, so that neither has to be waited for: opening a
// named pipe takes until somebody writes it, and reading one until something is written.
type waiting struct {
	pieces  chan piece
	used    chan []byte // buffers to read into
	rest    []byte      // of the latest piece
	buffer  []byte      // that rest is in
	err     error       // behind rest
	givenUp chan struct{}
	once    sync.Once
}

// piece is what one Read brought.
type piece struct {
	bytes []byte
	err   error
}

// pieceSize is more than a pipe holds as a rule.
const pieceSize = 1 << 17

// errGivenUp is what reading ends with when nobody wants to wait any more.
var errGivenUp = errors.New("given up")

// newWaiting reads what open returns, and closes it in the end.
func newWaiting(open func() (io.ReadCloser, error)) *waiting {
	w := &waiting{pieces: make(chan piece), used: make(chan []byte, 2), givenUp: make(chan struct{})}
	w.used <- make([]byte, pieceSize)
	w.used <- make([]byte, pieceSize)
	routine.Go(func() { w.run(open) })
	return w
}

func (w *waiting) run(open func() (io.ReadCloser, error)) {
	source, err := open()
	if err != nil {
		w.hand(piece{err: err})
		return
	}
	defer source.Close()
	for more := true; more; {
		var buffer []byte
		select {
		case buffer = <-w.used:
		case <-w.givenUp:
			return
		}
		n, err := source.Read(buffer)
		more = w.hand(piece{buffer[:n], err}) && err == nil
	}
}

// hand passes a piece on, and reports whether anybody took it.
func (w *waiting) hand(p piece) bool {
	select {
	case w.pieces <- p:
		return true
	case <-w.givenUp:
		return false
	}
}

// Read implements io.Reader.
func (w *waiting) Read(p []byte) (int, error) {
	for len(w.rest) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		if w.buffer != nil {
			w.used <- w.buffer[:cap(w.buffer)]
			w.buffer = nil
		}
		select {
		case next := <-w.pieces:
			w.rest, w.buffer, w.err = next.bytes, next.bytes, next.err
		case <-w.givenUp:
			return 0, errGivenUp
		}
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// GiveUp makes Read return. The goroutine ends when what it waits for comes, if ever.
func (w *waiting) GiveUp() { w.once.Do(func() { close(w.givenUp) }) }
