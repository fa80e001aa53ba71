//go:build linux

package sys

import (
	"encoding/binary"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestOwner has a thread own memory of three files, give one up, and end: the kernel marks the other two, whatever others have
// written there.
func TestOwner(t *testing.T) {
	var files [3]*os.File
	var seen [3][]byte // as another process would see them
	for i := range files {
		f, err := NewShared("owned", os.Getpagesize())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		memory, unmap, err := mapParts(f, []part{{0, os.Getpagesize()}})
		if err != nil {
			t.Fatal(err)
		}
		defer unmap()
		files[i], seen[i] = f, memory
	}
	const wordAt = 0x20
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(seen[i][wordAt:]) }
	owned, end, failed := make(chan uint32), make(chan bool), make(chan error, 1)
	onOtherThread(func() {
		defer close(owned)
		o, err := NewOwner(wordAt)
		if err != nil {
			failed <- err
			return
		}
		for i, f := range files {
			p, err := o.Own(f, os.Getpagesize())
			if err != nil {
				failed <- err
				return
			}
			if i == 1 {
				defer p.Disown()
			}
		}
		owned <- o.tid
		<-end
	})
	tid, ok := <-owned
	if !ok {
		t.Fatal(<-failed)
	}
	for i := range files {
		if word(i) != tid|futexWaiters {
			t.Errorf("file %d of a live owner has %#x, want the thread %#x", i, word(i), tid)
		}
	}
	for i := range seen[2] {
		if i < wordAt || i >= wordAt+4 {
			seen[2][i] = 0xa5
		}
	}
	close(end)
	for limit := time.Now().Add(10 * time.Second); word(0)&OwnerDied == 0 || word(2)&OwnerDied == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("words %#x, %#x and %#x ten seconds after the end of their owner", word(0), word(1), word(2))
		}
	}
	if word(1) != OwnerDied {
		t.Errorf("memory that was given up has %#x", word(1))
	}
}

// onOtherThread runs f on a thread that ends with it, which the first thread of a Go program never does.
func onOtherThread(f func()) {
	go func() {
		runtime.LockOSThread() // without an unlock: the thread ends with its goroutine
		if unix.Gettid() == os.Getpid() {
			onOtherThread(f)
			select {}
		}
		f()
	}()
}

// TestMapRing reads at the end of the ring what was written at its beginning, and finds the file as long as it was sealed.
func TestMapRing(t *testing.T) {
	page := os.Getpagesize()
	f, err := NewShared("ring", 3*page)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ring, unmap, err := MapRing(f, int64(page), 2*page)
	if err != nil {
		t.Fatal(err)
	}
	Populate(ring)
	copy(ring[2*page-3:], "seamless")
	if string(ring[:5]) != "mless" || string(ring[4*page-3:]) != "sea" {
		t.Errorf("%q at the beginning of the ring, %q at its end", ring[:5], ring[4*page-3:])
	}
	var b [3]byte
	if _, err := f.ReadAt(b[:], int64(3*page-3)); err != nil || string(b[:]) != "sea" {
		t.Errorf("%q at the end of the file, %v", b, err)
	}
	if err := unmap(); err != nil {
		t.Error(err)
	}
	if _, _, err := MapRing(f, 1, page); err == nil {
		t.Error("a ring was mapped that begins within a page")
	}
}
