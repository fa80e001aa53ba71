// Command tracewell watches programs without stopping them: it serves GDB's tracepoints, and reads what they collected.
package main

import (
	"os"

	"tracewell/internal/cli"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
