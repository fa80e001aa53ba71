//go:build linux

package linux

import (
	"slices"

	"tracewell/internal/sys"
)

// inbox is what wait has said and nobody has looked at yet. Its tasks count as running.
//
// The kernel tells of the task first that came under trace last, so where the newest threads alone keep the tracer busy, the
// older ones would stand still. So every now and then all that there is to tell is taken, and dealt with before anything
// newer. Doing so each time would cost a second wait4 a hit, and no thread waits long for a few hits of others.
type inbox struct {
	stops []heard
	waits int // since the last look at everything
}

// heard is a wait status and the id that came with it, of a task or of a new one that is not known yet.
type heard struct {
	tid    int
	status sys.Status
}

// lookEvery is how many waits there are to one look at everything.
const lookEvery = 8

// next waits for any tracee, as sys.Wait does.
func (t *Target) next() (int, sys.Status, error) {
	b := &t.inbox
	if len(b.stops) > 0 {
		first := b.stops[0]
		b.stops = slices.Delete(b.stops, 0, 1)
		return first.tid, first.status, nil
	}
	tid, s, err := t.reap(true)
	if b.waits++; b.waits < lookEvery || err != nil || len(t.tasks) == 1 {
		return tid, s, err
	}
	b.waits = 0
	for {
		other, status, err := t.reap(false)
		if err != nil || other == 0 {
			return tid, s, nil
		}
		b.stops = append(b.stops, heard{other, status})
	}
}

// hear waits for any tracee and notes what it did, as heed does.
func (t *Target) hear() (k *task, s sys.Status, interrupted bool) {
	tid, s, err := t.next()
	return t.heed(tid, s, err)
}

// heed notes what next has returned. The task is nil when it is not known yet, the wait was interrupted, or there is no tracee
// left, which ends all processes.
func (t *Target) heed(tid int, status sys.Status, err error) (k *task, s sys.Status, interrupted bool) {
	switch err {
	case nil:
		k, s = t.arrive(tid, status)
	case sys.ErrInterrupted:
		interrupted = true
	default:
		t.vanish()
	}
	return k, s, interrupted
}

// take returns what there is of one tracee.
func (b *inbox) take(tid int) (sys.Status, bool) {
	i := slices.IndexFunc(b.stops, func(h heard) bool { return h.tid == tid })
	if i < 0 {
		return 0, false
	}
	s := b.stops[i].status
	b.stops = slices.Delete(b.stops, i, i+1)
	return s, true
}
