// Package probe is for tests.
package probe

import (
	"context"
	"os/exec"
)

func start(name string) {
	_, _ = exec.LookPath("gcc")
	_ = exec.Command("qemu-" + name + "-static")
	_ = exec.CommandContext(context.Background(), "gdb", "-batch")
	_ = exec.Command("/bin/sh", "gdb")
	_ = exec.Command(name)
}
