package asm

import (
	"encoding/binary"

	"tracewell/arch"
)

// Jmp jumps to a label with 32 bits of displacement, 5 bytes.
func (a *Assembler) Jmp(l Label) {
	a.Bytes(0xe9)
	a.refer(4, 0, l, 0)
}

// JmpShort jumps to a label with 8 bits of displacement, 2 bytes.
func (a *Assembler) JmpShort(l Label) {
	a.Bytes(0xeb)
	a.refer(1, 0, l, 0)
}

// Jcc jumps to a label with 32 bits of displacement if the condition holds, 6 bytes.
func (a *Assembler) Jcc(c Cond, l Label) {
	a.Bytes(0x0f, 0x80|byte(c))
	a.refer(4, 0, l, 0)
}

// JccShort jumps to a label with 8 bits of displacement if the condition holds, 2 bytes.
func (a *Assembler) JccShort(c Cond, l Label) {
	a.Bytes(0x70 | byte(c))
	a.refer(1, 0, l, 0)
}

// Call calls a label.
func (a *Assembler) Call(l Label) {
	a.Bytes(0xe8)
	a.refer(4, 0, l, 0)
}

// JmpTo jumps to an address outside, within 2 GiB.
func (a *Assembler) JmpTo(target arch.Addr) {
	a.Bytes(0xe9)
	a.relative(Abs(target), 0)
}

// JccTo jumps to an address outside, within 2 GiB, if the condition holds.
func (a *Assembler) JccTo(c Cond, target arch.Addr) {
	a.Bytes(0x0f, 0x80|byte(c))
	a.relative(Abs(target), 0)
}

// CallTo calls an address outside, within 2 GiB.
func (a *Assembler) CallTo(target arch.Addr) {
	a.Bytes(0xe8)
	a.relative(Abs(target), 0)
}

// JmpFar jumps to any address, 14 bytes of which the last 8 are the address. It needs no register.
func (a *Assembler) JmpFar(target arch.Addr) {
	a.Bytes(0xff, 0x25, 0, 0, 0, 0)
	a.code = binary.LittleEndian.AppendUint64(a.code, uint64(target))
}

// JmpBy jumps to the address in a register or in memory.
func (a *Assembler) JmpBy(target Operand) {
	a.encode(plain{width: 4, opcode: "\xff", field: 4, rm: target})
}

// CallBy calls the address in a register or in memory.
func (a *Assembler) CallBy(target Operand) {
	a.encode(plain{width: 4, opcode: "\xff", field: 2, rm: target})
}

// Ret returns.
func (a *Assembler) Ret() { a.Bytes(0xc3) }
