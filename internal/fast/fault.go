package fast

import (
	"encoding/binary"
	"sort"

	"tracewell/arch"
	"tracewell/arch/amd64"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/jit"
)

// faultRange is code that reads what the program or its user says, and may find that it is not there.
type faultRange struct {
	from, to int32 // offsets of the code
	resume   int32 // offset where the pad goes on
	kind     faultKind
	frame    int // index of the tracepoint at the site

	block  int         // whose contents are read
	cause  int         // of the failure of an expression, an id
	access jit.Operand // the address that an expression reads
	record int         // offset of the failure record in the slot
	absent [2]int      // blocks that the rest of the action would have made
}

type faultKind uint8

const (
	faultBlock     faultKind = iota // the contents of a memory block
	faultString                     // those of a string
	faultCondition                  // an access of a condition: there may be no slot yet
	faultAction                     // an access of an action
	faultElsewhere                  // an access that the pad goes elsewhere for: there is nothing to record
)

// Fault handles a SIGSEGV or SIGBUS that an access of the pad has raised: it writes what there is of the memory into the slot and
// sets registers so that the thread goes on behind the access. It is false if the pad makes no access there that may fail: then
// the signal is none of the pad's, and Leave applies.
func (p *Pad) Fault(regs *amd64.UserRegs, memory Memory, r *Reader) bool {
	offset := int32(arch.Addr(regs[amd64.RIP]) - p.Addr)
	i := sort.Search(len(p.faults), func(i int) bool { return p.faults[i].to > offset })
	if i == len(p.faults) || offset < p.faults[i].from {
		return false
	}
	f := &p.faults[i]
	// The pad goes on with the stack that it has where it goes on.
	depth := p.at(int(offset)).depth
	if f.kind == faultCondition {
		if !p.failCondition(f, regs, memory) {
			return false
		}
		depth += failureWords
	} else if slot := r.slot(regs[userIndex[regSlot]]-uint64(p.ring), p.Slots.size); slot != nil {
		p.repair(f, slot, regs, memory)
	}
	regs[amd64.RSP] += uint64(int64(depth - p.at(int(f.resume)).depth))
	regs[amd64.RIP] = uint64(p.Addr) + uint64(f.resume)
	regs[amd64.EFlags] &^= flagResume
	return true
}

// failureWords is the number of bytes that a failed condition leaves on the stack for the code that records it: the first two
// fields of the failure record as one word, and above that the address.
const failureWords = 16

// failCondition puts on the stack what is to be recorded of a condition that failed.
func (p *Pad) failCondition(f *faultRange, regs *amd64.UserRegs, memory Memory) bool {
	addr, readable := p.failedAccess(f, regs, memory)
	var words [failureWords]byte
	binary.LittleEndian.PutUint64(words[:], uint64(f.cause)|uint64(readable)<<32)
	binary.LittleEndian.PutUint64(words[8:], uint64(addr))
	top := arch.Addr(regs[amd64.RSP] - failureWords)
	if memory.WriteMemory(top, words[:]) != len(words) {
		return false
	}
	regs[amd64.RSP] = uint64(top)
	return true
}

// failedAccess returns the address that an expression could not read, and how much of the memory can be read all the same.
func (p *Pad) failedAccess(f *faultRange, regs *amd64.UserRegs, memory Memory) (addr arch.Addr, readable int) {
	addr = arch.Addr(f.access.Disp)
	if f.access.Base != asm.NoReg {
		addr += arch.Addr(regs[userIndex[f.access.Base]])
	}
	var b [8]byte
	return addr, memory.ReadMemory(addr, b[:p.Slots.causes[f.cause-1].size])
}

// repair writes into the slot what there is.
func (p *Pad) repair(f *faultRange, slot []byte, regs *amd64.UserRegs, memory Memory) {
	plan := &p.Slots.frames[f.frame]
	switch f.kind {
	case faultBlock:
		b := &plan.blocks[f.block]
		head := slot[b.at:]
		addr := arch.Addr(binary.LittleEndian.Uint64(head[1:]))
		wanted := min(int(binary.LittleEndian.Uint16(head[9:])), b.room)
		n := memory.ReadMemory(addr, head[memoryHeader:][:wanted])
		binary.LittleEndian.PutUint16(head[9:], uint16(n))
		slot[slotFlags] |= flagShort
	case faultString:
		b := &plan.blocks[f.block]
		n := min(regs[userIndex[regIndex]], uint64(b.room))
		binary.LittleEndian.PutUint16(slot[b.at+9:], uint16(n))
		slot[slotFlags] |= flagShort
	case faultAction:
		addr, readable := p.failedAccess(f, regs, memory)
		record := slot[f.record:]
		binary.LittleEndian.PutUint32(record[failureID:], uint32(f.cause))
		binary.LittleEndian.PutUint32(record[failureReadable:], uint32(readable))
		binary.LittleEndian.PutUint64(record[failureAddress:], uint64(addr))
		for _, b := range plan.blocks[f.absent[0]:f.absent[1]] {
			slot[b.at] = 0
		}
		slot[slotFlags] |= flagShort | flagFailed
	}
}
