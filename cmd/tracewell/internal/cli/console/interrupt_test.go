package console

import (
	"context"
	"os/signal"
	"syscall"
	"testing"
)

// TestUnderNohup: SIGHUP stays ignored where it was, and only there.
func TestUnderNohup(t *testing.T) {
	before := signal.Ignored(syscall.SIGHUP)
	defer func() {
		if signal.Reset(syscall.SIGHUP); before {
			signal.Ignore(syscall.SIGHUP)
		}
	}()
	for name, until := range map[string]func() (context.Context, func()){
		"UntilInterrupted": UntilInterrupted,
		"UntilSignalled":   func() (context.Context, func()) { return UntilSignalled(true) },
	} {
		signal.Ignore(syscall.SIGHUP)
		_, stop := until()
		if !signal.Ignored(syscall.SIGHUP) {
			t.Errorf("%s has SIGHUP end the process, although it was ignored", name)
		}
		stop()
	}
}
