package match

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// feed reads the bytes of a trace. Unless there is no need for that, it reads ahead, in a goroutine of its own, so that two pipes
// can be written by turns, and that decompression and comparison go on side by side.
type feed struct {
	ctx    context.Context
	input  Input
	offset int64 // bytes that have been read
	err    error // why reading ended, io.EOF at the end of the trace

	full  chan []byte
	empty chan []byte
	block []byte // the one that is being taken
	rest  []byte // of it
}

const (
	feedBlocks = 3
	feedBlock  = 1 << 18 // bytes
)

func newFeed(ctx context.Context, in Input) *feed {
	f := &feed{ctx: ctx, input: in}
	if !in.Ready {
		f.full, f.empty = make(chan []byte, feedBlocks), make(chan []byte, feedBlocks)
		for range feedBlocks {
			f.empty <- make([]byte, feedBlock)
		}
	}
	return f
}

// run reads ahead to the end of the trace, or until the context is done.
func (f *feed) run() {
	defer close(f.full)
	for f.err == nil {
		select {
		case block := <-f.empty:
			if n := f.readSome(block); n > 0 {
				f.full <- block[:n] // there is a place for each
			}
		case <-f.ctx.Done():
			f.err = f.ctx.Err()
		}
	}
}

// readSome reads at least a byte, or sets f.err. A reader may return neither, but not for ever.
func (f *feed) readSome(block []byte) (n int) {
	err := io.ErrNoProgress
	for range 100 {
		if n, err = f.input.Reader.Read(block); n > 0 || err != nil {
			break
		}
		err = io.ErrNoProgress
	}
	f.offset += int64(n)
	if f.err = err; err != nil && !errors.Is(err, io.EOF) {
		f.err = fmt.Errorf("%s: reading at byte %d: %w", f.input.Name, f.offset, err)
	}
	return n
}

// Read implements io.Reader.
func (f *feed) Read(p []byte) (n int, err error) {
	switch {
	case f.input.Ready && f.ctx.Err() != nil:
		return 0, f.ctx.Err()
	case f.input.Ready:
		return f.readSome(p), f.err
	}
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
