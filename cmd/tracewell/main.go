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

func init() { runtime.LockOSThread() }

// runIfGuard makes this process the guard of another that traces, if it was started as that.
var runIfGuard = func() {}

func main() {
	runIfGuard()
	sys.LendFirstThread(func() {
		routine.Exit(cli.Run(os.Args[1:], console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	})
}
