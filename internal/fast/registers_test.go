package fast

import (
	"testing"

	"tracewell/tdesc/machine"
)

// vectorMachine has all registers that a pad can collect.
var vectorMachine = machine.AMD64{OrigRAX: true, Segments: true, AVX: true, AVX512: true, PKU: true}

// coreSize is the length of a block of the general registers, pc, flags and segment registers.
const coreSize = 17*8 + 7*4

// coreRegisters are those up to gs, which is what most traces collect.
func coreRegisters(t testing.TB) *Registers {
	t.Helper()
	return costRegisters(t, machine.LinuxAMD64, coreSize)
}

// costRegisters are the first bytes of the block of a machine, all if there are fewer.
func costRegisters(t testing.TB, m machine.AMD64, length int) *Registers {
	t.Helper()
	layout, err := m.Target().Layout()
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRegisters(layout, min(length, layout.Size), Processor{AVX512BW: true, RDFSBase: true, XGETBV1: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
