package record

import (
	"context"

	"tracewell/target"
)

// Host is whoever has the program that is recorded. It is made with the target, and does what a recording needs besides and a
// session of GDB does not: it gets hold of the program, finds its files on this machine, and waits for its end. Package
// record/local is the Host of processes of this machine.
//
// But for Pause its methods are called by one goroutine.
type Host interface {
	// Target has the groups Runner and Tracer, and for programs with shared libraries Auxv, Libraries, Files and Breakpoints. Its
	// program may be missing until Enter.
	Target() target.Target
	// Ahead lists files on this machine that the program which Enter will stop consists of, the program itself first. They are read
	// in advance, so that it does not have to stand still for that; nil where it does not matter, or they are not known.
	Ahead() []string
	// Enter gets hold of the program, which is stopped then. It is called once.
	Enter() (Entry, error)
	// Newcomers brings processes that began after Enter and are to be recorded, too, nil for a Host that never has any. Join gets hold
	// of one, which goes on with those that there are.
	Newcomers() <-chan int
	Join(pid int) error
	// Executable is the file of the program that a process executes now.
	Executable(pid int) (Executable, error)
	// Library is the path on this machine of a library that the dynamic linker of a process calls by this name. There may be no such
	// file.
	Library(pid int, name string) string
	// Origin is the path that a file of this machine has where the program runs: another one only if it is a copy.
	Origin(file string) string

	// ThreadName is the name that a thread has now, "" if that is not known. Any goroutine may call it.
	ThreadName(tid int64) string
	// GroupStops brings stops by job control, and Warnings what has gone wrong without anybody being told otherwise; nil for a
	// Host that never has any.
	GroupStops() <-chan target.GroupStop
	Warnings() <-chan error
	// Untold returns, once, ends of processes that came while they were detached from, and that no Event has told of.
	Untold() []target.Event
	// Pause switches off what is collected without a stop of the program, until resume is called, and reports whether there is any.
	// Any goroutine may call it.
	Pause() (resume func(), any bool)
	// Await waits for the end of a program that Enter has launched and that has been detached from, false if nobody knows it. When
	// the context is cancelled it has the program end. Whenever job control stops it, suspended is called.
	Await(ctx context.Context, suspended func(target.GroupStop)) (Ended, bool)
	// Close lets go of everything; a program that was launched and not detached from is killed. It may be called more than once.
	Close() error
}

// Entry is how a Host has got hold of the program.
type Entry struct {
	PID    int
	Others []int // processes that the Host has got hold of besides, in the same way
	// Launched says that the program was started for this recording, whose end is its own if it is not detached from.
	Launched bool
	// Still says that the program stands still until the run begins. Otherwise it goes on while the run is prepared.
	Still    bool
	Warnings []error
}

// Executable is the file of a program.
type Executable struct {
	Path string // as it is called where it runs
	File string // where it can be read here, which is the same wherever that leads to the same file
	// Claimed says that only the user says that this is the file: the code in memory may be that of another build.
	Claimed bool
}

// Ended is how a program has ended: Signal, by the kernel's number, killed it unless that is 0.
type Ended struct{ Code, Signal int }
