package fake

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/tdesc"
)

// toy borrows what it needs of a real machine.
var toy = &arch.Machine{
	Name: "toy", Order: binary.LittleEndian, AddrSize: 8, Breakpoint: arch.AMD64.Breakpoint, TrapShift: arch.AMD64.TrapShift,
	PC: arch.AMD64.PC, SP: arch.AMD64.SP, FP: arch.AMD64.FP,
}

// Toy is an instruction set with five registers, so that a register block is readable by eye: rax, rbp, rsp and rip of
// eight bytes, little-endian, and flags of four.
var Toy = &arch.ISA{
	Machine: toy, Name: toy.Name, Order: toy.Order, AddrSize: toy.AddrSize, FP: 1, SP: 2, PC: 3,
}

// ToyDescription describes the registers of Toy.
func ToyDescription() *tdesc.Target {
	core := &tdesc.Feature{Name: "toy.core"}
	for i, name := range []string{arch.AMD64.Registers[0].Name, toy.FP, toy.SP, toy.PC, "flags"} {
		r := &tdesc.Register{Name: name, Bits: 64, Num: arch.Reg(i), Type: "uint64", SaveRestore: true}
		if name == "flags" {
			r.Bits, r.Type = 32, "uint32"
		}
		core.Registers = append(core.Registers, r)
	}
	return &tdesc.Target{Version: "1.0", Features: []*tdesc.Feature{core}}
}
