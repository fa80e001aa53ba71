package stub

import (
	"errors"
	"fmt"
	"io"

	"tracewell/internal/routine"
)

// input is the goroutine that reads a connection. It alternates between two buffers: while the session works on one
// chunk the next one is read, and as the channel is unbuffered a buffer is only reused once the session has come back for
// the chunk in the other.
type input struct {
	chunks chan []byte // closed at the end of the input
	err    error       // why, set before chunks is closed; nil for an orderly end
	done   chan struct{}
}

// chunkSize is enough for most packets whole.
const chunkSize = 16 << 10

// newInput starts reading r.
func newInput(r io.Reader) *input {
	in := &input{chunks: make(chan []byte), done: make(chan struct{})}
	routine.Go(func() { in.run(r) })
	return in
}

// close ends the goroutine as soon as its Read returns. It does not wait: closing a terminal or a pipe wakes no reader
// on some systems, and that is for whoever made the connection to know.
func (in *input) close() { close(in.done) }

func (in *input) run(r io.Reader) {
	defer close(in.chunks)
	var buffers [2][chunkSize]byte
	for i := 0; ; i ^= 1 {
		n, err := r.Read(buffers[i][:])
		if n > 0 {
			select {
			case in.chunks <- buffers[i][:n]:
			case <-in.done:
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				in.err = fmt.Errorf("read from the client: %w", err)
			}
			return
		}
	}
}
