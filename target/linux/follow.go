//go:build linux

package linux

import (
	"encoding/binary"
	"sync"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/sys"
)

// follower keeps the tracer where a hit is cheapest.
//
// A hit costs two wake-ups. One that crosses processors costs several times one that does not, and most of all when it has
// to rouse an idle processor. On a busy machine tracer and task end up on one processor by themselves. On a quiet one they
// never do: when the tracer lets the task go on, the kernel finds the task's processor busy, with the tracer, and moves the
// task to an idle one. It does not if only threads of the idle policy run there. So, where tracer and task are found apart,
// the tracer's thread binds itself to the task's processor and takes the idle policy; while it does so it is following.
// The program's own affinity and priority are never touched.
//
// The price is that every other thread goes before the tracer, which could starve and could not even notice. A watchdog on
// another thread looks every few milliseconds how long the tracer has waited for its processor, and makes it an
// ordinary thread again if that is too long. The next try comes later each time. Where the process may not go back from the idle
// policy nothing of this is done. docs/PERFORMANCE.md has the measurements.
type follower struct {
	// The tracer's own.
	ready     bool // the next four are known
	able      bool
	tid       int // of the tracer
	allowed   sys.Affinity
	schedule  *sys.Schedule
	following bool // on, as of the last look
	here      int  // at, as of the last look
	task      int  // whose processor is followed to
	strangers int  // hits of others since its last
	apart     int  // processor where a task was last seen apart from the tracer, one more than the number; 0 for none

	mu      sync.Mutex // guards the rest; no other lock is taken under it
	on      bool
	at      int // the processor followed to
	since   time.Time
	backoff time.Duration
	retry   time.Time // no earlier
	stop    chan struct{}
}

const (
	lookUpEvery  = 64 // hits of a task between two look-ups of its processor while not following
	dearLookUps  = 4  // the same while following, if a look-up costs a file to read
	unfollowable = 64 // hits of others after which the followed task is given up

	watchEvery = 4 * time.Millisecond
	tolerable  = 1500 * time.Microsecond // to have waited for the processor since the last look

	firstBackoff   = 20 * time.Millisecond
	longestBackoff = 2 * time.Second
	forgiveAfter   = time.Second // of following without complaint
)

// sample is told of every hit. Load balancing may take the followed task away at any time, and each hit is dear until the
// tracer is there too, so while following every hit is looked at where that is cheap.
func (f *follower) sample(k *task) {
	k.hits++
	due := k.hits%lookUpEvery == 0
	if f.following && k.tid == f.task {
		f.strangers = 0
		if k.cheapCore() || k.hits%dearLookUps == 0 {
			due = due || k.core() != f.here
		}
	} else if f.following {
		if f.strangers++; f.strangers < unfollowable {
			return
		}
		due = true
	}
	if !due {
		return
	}
	if !f.ready {
		f.prepare()
	}
	if f.able {
		f.lookUp(k)
	}
}

// prepare finds out what the tracer's thread may do.
func (f *follower) prepare() {
	f.ready, f.tid, f.backoff = true, sys.ThreadID(), firstBackoff
	var err1, err2 error
	f.allowed, err1 = sys.ThreadAffinity()
	f.schedule, err2 = sys.OpenSchedule(f.tid)
	f.able = err1 == nil && err2 == nil && sys.CanLeaveIdle()
}

// lookUp follows a task that is elsewhere: the followed one at once, another when it is so for the second time.
func (f *follower) lookUp(k *task) {
	cpu := k.core()
	f.mu.Lock()
	defer f.mu.Unlock()
	here := f.at
	if !f.on {
		here = sys.CPU()
	}
	switch {
	case cpu < 0 || cpu == here || !f.allowed.Has(cpu):
		f.apart = 0
	case f.on && k.tid == f.task:
		f.goTo(cpu)
	case f.apart != cpu+1:
		f.apart = cpu + 1
	case f.on || time.Now().After(f.retry):
		f.task = k.tid
		f.goTo(cpu)
	}
	f.following, f.here = f.on, f.at
}

// goTo binds the tracer to a processor; mu is held.
func (f *follower) goTo(cpu int) {
	only := sys.Single(cpu)
	if only.Apply(f.tid) != nil {
		return
	}
	f.apart, f.at = 0, cpu
	if f.on {
		return
	}
	if sys.SetPolicy(f.tid, sys.PolicyIdle) != nil {
		f.allowed.Apply(f.tid)
		return
	}
	f.on, f.since, f.stop = true, time.Now(), make(chan struct{})
	stop := f.stop
	routine.Go(func() { f.watch(stop) })
}

// watch is the watchdog.
func (f *follower) watch(stop <-chan struct{}) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	var buf [512]byte
	before, err := f.schedule.Look(buf[:])
	for err == nil {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		var now sys.ScheduleLook
		if now, err = f.schedule.Look(buf[:]); kept(before, now) {
			break
		}
		before = now
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop != stop || !f.on {
		return
	}
	f.leave()
	if time.Since(f.since) > forgiveAfter {
		f.backoff = firstBackoff
	}
	f.retry = time.Now().Add(f.backoff)
	f.backoff = min(2*f.backoff, longestBackoff)
}

// kept reports whether a thread has been kept from running between two looks. One that has not been given the processor at all may
// be waiting all the while: with a dozen busy threads there, one of the idle policy waits for seconds.
func kept(before, now sys.ScheduleLook) bool {
	return now.Delay-before.Delay > tolerable || now.Slices == before.Slices && before.Runnable && now.Runnable
}

// leave makes the tracer an ordinary thread again; mu is held.
func (f *follower) leave() {
	f.on = false
	sys.SetPolicy(f.tid, sys.PolicyNormal)
	f.allowed.Apply(f.tid)
}

// rest ends the following for a time that no hits come in.
func (f *follower) rest() {
	if !f.following {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.following = false
	if f.on {
		f.leave()
		close(f.stop)
	}
}

// close releases what the follower holds.
func (f *follower) close() {
	f.rest()
	if f.schedule != nil {
		f.schedule.Close()
	}
}

// core is the processor that the stopped task last ran on, -1 if that cannot be told.
func (k *task) core() int {
	if k.cheapCore() {
		m := &k.proc.stack
		if cpu := m.word[:4]; m.fill(k.tid, k.rseq+sys.RseqCPU, cpu) {
			return int(binary.LittleEndian.Uint32(cpu))
		}
	}
	return k.coreByStat()
}

// cheapCore reports whether the C library lets the kernel keep the task's processor in memory.
func (k *task) cheapCore() bool {
	if !k.rseqKnown && k.state == stopped {
		k.rseq, k.rseqKnown = sys.Rseq(k.tid), true
	}
	return k.rseq != 0
}

// coreByStat finds it in /proc, which works for a running task as well.
func (k *task) coreByStat() int {
	if k.stat == nil {
		var err error
		if k.stat, err = sys.OpenStat(k.tid); err != nil {
			return -1
		}
	}
	var buf [512]byte
	cpu, err := sys.LastCPU(k.stat, buf[:])
	if err != nil {
		return -1
	}
	return cpu
}
