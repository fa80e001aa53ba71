//go:build linux

package linux

import (
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/internal/sys"
	machines "tracewell/tdesc/machine"
)

const (
	floatBytes = 264     // the set of floating point: 32 registers, and fcsr
	fcsrAt     = 32 * 8  // in it
	vectorRoom = 1 << 16 // for the set of vectors with registers of 1024 bits and more
)

// newRegisterFile implements machine.
func (rv64) newRegisterFile(tid int) (*registerFile, error) {
	floats := &registerSet{number: sys.RegSetFloat, state: make([]byte, floatBytes+8)}
	f := &registerFile{sets: []*registerSet{floats}}
	n, err := sys.GetRegSet(tid, floats.number, floats.state)
	if err != nil || n < floatBytes {
		return nil, fmt.Errorf("reading the floating-point registers (%d bytes): %w", n, err)
	}
	floats.length = n
	f.description = machines.RISCV{Bits: 64, Float: 64, OSABI: "GNU/Linux"}.Target()
	return f, f.layOut(locateRV)
}

// locateRV finds where the kernel keeps a register.
func locateRV(name string) (field, bool) {
	is := func(r arch.Register) bool { return r.Name == name }
	switch i := slices.IndexFunc(arch.RISCV64.Registers, is); {
	case name == "fcsr":
		return field{from: extended, index: fcsrAt, width: 4}, true
	case name == "pc":
		return field{from: general, index: rvPC, width: 8}, true
	case i == 0:
		return field{from: constant, width: 8}, true
	case i > 0 && i < 32:
		return field{from: general, index: i, width: 8}, true
	case i >= 32 && i < 64:
		return field{from: extended, index: (i - 32) * 8, width: 8}, true
	}
	return field{}, false
}
