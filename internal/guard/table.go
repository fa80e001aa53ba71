package guard

import (
	"sync/atomic"

	"tracewell/internal/linux"
)

// table is memory that the tracer and the guard share: the robust futex, the number of entries that have ever been in use, and
// the entries. The file has room for more of them than a program has room for traps; the kernel provides pages as they are
// written to. The tracer's goroutine alone writes, and publishes an entry by the last word that it stores; the guard writes only
// when the tracer is dead.
type table []uint64

// Places in the table, in words.
const (
	usedAt     = linux.RobustFutexWords
	firstEntry = 512
	entryWords = 2 // the address, and what packed makes
)

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

// at reads an entry.
func (t table) at(i uint32) entry { return unpack(t[firstEntry+int(i)*entryWords+1]) }

// each goes through the entries that are in use, in the order of their numbers.
func (t table) each(yield func(addr uint64, e entry) bool) {
	used := min(atomic.LoadUint64(&t[usedAt]), maxEntries)
	for i := range uint32(used) {
		at := firstEntry + int(i)*entryWords
		e := unpack(atomic.LoadUint64(&t[at+1]))
		if e.kind != free && !yield(atomic.LoadUint64(&t[at]), e) {
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
