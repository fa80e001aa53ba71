// Command tracewell watches programs without stopping them: it serves GDB's tracepoints, and reads what they collected.
package main

import (
	"os"
	"runtime"

	"tracewell/cmd/tracewell/internal/cli"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/routine"
	"tracewell/internal/sys"
)

// The main goroutine stays on the process's first thread. Linux names a tracer by its thread (TracerPid in /proc/PID/status), so
// only a tracer on that thread has the number of the process there.
func init() { runtime.LockOSThread() }

// runIfGuard makes this process the guard of another that traces, if it was started as that, and then does not return. It is a
// variable because package linux is part of builds for Linux x86-64 only.
var runIfGuard = func() {}

func main() {
	runIfGuard()
	// The command runs on another thread, and the first one does what a tracer gives it. routine.Exit waits for goroutines that panic
	// to put traced processes in order.
	sys.LendFirstThread(func() {
		routine.Exit(cli.Run(os.Args[1:], console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	})
}
