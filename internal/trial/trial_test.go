//go:build linux && amd64

package trial

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMachine has the trial come to an end here, and what the kernel lists be there.
func TestMachine(t *testing.T) {
	r := Machine()
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	t.Logf("%+v", r)
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(strings.Fields(string(text)), "fsgsbase") && !r.RDFSBase {
		t.Error("rdfsbase cannot be executed, though the kernel lists it")
	}
}
