package fakestub

import (
	"encoding/binary"
	"fmt"
)

// encodeI to encodeJ put instructions of 32 bits together. Constants are two's complement, cut to their fields.
func encodeI(op, f, rd, rs1, imm uint32) uint32 { return imm<<20 | rs1<<15 | f<<12 | rd<<7 | op }

func encodeR(op, f, f7, rd, rs1, rs2 uint32) uint32 {
	return f7<<25 | rs2<<20 | rs1<<15 | f<<12 | rd<<7 | op
}

func encodeS(f, rs1, rs2, imm uint32) uint32 {
	return imm>>5&127<<25 | rs2<<20 | rs1<<15 | f<<12 | imm&31<<7 | 0x23
}

func encodeB(f int, rs1, rs2, imm uint32) uint32 {
	return imm>>12&1<<31 | imm>>5&63<<25 | rs2<<20 | rs1<<15 | uint32(f)<<12 | imm>>1&15<<8 | imm>>11&1<<7 | 0x63
}

func encodeJ(rd, imm uint32) uint32 {
	return imm>>20&1<<31 | imm>>1&1023<<21 | imm>>11&1<<20 | imm>>12&255<<12 | rd<<7 | 0x6f
}

// assembler makes the program: instructions one behind another, with jumps to labels by their names.
type assembler struct {
	org    uint64
	code   []byte
	labels map[string]uint64
	places []uint64 // addresses of all instructions
	jumps  []jump
}

// jump is one whose target may not be known yet.
type jump struct {
	to     string
	offset int // in the code
	encode func(distance uint32) uint32
}

func (a *assembler) pc() uint64 { return a.org + uint64(len(a.code)) }

func (a *assembler) label(name string) { a.labels[name] = a.pc() }

func (a *assembler) wide(i uint32) {
	a.places = append(a.places, a.pc())
	a.code = binary.LittleEndian.AppendUint32(a.code, i)
}

func (a *assembler) narrow(c uint16) {
	a.places = append(a.places, a.pc())
	a.code = binary.LittleEndian.AppendUint16(a.code, c)
}

func (a *assembler) jump(to string, encode func(distance uint32) uint32) {
	a.jumps = append(a.jumps, jump{to: to, offset: len(a.code), encode: encode})
	a.wide(0)
}

func (a *assembler) branch(f int, rs1, rs2 uint32, to string) {
	a.jump(to, func(d uint32) uint32 { return encodeB(f, rs1, rs2, d) })
}

func (a *assembler) jal(rd uint32, to string) {
	a.jump(to, func(d uint32) uint32 { return encodeJ(rd, d) })
}

// finish fills the jumps in.
func (a *assembler) finish() []byte {
	for _, j := range a.jumps {
		to, ok := a.labels[j.to]
		if !ok {
			panic(fmt.Sprintf("fakestub: no label %q", j.to))
		}
		binary.LittleEndian.PutUint32(a.code[j.offset:], j.encode(uint32(to-a.org)-uint32(j.offset)))
	}
	return a.code
}
