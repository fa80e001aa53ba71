//go:build linux

package guard

import (
	"encoding/binary"
	"maps"
	"sync/atomic"

	"tracewell/internal/sys"
)

// rescuer is what a guard has to work with. Two threads use it: one changes the list of spaces, the other comes in at the tracer's
// death, whatever the first is doing.
type rescuer struct {
	table  table
	spaces atomic.Pointer[map[uint32]space] // the map is never changed
}

// space is the memory of a process.
type space struct {
	pid  int
	code sys.Code
}

func (r *rescuer) add(id uint32, s space) {
	next := maps.Clone(*r.spaces.Load())
	next[id] = s
	r.spaces.Store(&next)
}

func (r *rescuer) drop(id uint32) {
	next := maps.Clone(*r.spaces.Load())
	former, found := next[id]
	delete(next, id)
	r.spaces.Store(&next)
	if found {
		former.code.Close()
	}
}

// restore puts back what stood where there are traps. A program that has unmapped or overwritten one has none there any more.
func (r *rescuer) restore() {
	spaces := *r.spaces.Load()
	put := func(addr uint64, e entry) bool {
		if s, found := spaces[e.space]; found && e.kind == aTrap {
			s.restore(addr, e)
		}
		return true
	}
	r.table.latest(put)
	r.table.each(put)
}

// restore puts one byte back, and reports whether there was a trap.
func (s space) restore(addr uint64, e entry) bool {
	b, ok := s.code.Byte(addr)
	return ok && b == e.written && s.code.SetByte(addr, e.original)
}

// finish does what can be done when the tracer is gone: a trap that it wrote in its last moment, the semaphores, and children that
// were made so lately that it had not yet taken the traps out of them.
func (r *rescuer) finish() {
	r.restore()
	for id, s := range *r.spaces.Load() {
		r.cleanChildren(id, s, s.pid)
		r.lower(id, s)
	}
}

// lower lowers the semaphores in the memory of a process as often as the tracer has raised them.
func (r *rescuer) lower(id uint32, s space) {
	for addr, e := range r.table.each {
		if e.kind != semaphore || e.space != id {
			continue
		}
		var b [2]byte
		if s.code.Read(addr, b[:]) == len(b) {
			binary.LittleEndian.PutUint16(b[:], binary.LittleEndian.Uint16(b[:])-e.raised)
			s.code.SetByte(addr, b[0])
			s.code.SetByte(addr+1, b[1])
		}
	}
}

// cleanChildren does for the children of a process, and theirs, what the tracer does at a fork: takes traps and raised semaphores
// out of the copy of the memory.
func (r *rescuer) cleanChildren(id uint32, parent space, pid int) {
	for _, child := range sys.Children(pid) {
		mem, err := sys.OpenMemory(child)
		if err != nil {
			continue
		}
		copied := space{child, sys.CodeOf(int(mem.Fd()))}
		if r.cleanCopy(id, parent, copied) {
			r.lower(id, copied)
			r.cleanChildren(id, parent, child)
		}
		mem.Close()
	}
}

// cleanCopy takes the traps of a space, where they have been put back, out of another one, as far as that has the same code around
// them. It reports whether there was one.
func (r *rescuer) cleanCopy(id uint32, from, copied space) (found bool) {
	for addr, e := range r.table.each {
		if e.kind == aTrap && e.space == id && sameCode(from, copied, addr, e.written) && copied.restore(addr, e) {
			found = true
		}
	}
	return found
}

// sameCode reports whether two memories have the same around an address, but for what a trap consists of in the second.
func sameCode(a, b space, addr uint64, trap byte) bool {
	const around = 16
	var of, in [2 * around]byte
	start := addr &^ (around - 1)
	n := a.code.Read(start, of[:])
	if m := b.code.Read(start, in[:]); m != n || uint64(n) <= addr-start {
		return false
	}
	for i := range n {
		if of[i] != in[i] && in[i] != trap {
			return false
		}
	}
	return true
}
