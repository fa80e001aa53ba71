package fast

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"

	"tracewell/trace"
)

// Control is the tracer's mapping of the control area, ControlSize bytes as words. Its methods may be called by any goroutine.
type Control struct{ words []uint64 }

// Identity is what tells a control area from other memory, and another process how to read it.
type Identity struct {
	Key      uint64
	RingSize uint64
}

// magic begins an Identity: the name and the version of the layout.
const magic = uint64(0x33_74736166_7774) // "twfast3"

// Waiting for room: the defaults.
const (
	nap      = 10 * time.Millisecond
	patience = time.Second
	napSpins = 1 << 18 // of some 140 cycles
)

var errNotControl = errors.New("no control area of fast tracepoints, or one of another version")

// NewControl prepares a control area that holds zeros. Pads are inert until SwitchOn.
func NewControl(words []uint64, a *Arena) (Control, error) {
	if err := a.check(); err != nil {
		return Control{}, err
	}
	if len(words)*8 < ControlSize {
		return Control{}, fmt.Errorf("a control area of %d bytes, %d needed", len(words)*8, ControlSize)
	}
	// Off first: the memory may be mapped in the program already.
	c := Control{words}
	c.SwitchOff()
	c.store(LimitAt, uint64(a.RingSize))
	c.store(NapAt+8, uint64(nap))
	c.store(NapSpinsAt, napSpins)
	c.SetPatience(patience)
	c.store(IdentityAt, magic)
	c.store(IdentityAt+8, a.Key)
	c.store(IdentityAt+16, uint64(a.RingSize))
	return c, nil
}

// OpenControl takes over the control area of a tracer that has died. Nothing in it can be relied on.
func OpenControl(words []uint64) (Control, Identity, error) {
	c := Control{words}
	if len(words)*8 < ControlSize || c.load(IdentityAt) != magic {
		return Control{}, Identity{}, errNotControl
	}
	return c, Identity{Key: c.load(IdentityAt + 8), RingSize: c.load(IdentityAt + 16)}, nil
}

// word is the one at an offset.
func (c Control) word(offset int) *uint64              { return &c.words[offset/8] }
func (c Control) load(offset int) uint64               { return atomic.LoadUint64(c.word(offset)) }
func (c Control) store(offset int, v uint64)           { atomic.StoreUint64(c.word(offset), v) }
func (c Control) add(offset int, v uint64) uint64      { return atomic.AddUint64(c.word(offset), v) }
func (c Control) counter(table int, index int) *uint64 { return c.word(table + 8*index) }

// SwitchOff makes all pads inert. Threads that are in one finish what they have begun; they go on waiting for room, so a tracer
// that is about to stand still must drain the ring until Reader.Outstanding is 0.
func (c Control) SwitchOff() { atomic.OrUint64(c.word(OwnerAt), ownerDied) }

// SwitchOn undoes SwitchOff. The tracer must hold the robust futex (sys.RobustFutexIn of the words), which switches on, too.
func (c Control) SwitchOn() { atomic.AndUint64(c.word(OwnerAt), ^uint64(ownerDied)) }

// Off reports whether the pads are inert.
func (c Control) Off() bool { return c.load(OwnerAt)&ownerDied != 0 }

// OwnerDied reports whether the tracer has ended without dropping the robust futex.
func (c Control) OwnerDied() bool {
	owner := c.load(OwnerAt)
	return owner&ownerDied != 0 && owner&ownerThread == 0
}

// Enable has pads heed or pass over a tracepoint by its index.
func (c Control) Enable(index int, on bool) {
	bit := uint64(1) << (index % 8 * 8)
	if word := c.word(EnabledAt + index&^7); on {
		atomic.OrUint64(word, bit)
	} else {
		atomic.AndUint64(word, ^bit)
	}
}

// TryLock takes the lock that pads hold from a condition that sets trace state variables to the commit, and reports whether it was
// free. Pads wait for whoever holds it, unless the tracer dies.
func (c Control) TryLock() bool { return atomic.CompareAndSwapUint64(c.word(LockAt), 0, 1) }

// Unlock undoes TryLock.
func (c Control) Unlock() { c.store(LockAt, 0) }

// Variable returns the value of a trace state variable, 0 if none was ever set.
func (c Control) Variable(n trace.VariableNumber) int64 { return int64(c.load(VariablesAt + 8*int(n))) }

// SetVariable sets a trace state variable.
func (c Control) SetVariable(n trace.VariableNumber, v int64) {
	c.store(VariablesAt+8*int(n), uint64(v))
}

// Clock converts the time stamp counter to time.
type Clock struct {
	Counter     uint64 // at the time Nanoseconds
	Rate        uint64 // nanoseconds per tick of the counter, which are less than one, times 2^64
	Nanoseconds uint64 // since 1970
}

// At returns the nanoseconds since 1970 when the counter had a value, as pads compute it.
func (k Clock) At(counter uint64) uint64 {
	return k.Nanoseconds + high(bits.Mul64(counter-k.Counter, k.Rate))
}

// high is the upper half of a product.
func high(hi, _ uint64) uint64 { return hi }

// SetClock sets the clock of $trace_timestamp and $trace_nanoseconds. Pads must not run meanwhile.
func (c Control) SetClock(k Clock) {
	c.store(ClockAt, k.Counter)
	c.store(ClockAt+8, k.Rate/1000)
	c.store(ClockAt+16, k.Nanoseconds/1000)
	c.store(NanosecondsAt, k.Rate)
	c.store(NanosecondsAt+8, k.Nanoseconds)
}

// keep notes how many bytes of frames were kept up to a position, before the limit says that the room up to there is free. The pair
// of the position before stays as it is: the tracer can be killed between any two words.
func (c Control) keep(before, position, kept uint64) {
	at := KeptAt
	if c.load(at) == before {
		at += 16
	}
	c.store(at+8, kept)
	c.store(at, position)
}

// Kept returns how many bytes of frames the tracer had written to its file when it gave back the room up to a position: what lies
// in the ring behind it may be in the file behind that many bytes. It is 0 where nothing was noted.
func (c Control) Kept(position uint64) uint64 {
	for _, at := range []int{KeptAt, KeptAt + 16} {
		if c.load(at) == position {
			return c.load(at + 8)
		}
	}
	return 0
}

// SetProcess sets what $pid is in frames and expressions.
func (c Control) SetProcess(pid int64) { c.store(ProcessAt, uint64(pid)) }

// Process returns it.
func (c Control) Process() int64 { return int64(c.load(ProcessAt)) }

// SetPatience has a waiting thread abandon the run when the reader has not advanced for so long; 0 has it wait for ever.
func (c Control) SetPatience(d time.Duration) { c.store(PatienceAt, uint64(uint32((d+nap-1)/nap))) }

// Abandon has all waiting threads go on without a frame, and makes pads inert. The run is over: what they reserved stays a hole.
func (c Control) Abandon() {
	c.SwitchOff() // before the waiting threads go on, or they would hit again
	c.store(AbandonedAt, 1)
}

// Abandoned reports whether the run was abandoned, by a thread that waited too long or by Abandon.
func (c Control) Abandoned() bool { return c.load(AbandonedAt) != 0 }

// Waits returns how often a thread began to wait for room.
func (c Control) Waits() uint64 { return c.load(WaitsAt) }

// ResetHits sets the count that pads compare with the pass count of a tracepoint.
func (c Control) ResetHits(index int, hits uint64) {
	atomic.StoreUint64(c.counter(HitsAt, index), hits)
}
