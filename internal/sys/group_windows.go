package sys

import (
	"os/exec"
	"syscall"
)

// OwnGroup has a command run in a process group of its own: the keys that interrupt this process are not for the command.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// KillGroup kills the command.
func KillGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
