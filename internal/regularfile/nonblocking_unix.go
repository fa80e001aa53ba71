//go:build unix

package regularfile

import "syscall"

// nonBlocking has the opening of a FIFO not wait for a writer.
const nonBlocking = syscall.O_NONBLOCK
