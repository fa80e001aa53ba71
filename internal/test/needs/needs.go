// Package needs skips tests on machines that lack what the tests cannot do without, and says what.
package needs

import (
	"runtime"
	"testing"

	"tracewell/internal/trial"
)

// DebugRegisters skips a test of hardware breakpoints or watchpoints of native programs on a machine that has none that work.
func DebugRegisters(t testing.TB) {
	t.Helper()
	if runtime.GOARCH == "riscv64" {
		t.Skip("Linux has no debug registers of RISC-V")
	}
	if r := trial.Machine(); r.Err == nil && !r.DebugRegisters {
		t.Skip("the debug registers of this machine stop no program")
	}
}
