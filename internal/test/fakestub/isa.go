package fakestub

// hart is one processor: RV64IC without control registers, which the programs here do not need.
type hart struct {
	x  [32]uint64 // x[0] stays zero
	pc uint64

	parked bool // at a jump to itself: nothing but a debugger changes that
}

// outcome is what the execution of an instruction came to.
type outcome uint8

const (
	executed outcome = iota
	trapped          // an ebreak; the pc stays at it
	exited           // an ecall; the status is in a0
	illegal
	faulted // memory that is not there
)

// Fields of an instruction of 32 bits, as the manual calls them.
func rd(i uint32) uint32  { return i >> 7 & 31 }
func rs1(i uint32) uint32 { return i >> 15 & 31 }
func rs2(i uint32) uint32 { return i >> 20 & 31 }
func funct3(i uint32) int { return int(i >> 12 & 7) }

// Immediates, sign-extended.
func immI(i uint32) uint64 { return uint64(int64(int32(i) >> 20)) }
func immS(i uint32) uint64 { return uint64(int64(int32(i)>>25<<5 | int32(i>>7&31))) }
func immU(i uint32) uint64 { return uint64(int64(int32(i & 0xfffff000))) }
func immB(i uint32) uint64 {
	return uint64(int64(int32(i)>>31<<12 | int32(i>>7&1)<<11 | int32(i>>25&63)<<5 | int32(i>>8&15)<<1))
}
func immJ(i uint32) uint64 {
	return uint64(int64(int32(i)>>31<<20 | int32(i>>12&255)<<12 | int32(i>>20&1)<<11 | int32(i>>21&1023)<<1))
}

// execute executes the instruction at the pc. Unless it was executed, nothing has changed.
func (m *machine) execute(h *hart) outcome {
	low, ok := m.load(h.pc, 2, fetching)
	if !ok {
		return faulted
	}
	if low&3 != 3 {
		whole, ok := expand(uint16(low))
		if !ok {
			return illegal
		}
		return m.perform(h, whole, 2)
	}
	high, ok := m.load(h.pc+2, 2, fetching)
	if !ok {
		return faulted
	}
	return m.perform(h, uint32(low|high<<16), 4)
}

// perform executes an instruction of 32 bits that takes size bytes of memory, less if it was compressed.
func (m *machine) perform(h *hart, i uint32, size uint64) outcome {
	next, a, b := h.pc+size, h.x[rs1(i)], h.x[rs2(i)]
	result, writes := uint64(0), true
	switch i & 0x7f {
	case 0x37: // lui
		result = immU(i)
	case 0x17: // auipc
		result = h.pc + immU(i)
	case 0x6f: // jal
		result, next = next, h.pc+immJ(i)
		h.parked = next == h.pc
	case 0x67: // jalr
		result, next = next, (a+immI(i))&^1
	case 0x63:
		writes = false
		taken, ok := compare(funct3(i), a, b)
		if !ok {
			return illegal
		}
		if taken {
			next = h.pc + immB(i)
		}
	case 0x03:
		width, signed := 1<<(funct3(i)&3), funct3(i)&4 == 0
		v, ok := m.load(a+immI(i), width, reading)
		if !ok || funct3(i) == 7 {
			return faulted
		}
		if result = v; signed {
			result = extend(v, 8*width)
		}
	case 0x23:
		writes = false
		if funct3(i) > 3 || !m.store(a+immS(i), 1<<funct3(i), b) {
			return faulted
		}
	case 0x13, 0x33, 0x1b, 0x3b:
		var ok bool
		if result, ok = compute(i, a, b); !ok {
			return illegal
		}
	case 0x73:
		switch i {
		case 0x00100073:
			return trapped
		case 0x00000073:
			return exited
		}
		return illegal
	case 0x0f: // fence
		writes = false
	default:
		return illegal
	}
	if writes && rd(i) != 0 {
		h.x[rd(i)] = result
	}
	h.pc = next
	return executed
}

// extend extends the sign of a number of so many bits.
func extend(v uint64, width int) uint64 { return uint64(int64(v<<(64-width)) >> (64 - width)) }

// compare is the condition of a branch.
func compare(f int, a, b uint64) (taken, ok bool) {
	switch f &^ 1 {
	case 0:
		taken = a == b
	case 4:
		taken = int64(a) < int64(b)
	case 6:
		taken = a < b
	default:
		return false, false
	}
	return taken != (f&1 == 1), true
}

// compute is the result of an instruction that has registers and a constant only. Multiplication and division are not here.
func compute(i uint32, a, b uint64) (uint64, bool) {
	immediate, word := i&0x20 == 0, i&8 != 0
	width, f := 64, funct3(i)
	if word {
		width = 32
		if f != 0 && f != 1 && f != 5 {
			return 0, false
		}
	}
	other := i >> 25 // funct7: what the instruction is beside funct3
	if immediate {
		b = immI(i)
		switch {
		case f != 1 && f != 5:
			other = 0
		case !word:
			other &^= 1 // a bit of the shift count
		}
	}
	if other != 0 && (other != 0x20 || f != 5 && (f != 0 || immediate)) {
		return 0, false
	}
	shift := b & uint64(width-1)
	var v uint64
	switch f {
	case 0:
		if v = a + b; other != 0 {
			v = a - b
		}
	case 1:
		v = a << shift
	case 2:
		v = truth(int64(a) < int64(b))
	case 3:
		v = truth(a < b)
	case 4:
		v = a ^ b
	case 5:
		low := a << (64 - width) >> (64 - width)
		if v = low >> shift; other != 0 {
			v = uint64(int64(extend(a, width)) >> shift)
		}
	case 6:
		v = a | b
	case 7:
		v = a & b
	}
	if word {
		v = extend(v, 32)
	}
	return v, true
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// picked gathers bits of a compressed instruction: pairs of the place of a bit there and in the result.
func picked(c uint16, pairs ...int) uint32 {
	var v uint32
	for k := 0; k < len(pairs); k += 2 {
		v |= uint32(c>>pairs[k]&1) << pairs[k+1]
	}
	return v
}
