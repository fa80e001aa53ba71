package riscv

import (
	"strconv"

	csr "tracewell/arch/riscv"
	"tracewell/itrace/internal/words"
)

const systemRegisters = 1 << 12

// systemNames are the names of registers of control and status by their numbers. Those that no manual names have the word that
// Spike prints for them.
var systemNames = func() (names [systemRegisters][]byte) {
	for number := range names {
		digits := strconv.FormatUint(uint64(systemRegisters+number), 16)[1:]
		names[number] = []byte("unknown_" + digits)
	}
	for number, name := range csr.CSRs {
		names[number] = []byte(name)
	}
	return names
}()

// systemNumbers are the numbers by name, of those that have one.
var systemNumbers = func() *words.Table[uint16] {
	all := make(map[string]uint16)
	for number, name := range csr.CSRs {
		all[name] = number
	}
	return words.New(all)
}()

// SystemName is the name of a register of control and status by its number, nil for a number that none can have. It is nobody's to
// change.
func SystemName(number uint64) []byte {
	if number >= systemRegisters {
		return nil
	}
	return systemNames[number]
}

// SystemNumber is the number of a register of control and status by its name.
func SystemNumber(name []byte) (number uint16, ok bool) { return systemNumbers.Find(name) }
