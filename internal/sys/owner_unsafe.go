//go:build linux

package sys

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OwnerDied is the bit that the kernel sets in the word of owned memory when its owner has ended.
const OwnerDied = futexOwnerDied

// Owner marks memory that its thread shares with other processes, so that the kernel tells those when the thread ends, whatever
// ends it: one word of each shared memory is a robust futex that the thread holds. All of it is called on one thread, to which
// its goroutine is locked.
//
// The kernel finds the words by a list, at one distance from the list's entries. The entry is in memory of this process's own
// that is mapped in front of what is shared: whoever shares that can write anything into it, and so could have the kernel write to
// a place of its choice, or never come to the memory of others.
type Owner struct {
	head *ownerHead
	tid  uint32
	at   int // offset of the word in owned memory
}

// ownerHead is the kernel's struct robust_list_head.
type ownerHead struct {
	next    *ownerEntry // of a ring that ends here
	offset  int64       // from an entry to its word
	pending uintptr
}

// ownerEntry is the kernel's struct robust_list, at the beginning of the page in front of owned memory.
type ownerEntry struct{ next *ownerEntry }

// Owned is shared memory, a word of which says whether its owner lives.
type Owned struct {
	Words []uint64
	owner *Owner
	entry *ownerEntry
	unmap func() error
}

// NewOwner makes the calling thread one that can own memory, with the word at an offset in bytes. A list of robust futexes that it
// has already is forgotten: a C library makes one for each of its threads, Go does not. The head stays mapped until this process
// ends, as the thread does.
func NewOwner(wordAt int) (*Owner, error) {
	memory, err := mmap(0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, -1, 0)
	if err != nil {
		return nil, fmt.Errorf("memory for the list of owned memory: %w", err)
	}
	o := &Owner{head: (*ownerHead)(memory), tid: uint32(unix.Gettid()), at: wordAt}
	o.head.next = o.end()
	o.head.offset = int64(os.Getpagesize() + wordAt)
	if _, _, errno := unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, uintptr(memory), unsafe.Sizeof(*o.head), 0); errno != 0 {
		return nil, fmt.Errorf("registering the list of owned memory: %w", errno)
	}
	return o, nil
}

// end is what the last entry points to: the head itself.
func (o *Owner) end() *ownerEntry { return (*ownerEntry)(unsafe.Pointer(o.head)) }

// Own maps whole pages at the beginning of a file, and marks them as memory whose owner lives.
func (o *Owner) Own(f *os.File, size int) (*Owned, error) {
	front := os.Getpagesize()
	memory, unmap, err := mapParts(f, []part{{-1, front}, {0, size}})
	if err != nil {
		return nil, err
	}
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&memory[front])), size/8)
	m := &Owned{Words: words, owner: o, entry: (*ownerEntry)(unsafe.Pointer(&memory[0])), unmap: unmap}
	m.entry.next = o.head.next // before the entry is in the list: the thread may end at any instruction
	o.head.next = m.entry
	atomic.StoreUint32(m.word(), o.tid|futexWaiters) // waiters are woken only if the word says that there are some
	return m, nil
}

func (m *Owned) word() *uint32 { return m.Half(m.owner.at) }

// Half is half a word, at an offset in bytes.
func (m *Owned) Half(offset int) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(&m.Words[offset/8]), offset%8))
}

// Disown marks the memory as that of an owner that has died, though it lives, and unmaps it.
func (m *Owned) Disown() error {
	atomic.StoreUint32(m.word(), OwnerDied)
	for at := &m.owner.head.next; *at != m.owner.end(); at = &(*at).next {
		if *at == m.entry {
			*at = m.entry.next
			break
		}
	}
	m.Words = nil
	return m.unmap()
}
