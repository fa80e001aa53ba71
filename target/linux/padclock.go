//go:build linux

package linux

import (
	"math/bits"
	"time"

	"tracewell/internal/fast"
)

// padClock relates the counter by which pads tell the time to the clock by which hits that stop a thread do. It learns the rate of
// the counter from how far both have come since the target was made.
type padClock struct {
	counter uint64
	time    time.Time
}

// clockBaseline is how long the rate is measured at least: reading both takes some 100 ns, which are then no more than 10 parts in
// a million.
const clockBaseline = 10 * time.Millisecond

// clockReadings is how often both are read for one measurement.
const clockReadings = 5

// startClock begins to measure. Of several readings it takes the one whose two halves were nearest to one another: the scheduler
// may come between them, and an error of milliseconds would then stand between pads and hits that stop a thread.
func startClock() (best padClock) {
	shortest := ^uint64(0)
	for range clockReadings {
		before := host.counter()
		now := time.Now()
		if took := host.counter() - before; took < shortest {
			shortest, best = took, padClock{before + took/2, now}
		}
	}
	return best
}

// clock is the conversion for pads. It is false if the counter does not tell the time.
func (c padClock) clock() (fast.Clock, bool) {
	if c.counter == 0 {
		return fast.Clock{}, false
	}
	if since := time.Since(c.time); since < clockBaseline {
		time.Sleep(clockBaseline - since)
	}
	// Both are read anew, for the conversion to begin at a time that has just been: an error of the rate grows from there.
	now := startClock()
	ticks, elapsed := now.counter-c.counter, now.time.Sub(c.time)
	if uint64(elapsed) >= ticks {
		return fast.Clock{}, false
	}
	rate, _ := bits.Div64(uint64(elapsed), 0, ticks) // nanoseconds per tick times 2^64
	return fast.Clock{Counter: now.counter, Rate: rate, Nanoseconds: uint64(now.time.UnixNano())}, true
}
