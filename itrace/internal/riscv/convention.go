package riscv

import (
	"strconv"

	"tracewell/arch"
)

// convention has the names of registers in the calling convention by class and number. Vectors have none of their own.
var convention = func() (names [len(classes)][registers][]byte) {
	for _, same := range arch.AliasSets()[machine.Family] {
		n, err := strconv.Atoi(same.Name[1:])
		for class := range classes {
			if err == nil && n < registers && same.Name[0] == classes[class] {
				names[class][n] = []byte(same.Same)
			}
		}
	}
	return names
}()

// ConventionName is the name of a register in the calling convention, such as t0 for x5; that by number where there is none.
func ConventionName(r Register) []byte {
	for i := range classes {
		if classes[i] == r.Class && len(convention[i][r.Number]) > 0 {
			return convention[i][r.Number]
		}
	}
	return Name(r.Class, uint64(r.Number))
}
