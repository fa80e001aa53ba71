// Command tracewell watches programs without stopping them: it serves GDB's tracepoints, and reads what they collected.
package main

import (
	"os"
	"runtime"

	"tracewell/internal/cli"
	"tracewell/internal/linux"
	"tracewell/internal/routine"
	target "tracewell/target/linux"
)

func init() { runtime.LockOSThread() }

func main() {
	target.RunIfGuard()
	linux.LendFirstThread(func() {
		routine.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	})
}
