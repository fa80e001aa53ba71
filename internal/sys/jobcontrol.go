//go:build linux

package sys

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// jobControl are the signals that stop a process which uses a terminal from the background.
var jobControl = []os.Signal{unix.SIGTTIN, unix.SIGTTOU}

// notIgnored has the signals of job control that this process ignores caught until restore is called, and the reserved ones at
// their default action. A program that a
// process starts ignores what that ignores, whereas the signals that it catches have their default action again.
// (signal.Reset would leave them ignored.)
func notIgnored() (restore func()) {
	var ignored []os.Signal
	for _, s := range jobControl {
		if signal.Ignored(s) {
			ignored = append(ignored, s)
		}
	}
	reserved := setReserved(actionDefault)
	if len(ignored) == 0 { // no argument at all would mean every signal
		return func() { setReserved(reserved) }
	}
	signal.Notify(make(chan os.Signal, len(ignored)), ignored...)
	return func() {
		signal.Ignore(ignored...)
		setReserved(reserved)
	}
}

// ProcessGroup is the process group of this process.
func ProcessGroup() int { return unix.Getpgrp() }
