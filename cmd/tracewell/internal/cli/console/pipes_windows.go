package console

import "syscall"

// brokenPipes are the errors of writing what nobody reads any more: ERROR_BROKEN_PIPE and ERROR_NO_DATA.
var brokenPipes = []error{syscall.ERROR_BROKEN_PIPE, syscall.Errno(232), syscall.EPIPE}
