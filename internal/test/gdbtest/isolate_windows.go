package gdbtest

import (
	"os/exec"
	"time"
)

// isolate has cmd killed alone when its context ends: there are no process groups.
func isolate(cmd *exec.Cmd) { cmd.WaitDelay = 5 * time.Second }
