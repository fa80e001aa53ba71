//go:build linux

package linux

import (
	"errors"

	"tracewell/arch/arm64"
	"tracewell/internal/fast"
)

// errNoPads is why every hit stops a thread.
var errNoPads = errors.New("there are no jump pads on arm64 yet")

// noPads implements machine. The rest is never called without a pad.
func (aarch64) noPads() error { return errNoPads }

// leavePad, faultInPad and padProcessor implement machine.
func (aarch64) leavePad(*fast.Pad, *registers, fast.Memory) fast.Outcome         { return fast.Outcome{} }
func (aarch64) faultInPad(*fast.Pad, *registers, fast.Memory, *fast.Reader) bool { return false }
func (aarch64) padProcessor() fast.Processor                                     { return fast.Processor{} }

// counter implements machine. The generic timer (cntvct_el0) would do.
func (aarch64) counter() uint64           { return 0 }
func (aarch64) threadNumberAt() uint64    { return 0 }
func (aarch64) addSP(r *registers, n int) { r[arm64.SP] += uint64(n) }
