package fast

import (
	"tracewell/tdesc"
)

// Registers is how the register block of an R block is collected.
type Registers struct{ size int }

// Processor is what the processor has of the registers that descriptions can contain.
type Processor struct {
	AVX, AVX512, AVX512BW, PKU bool
	RDFSBase                   bool // programs may execute rdfsbase
}

// NewRegisters plans a block of the registers that a layout begins with, length bytes of it, as the g packet has them. The error
// names a register that a pad cannot collect.
func NewRegisters(layout *tdesc.Layout, length int, has Processor) (*Registers, error) {
	return &Registers{length}, nil
}
