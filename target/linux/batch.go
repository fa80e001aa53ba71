//go:build linux

package linux

import (
	"slices"

	"tracewell/fast"
	"tracewell/target"
)

// batch is deposits that are handed on together, which costs little more than one. Their frames are copies, one behind the other,
// so the ring has its room back before anybody has looked at them.
type batch struct {
	deposits []target.Deposit
	frames   []byte
}

// The sizes of a batch: so many deposits, and bytes of frames, make it full. It fits in a processor's cache.
const (
	batchDeposits = 512
	batchBytes    = 256 << 10
)

// add appends a record, and returns the copy of its frame, nil for none. It reports whether the batch is full.
func (b *batch) add(r *fast.Record) (frame []byte, full bool) {
	d := target.Deposit{Key: r.Key, Failures: slices.Clone(r.Failures), Printed: r.Printed, More: r.More, Lost: r.Lost}
	if r.Frame != nil {
		if b.frames == nil {
			b.frames = make([]byte, 0, batchBytes)
		}
		at := len(b.frames)
		b.frames = append(b.frames, r.Frame...) // if it moves, the frames before stay where they were
		d.Frame = b.frames[at:]
	}
	b.deposits = append(b.deposits, d)
	return d.Frame, len(b.deposits) >= batchDeposits || len(b.frames) >= batchBytes-batchBytes/8
}

// clear empties the batch.
func (b *batch) clear() {
	clear(b.deposits)
	b.deposits = b.deposits[:0]
	b.frames = b.frames[:0]
}
