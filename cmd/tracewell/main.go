// Command tracewell watches programs without stopping them: it serves GDB's tracepoints, and reads what they collected.
package main

import (
	"os"
	"runtime"

	"tracewell/cmd/tracewell/internal/cli"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/routine"
	"tracewell/internal/sys"
	target "tracewell/target/linux"
)

func init() { runtime.LockOSThread() }

func main() {
	target.RunIfGuard()
	sys.LendFirstThread(func() {
		routine.Exit(cli.Run(os.Args[1:], console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	})
}
