// Package gdbtest may send signals and no more; as a package for tests it may use another one.
package gdbtest

import (
	"syscall"

	_ "broken/internal/probe"
)

func signal() {
	_ = syscall.Kill(1, syscall.SIGTERM)
	_, _, _ = syscall.RawSyscall(0, 0, 0, 0)
	_ = syscall.PtraceCont(1, 0)
}
