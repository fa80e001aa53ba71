//go:build linux

package linux

import (
	"testing"

	"tracewell/target"
)

// TestEventQueue puts more into the queue than the channel has room for. Nothing is lost, doubled or out of order, and what
// was dropped does not come.
func TestEventQueue(t *testing.T) {
	const all = 5 * eventRoom
	q := newEventQueue()
	done := make(chan struct{})
	defer close(done)
	go q.pump(done)
	for i := range all {
		q.add(target.Event{Code: i})
	}
	q.drop(func(e target.Event) bool { return e.Code%3 == 0 })
	for i := range all {
		if i%3 == 0 {
			continue
		}
		if e := <-q.out; e.Code != i {
			t.Fatalf("got event %d, want %d", e.Code, i)
		}
	}
	q.add(target.Event{Code: all})
	select {
	case e := <-q.out:
		if e.Code != all {
			t.Errorf("got event %d, want %d", e.Code, all)
		}
	default:
		t.Error("an event that there was room for cannot be received at once")
	}
}
