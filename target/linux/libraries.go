//go:build linux && amd64

package linux

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/target"
)

// Limits against a link map that the program has damaged.
const (
	maxObjects    = 4096
	maxName       = 4096
	maxNamespaces = 256 // glibc has 16
)

// Numbers of the auxiliary vector (System V ABI).
const atPhdr, atPhent, atPhnum = 3, 4, 5

// ReadLibraries implements target.Libraries by the dynamic linker's own list, which DT_DEBUG of the main program leads to.
// Before the linker has run the list is empty.
func (t *Target) ReadLibraries(pid int) (target.LinkMap, error) {
	var m target.LinkMap
	err := t.onProcess(pid, func(p *process) (err error) {
		m, err = p.libraries()
		return err
	})
	return m, err
}

func (p *process) libraries() (target.LinkMap, error) {
	debug, err := p.linkerDebug()
	if err != nil || debug == 0 {
		return target.LinkMap{}, err
	}
	return p.linkMap(debug)
}

// programHeaders reads the main program's, and how far it is from where its file says. A static program does not say where
// they should be; they are in the page that the file begins with.
func (p *process) programHeaders() (headers []elf.Prog64, bias uint64, err error) {
	phdr, ok1 := p.auxv(atPhdr)
	entry, ok2 := p.auxv(atPhent)
	count, ok3 := p.auxv(atPhnum)
	if !ok1 || !ok2 || !ok3 || int(entry) != binary.Size(elf.Prog64{}) || count > 1024 {
		return nil, 0, errors.New("the program's auxiliary vector has no program headers")
	}
	b := make([]byte, entry*count)
	if _, err := p.read(arch.Addr(phdr), b); err != nil {
		return nil, 0, err
	}
	headers = make([]elf.Prog64, count)
	if _, err := binary.Decode(b, binary.LittleEndian, headers); err != nil {
		return nil, 0, err
	}
	for _, h := range headers {
		const page = 0xfff
		switch {
		case elf.ProgType(h.Type) == elf.PT_PHDR:
			return headers, phdr - h.Vaddr, nil
		case elf.ProgType(h.Type) == elf.PT_LOAD && h.Off == 0:
			bias = phdr&^page - h.Vaddr&^page
		}
	}
	return headers, bias, nil
}

// errNoDebug says that the list cannot be found this way, which does not mean that there is none: the program may be the
// dynamic linker, told to run another. GDB then looks by itself (GDB's gdb.server/solib-list.exp).
var errNoDebug = errors.New("the program's dynamic section does not lead to the dynamic linker's list")

// linkerDebug finds the r_debug structure; 0 if there is none yet, or none at all as in a static program.
func (p *process) linkerDebug() (arch.Addr, error) {
	headers, bias, err := p.programHeaders()
	if err != nil {
		return 0, err
	}
	var dynamic, size uint64
	for _, h := range headers {
		if elf.ProgType(h.Type) == elf.PT_DYNAMIC {
			dynamic, size = h.Vaddr+bias, h.Memsz
		}
	}
	if size == 0 || size > 1<<20 {
		return 0, nil
	}
	section := make([]byte, size)
	if _, err := p.read(arch.Addr(dynamic), section); err != nil {
		return 0, err
	}
	for ; len(section) >= 16; section = section[16:] {
		if elf.DynTag(binary.LittleEndian.Uint64(section)) == elf.DT_DEBUG {
			return arch.Addr(binary.LittleEndian.Uint64(section[8:])), nil
		}
	}
	return 0, errNoDebug
}

// linkMap walks the list of every namespace. The first structure, r_debug, is { int version; link_map *map; brk; state;
// ldbase }; from version 2 on the address of the next namespace's follows (glibc 2.35, dlmopen).
func (p *process) linkMap(debug arch.Addr) (target.LinkMap, error) {
	const extended = 2
	var m target.LinkMap
	for range maxNamespaces {
		if debug == 0 {
			break
		}
		var head [48]byte
		n, err := p.read(debug, head[:])
		if n < 40 {
			return m, err
		}
		first := arch.Addr(binary.LittleEndian.Uint64(head[8:]))
		if m.Main == 0 {
			m.Main = first
		}
		if err := p.walkNamespace(&m, debug, first); err != nil {
			return m, err
		}
		if binary.LittleEndian.Uint32(head[:]) < extended || n < len(head) {
			break
		}
		debug = arch.Addr(binary.LittleEndian.Uint64(head[40:]))
	}
	return m, nil
}

// walkNamespace appends the objects of one list of link_map { addr; char *name; ld; next; prev }.
func (p *process) walkNamespace(m *target.LinkMap, namespace, next arch.Addr) error {
	for next != 0 {
		if len(m.Objects) == maxObjects {
			return fmt.Errorf("the dynamic linker's list has more than %d objects", maxObjects)
		}
		var entry [40]byte
		if _, err := p.read(next, entry[:]); err != nil {
			return err
		}
		word := func(i int) arch.Addr { return arch.Addr(binary.LittleEndian.Uint64(entry[8*i:])) }
		m.Objects = append(m.Objects, target.LinkObject{
			Name: p.text(word(1)), LMID: namespace, LM: next, Addr: word(0), LD: word(2),
		})
		next = word(3)
	}
	return nil
}

// text reads a string that ends in a zero byte.
func (p *process) text(addr arch.Addr) string {
	buf := make([]byte, maxName)
	n, _ := p.read(addr, buf)
	if i := bytes.IndexByte(buf[:n], 0); i >= 0 {
		n = i
	}
	return string(buf[:n])
}
