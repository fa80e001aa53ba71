// Package arch holds the facts about instruction sets that every layer above shares: the types of a target address and
// of a remote register number, and for each instruction set its breakpoint, its pointer size and the roles of its registers.
//
// It never reads a process, a file or a packet. What needs more than a table for one instruction set, such as moving an
// instruction elsewhere, is in a package of that set's own below this one (arch/amd64).
package arch

import (
	"encoding/binary"
	"fmt"
)

// Addr is an address in the target, wide enough for any target; on 32-bit targets the upper half is zero.
type Addr uint64

// String gives the address as GDB prints one: 0x and lower-case hexadecimal without leading zeros.
func (a Addr) String() string { return fmt.Sprintf("0x%x", uint64(a)) }

// Reg is a remote register number: the number by which the target description, the p packet, the mask of an R action and
// the reg opcode of an agent expression name a register.
type Reg int

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

// ISA is one instruction set as a debugger sees it.
type ISA struct {
	Name       string    // as in the architecture element of a target description, BFD's printable name
	Order      ByteOrder // of memory and registers
	AddrSize   int       // bytes in a pointer
	Breakpoint []byte    // the software breakpoint instruction
	TrapAfter  bool      // the pc reported for a breakpoint lies behind it, as on x86
	PC, SP, FP Reg       // remote numbers of the program counter, stack pointer and frame pointer
	DWARF      []string  // names of registers in target descriptions by the numbers of DWARF; "" for none
}
