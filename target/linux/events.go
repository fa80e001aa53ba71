//go:build linux

package linux

import (
	"sync"
	"time"

	"tracewell/target"
)

// eventQueue carries events to the session. The tracer never waits for a reader, of which there may be none: what the
// channel has no room for, as when hundreds of threads stop one by one, waits beside it.
type eventQueue struct {
	out  chan target.Event
	more chan struct{} // rouses the pump

	mu    sync.Mutex // guards the rest, and the sending to out
	queue []target.Event
}

const (
	eventRoom = 256
	pumpEvery = time.Millisecond // while the channel is full
)

func newEventQueue() *eventQueue {
	return &eventQueue{out: make(chan target.Event, eventRoom), more: make(chan struct{}, 1)}
}

// add appends an event. If there is room it can be received when add returns.
func (q *eventQueue) add(e target.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = append(q.queue, e)
	if !q.fill() {
		select {
		case q.more <- struct{}{}:
		default:
		}
	}
}

// drop forgets the events that match and that nobody has received, and returns them. The reader must not be at work meanwhile.
func (q *eventQueue) drop(match func(target.Event) bool) (dropped []target.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var kept []target.Event
	keep := func(e target.Event) {
		if match(e) {
			dropped = append(dropped, e)
		} else {
			kept = append(kept, e)
		}
	}
	for len(q.out) > 0 {
		keep(<-q.out)
	}
	for _, e := range q.queue {
		keep(e)
	}
	q.queue = kept
	q.fill()
	return dropped
}

// fill moves what there is room for into the channel, and reports whether that is all.
func (q *eventQueue) fill() bool {
	for len(q.queue) > 0 {
		select {
		case q.out <- q.queue[0]:
			q.queue = q.queue[1:]
		default:
			return false
		}
	}
	return true
}

// pump fills the channel again when it was full, until done is closed.
func (q *eventQueue) pump(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-q.more:
		}
		for full := true; full; {
			select {
			case <-done:
				return
			case <-time.After(pumpEvery):
			}
			q.mu.Lock()
			full = !q.fill()
			q.mu.Unlock()
		}
	}
}
