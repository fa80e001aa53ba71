package riscv

// The major opcodes of instructions of 32 bits.
const (
	opLoadFloat  = 0x07
	opFence      = 0x0f
	opStore      = 0x23
	opStoreFloat = 0x27
	opMulAdd     = 0x43 // the first of four
	opNMulAdd    = 0x4f // the last
	opCompute    = 0x53 // of floating point
	opBranch     = 0x63
)

// IsCompressed reports whether an instruction has 16 bits.
func IsCompressed(opcode uint64) bool { return opcode&3 != 3 }

// Destination is the register that an instruction of 32 bits writes; class is 0 if it writes none.
func Destination(opcode uint64) (class byte, number uint8) {
	number = uint8(opcode >> 7 & (registers - 1))
	switch op := opcode & 0x7f; {
	case op == opStore || op == opStoreFloat || op == opBranch || op == opFence:
		return 0, 0
	case op == opLoadFloat || op >= opMulAdd && op <= opNMulAdd || op == opCompute && !toInteger(opcode):
		return 'f', number
	}
	return 'x', number
}

// toInteger reports whether an instruction of floating point writes an integer register: comparisons, conversions, moves and
// classes, by funct5.
func toInteger(opcode uint64) bool {
	switch opcode >> 27 & 0x1f {
	case 0x14, 0x18, 0x1c:
		return true
	}
	return false
}

// HasResult reports whether an instruction writes a register other than x0.
func HasResult(opcode uint64) bool {
	if !IsCompressed(opcode) {
		class, number := Destination(opcode)
		return class == 'f' || class == 'x' && number != 0
	}
	funct3, register := opcode>>13&7, opcode>>7&(registers-1)
	switch opcode & 3 {
	case 0: // the others store; of bytes and halves the second bit of the three that tell which
		return funct3 < 4 || funct3 == 4 && opcode>>11&1 == 0
	case 1: // the others jump and branch
		return funct3 == 4 || funct3 < 4 && (register != 0 || funct3 == 1)
	}
	// c.jr, c.jalr and c.ebreak have no second register; of these c.jalr alone writes one.
	if jumps := opcode>>2&(registers-1) == 0; funct3 == 4 && jumps {
		return opcode>>12&1 != 0 && register != 0
	}
	return funct3 < 5 && (register != 0 || funct3 == 1 || funct3 == 3)
}

// ReadsCounter reports whether an instruction reads a register of control and status that counts (cycles, instructions, time,
// events), is random, or says which machine this is and what it can: two machines that execute the same find different values
// there.
func ReadsCounter(opcode uint64) bool {
	const functions, hypervisor = 0x7000, 0x4000
	const seed, misa = 0x015, 0x301
	number, accesses := systemAccess(opcode)
	if !accesses || opcode&functions == hypervisor {
		return false
	}
	switch number &^ 0x1f {
	case 0xb00, 0xb80, 0xc00, 0xc80: // of 32 counters each, and their upper halves
		return true
	default:
		return number >= 0xf11 && number <= 0xf15 || number == seed || number == misa
	}
}

// WritesSystem reports whether an instruction is one that accesses a register of control and status, by its number, and may write
// it.
func WritesSystem(opcode uint64, number uint16) bool {
	accessed, accesses := systemAccess(opcode)
	return accesses && accessed == uint64(number)
}

// systemAccess returns the number of the register of control and status that an instruction accesses, unless that is one without
// such as ecall.
func systemAccess(opcode uint64) (number uint64, ok bool) {
	const system, functions = 0x73, 0x7000
	return opcode >> 20 & (systemRegisters - 1), opcode&0x7f == system && opcode&functions != 0
}

// Waits reports whether an instruction is one that may wait as long as it likes for an interrupt.
func Waits(opcode uint64) bool { return opcode == 0x10500073 }

// Returns reports whether an instruction returns from a handler, which is all that it does.
func Returns(opcode uint64) bool {
	const uret, sret, mret, mnret, dret = 0x00200073, 0x10200073, 0x30200073, 0x70200073, 0x7b200073
	switch opcode {
	case uret, sret, mret, mnret, dret:
		return true
	}
	return false
}

// StoresConditionally reports whether an instruction stores unless its reservation is lost, and says whether it did.
func StoresConditionally(opcode uint64) bool {
	const atomic, conditional = 0x2f, 3
	return opcode&0x7f == atomic && opcode>>27&0x1f == conditional
}

// GoesOn reports whether an instruction can only be followed by the next one, unless it has an exception.
func GoesOn(opcode uint64) bool {
	const jumps, jumpsTo = 0x6f, 0x67
	if IsCompressed(opcode) {
		funct3 := opcode >> 13 & 7
		return (opcode&3 != 1 || funct3 != 1 && funct3 < 5) && (opcode&3 != 2 || funct3 != 4)
	}
	switch op := opcode & 0x7f; op {
	case opBranch, jumps, jumpsTo:
		return false
	}
	return !Returns(opcode)
}

// IsAtomic reports whether an instruction reads and writes memory at once.
func IsAtomic(opcode uint64) bool {
	loads, stores := Accesses(opcode)
	return loads && stores
}

// Accessed is what of data belongs to an access of so many bytes, right-aligned in them.
func Accessed(value uint64, digits []byte, size uint32) (uint64, []byte) {
	if n := 2 * int(size); n > 0 && n < len(digits) && n < 16 {
		return value & (1<<(4*n) - 1), digits[len(digits)-n:]
	}
	return value, digits
}

// Sources are the numbers of the integer registers that an instruction of 32 bits reads, and how many these are. It is none for
// opcodes that the base and the standard extensions for floating point and atomic accesses do not define.
func Sources(opcode uint64) (first, second uint8, n int) {
	const (
		loads                             = 0x03
		immediate, immediateWord, linksTo = 0x13, 0x1b, 0x67
		atomic, operands, operandsWord    = 0x2f, 0x33, 0x3b
		system, takesRegister             = 0x73, 3 // funct3 of 1 to 3 of those on control and status
	)
	first, second = uint8(opcode>>15&(registers-1)), uint8(opcode>>20&(registers-1))
	switch opcode & 0x7f {
	case opStore, opBranch, atomic, operands, operandsWord:
		return first, second, 2
	case loads, opLoadFloat, opStoreFloat, immediate, immediateWord, linksTo:
		return first, 0, 1
	case system:
		if funct3 := opcode >> 12 & 7; funct3 > 0 && funct3 <= takesRegister {
			return first, 0, 1
		}
	}
	return 0, 0, 0
}
