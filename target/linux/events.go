//go:build amd64

package linux

import (
	"slices"

	"tracewell/target"
)

// eventQueue carries events to the session. The tracer never waits for a reader, of which there may be none: a goroutine of
// the queue's own holds the events until they are taken.
type eventQueue struct {
	in     chan target.Event
	out    chan target.Event
	forget chan func(target.Event) bool
}

func newEventQueue() eventQueue {
	return eventQueue{make(chan target.Event), make(chan target.Event), make(chan func(target.Event) bool)}
}

// add appends an event.
func (q *eventQueue) add(e target.Event) { q.in <- e }

// drop forgets the waiting events that match. A reader that comes after drop sees none of them.
func (q *eventQueue) drop(match func(target.Event) bool) { q.forget <- match }

// pump hands events over until done is closed.
func (q *eventQueue) pump(done <-chan struct{}) {
	var waiting []target.Event
	for {
		var first target.Event
		var out chan<- target.Event
		if len(waiting) > 0 {
			first, out = waiting[0], q.out
		}
		select {
		case <-done:
			return
		case e := <-q.in:
			waiting = append(waiting, e)
		case match := <-q.forget:
			waiting = slices.DeleteFunc(waiting, match)
		case out <- first:
			waiting = waiting[1:]
		}
	}
}
