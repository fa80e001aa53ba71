//go:build linux

package sys

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestStopProcess stops a process for so short that the timer may expire before the process has stopped. It goes on all the same.
func TestStopProcess(t *testing.T) {
	const variable = "TRACEWELL_STOPS"
	if os.Getenv(variable) != "" {
		for i := range 200 {
			if err := StopProcess(time.Duration(1 + i*500)); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestStopProcess$")
	child.Env = append(os.Environ(), variable+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a group that the kernel stops, since this process is of the same session
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(20*time.Second, func() {
		t.Error("the process is stopped for good")
		child.Process.Kill()
	})
	defer timer.Stop()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}
