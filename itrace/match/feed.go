package match

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// feed reads the bytes of a trace ahead, in a goroutine of its own, so that two pipes can be written by turns and that decompression
// and comparison go on side by side.
type feed struct {
	ctx   context.Context
	name  string
	in    io.Reader
	full  chan []byte
	empty chan []byte
	err   error // once full is closed: why reading ended, io.EOF at the end of the trace

	block []byte // the one that is being taken
	rest  []byte // of it
}

const (
	feedBlocks = 3
	feedBlock  = 1 << 18 // bytes
)

func newFeed(ctx context.Context, in Input) *feed {
	f := &feed{ctx: ctx, name: in.Name, in: in.Reader, full: make(chan []byte, feedBlocks), empty: make(chan []byte, feedBlocks)}
	for range feedBlocks {
		f.empty <- make([]byte, feedBlock)
	}
	return f
}

// run reads the trace to its end, or until the context is done.
func (f *feed) run() {
	defer close(f.full)
	var offset int64
	for f.err == nil {
		var block []byte
		select {
		case block = <-f.empty:
		case <-f.ctx.Done():
			f.err = f.ctx.Err()
			return
		}
		n, err := f.readSome(block)
		if n > 0 {
			f.full <- block[:n] // there is a place for each
		}
		offset += int64(n)
		if f.err = err; err != nil && !errors.Is(err, io.EOF) {
			f.err = fmt.Errorf("%s: reading at byte %d: %w", f.name, offset, err)
		}
	}
}

// readSome reads at least a byte, or returns an error. A reader may return neither, but not for ever.
func (f *feed) readSome(block []byte) (n int, err error) {
	for range 100 {
		if n, err = f.in.Read(block); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// Read implements io.Reader.
func (f *feed) Read(p []byte) (n int, err error) {
	if len(f.rest) == 0 {
		if f.block != nil {
			f.empty <- f.block[:cap(f.block)]
			f.block = nil
		}
		select {
		case block, more := <-f.full:
			if !more {
				return 0, f.err
			}
			f.block, f.rest = block, block
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		}
	}
	n = copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}
