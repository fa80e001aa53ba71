//go:build linux && !amd64 && !arm64 && !riscv64

package linux

import "tracewell/arch"

// host is missing: nobody has written a machine for this processor, so New refuses. A machine_*.go of its own is all that it takes.
var host machine

// The sizes of a machine that there is not, such as compile.
const (
	numRegisters, numDebugRegisters, maxInstruction, bufferSize, maxCopy, callStubSize, maxSequence, reach = 1, 1, 1, 1, 1, 1, 1, 1

	canStep = true

	userEnd arch.Addr = 0
)
