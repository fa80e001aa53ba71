//go:build linux

package sys

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OwnerDied is the bit that the kernel sets in the word of an owned page when its owner has ended.
const OwnerDied = futexOwnerDied

// Owner marks pages that its thread shares with other processes, so that the kernel tells those when the thread ends, whatever
// ends it: the first word of each page is a robust futex that the thread holds. All of it is called on one thread, to which its
// goroutine is locked.
//
// The kernel finds the words by a list, at one distance from the list's entries. The entry of a page is in memory of this
// process's own that is mapped in front of the page: whoever shares the page can write anything into it, and so could have the
// kernel write to a place of its choice, or never come to the pages of others.
type Owner struct {
	head *ownerHead
	tid  uint32
}

// ownerHead is the kernel's struct robust_list_head.
type ownerHead struct {
	next    *ownerEntry // of a ring that ends here
	offset  int64       // from an entry to its word
	pending uintptr
}

// ownerEntry is the kernel's struct robust_list, at the beginning of the memory in front of an owned page.
type ownerEntry struct{ next *ownerEntry }

// OwnedPage is a mapping of a page whose first word says whether its owner lives.
type OwnedPage struct {
	Bytes []byte
	owner *Owner
	entry *ownerEntry
	unmap func() error
}

// NewOwner makes the calling thread one that can own pages. A list of robust futexes that it has already is forgotten: a
// C library makes one for each of its threads, Go does not. The head stays mapped until this process ends, as the thread does.
func NewOwner() (*Owner, error) {
	memory, err := mmap(0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, -1, 0)
	if err != nil {
		return nil, fmt.Errorf("memory for the list of owned pages: %w", err)
	}
	o := &Owner{head: (*ownerHead)(memory), tid: uint32(unix.Gettid())}
	o.head.next = o.end()
	o.head.offset = int64(os.Getpagesize())
	if _, _, errno := unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, uintptr(memory), unsafe.Sizeof(*o.head), 0); errno != 0 {
		return nil, fmt.Errorf("registering the list of owned pages: %w", errno)
	}
	return o, nil
}

// end is what the last entry points to: the head itself.
func (o *Owner) end() *ownerEntry { return (*ownerEntry)(unsafe.Pointer(o.head)) }

// Own maps the page at the beginning of a file, and marks it as one whose owner lives.
func (o *Owner) Own(f *os.File) (*OwnedPage, error) {
	size := os.Getpagesize()
	memory, unmap, err := mapParts(f, []part{{-1, size}, {0, size}})
	if err != nil {
		return nil, err
	}
	p := &OwnedPage{Bytes: memory[size:], owner: o, entry: (*ownerEntry)(unsafe.Pointer(&memory[0])), unmap: unmap}
	p.entry.next = o.head.next // before the entry is in the list: the thread may end at any instruction
	o.head.next = p.entry
	atomic.StoreUint32(p.word(), o.tid|futexWaiters) // waiters are woken only if the word says that there are some
	return p, nil
}

func (p *OwnedPage) word() *uint32 { return (*uint32)(unsafe.Pointer(&p.Bytes[0])) }

// Disown marks the page as one whose owner has died, though it lives, and unmaps it.
func (p *OwnedPage) Disown() error {
	atomic.StoreUint32(p.word(), OwnerDied)
	for at := &p.owner.head.next; *at != p.owner.end(); at = &(*at).next {
		if *at == p.entry {
			*at = p.entry.next
			break
		}
	}
	p.Bytes = nil
	return p.unmap()
}
