//go:build linux

package robust

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// TestFewDescriptors records a process with a limit on open files that leaves ever fewer of them. The run is complete, or fails with a
// message; with the fewest Go's runtime reports instead. The process is unharmed in any case.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	a := startBusy(t)
	recorded := 0
	for _, limit := range []int{24, 14, 12, 10, 9, 8, 7, 6, 5, 4} {
		file := filepath.Join(t.TempDir(), fmt.Sprint(limit, ".tf"))
		recorder := testtool.Command(t, "sh", "-c", `ulimit -n "$1"; shift; exec "$@"`, "sh", fmt.Sprint(limit), gdbtest.Binary(t), "record", "-q",
			"-o", file, "--at", fmt.Sprintf("*%#x", a.at("tick")), "--pid", fmt.Sprint(a.pid), "--frames", "3")
		messages, err := recorder.CombinedOutput()
		switch {
		case err == nil:
			recorded++
			if check, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), "show", "--count", file).CombinedOutput(); err != nil || string(check) != "3\n" {
				t.Errorf("%d descriptors: the file has %q frames, %v", limit, check, err)
			}
		case !strings.Contains(string(messages), "tracewell: ") && !strings.Contains(string(messages), "fatal error: "):
			t.Errorf("%d descriptors: %v without a message: %q", limit, err, messages)
		}
		a.unharmed()
	}
	if recorded == 0 {
		t.Error("no run succeeded")
	}
	t.Logf("%d runs were complete", recorded)
}
