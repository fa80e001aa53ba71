package inferior

import (
	"debug/elf"
	"errors"
	"fmt"

	"tracewell/arch"
)

// Where a thread's own variables are. On some machines the blocks end at the thread pointer (variant II of the TLS ABI: x86, s390,
// sparc), on others they lie above it, behind a header (variant I: Arm; arch.Machine.BlocksAbove). The block of the main program's
// variables is the nearest one, so its place follows from the program header alone, whatever the C library.
//
// Objects that the dynamic linker loads are numbered, and each thread has a vector (DTV) of its blocks by these numbers. A
// block comes to be when the thread first uses it, unless the linker found room for it at a fixed distance in front of the
// thread pointer, as it does for what is loaded at the start. The vector's own number of generation says how old it is: of
// objects that were numbered later it has no element yet.
//
// All that is the C library's private affair, but glibc describes it for debuggers: the symbols that begin with _thread_db_
// give the offsets of the fields of its structures (nptl_db in its source). libthread_db is a reader of these. Here they are
// read from the program's memory.

// ErrNotAllocated is that a thread has no block for an object yet.
var ErrNotAllocated = errors.New("the thread has not allocated storage for the thread-local variables of that object yet")

// ThreadLocals returns the address of the block of an object's variables in the thread of a thread pointer. The object is given by
// the address of its entry in the link map (LinkObject.LM); 0 is the main program. Of C libraries but glibc 2.34 and later it
// finds the block of the main program only. It fails with ErrNotAllocated if the thread has no such block yet.
func (s *ProgramSpace) ThreadLocals(pointer, object arch.Addr) (arch.Addr, error) {
	if pointer == 0 {
		return 0, ErrNotAllocated
	}
	links, err := s.LinkMap()
	if err != nil {
		return 0, err
	}
	if object == 0 || object == links.Main {
		return s.mainBlock(pointer)
	}
	for _, o := range links.Objects {
		if l, err := s.library(o.Addr, o.LD); err == nil {
			if l.find(describing+"link_map_l_tls_modid") != 0 {
				g := glibc{library: l}
				block := g.block(pointer, object)
				return block, g.err
			}
		}
	}
	return 0, errors.New("the program's C library does not describe its thread-local storage as glibc 2.34 does")
}

// mainBlock is the address of the main program's variables. The end of their block is the thread pointer, or its start the end of
// the header, but for what aligns its start.
func (s *ProgramSpace) mainBlock(pointer arch.Addr) (arch.Addr, error) {
	h, err := s.programHeaders()
	if err != nil {
		return 0, err
	}
	for _, p := range h.segments {
		if p.Type == elf.PT_TLS {
			if header := s.blocksAbove(); header > 0 {
				padding := (p.Vaddr - header) & (max(p.Align, 1) - 1)
				return s.wrap(pointer + arch.Addr(header+padding)), nil
			}
			padding := -(p.Vaddr + p.Memsz) & (max(p.Align, 1) - 1)
			return s.wrap(pointer - arch.Addr(p.Memsz+padding)), nil
		}
	}
	return 0, errors.New("the program has no thread-local variables")
}

// blocksAbove is arch.Machine.BlocksAbove, 0 for a machine of which nothing is known.
func (s *ProgramSpace) blocksAbove() uint64 {
	if s.isa.Machine == nil {
		return 0
	}
	return uint64(s.isa.Machine.BlocksAbove)
}

// describing is the prefix of the names of the symbols that describe structures.
const describing = "_thread_db_"

// glibc reads the structures of the C library by its own description. After the first error its methods return 0.
type glibc struct {
	*library
	err error
}

// field says where a field of a structure is, or the elements of an array in it.
type field struct {
	bits   uint32 // of the field, or of one element
	offset uint32
}

