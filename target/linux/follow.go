//go:build amd64

package linux

import (
	"os"
	"time"

	"tracewell/internal/linux"
)

// follower keeps the tracer where a hit is cheapest. A hit costs two wake-ups, and one that crosses processors costs several
// times one that does not, most of all when it has to rouse an idle processor. The program's own affinity and priority are
// never touched, so two things are done to the tracer's thread instead:
//
//   - It runs on the processor where the traced task last ran. That is looked up once in many hits; a single look-up that
//     differs may be chance, so two must agree.
//   - It takes the idle policy. The kernel lets a task that wakes up stay where it was if only idle-policy threads run
//     there, and otherwise moves it to an idle processor. Without this the task would flee from the tracer after each hit.
//
// The price is that anything else goes before the tracer on a busy processor. So the time it waits for the processor is
// watched, and when that grows the follower gives up for a while, longer each time. It never begins where the process may
// not go back to the normal policy.
type follower struct {
	on       bool // the thread is bound to processor at, with the idle policy
	at, seen int  // one more than the number; 0 for none
	patience int  // look-ups to let pass before the next try
	penalty  int  // what patience becomes at the next disappointment
	good     int  // looks since the last one

	ready    bool // the fields below are known
	able     bool
	allowed  linux.Affinity
	schedule *os.File
	waited   time.Duration // for a processor, at the last look-up

	buf [512]byte
}

const (
	lookUpEvery = 64 // hits of a task between two look-ups
	watchEvery  = 16 // and between two looks at the waiting, while following

	tolerable = watchEvery * 25 * time.Microsecond // to have waited since the last look

	firstPenalty    = 16
	greatestPenalty = 1 << 14
	forgiveAfter    = 1024 // looks without disappointment, and the penalty is the first again
)

// sample is told of every hit.
func (f *follower) sample(k *task) {
	k.hits++
	if f.on && k.hits%watchEvery == 0 {
		f.watch()
	}
	if k.hits%lookUpEvery != 1 {
		return
	}
	if !f.ready {
		f.prepare()
	}
	if !f.able {
		return
	}
	if f.patience > 0 {
		f.patience--
		return
	}
	cpu := k.core() + 1
	if cpu == f.seen && (cpu != f.at || !f.on) {
		f.move(cpu)
	}
	f.seen = cpu
}

// watch gives up following if the thread has had to wait for its processor.
func (f *follower) watch() {
	waited, err := linux.RunDelay(f.schedule, f.buf[:])
	if err != nil {
		return
	}
	lost := waited - f.waited
	f.waited = waited
	if lost <= tolerable {
		if f.good++; f.good > forgiveAfter {
			f.penalty = firstPenalty
		}
		return
	}
	f.rest()
	f.good = 0
	f.patience = f.penalty
	f.penalty = min(2*f.penalty, greatestPenalty)
}

// prepare finds out what the thread may do.
func (f *follower) prepare() {
	f.ready, f.penalty = true, firstPenalty
	var err1, err2 error
	f.allowed, err1 = linux.ThreadAffinity()
	f.schedule, err2 = linux.OpenSchedule()
	f.able = err1 == nil && err2 == nil && linux.CanLeaveIdle()
}

// move goes to a processor.
func (f *follower) move(cpu int) {
	if !f.allowed.Has(cpu - 1) {
		return
	}
	only := linux.Single(cpu - 1)
	if only.Apply() != nil || linux.SetPolicy(linux.PolicyIdle) != nil {
		f.rest()
		return
	}
	f.at, f.on = cpu, true
	f.waited, _ = linux.RunDelay(f.schedule, f.buf[:])
}

// rest makes the thread an ordinary one again, for the time that no hits come.
func (f *follower) rest() {
	if !f.on && f.at == 0 {
		return
	}
	f.on, f.at, f.seen = false, 0, 0
	linux.SetPolicy(linux.PolicyNormal)
	f.allowed.Apply()
}

// close releases what the follower holds.
func (f *follower) close() {
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
