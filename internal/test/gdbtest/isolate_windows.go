package gdbtest

import (
	"os/exec"
	"time"
)

// Isolate has cmd killed alone when its context ends: there are no process groups.
func Isolate(cmd *exec.Cmd) { cmd.WaitDelay = 5 * time.Second }
