//go:build linux && amd64

package linux

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/target"
)

// Where a thread's own variables are.
//
// On x86-64 the thread pointer is the base of segment fs. The block of the main program's variables ends there, so its place
// follows from the program header alone, whatever the C library.
//
// Objects that the dynamic linker loads are numbered, and each thread has a vector (DTV) of its blocks by these numbers. A
// block comes to be when the thread first uses it, unless the linker found room for it at a fixed distance in front of the
// thread pointer, as it does for what is loaded at the start. The vector's own number of generation says how old it is: of
// objects that were numbered later it knows nothing yet.
//
// All that is the C library's private affair, but glibc describes it for debuggers: the symbols that begin with _thread_db_
// say where the fields of its structures are (nptl_db in its source). libthread_db is a reader of these. Here they are read
// from the program's memory; see symbols.go.

// ThreadLocals implements target.Groups.
func (t *Target) ThreadLocals() target.ThreadLocals { return t }

// ThreadPointer implements target.ThreadLocals.
func (t *Target) ThreadPointer(id target.ThreadID) (pointer arch.Addr, err error) {
	err = t.onTask(id, func(k *task) error {
		err := k.fetch()
		pointer = arch.Addr(k.regs[amd64.FSBase])
		return err
	})
	return pointer, err
}

// ThreadLocal implements target.ThreadLocals. Of C libraries but glibc 2.34 and later it knows the variables of the main
// program only.
func (t *Target) ThreadLocal(id target.ThreadID, object arch.Addr, offset uint64) (addr arch.Addr, err error) {
	err = t.onTask(id, func(k *task) error {
		if err := k.fetch(); err != nil {
			return err
		}
		block, err := k.proc.threadBlock(arch.Addr(k.regs[amd64.FSBase]), object)
		addr = block + arch.Addr(offset)
		return err
	})
	return addr, err
}

// threadBlock is the address of the variables of an object in the thread of that pointer.
func (p *process) threadBlock(pointer, object arch.Addr) (arch.Addr, error) {
	if pointer == 0 {
		return 0, target.ErrNotAllocated
	}
	links, err := p.libraries()
	if err != nil {
		return 0, err
	}
	if object == 0 || object == links.Main {
		return p.mainBlock(pointer)
	}
	for _, o := range links.Objects {
		if lib := (&library{p: p, bias: o.Addr, dynamic: o.LD}); lib.open() == nil {
			if _, ok := lib.find(describing + "link_map_l_tls_modid"); ok {
				g := glibc{library: lib}
				block := g.block(pointer, object)
				return block, g.err
			}
		}
	}
	return 0, errors.New("the program's C library does not describe its thread-local storage as glibc 2.34 does")
}

// mainBlock is the address of the main program's variables. The end of their block is the thread pointer but for what
// aligns its start.
func (p *process) mainBlock(pointer arch.Addr) (arch.Addr, error) {
	headers, _, err := p.programHeaders()
	if err != nil {
		return 0, err
	}
	for _, h := range headers {
		if elf.ProgType(h.Type) == elf.PT_TLS {
			padding := -(h.Vaddr + h.Memsz) & (max(h.Align, 1) - 1)
			return pointer - arch.Addr(h.Memsz+padding), nil
		}
	}
	return 0, errors.New("the program has no thread-local variables")
}

// describing is what the names of the symbols begin with that describe structures.
const describing = "_thread_db_"

// glibc reads the structures of the C library by its own description. After the first error its methods return 0.
type glibc struct {
	*library
	err error
}

// described says where a field of a structure is, or the elements of an array in it.
type described struct {
	Bits   uint32 // of the field, or of one element
	Count  uint32 // of elements, 0 if the array's length varies
	Offset uint32
}

// describe finds the description of a field by the names of the structure and of the field, with an underscore between.
func (g *glibc) describe(name string) (d described) {
	b := make([]byte, binary.Size(d))
	g.read(g.symbol(describing+name), b)
	binary.Decode(b, binary.LittleEndian, &d)
	return d
}

// size finds the length in bytes of a structure.
func (g *glibc) size(structure string) uint64 {
	var b [4]byte
	g.read(g.symbol(describing+"sizeof_"+structure), b[:])
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

// symbol is the address of a symbol.
func (g *glibc) symbol(name string) arch.Addr {
	addr, ok := g.find(name)
	if !ok && g.err == nil {
		g.err = fmt.Errorf("the program's C library has no symbol %s", name)
	}
	return addr
}

func (g *glibc) read(addr arch.Addr, b []byte) {
	if g.err == nil {
		_, g.err = g.p.read(addr, b)
	}
}

// get reads a field, of up to 64 bits, of the structure at addr.
func (g *glibc) get(addr arch.Addr, name string) uint64 {
	d := g.describe(name)
	var b [8]byte
	if d.Bits > 8*uint32(len(b)) {
		g.err = fmt.Errorf("the program's C library has a field %s of %d bits", name, d.Bits)
		return 0
	}
	g.read(addr+arch.Addr(d.Offset), b[:d.Bits/8])
	return binary.LittleEndian.Uint64(b[:])
}

// block is the address of an object's variables in a thread.
func (g *glibc) block(pointer, object arch.Addr) arch.Addr {
	number := g.get(object, "link_map_l_tls_modid")
	if g.err == nil && number == 0 {
		g.err = errors.New("the object has no thread-local variables")
	}
	vector := arch.Addr(g.get(pointer, "pthread_dtvp"))
	slots := g.describe("dtv_dtv")
	slot := func(i uint64) arch.Addr { return vector + arch.Addr(slots.Offset) + arch.Addr(i*uint64(slots.Bits/8)) }
	if g.get(slot(0), "dtv_t_counter") >= g.generation(number) {
		const notYet = 1 // in a pointer, which is even otherwise
		if block := g.get(slot(number), "dtv_t_pointer_val"); block&notYet == 0 {
			return arch.Addr(block)
		}
	}
	// The thread has not asked for the block, but it may have one from the beginning.
	const none, refused = 0, 1<<64 - 1
	distance := g.get(object, "link_map_l_tls_offset")
	if g.err == nil && (distance == none || distance == refused) {
		g.err = target.ErrNotAllocated
	}
	return pointer - arch.Addr(distance)
}

// generation is the generation of the vector from which on it knows the object of a number. The linker keeps it in a list
// of tables.
func (g *glibc) generation(number uint64) uint64 {
	linker := arch.Addr(g.get(g.symbol("__nptl_rtld_global"), "__nptl_rtld_global"))
	list := arch.Addr(g.get(linker, "rtld_global__dl_tls_dtv_slotinfo_list"))
	for range maxObjects { // a damaged list may have no end
		if g.err != nil || list == 0 {
			break
		}
		length := g.get(list, "dtv_slotinfo_list_len")
		if number < length {
			entry := list + arch.Addr(g.describe("dtv_slotinfo_list_slotinfo").Offset)
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
