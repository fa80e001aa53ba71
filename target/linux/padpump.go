//go:build linux

package linux

import (
	"time"

	"tracewell/internal/sys"
)

// How long a pump sleeps. It is woken by nobody: that would cost each hit a system call.
const (
	shortestSleep = 50 * time.Microsecond
	longestSleep  = 20 * time.Millisecond
	promptSleep   = 500 * time.Microsecond // the longest where frames are waited for
	noMore        = -1                     // it ends
)

// pump calls look until stop is closed. look is given how long the sleep before it was meant to be, and returns how long the
// next is to be: short as long as much comes.
func pump(stop <-chan struct{}, look func(time.Duration) time.Duration) {
	for sleep := longestSleep; sleep > noMore; sleep = min(look(sleep), longestSleep) {
		select {
		case <-stop:
			return
		default:
			sys.Nap(sleep)
		}
	}
}
