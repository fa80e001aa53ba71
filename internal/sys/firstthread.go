package sys

import (
	"runtime"
	"sync/atomic"

	"tracewell/internal/routine"
)

// firstThread hands functions to the thread that LendFirstThread was called on; free says whether it takes one.
var (
	firstThread = make(chan func())
	free        atomic.Bool
)

// LendFirstThread runs f on a goroutine, and on the calling thread, for ever, what OwnThread is given. A program calls it from
// main, locked to the process's first thread by an init function. A tracer belongs on that: the kernel names a tracer by its
// thread (TracerPid in /proc), and a program that looks whether its debugger is its parent compares that with a process.
func LendFirstThread(f func()) {
	free.Store(true)
	routine.Go(f)
	for {
		(<-firstThread)()
		free.Store(true)
	}
}

// OwnThread runs f on a goroutine that has a thread to itself: the process's first if that is lent and free, otherwise one
// that ends with f.
func OwnThread(f func()) {
	if free.CompareAndSwap(true, false) {
		firstThread <- f
		return
	}
	routine.Go(func() {
		runtime.LockOSThread()
		f()
	})
}
