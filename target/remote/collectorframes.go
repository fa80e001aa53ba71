package remote

import (
	"errors"
	"fmt"

	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace/compiled"
)

// The frames of a stub's own tracepoints.

// aside is what a reply with a piece of the buffer has besides it, in bytes.
const aside = 16

// errFilled ends a run of which frames may be missing, and nobody knows how many.
var errFilled = errors.New("its trace buffer has filled up between two fetches")

// fetch reads what has come to the stub's buffer of so many bytes, -1 if that is not known, and deposits its frames.
func (c *collector) fetch(size int64) error {
	for {
		b, err := c.t.c.TraceBuffer(c.fetched, (c.t.c.PacketSize()-aside)/2)
		switch {
		case err != nil || c.over:
			return err
		case len(b) == 0 && len(c.part) > 0:
			return fmt.Errorf("its buffer ends with %d bytes of a frame", len(c.part))
		case len(b) == 0:
			return nil
		}
		c.part = append(c.part, b...)
		c.fetched += int64(len(b))
		c.came += int64(len(b))
		if err := c.split(size); err != nil {
			return err
		}
	}
}

// split deposits the whole frames of what has been fetched.
func (c *collector) split(buffer int64) (err error) {
	list := c.deposits[:0]
	rest := c.part
	for n := 1; n > 0; rest = rest[n:] {
		var made target.Deposit
		if made, n, err = c.first(rest, buffer); n > 0 {
			list = append(list, made)
		}
	}
	c.take(list)
	c.deposits = list[:0]
	c.part = append([]byte(nil), rest...)
	return err
}

// first makes a deposit of the frame that b begins with, and returns its length; 0 where b ends before, or with an error. gdbserver
// leaves out of a frame what has no room any more, and goes on with frames that have: one that may be like that is an error.
func (c *collector) first(b []byte, buffer int64) (made target.Deposit, size int, err error) {
	if len(b) < tfile.FrameHeader {
		return made, 0, nil
	}
	n := int(c.t.isa.Order.Uint16(b))
	size = tfile.FrameHeader + int(c.t.isa.Order.Uint32(b[2:]))
	switch {
	case buffer >= 0 && c.fetched-int64(len(b))+c.largest > buffer:
		return made, 0, errFilled
	case size > c.run.MaxFrame+tfile.FrameHeader || size < 0:
		return made, 0, fmt.Errorf("its buffer has a frame of %d bytes", size)
	case n < 1 || n > len(c.defined):
		return made, 0, fmt.Errorf("its buffer has a frame of a tracepoint %d", n)
	case size > len(b):
		return made, 0, nil
	}
	tp := c.defined[n-1]
	frame, err := c.own(tp, b[:size])
	if err != nil {
		return made, 0, err
	}
	return target.Deposit{Key: tp.Key(), Frames: frame, Hits: 1}, size, nil
}

// own makes a frame of the run's out of one of the stub's: with the tracepoint's own number, and registers as long as the run
// has them.
func (c *collector) own(tp *compiled.Tracepoint, frame []byte) ([]byte, error) {
	c.t.isa.Order.PutUint16(frame, uint16(tp.Number))
	if c.run.RegisterBlock == c.t.block {
		return frame, nil
	}
	f, err := tfile.ParseFrame(frame, c.t.isa.Order, c.t.block)
	if err == nil {
		err = f.Check()
	}
	if err != nil {
		return nil, err
	}
	made := append([]byte(nil), frame[:tfile.FrameHeader]...)
	for b := range f.Blocks() {
		end := b.End()
		if b.Kind == tfile.BlockRegisters {
			end = min(end, b.Offset+1+c.run.RegisterBlock)
		}
		made = append(made, frame[b.Offset:end]...)
	}
	c.t.isa.Order.PutUint32(made[2:], uint32(len(made)-tfile.FrameHeader))
	return made, nil
}
