package generate

import "math/rand/v2"

// machine is a MIPS processor of 32 bits, big endian, and its memory. Addresses are truncated to the size of the memory.
type machine struct {
	pc, next  uint32 // of the instruction to execute, and of the one behind it, which a branch changes: the delay slot
	registers [32]uint32
	memory    [memorySize]byte
	device    *rand.Rand // decides how long the device lets the program wait
	waits     int        // reads of the device that will still say that it is busy

	effects []effect // of the instruction executed last
}

// memorySize is that of a machine's memory in bytes.
const memorySize = 1 << 16

// deviceAddr is where the program reads the device: 0 while it is busy.
const deviceAddr = 0xfff0

// effect is what an instruction did to one register or place in memory.
type effect struct {
	memory bool
	write  bool   // of memory
	addr   uint32 // of memory
	number uint32 // of a register
	size   int
	value  uint32
}

// newMachine makes a machine whose input, in a1, and whose device depend on the seed alone: the same seed is the same trace. a1 is
// never 0.
func newMachine(seed uint64) *machine {
	m := &machine{pc: entry, next: entry + 4, device: rand.New(rand.NewPCG(seed, 1))}
	m.registers[a1] = uint32(seed)*2654435761 | 1
	return m
}

// set writes a register; the zero register stays 0.
func (m *machine) set(r, value uint32) {
	if r != zero {
		m.registers[r] = value
		m.effects = append(m.effects, effect{number: r, size: 4, value: value})
	}
}

// load reads memory or the device, big endian, and notes the access as an effect even where its register is the zero register.
func (m *machine) load(addr uint32, size int) uint32 {
	addr &= memorySize - 1
	var value uint32
	for i := range size {
		value = value<<8 | uint32(m.memory[(int(addr)+i)%memorySize])
	}
	if addr == deviceAddr {
		value = m.askDevice()
	}
	m.effects = append(m.effects, effect{memory: true, addr: addr, size: size, value: value})
	return value
}

// askDevice says whether the device is ready, which it is after some reads.
func (m *machine) askDevice() uint32 {
	if m.waits > 0 {
		m.waits--
		return 0
	}
	m.waits = m.device.IntN(4)
	return 1
}

// store writes memory. The effect has only the bits that the size holds, as a trace shows them.
func (m *machine) store(addr uint32, size int, value uint32) {
	addr &= memorySize - 1
	if size < 4 {
		value &= 1<<(8*size) - 1
	}
	for i := range size {
		m.memory[(int(addr)+i)%memorySize] = byte(value >> (8 * (size - 1 - i)))
	}
	m.effects = append(m.effects, effect{memory: true, write: true, addr: addr, size: size, value: value})
}

// step executes an instruction and returns it with its address. Its effects are in m.effects.
func (m *machine) step() (in instruction, pc uint32) {
	m.effects = m.effects[:0]
	pc = m.pc
	in = program[(pc-entry)/4]
	m.pc, m.next = m.next, m.next+4
	in.op.run(m, in)
	return in, pc
}

// branch goes on at a target behind the delay slot.
func (m *machine) branch(taken bool, target uint32) {
	if taken {
		m.next = target
	}
}

// signed extends a 16-bit immediate.
func signed(imm uint32) uint32 { return uint32(int32(int16(imm))) }

// The instructions of MIPS I that the program is made of.
var (
	opSLL  = &operation{"sll", 0, 0x00, formShift, func(m *machine, in instruction) { m.set(in.rd, m.registers[in.rt]<<in.imm) }}
	opSRL  = &operation{"srl", 0, 0x02, formShift, func(m *machine, in instruction) { m.set(in.rd, m.registers[in.rt]>>in.imm) }}
	opJR   = &operation{"jr", 0, 0x08, formReturn, func(m *machine, in instruction) { m.branch(true, m.registers[in.rs]) }}
	opADDU = &operation{"addu", 0, 0x21, formRRR,
		func(m *machine, in instruction) { m.set(in.rd, m.registers[in.rs]+m.registers[in.rt]) }}
	opSUBU = &operation{"subu", 0, 0x23, formRRR,
		func(m *machine, in instruction) { m.set(in.rd, m.registers[in.rs]-m.registers[in.rt]) }}
	opAND = &operation{"and", 0, 0x24, formRRR,
		func(m *machine, in instruction) { m.set(in.rd, m.registers[in.rs]&m.registers[in.rt]) }}
	opXOR = &operation{"xor", 0, 0x26, formRRR,
		func(m *machine, in instruction) { m.set(in.rd, m.registers[in.rs]^m.registers[in.rt]) }}
	opSLTU = &operation{"sltu", 0, 0x2b, formRRR,
		func(m *machine, in instruction) { m.set(in.rd, truth(m.registers[in.rs] < m.registers[in.rt])) }}
	opNOP = &operation{"nop", 0, 0, formNothing, func(*machine, instruction) {}}

	opJ   = &operation{"j", 0x02, 0, formJump, func(m *machine, in instruction) { m.branch(true, in.target) }}
	opJAL = &operation{"jal", 0x03, 0, formJump, func(m *machine, in instruction) { m.set(ra, m.pc+4); m.branch(true, in.target) }}
	opBEQ = &operation{"beq", 0x04, 0, formBranch,
		func(m *machine, in instruction) { m.branch(m.registers[in.rs] == m.registers[in.rt], in.target) }}
	opBNE = &operation{"bne", 0x05, 0, formBranch,
		func(m *machine, in instruction) { m.branch(m.registers[in.rs] != m.registers[in.rt], in.target) }}
	opADDIU = &operation{"addiu", 0x09, 0, formRRI,
		func(m *machine, in instruction) { m.set(in.rt, m.registers[in.rs]+signed(in.imm)) }}
	opANDI = &operation{"andi", 0x0c, 0, formRRU, func(m *machine, in instruction) { m.set(in.rt, m.registers[in.rs]&in.imm) }}
	opORI  = &operation{"ori", 0x0d, 0, formRRU, func(m *machine, in instruction) { m.set(in.rt, m.registers[in.rs]|in.imm) }}
	opLUI  = &operation{"lui", 0x0f, 0, formRI, func(m *machine, in instruction) { m.set(in.rt, in.imm<<16) }}
	opLW   = &operation{"lw", 0x23, 0, formMemory,
		func(m *machine, in instruction) { m.set(in.rt, m.load(m.registers[in.rs]+signed(in.imm), 4)) }}
	opLBU = &operation{"lbu", 0x24, 0, formMemory,
		func(m *machine, in instruction) { m.set(in.rt, m.load(m.registers[in.rs]+signed(in.imm), 1)) }}
	opSB = &operation{"sb", 0x28, 0, formMemory,
		func(m *machine, in instruction) { m.store(m.registers[in.rs]+signed(in.imm), 1, m.registers[in.rt]) }}
	opSW = &operation{"sw", 0x2b, 0, formMemory,
		func(m *machine, in instruction) { m.store(m.registers[in.rs]+signed(in.imm), 4, m.registers[in.rt]) }}
)

func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
