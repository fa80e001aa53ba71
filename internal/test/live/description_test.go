package live

import (
	"os/exec"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestServedDescription has the description that the server serves checked, twice, the way that it is served; GDB then finds
// the program where it was, and nothing to warn of.
func TestServedDescription(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "queue", testprog.Variant{})
	server := gdbtest.Serve(t, program.Path, "1")
	for range 2 {
		checked, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), "tdesc", "check", server.Address).CombinedOutput()
		if err != nil || !strings.Contains(string(checked), "well-formed") {
			t.Errorf("%v: %s", err, checked)
		}
	}
	output := gdbtest.Run(t, program.Path, `
		set sysroot /
		-- connecting --
		target remote `+server.Address+`
		-- registers --
		info registers rip
		kill
	`)
	if said := output.Section(t, "connecting"); strings.Contains(strings.ToLower(said), "warning") {
		t.Errorf("GDB warns:\n%s", said)
	}
	contains(t, output, "registers", "rip ")
}
