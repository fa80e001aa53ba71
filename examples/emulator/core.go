package main

import "encoding/binary"

// core is a processor of RV32I, as far as the program below needs it, with its memory.
type core struct {
	x      [32]uint32 // x[0] stays 0
	pc     uint32
	memory []byte // from base on
}

// base is where memory begins.
const base = 0x8000_0000

// state is what an instruction has left the processor in.
type state uint8

const (
	fine    state = iota
	exited        // by ecall; the status is in a0
	faulted       // an instruction or address that there is not; nothing has changed
)

// at returns n bytes of memory, nil if they are not all there.
func (c *core) at(addr uint32, n int) []byte {
	offset := uint64(addr) - base
	if addr < base || offset+uint64(n) > uint64(len(c.memory)) {
		return nil
	}
	return c.memory[offset:][:n]
}

// step executes one instruction.
func (c *core) step() state {
	code := c.at(c.pc, 4)
	if code == nil {
		return faulted
	}
	i := binary.LittleEndian.Uint32(code)
	rd, rs1, rs2, funct3 := i>>7&31, c.x[i>>15&31], c.x[i>>20&31], i>>12&7
	immediate := uint32(int32(i) >> 20) // of the I form
	next, result, writes := c.pc+4, uint32(0), true
	switch i & 0x7f {
	case 0x37: // lui
		result = i &^ 0xfff
	case 0x13: // addi alone of its family
		result = rs1 + immediate
	case 0x33: // add and sub alone
		result = rs1 + rs2
		if i>>30 == 1 {
			result = rs1 - rs2
		}
	case 0x03: // lw
		word := c.at(rs1+immediate, 4)
		if word == nil {
			return faulted
		}
		result = binary.LittleEndian.Uint32(word)
	case 0x23: // sw
		word := c.at(rs1+(immediate&^31|rd), 4)
		if word == nil {
			return faulted
		}
		binary.LittleEndian.PutUint32(word, rs2)
		writes = false
	case 0x63: // beq and bne; bit 0 of funct3 inverts
		if (rs1 == rs2) == (funct3&1 == 0) {
			next = c.pc + (uint32(int32(i)>>31)<<12 | rd&1<<11 | i>>25&63<<5 | rd&^1)
		}
		writes = false
	case 0x6f: // jal
		result = next
		next = c.pc + (uint32(int32(i)>>31)<<20 | i>>12&255<<12 | i>>20&1<<11 | i>>21&1023<<1)
	case 0x67: // jalr
		result, next = next, (rs1+immediate)&^1
	case 0x73: // ecall
		return exited
	default:
		return faulted
	}
	if writes && rd != 0 {
		c.x[rd] = result
	}
	c.pc = next
	return fine
}

// program adds the numbers from 10 down to 1 and leaves the sum in memory.
var program = []uint32{
	0x80001537, // 80000000  lui   a0, 0x80001
	0x00a00593, // 80000004  li    a1, 10
	0x00000613, // 80000008  li    a2, 0
	0x00b60633, // 8000000c  add   a2, a2, a1
	0x00c52023, // 80000010  sw    a2, 0(a0)
	0xfff58593, // 80000014  addi  a1, a1, -1
	0xfe059ae3, // 80000018  bnez  a1, 8000000c
	0x00000513, // 8000001c  li    a0, 0
	0x00000073, // 80000020  ecall
}

func newCore() *core {
	c := &core{pc: base, memory: make([]byte, 0x2000)}
	for i, word := range program {
		binary.LittleEndian.PutUint32(c.memory[4*i:], word)
	}
	return c
}
