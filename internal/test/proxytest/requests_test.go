//go:build unix

package proxytest

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/test/firmware"
	"tracewell/internal/test/gdbtest"
)

// TestSemihosting has GDB write what a firmware says to its debugger, through QEMU and the proxy, while a tracepoint collects.
func TestSemihosting(t *testing.T) {
	t.Parallel()
	m := firmware.StartSemihosting(t)
	proxy := proxied(t, m.Addr, "--exec", m.Program.Path)
	output := gdbtest.RunMultiarch(t, fmt.Sprintf(`
		file %s
		target remote %s
		trace *step
		actions
		collect $r0
		end
		break done
		tstart
		-- run --
		continue
		-- frames --
		tstatus
		tstop
		tfind 4
		print $r0
	`, m.Program.Path, proxy.Address))
	if got := strings.Count(output.Section(t, "run"), firmware.SemihostingText); got != firmware.SemihostingLines {
		t.Errorf("GDB has written %d lines:\n%s", got, output.All)
	}
	frames := output.Section(t, "frames")
	if !strings.Contains(frames, fmt.Sprintf("Collected %d trace frames", firmware.SemihostingLines)) || !strings.Contains(frames, "$1 = 4") {
		t.Errorf("the run has\n%s", frames)
	}
}

// TestBoardReset resets the board in the middle of a run, by its stub's monitor: hits go on.
func TestBoardReset(t *testing.T) {
	t.Parallel()
	const calls = 20
	p := onBoard(t, firmware.RV64, calls)
	proxy := proxied(t, p.address, "--exec", p.program.Path)
	output := gdbtest.RunMultiarch(t, debugged(p, proxy)+`
		trace *step
		break done
		tstart
		continue
		monitor system_reset
		maintenance flush register-cache
		-- again --
		continue
		tstatus
	`)
	again := output.Section(t, "again")
	if !strings.Contains(again, fmt.Sprintf("Collected %d trace frames", 2*calls)) || !strings.Contains(again, "Breakpoint 2, done") {
		t.Errorf("after the reset\n%s", output.All)
	}
}
