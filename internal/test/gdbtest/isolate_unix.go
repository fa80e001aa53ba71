//go:build unix

package gdbtest

import (
	"os/exec"
	"syscall"
	"time"
)

// Isolate gives cmd a process group and has the whole group killed when its context ends.
func Isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
}
