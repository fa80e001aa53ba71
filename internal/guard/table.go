//go:build linux

package guard

import (
	"sync/atomic"

	"tracewell/internal/sys"
)

// table is memory that the tracer and the guard share: the robust futex, the number of entries that have ever been in use, and
// the entries. The file has room for more of them than a program has room for traps; the kernel provides pages as they are
// written to. The tracer's goroutine alone writes, and publishes an entry by the last word that it stores; the guard writes only
// when the tracer is dead.
type table []uint64

// Places in the table, in words.
const (
	usedAt     = sys.RobustFutexWords
	touchedAt  = usedAt + 1 // how many hits there have been
	recentAt   = touchedAt + 1
	firstEntry = 512
	entryWords = 2 // the address, and what packed makes
)

// recent is of how many hits the table has the entries: those traps are put back first. The next hit is most likely one of theirs,
// and putting a trap back takes microseconds.
const recent = 64

// maxEntries is how many entries there can be.
const maxEntries = 1 << 22

// tableSize is the size of the table in bytes.
const tableSize = 8 * (firstEntry + maxEntries*entryWords)

// kind is what an entry is about.
type kind uint8

const (
	free      kind = iota
	aTrap          // a byte of the program that was written over
	semaphore      // a counter of two bytes that was raised
)

// entry is one line of the table. The number of a space is never used again, so that it says which generation of a process's
// memory is meant.
type entry struct {
	kind              kind
	space             uint32
	original, written byte   // of a trap
	raised            uint16 // how often a semaphore was raised
}

func (e entry) packed() uint64 {
	w := uint64(e.space)<<32 | uint64(e.kind)
	if e.kind == semaphore {
		return w | uint64(e.raised)<<16
	}
	return w | uint64(e.original)<<16 | uint64(e.written)<<24
}

func unpack(w uint64) entry {
	e := entry{kind: kind(w), space: uint32(w >> 32)}
	if e.kind == semaphore {
		e.raised = uint16(w >> 16)
	} else {
		e.original, e.written = byte(w>>16), byte(w>>24)
	}
	return e
}

// put writes an entry.
func (t table) put(i uint32, addr uint64, e entry) {
	at := firstEntry + int(i)*entryWords
	if t[at] != addr { // a free entry, or the word below would belong to another address for a moment
		atomic.StoreUint64(&t[at+1], 0)
		atomic.StoreUint64(&t[at], addr)
	}
	atomic.StoreUint64(&t[at+1], e.packed())
}

// remove frees an entry.
func (t table) remove(i uint32) { atomic.StoreUint64(&t[firstEntry+int(i)*entryWords+1], 0) }

// touch notes a hit of a trap.
func (t table) touch(i uint32) {
	n := t[touchedAt]
	atomic.StoreUint64(&t[recentAt+int(n%recent)], uint64(i))
	atomic.StoreUint64(&t[touchedAt], n+1)
}

// used is how many entries have ever been in use.
func (t table) used() uint64 { return min(atomic.LoadUint64(&t[usedAt]), maxEntries) }

// read reads an entry with its address.
func (t table) read(i uint32) (addr uint64, e entry) {
	at := firstEntry + int(i)*entryWords
	e = unpack(atomic.LoadUint64(&t[at+1]))
	return atomic.LoadUint64(&t[at]), e
}

// latest goes through the entries of the last hits, the newest first. One may come more than once.
func (t table) latest(yield func(addr uint64, e entry) bool) {
	n := atomic.LoadUint64(&t[touchedAt])
	for back := range min(n, recent) {
		i := atomic.LoadUint64(&t[recentAt+int((n-1-back)%recent)])
		if i < t.used() && !yield(t.read(uint32(i))) {
			return
		}
	}
}

// each goes through the entries that are in use, in the order of their numbers.
func (t table) each(yield func(addr uint64, e entry) bool) {
	for i := range uint32(t.used()) {
		if addr, e := t.read(i); e.kind != free && !yield(addr, e) {
			return
		}
	}
}

// extend takes one more entry into use.
func (t table) extend() (i uint32, ok bool) {
	used := t[usedAt]
	if used == maxEntries {
		return 0, false
	}
	atomic.StoreUint64(&t[usedAt], used+1)
	return uint32(used), true
}
