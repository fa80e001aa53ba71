//go:build linux

package linux

import (
	"slices"
	"sync/atomic"
	"time"

	"tracewell/internal/sys"
)

// A leader that ends before the other threads of its process becomes a zombie, and wait says nothing of it before the last
// of them has ended. So while one is waited for that may have ended like this, or while nothing else runs, the bell is rung now and
// then, and the tracer looks. A zombie is not shown any more; gdbserver drops it likewise.

// lookAgain is the time between two looks.
const lookAgain = 2 * time.Millisecond

// alarm rings a bell again and again while it is on.
type alarm struct {
	on    atomic.Bool
	timer *time.Timer
}

func newAlarm(bell sys.Bell) *alarm {
	a := &alarm{}
	a.timer = time.AfterFunc(time.Hour, func() {
		if a.on.Load() {
			bell.Ring()
			a.timer.Reset(lookAgain)
		}
	})
	a.timer.Stop()
	return a
}

func (a *alarm) start() {
	a.on.Store(true)
	a.timer.Reset(lookAgain)
}

func (a *alarm) stop() {
	a.on.Store(false)
	a.timer.Stop()
}

// mayLinger reports whether k would become a zombie if it ended now.
func (k *task) mayLinger() bool {
	return k.tid == k.tgid && slices.ContainsFunc(k.proc.order, func(o *task) bool { return o != k && o.tgid == k.tgid })
}

// runs reports whether k has been let go.
func (k *task) runs() bool { return k.state == running || k.state == listening }

// heard reports whether k will be heard of without being let go: a zombie is when it is the last of its process.
func (k *task) heard() bool { return k.runs() || k.state == zombie && !k.mayLinger() }

// onlyLeaders reports whether nothing runs but leaders that may become zombies.
func (t *Target) onlyLeaders() bool {
	found := false
	for _, p := range t.procs {
		if len(p.order) == 1 {
			return false
		}
		for _, k := range p.order {
			if k.runs() && !k.mayLinger() {
				return false
			}
			found = found || k.runs()
		}
	}
	return found && t.guests == 0
}

// findZombies looks for leaders that have ended, and reports whether it has found one.
func (t *Target) findZombies() (found bool) {
	for _, p := range t.procs {
		if k := t.tasks[p.pid]; k != nil && k.mayLinger() && k.runs() && sys.HasEnded(p.pid) {
			k.state = zombie
			t.threadOver(k, 0)
			found = true
		}
	}
	return found
}

// waitFor waits for one task. It reports false if there is nothing to be heard of it: it is gone, or a zombie.
func (t *Target) waitFor(k *task) (sys.Status, bool) {
	if s, ok := t.inbox.take(k.tid); ok {
		return s, true
	}
	if k.mayLinger() {
		t.alarm.start()
		defer t.alarm.stop()
	}
	for {
		_, s, err := sys.Wait(k.tid)
		switch {
		case err == nil:
			return s, true
		case err != sys.ErrInterrupted:
			return 0, false
		case k.mayLinger() && sys.HasEnded(k.tid):
			k.state = zombie
			return 0, false
		}
	}
}

// alive is the id of a thread by which /proc knows the process: it knows next to nothing of a zombie.
func (p *process) alive() int {
	for _, k := range p.order {
		if k.state != zombie {
			return k.tid
		}
	}
	return p.pid
}
