//go:build linux

package linux

import (
	"encoding/binary"
	"sync"

	"tracewell/internal/sys"
)

// padThreads tells threads apart by their thread pointers, which is what pads record of one: asking the kernel costs a hundred
// nanoseconds. The tracer enters each thread that it looks at.
type padThreads struct {
	// mem is the program's memory.
	mem interface {
		ReadAt(p []byte, off int64) (int, error)
	}
	mu   sync.Mutex // whoever drains the ring asks
	tids map[uint64]int64
}

// enter notes the thread pointer of a stopped task.
func (p *padThreads) enter(k *task) {
	if k.fetch() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tids[uint64(host.threadPointer(k.tid, &k.regs))] = int64(k.tid)
}

// taken reports whether the thread pointer of a stopped task was another's.
func (p *padThreads) taken(k *task) bool {
	if k.fetch() != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	tid, known := p.tids[uint64(host.threadPointer(k.tid, &k.regs))]
	return known && tid != int64(k.tid)
}

// of returns the thread with a thread pointer. One that nobody has entered is the first thread's, if that had none yet when it was
// looked at. Otherwise the C library keeps the thread's number at a fixed place, which is believed if there is such a thread.
func (p *padThreads) of(base uint64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if tid, known := p.tids[base]; known {
		return tid
	}
	if first, unset := p.tids[0]; unset {
		p.tids[base] = first
		return first
	}
	var b [4]byte
	if n, _ := p.mem.ReadAt(b[:], int64(base+host.threadNumberAt())); n < len(b) {
		return 0
	}
	tid := int(binary.LittleEndian.Uint32(b[:]))
	if _, err := sys.ThreadGroup(tid); err != nil {
		return 0
	}
	p.tids[base] = int64(tid)
	return int64(tid)
}

// enterThreads has the pads of a process tell its threads apart, which are stopped.
func (t *Target) enterThreads(p *process) {
	for _, k := range p.order {
		if k.state == stopped && p.pads != nil && p.pads.arena != nil {
			p.pads.arena.threads.enter(k)
		}
	}
}

// enterThread has pads tell a new thread apart. What is in the ring may be of the thread that had its thread pointer before.
func (t *Target) enterThread(k *task) {
	if k.proc.pads == nil || k.proc.pads.arena == nil {
		return
	}
	if k.proc.pads.arena.threads.taken(k) {
		t.depositAll()
	}
	if k.proc.pads != nil && k.proc.pads.arena != nil {
		k.proc.pads.arena.threads.enter(k)
	}
}
