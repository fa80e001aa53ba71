//go:build linux && amd64

package local

import (
	"os"
	"testing"

	"tracewell/target/linux"
)

// TestMain has this program stand by as the guard of what its tests attach to.
func TestMain(m *testing.M) {
	linux.RunIfGuard()
	os.Exit(m.Run())
}
