package sdt

import (
	"fmt"
	"strings"

	"tracewell/arch"
)

// machine is the one whose operands are understood.
var machine = arch.AMD64

// registers maps the assembler's names, without %, to registers and parts of them: the general and vector registers and the
// program counter.
var registers = makeRegisters()

func makeRegisters() map[string]Register {
	table := make(map[string]Register)
	for _, r := range machine.Registers {
		if r.Kind == arch.General || r.Kind == arch.Vector || r.Name == machine.PC {
			table[r.Name] = Register{r.Name, 0, min(r.Size, widest)}
		}
	}
	for _, p := range machine.Parts {
		name := p.Name
		if p.Assembler != "" {
			name = p.Assembler
		}
		table[name] = Register{p.Of, 8 * p.Offset, p.Size}
	}
	return table
}

// widest is the most bytes of a register that an argument has, those of a scalar.
const widest = 8

// parseRegister reads %NAME.
func parseRegister(s string) (Register, error) {
	if len(s) > 1 && s[0] == '%' {
		if r, ok := registers[s[1:]]; ok {
			return r, nil
		}
	}
	return Register{}, fmt.Errorf("unknown register %q", s)
}

// parseAddressRegister reads a register that an address may count from.
func parseAddressRegister(s string) (Register, error) {
	r, err := parseRegister(s)
	if err == nil && (r.Size < 4 || machine.Register(r.Name).Kind == arch.Vector) {
		err = fmt.Errorf("no address counts from register %q", s)
	}
	return r, err
}

// parseSegment reads %NAME of a segment register that has a base, and returns the register of the base.
func parseSegment(s string) (string, error) {
	name, ok := strings.CutPrefix(s, "%")
	base := name + "_base"
	if !ok || machine.Register(base) == nil {
		return "", fmt.Errorf("unknown segment %q", s)
	}
	return base, nil
}
