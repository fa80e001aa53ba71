package target

import "tracewell/arch"

// Access is what a program may do with memory.
type Access struct{ Read, Write, Exec bool }

// Region is a part of an address space: a mapping, or a gap between two, which nobody may access.
type Region struct {
	Start arch.Addr
	Size  uint64 // in bytes; at least 1
	Access
	Name string // of the file, or in brackets what else the kernel calls the mapping; "" for none
}

// Mappings is a target that knows all memory of a process.
type Mappings interface {
	// Region returns the region that an address lies in. The target may be running.
	Region(pid int, addr arch.Addr) (Region, error)
}

// Allocator is a target that can have a process map memory for its debugger, such as for the code of an expression.
type Allocator interface {
	// Allocate has a process map size bytes of zeros, in whole pages. The process must be stopped. An error that is
	// ErrUnsupported says that there is no way to do it in this process.
	Allocate(pid int, size uint64, access Access) (arch.Addr, error)
	// Release has the process unmap what Allocate returned.
	Release(pid int, addr arch.Addr) error
}