// describe reads the description of a field, { bits; count; offset }, by the names of the structure and of the field with an
// underscore between.
func (g *glibc) describe(name string) field {
	b := make([]byte, 12)
	g.read(g.symbol(describing+name), b)
	order := g.space.isa.Order
	return field{order.Uint32(b), order.Uint32(b[8:])}
}

// size reads the length in bytes of a structure.
func (g *glibc) size(structure string) uint64 {
	b := make([]byte, 4)
	g.read(g.symbol(describing+"sizeof_"+structure), b)
	return uint64(g.space.isa.Order.Uint32(b))
}

// symbol is the address of a symbol.
func (g *glibc) symbol(name string) arch.Addr {
	addr := g.find(name)
	if addr == 0 && g.err == nil {
		g.err = fmt.Errorf("the program's C library has no symbol %s", name)
	}
	return addr
}

func (g *glibc) read(addr arch.Addr, b []byte) {
	if g.err == nil {
		g.err = g.space.read(addr, b)
	}
}

// get reads a field, of up to 64 bits, of the structure at addr.
func (g *glibc) get(addr arch.Addr, name string) uint64 {
	f := g.describe(name)
	var b [8]byte
	if f.bits > 8*uint32(len(b)) {
		g.err = fmt.Errorf("the program's C library has a field %s of %d bits", name, f.bits)
		return 0
	}
	value := b[:f.bits/8]
	g.read(addr+arch.Addr(f.offset), value)
	return arch.Uint(value, g.space.isa.Order)
}

// block is the address of an object's variables in a thread.
func (g *glibc) block(pointer, object arch.Addr) arch.Addr {
	number := g.get(object, "link_map_l_tls_modid")
	if g.err == nil && number == 0 {
		g.err = errors.New("the object has no thread-local variables")
	}
	above, thread := g.space.blocksAbove() > 0, pointer
	if above { // the thread's structure lies below the pointer then
		thread -= arch.Addr(g.size("pthread"))
	}
	vector := arch.Addr(g.get(thread, "pthread_dtvp"))
	elements := g.describe("dtv_dtv")
	element := func(i uint64) arch.Addr {
		return vector + arch.Addr(elements.offset) + arch.Addr(i*uint64(elements.bits/8))
	}
	if g.get(element(0), "dtv_t_counter") >= g.generation(number) {
		const notYet = 1 // in a pointer, which is even otherwise
		if block := g.get(element(number), "dtv_t_pointer_val"); block&notYet == 0 {
			return arch.Addr(block)
		}
	}
	// The thread has not used the block, but it may have one from the beginning. The linker marks an object that it has not
	// placed yet, and one that it will not place there, by the numbers 0 and -1.
	distance := arch.Addr(g.get(object, "link_map_l_tls_offset"))
	if g.err == nil && (distance == 0 || distance == g.space.wrap(^arch.Addr(0))) {
		g.err = ErrNotAllocated
	}
	if above {
		return g.space.wrap(pointer + distance)
	}
	return g.space.wrap(pointer - distance)
}

// generation is the generation of the vector from which on it has an element for the object of a number. The linker keeps it in a
// list of tables.
func (g *glibc) generation(number uint64) uint64 {
	linker := arch.Addr(g.get(g.symbol("__nptl_rtld_global"), "__nptl_rtld_global"))
	list := arch.Addr(g.get(linker, "rtld_global__dl_tls_dtv_slotinfo_list"))
	for range maxObjects { // a damaged list may have no end
		if g.err != nil || list == 0 {
			break
		}
		length := g.get(list, "dtv_slotinfo_list_len")
		if number < length {
			entry := list + arch.Addr(g.describe("dtv_slotinfo_list_slotinfo").offset)
			return g.get(entry+arch.Addr(number*g.size("dtv_slotinfo")), "dtv_slotinfo_gen")
		}
		number -= length
		list = arch.Addr(g.get(list, "dtv_slotinfo_list_next"))
	}
	if g.err == nil {
		g.err = errors.New("the dynamic linker does not know the number of the object")
	}
	return 0
}
