//go:build linux

package local

import (
	"context"
	"os"
	"strings"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/sys"
	"tracewell/record"
	"tracewell/target"
)

// Patience with a program that is to end: with one that may have got the signal by which the run was cancelled, with one that has
// been asked, and between two looks whether job control has stopped it.
const (
	ownAccord = 200 * time.Millisecond
	asked     = 2 * time.Second
	glance    = 100 * time.Millisecond
)

// Await implements record.Host: the program has no tracer any more, but is a child all the same. It is asked to end by SIGTERM,
// unless it ends anyway, and after a while killed.
func (h *host) Await(ctx context.Context, suspended func(target.GroupStop)) (ended record.Ended, known bool) {
	program, err := os.FindProcess(h.main)
	if err != nil {
		return ended, false
	}
	done := make(chan *os.ProcessState, 1)
	routine.Go(func() {
		state, _ := program.Wait() // none for a process that is gone
		done <- state
	})
	cancelled := ctx.Done()
	var after <-chan time.Time
	// Without a tracer no event tells that job control has stopped the program; its state in /proc does.
	look := time.NewTicker(glance)
	defer look.Stop()
	for next := sys.SIGTERM; ; {
		select {
		case <-look.C:
			if state, err := sys.StatusField(h.main, "State"); err == nil && strings.HasPrefix(state, "T") {
				suspended(target.GroupStop{PID: h.main, Signal: sys.SIGSTOP})
			}
		case state := <-done:
			if state != nil {
				ended.Code, ended.Signal = sys.EndOf(state)
			}
			return ended, state != nil
		case <-cancelled:
			// The terminal has sent its SIGINT to the whole process group: the program may be ending by itself.
			cancelled, after = nil, time.After(ownAccord)
		case <-after:
			_ = sys.Kill(h.main, next) // it fails for one that has ended
			// SIGTERM first, and SIGKILL for one that does not heed it.
			next, after = sys.SIGKILL, time.After(asked)
		}
	}
}
