package fake

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/tdesc"
)

// Toy is an instruction set with five registers, so that a register block is readable by eye: rax, rbp, rsp and rip of
// eight bytes, little-endian, and flags of four.
var Toy = &arch.ISA{
	Name: "toy", Order: binary.LittleEndian, AddrSize: 8, Breakpoint: []byte{0xcc}, TrapAfter: true,
	FP: 1, SP: 2, PC: 3,
}

// ToyDescription describes the registers of Toy.
func ToyDescription() *tdesc.Target {
	core := &tdesc.Feature{Name: "toy.core"}
	for i, name := range []string{"rax", "rbp", "rsp", "rip", "flags"} {
		r := &tdesc.Register{Name: name, Bits: 64, Num: arch.Reg(i), Type: "uint64", SaveRestore: true}
		if name == "flags" {
			r.Bits, r.Type = 32, "uint32"
		}
		core.Registers = append(core.Registers, r)
	}
	return &tdesc.Target{Version: "1.0", Features: []*tdesc.Feature{core}}
}
