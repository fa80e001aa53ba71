package packed

import (
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"

	"tracewell/internal/routine"
)

// frameSize is how much content a frame has that is written here. A question about a trace reads 256 KiB of it, mostly from one
// frame. Text that repeats itself at a distance, as traces of loops do, takes more room in smaller frames; larger ones take longer
// to unpack for a question.
const frameSize = 1 << 20

// A frameWriter writes a Zstandard file in the seekable format. Frames are compressed on all processors and written in order, each
// as soon as it can be, so that a pipe gets what there is.
type frameWriter struct {
	to      io.Writer
	encoder *zstd.Encoder

	frame *packing      // at hand
	idle  chan *packing // as many as may be at work at once
	last  chan struct{} // closed when the frame before is written, and all before it; nil in front of the first
	table table

	mu  sync.Mutex
	err error // of writing
}

// packing is a frame that is filled, compressed and written.
type packing struct {
	content []byte
	packed  []byte
}

// newFrameWriter returns a frameWriter that writes to w.
func newFrameWriter(w io.Writer) (*frameWriter, error) {
	processors := runtime.GOMAXPROCS(0)
	// Each frame has a checksum of its content, which is why the table has none. A file without content has a frame, too, by which
	// everybody knows the file for what it is.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(processors), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, err
	}
	f := &frameWriter{to: w, encoder: encoder, idle: make(chan *packing, processors+1), table: make(table, 1)}
	for range processors + 1 {
		f.idle <- &packing{}
	}
	f.frame = <-f.idle
	return f, nil
}

// Write implements io.Writer.
func (f *frameWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		take := min(len(p), frameSize-len(f.frame.content))
		f.frame.content = append(f.frame.content, p[:take]...)
		n, p = n+take, p[take:]
		if len(f.frame.content) == frameSize {
			if err := f.send(); err != nil {
				return n, err
			}
			f.frame = <-f.idle
		}
	}
	return n, nil
}

// send has the frame at hand compressed, and written behind the one before it. The error is that of an earlier frame.
func (f *frameWriter) send() error {
	frame, ahead, written := f.frame, f.last, make(chan struct{})
	f.last = written
	routine.Go(func() {
		frame.packed = f.encoder.EncodeAll(frame.content, frame.packed[:0])
		if ahead != nil {
			<-ahead
		}
		f.put(frame)
		frame.content = frame.content[:0]
		f.idle <- frame
		close(written)
	})
	return f.failed()
}

// put writes a frame, unless an earlier one could not be.
func (f *frameWriter) put(frame *packing) {
	err := f.failed()
	if err == nil {
		_, err = f.to.Write(frame.packed)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	end := f.table[len(f.table)-1]
	f.table = append(f.table, extent{end.packed + int64(len(frame.packed)), end.content + int64(len(frame.content))})
}

func (f *frameWriter) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// wait returns when nothing is written any more.
func (f *frameWriter) wait() {
	if f.last != nil {
		<-f.last
	}
}

// Close writes what is left, and the table.
func (f *frameWriter) Close() error {
	if len(f.frame.content) > 0 || f.last == nil {
		f.send()
	}
	f.wait()
	if f.err == nil && f.table.frames() <= mostFrames {
		_, f.err = f.to.Write(f.table.append(nil))
	}
	return f.err
}
