package riscv

// Accesses tells whether an instruction loads, stores or both, by its opcode. It is neither for those that the base, the standard
// extensions for floating point, vectors, atomic and byte accesses do not define.
func Accesses(opcode uint64) (load, store bool) {
	const (
		wide                        = 3
		loads, loadsFloat           = 0x03, 0x07
		stores, storesFloat, atomic = 0x23, 0x27, 0x2f
		reserved, conditional       = 2, 3 // funct5 of LR and SC
	)
	if opcode&3 != wide {
		return compressedAccess(opcode)
	}
	switch opcode & 0x7f {
	case loads, loadsFloat:
		return true, false
	case stores, storesFloat:
		return false, true
	case atomic:
		switch opcode >> 27 & 0x1f {
		case reserved:
			return true, false
		case conditional:
			return false, true
		}
		return true, true
	}
	return false, false
}

// compressedAccess is Accesses for instructions of 16 bits. Accesses are in the first and third quadrant: funct3 of 1 to 3 loads,
// of 5 to 7 stores, and 4 of the first has the accesses of bytes and halves, of which bit 11 is set in stores.
func compressedAccess(opcode uint64) (load, store bool) {
	if opcode&3 == 1 {
		return false, false
	}
	switch funct3 := opcode >> 13 & 7; {
	case funct3 == 0 || funct3 == 4 && opcode&3 != 0:
		return false, false
	case funct3 == 4:
		store = opcode>>11&1 != 0
	default:
		store = funct3 > 4
	}
	return !store, store
}
