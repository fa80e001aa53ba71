package debuginfo

import (
	"debug/elf"

	"tracewell/arch"
)

// At is the DIE at an offset from the start of the unit, as the operators of expressions name base types.
func (u *Unit) At(offset uint64) Offset {
	return u.space.base + Offset(u.start) + Offset(offset%spaceSize)
}

// InSection is the DIE at an offset of the section that the unit's references to other units go into, as implicit pointers name
// variables.
func (u *Unit) InSection(offset uint64) Offset { return u.space.refBase + Offset(offset%spaceSize) }

// Address is an entry of the table of addresses that the unit refers to by index.
func (u *Unit) Address(index uint64) (arch.Addr, bool) { return u.address(index) }

// ThreadLocal is the part of a file that each thread has a copy of.
type ThreadLocal struct {
	Addr        arch.Addr
	Size, Align uint64
}

// ThreadLocal returns the part of the file that each thread has a copy of; false if it has none.
func (f *File) ThreadLocal() (ThreadLocal, bool) {
	for _, p := range f.main.elf.Progs {
		if p.Type == elf.PT_TLS {
			return ThreadLocal{arch.Addr(p.Vaddr), p.Memsz, max(p.Align, 1)}, true
		}
	}
	return ThreadLocal{}, false
}
