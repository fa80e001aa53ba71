// Package arch is the one table of machines: everything that the tree knows of a processor by name, for every processor that
// target descriptions, trace files and execution traces come from.
//
// A Machine is a row. It is data: the names of registers in each of the vocabularies that reach us (target descriptions,
// DWARF's numbers, assemblers, calling conventions), the roles that some of them have, the breakpoint instruction, what C is
// like. Where one processor needs more care than another the row has an ability, never its name: a package above asks
// whether Prologue is there, not whether this is x86-64. A house test keeps names of registers and processors out of every
// package above.
//
// An ISA is a machine as one target has it: with the byte order and the register numbers of its target description.
//
// The package never reads a process, a file or a packet. What needs more than a row, such as decoding and moving
// instructions, is in a package of that processor's own (arch/amd64).
package arch

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Addr is an address in the target, wide enough for any target; on 32-bit targets the upper half is zero.
type Addr uint64

// String gives the address as GDB prints one: 0x and lower-case hexadecimal without leading zeros.
func (a Addr) String() string { return fmt.Sprintf("0x%x", uint64(a)) }

// Reg is a remote register number: the number by which the target description, the p packet, the mask of an R action and
// the reg opcode of an agent expression name a register.
type Reg int

// NoReg is the number of no register.
const NoReg Reg = -1

// ByteOrder reads, writes and appends integers in one byte order. binary.LittleEndian and binary.BigEndian are the two.
type ByteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// OrderName is the word for a byte order: little or big.
func OrderName(order ByteOrder) string {
	if order == binary.BigEndian {
		return "big"
	}
	return "little"
}

// Uint reads an unsigned integer of up to 8 bytes.
func Uint(b []byte, order ByteOrder) uint64 {
	switch len(b) {
	case 8:
		return order.Uint64(b)
	case 4:
		return uint64(order.Uint32(b))
	}
	var n uint64
	for i := range b {
		at := len(b) - 1 - i
		if order == binary.BigEndian {
			at = i
		}
		n = n<<8 | uint64(b[at])
	}
	return n
}

// PutAddr stores an address in a register or pointer of 8, 4 or 2 bytes. What has another size stays as it is.
func PutAddr(b []byte, order ByteOrder, addr Addr) {
	switch len(b) {
	case 8:
		order.PutUint64(b, uint64(addr))
	case 4:
		order.PutUint32(b, uint32(addr))
	case 2:
		order.PutUint16(b, uint16(addr))
	}
}

// ISA is a machine as one target has it.
type ISA struct {
	Machine    *Machine  // its row, never nil: Unknown if the table has none
	Name       string    // as in the architecture element of the target description, BFD's printable name
	Order      ByteOrder // of memory and registers
	AddrSize   int       // bytes in a pointer
	PC, SP, FP Reg       // remote numbers of program counter, stack pointer and frame pointer; NoReg where there is none
}

// LLVM returns the machine's name in the triples of LLVM; "" where the table has none in this byte order.
func (isa *ISA) LLVM() string {
	name, _, known := strings.Cut(isa.Machine.Multiarch, "-")
	order := isa.Machine.Order
	if strings.HasSuffix(name, "le") { // the folders of libraries are of the usual order of Debian's, not of the processor's
		order = binary.LittleEndian
	}
	if !known || order != isa.Order {
		return ""
	}
	return name
}

// Role returns the number of the register that GDB calls pc, sp or fp on every machine; NoReg for any other name.
func (isa *ISA) Role(name string) Reg {
	switch name {
	case "pc":
		return isa.PC
	case "sp":
		return isa.SP
	case "fp":
		return isa.FP
	}
	return NoReg
}
