//go:build linux

package robust

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestMain has SIGHUP end the programs that tests start, also where nohup has started the tests: a signal that is ignored stays so in
// whatever is started, one that is caught does not.
func TestMain(m *testing.M) {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(m.Run())
}
