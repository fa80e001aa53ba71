//go:build unix

package sys

import (
	"os/exec"
	"syscall"
)

// OwnGroup has a command run in a process group of its own: the keys that interrupt this process, or stop it, are not for the
// command.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills the command and what it has started in its group, after OwnGroup.
func KillGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
