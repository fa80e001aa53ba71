// Package routine starts goroutines, and ends the process in order when one of them panics.
//
// A panic ends a Go program at once. If that traces other processes, its breakpoints stay behind in those that it was attached to,
// which die of the first. So no goroutine is started but by Go (a test of internal/test/house sees to that), and whoever holds
// something that outlives the process registers by OnPanic what is to be done first. The process then ends as by any panic: with
// the dump of the goroutine, and status 2.
package routine

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long leaving may take in all. The goroutine that has panicked may hold what it needs.
const patience = 3 * time.Second

var (
	ending sync.Mutex  // held for good by the first who ends the process
	left   atomic.Bool // all that is registered has been done

	mu     sync.Mutex // guards the rest
	leaves = make(map[int]func())
	next   int
)

// Go runs f on a goroutine.
func Go(f func()) {
	go func() {
		defer Catch(nil)
		f()
	}()
}

// Group is goroutines to wait for. It takes the place of sync.WaitGroup, whose Go is another go statement.
type Group struct{ running sync.WaitGroup }

// Go runs f on a goroutine.
func (g *Group) Go(f func()) {
	g.running.Add(1)
	Go(func() {
		defer g.running.Done()
		f()
	})
}

// Wait waits for all of them.
func (g *Group) Wait() { g.running.Wait() }

// OnPanic has leave called, on a goroutine of its own, when any goroutine panics. It returns what takes that back.
func OnPanic(leave func()) (cancel func()) {
	mu.Lock()
	defer mu.Unlock()
	id := next
	next++
	leaves[id] = leave
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(leaves, id)
	}
}

// Catch is deferred by a goroutine that Go did not start, or that has to leave by itself: after a panic it calls own, unless that
// is nil, then what is registered, and panics again.
func Catch(own func()) {
	r := recover()
	switch {
	case r == nil:
		return
	case left.Load(): // by a Catch deferred later
		panic(r)
	}
	stack := debug.Stack()
	ending.Lock()
	late := time.AfterFunc(patience, func() {
		fmt.Fprintf(os.Stderr, "panic: %v\n\n%s", r, stack)
		os.Exit(2)
	})
	if own != nil {
		quietly(own)
	}
	for _, leave := range registered() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			quietly(leave)
		}()
		<-done
	}
	late.Stop()
	left.Store(true)
	panic(r)
}

// registered returns what is to be done.
func registered() (all []func()) {
	mu.Lock()
	defer mu.Unlock()
	for _, leave := range leaves {
		all = append(all, leave)
	}
	return all
}

// quietly calls f. A second panic says less than the first.
func quietly(f func()) {
	defer func() { _ = recover() }()
	f()
}

// Exit ends the process with a status, unless a panic is about to.
func Exit(status int) {
	ending.Lock()
	os.Exit(status)
}
