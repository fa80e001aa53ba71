//go:build amd64

package linux

import "tracewell/internal/linux"

// follower keeps the tracer on the processor where the traced tasks run: a hit costs two wake-ups, and one that crosses
// processors costs several times one that does not. The program's own affinity is never touched. Where a task last ran is
// looked up once in many hits; one look-up that differs could be chance, so two must agree.
type follower struct {
	at, seen int // processor the tracer is on, processor of the last look-up; one more than the number, 0 for none
	allowed  linux.Affinity
	known    bool
	buf      [512]byte
}

// lookUpEvery is the hits of a task between two look-ups.
const lookUpEvery = 64

// sample is told of every hit.
func (f *follower) sample(k *task) {
	k.hits++
	if k.hits%lookUpEvery != 1 {
		return
	}
	cpu := k.core() + 1
	if cpu == f.seen && cpu != f.at {
		f.move(cpu)
	}
	f.seen = cpu
}

func (f *follower) move(cpu int) {
	if !f.known {
		var err error
		if f.allowed, err = linux.ThreadAffinity(); err != nil {
			return
		}
		f.known = true
	}
	if !f.allowed.Has(cpu - 1) {
		return
	}
	only := linux.Single(cpu - 1)
	if only.Apply() == nil {
		f.at = cpu
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
