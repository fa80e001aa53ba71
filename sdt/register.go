package sdt

import (
	"fmt"
	"strconv"
)

// registers maps the assembler's names, without %, to registers and parts of them.
var registers = makeRegisters()

func makeRegisters() map[string]Register {
	table := map[string]Register{"rip": {"rip", 0, 8}, "eip": {"rip", 0, 4}}
	for _, letter := range []string{"a", "b", "c", "d"} {
		whole := "r" + letter + "x"
		table[whole] = Register{whole, 0, 8}
		table["e"+letter+"x"] = Register{whole, 0, 4}
		table[letter+"x"] = Register{whole, 0, 2}
		table[letter+"l"] = Register{whole, 0, 1}
		table[letter+"h"] = Register{whole, 8, 1}
	}
	for _, name := range []string{"si", "di", "bp", "sp"} {
		whole := "r" + name
		table[whole] = Register{whole, 0, 8}
		table["e"+name] = Register{whole, 0, 4}
		table[name] = Register{whole, 0, 2}
		table[name+"l"] = Register{whole, 0, 1}
	}
	for i := 8; i < 16; i++ {
		whole := "r" + strconv.Itoa(i)
		table[whole] = Register{whole, 0, 8}
		table[whole+"d"] = Register{whole, 0, 4}
		table[whole+"w"] = Register{whole, 0, 2}
		table[whole+"b"] = Register{whole, 0, 1}
	}
	for i := range 16 {
		whole := "xmm" + strconv.Itoa(i)
		table[whole] = Register{whole, 0, 8}
	}
	return table
}

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
	if err == nil && (r.Size < 4 || r.Name[0] == 'x') {
		err = fmt.Errorf("no address counts from register %q", s)
	}
	return r, err
}
