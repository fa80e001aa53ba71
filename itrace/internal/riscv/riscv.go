// Package riscv is what the formats of RISC-V producers have in common: names of registers by their numbers, words for privilege,
// and what the opcode tells of an access. Names of registers are those of the architecture, x5 and not t0, since most producers
// write numbers; arch has the others.
package riscv

import (
	"debug/elf"
	"strconv"

	"tracewell/arch"
	"tracewell/itrace/internal/words"
)

// machine is that of 64 bits; names are those of the other as well.
var machine = arch.ByELF(elf.EM_RISCV, 8)

const (
	registers = 32 // of a class
	room      = 8  // bytes behind the beginning of a name, which readers may compare at once
)

// classes are the letters of the classes of registers: integer, floating point and vector.
const classes = "xfv"

var names = func() (names [len(classes)][registers][]byte) {
	for class := range classes {
		for n := range registers {
			name := make([]byte, 0, room)
			names[class][n] = strconv.AppendInt(append(name, classes[class]), int64(n), 10)
		}
	}
	return names
}()

// Name is that of a register by the letter of its class and its number, such as x5; nil for none. It is nobody's to change.
func Name(class byte, number uint64) []byte {
	if number >= registers {
		return nil
	}
	for i := range classes {
		if classes[i] == class {
			return names[i][number]
		}
	}
	return nil
}

// numbers are the numbers of registers by all their names, with the letter of their class.
var numbers = func() *words.Table[Register] {
	all := make(map[string]Register)
	for class := range classes {
		for n := range registers {
			all[string(names[class][n])] = Register{classes[class], uint8(n)}
		}
	}
	for _, set := range arch.AliasSets()[machine.Family] {
		if r, ok := all[set.Name]; ok {
			all[set.Same] = r
		}
	}
	return words.New(all)
}()

// Zero is the name in the calling convention of the register that reads as zero.
var Zero = machine.Zero

// ReadsZero reports whether a name is that of the register that reads as zero.
func ReadsZero(name []byte) bool {
	return string(name) == string(names[0][0]) || string(name) == Zero
}

// Register is a register by its class and number.
type Register struct {
	Class  byte // x, f or v
	Number uint8
}

// Number is that of a register by any of its names.
func Number(name []byte) (r Register, ok bool) { return numbers.Find(name) }

// modes are the words for privilege, by its number.
var modes = [4][]byte{[]byte("U"), []byte("S"), nil, []byte("M")}

// Mode is the word for a privilege by its number, nil for one that there is not.
func Mode(number byte) []byte {
	if number >= byte(len(modes)) {
		return nil
	}
	return modes[number]
}

// ModeNumber is the number of a privilege by its word; machine mode for any other word, as simulators begin in it.
func ModeNumber(word []byte) byte {
	for n, mode := range modes {
		if len(mode) > 0 && string(mode) == string(word) {
			return byte(n)
		}
	}
	return byte(len(modes) - 1)
}

// AccessSize is how many bytes an instruction loads or stores, by its opcode; 0 where it does not tell, as of vectors.
func AccessSize(opcode uint64) uint32 {
	switch opcode & 3 {
	case 3:
		return wideSize(opcode)
	case 1:
		return 0
	}
	// Of compressed instructions funct3 tells, in the first and third quadrant: 2 and 6 are of words, 1 and 5 of doubles, and 3 and
	// 7 differ between 32 and 64 bits and are not told. 4 of the first quadrant is of bytes and halves.
	switch opcode >> 13 & 7 {
	case 2, 6:
		return 4
	case 1, 5:
		return 8
	case 4:
		if opcode&3 == 0 {
			return 1 << (opcode >> 10 & 1)
		}
	}
	return 0
}

// wideSize is AccessSize for instructions of 32 bits.
func wideSize(opcode uint64) uint32 {
	const load, store, atomic, loadFloat, storeFloat = 0x03, 0x23, 0x2f, 0x07, 0x27
	funct3 := opcode >> 12 & 7
	switch opcode & 0x7f {
	case load, store, atomic:
		return 1 << (funct3 & 3)
	case loadFloat, storeFloat:
		if funct3 >= 1 && funct3 <= 4 {
			return 1 << funct3
		}
	}
	return 0
}
