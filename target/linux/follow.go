//go:build amd64

package linux

import (
	"os"
	"sync"
	"time"

	"tracewell/internal/linux"
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
	allowed   linux.Affinity
	schedule  *os.File
	following bool // on, as of the last look-up
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
	lookUpApart     = 64 // hits of a task between two look-ups of its processor
	lookUpFollowing = 8  // the same while following: load balancing may take the task away

	watchEvery = 4 * time.Millisecond
	tolerable  = 1500 * time.Microsecond // to have waited for the processor since the last look

	firstBackoff   = 20 * time.Millisecond
	longestBackoff = 2 * time.Second
	forgiveAfter   = time.Second // of following without complaint
)

// sample is told of every hit.
func (f *follower) sample(k *task) {
	k.hits++
	every := lookUpApart
	if f.following {
		every = lookUpFollowing
	}
	if k.hits%every != 0 {
		return
	}
	if !f.ready {
		f.prepare()
	}
	if f.able {
		f.lookUp(k.core())
	}
}

// prepare finds out what the tracer's thread may do.
func (f *follower) prepare() {
	f.ready, f.tid, f.backoff = true, linux.ThreadID(), firstBackoff
	var err1, err2 error
	f.allowed, err1 = linux.ThreadAffinity()
	f.schedule, err2 = linux.OpenSchedule(f.tid)
	f.able = err1 == nil && err2 == nil && linux.CanLeaveIdle()
}

// lookUp is told where a task last ran, and follows if it is the second time that the task was there and the tracer was not.
func (f *follower) lookUp(cpu int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.following = f.on
	here := f.at
	if !f.on {
		here = linux.CPU()
	}
	switch {
	case cpu < 0 || cpu == here || !f.allowed.Has(cpu):
		f.apart = 0
	case f.apart != cpu+1:
		f.apart = cpu + 1
	case f.on || time.Now().After(f.retry):
		f.goTo(cpu)
	}
}

// goTo binds the tracer to a processor; mu is held.
func (f *follower) goTo(cpu int) {
	only := linux.Single(cpu)
	if only.Apply(f.tid) != nil {
		return
	}
	f.apart, f.at = 0, cpu
	if f.on {
		return
	}
	if linux.SetPolicy(f.tid, linux.PolicyIdle) != nil {
		f.allowed.Apply(f.tid)
		return
	}
	f.on, f.following, f.since, f.stop = true, true, time.Now(), make(chan struct{})
	go f.watch(f.stop)
}

// watch is the watchdog.
func (f *follower) watch(stop <-chan struct{}) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	var buf [128]byte
	before, err := linux.RunDelay(f.schedule, buf[:])
	for err == nil {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		var now time.Duration
		if now, err = linux.RunDelay(f.schedule, buf[:]); now-before > tolerable {
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

// leave makes the tracer an ordinary thread again; mu is held.
func (f *follower) leave() {
	f.on = false
	linux.SetPolicy(f.tid, linux.PolicyNormal)
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

// core is the processor that the task last ran on, -1 if that cannot be told.
func (k *task) core() int {
	if k.stat == nil {
		var err error
		if k.stat, err = linux.OpenStat(k.proc.pid, k.tid); err != nil {
			return -1
		}
	}
	var buf [512]byte
	cpu, err := linux.LastCPU(k.stat, buf[:])
	if err != nil {
		return -1
	}
	return cpu
}
