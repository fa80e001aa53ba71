//go:build unix && !linux

package console

import "syscall"

// brokenPipes are the errors of writing what nobody reads any more.
var brokenPipes = []error{syscall.EPIPE}
