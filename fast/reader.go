package fast

import (
	"errors"

	"tracewell/trace"
)

// Record is what one tracepoint has made of one hit, in the form of a target.Deposit.
type Record struct {
	Key   trace.Key
	Frame []byte // in the bytes of a trace file, header included; nil if the condition failed. Valid until take returns
	// Failures are the expressions that failed, in order: those that ax.Machine would have returned.
	Failures []error
	More     bool  // the next record is of the same hit
	Lost     int64 // frames of the tracepoint dropped since its record before, for want of room
}

// ErrCorrupt says that what lies in the ring cannot have been written by a pad. Nothing behind it can be found.
var ErrCorrupt = errors.New("the program has overwritten the memory that it shares with its tracer")

// Reader takes slots out of the ring. Its methods are to be called by one goroutine at a time, except for Void, Define and Forget.
type Reader struct {
	// Wake wakes all threads that wait on the futex at WakeAt. It is called when there may be some.
	Wake func()
	// Thread translates the base of thread-local storage to a thread id.
	Thread func(base uint64) int64
}

// NewReader reads the ring of an arena through the tracer's mapping of it: RingSize bytes, mapped twice in a row.
func NewReader(a *Arena, c Control, ring []byte) *Reader { return nil }

// Define tells the reader of a site before its jump is patched in.
func (r *Reader) Define(s *Slots) {}

// Forget removes a site by its index. No thread may be in its pad, and its slots must have been drained.
func (r *Reader) Forget(site int) {}

// Void says that a reserved slot of a site will never be written.
func (r *Reader) Void(site int, position uint64) {}

// Drain takes all slots that are whole, in order, up to the first that is not, but no more than most bytes, and gives the writers
// their room. take is called for each record, and returns false to have no more. Drain returns the number of bytes drained.
func (r *Reader) Drain(most int, take func(*Record) bool) (n int, err error) { return 0, nil }

// Outstanding returns the number of bytes that are reserved and have not been drained.
func (r *Reader) Outstanding() uint64 { return 0 }

// Lost appends a record without a frame for each tracepoint that has dropped frames since its record before.
func (r *Reader) Lost(take func(*Record) bool) {}
