package inferior

import (
	"debug/elf"
	"errors"
	"fmt"
	"iter"
	"slices"

	"tracewell/arch"
)

// Limits for lists that the program may have overwritten.
const (
	maxObjects    = 4096
	maxNamespaces = 256 // glibc has 16
)

// LinkMap is the dynamic linker's list of loaded objects, in all namespaces.
type LinkMap struct {
	Main       arch.Addr   // address of the main program's entry in the list, 0 before the linker has run
	Namespaces []Namespace // the program's own first; empty where only the objects are known
	Objects    []LinkObject
}

// LinkObject is one entry of the list; the field names are the linker's.
type LinkObject struct {
	Name string    // path of the file; empty for the main program
	LMID arch.Addr // address of the r_debug structure of the namespace that the object is in
	LM   arch.Addr // address of the entry itself
	Addr arch.Addr // bias
	LD   arch.Addr // dynamic section
	VDSO bool      // the kernel's own object, which has a name but no file
}

// Namespace is a list of objects that find each other's symbols: the program's, and one for each dlmopen with LM_ID_NEWLM. The
// linker describes it by its r_debug structure.
type Namespace struct {
	RDebug arch.Addr // address of the structure
	Map    arch.Addr // of the first entry of its list
	Break  arch.Addr // of the function that the linker calls when it begins and has finished to change the list
	State  LinkState
}

// LinkState says what the linker does to the list of a namespace.
type LinkState uint32

// The states of a list: RT_CONSISTENT, RT_ADD and RT_DELETE of <link.h>.
const (
	Consistent LinkState = iota
	Adding
	Deleting
)

// Consistent reports whether the linker has finished all changes of the list. Otherwise objects may be missing from it, or be in it
// without being loaded.
func (m *LinkMap) Consistent() bool {
	return !slices.ContainsFunc(m.Namespaces, func(n Namespace) bool { return n.State != Consistent })
}

// Libraries yields the objects that are files of their own: all but the main program, what has no name, and the kernel's object.
func (m *LinkMap) Libraries() iter.Seq[LinkObject] {
	return func(yield func(LinkObject) bool) {
		for _, o := range m.Objects {
			if o.LM != m.Main && o.Name != "" && !o.VDSO && !yield(o) {
				return
			}
		}
	}
}

// ErrNoDebug says that the program's dynamic section does not lead to r_debug, although the program has one. That does not mean
// that there is no list: the program may be the dynamic linker itself, executed to run another program.
var ErrNoDebug = errors.New("the program's dynamic section does not lead to the dynamic linker's list")

// RDebug returns the address of the r_debug structure of the program's own namespace; 0 if there is none yet, or none at all as in
// a static program.
func (s *ProgramSpace) RDebug() (arch.Addr, error) {
	at, err := s.RDebugPointer()
	if at == 0 {
		return 0, err
	}
	return s.pointer(at)
}

// RDebugPointer returns where the linker stores the address of r_debug before it loads libraries; 0 in a static program. That is in
// the dynamic section of the program (DT_DEBUG). On MIPS, where the section is read-only, an entry has the address of the pointer
// (DT_MIPS_RLD_MAP), or the same relative to the entry (DT_MIPS_RLD_MAP_REL).
func (s *ProgramSpace) RDebugPointer() (arch.Addr, error) {
	h, err := s.programHeaders()
	if err != nil {
		return 0, err
	}
	at, size := s.segment(h, elf.PT_DYNAMIC)
	if size == 0 || size > maxDynamic {
		return 0, nil
	}
	section, err := s.dynamicSection(at, size, true)
	if err != nil {
		return 0, err
	}
	for _, d := range section {
		switch d.tag {
		case elf.DT_DEBUG:
			return d.at + arch.Addr(s.isa.AddrSize), nil // behind the tag
		case elf.DT_MIPS_RLD_MAP:
			return d.value, nil
		case elf.DT_MIPS_RLD_MAP_REL:
			return d.at + d.value, nil
		}
	}
	return 0, ErrNoDebug
}

// pointer reads one.
func (s *ProgramSpace) pointer(addr arch.Addr) (arch.Addr, error) {
	w, err := s.words(addr, 1)
	if err != nil {
		return 0, err
	}
	return arch.Addr(w[0]), nil
}

// Namespaces reads the r_debug structures of all namespaces. There is none before the linker has run, or without one. The error may
// come with the namespaces in front of the one that cannot be read.
func (s *ProgramSpace) Namespaces() ([]Namespace, error) {
	var all []Namespace
	next, err := s.RDebug()
	for err == nil && next != 0 {
		if len(all) == maxNamespaces {
			return all, fmt.Errorf("the dynamic linker has more than %d namespaces", maxNamespaces)
		}
		if slices.ContainsFunc(all, func(n Namespace) bool { return n.RDebug == next }) {
			return all, fmt.Errorf("the dynamic linker's list of namespaces leads back to %s", next)
		}
		var n Namespace
		if n, next, err = s.namespace(next); err != nil || n.RDebug == 0 {
			break
		}
		all = append(all, n)
	}
	return all, err
}

// namespace reads { int r_version; link_map *r_map; r_brk; int r_state; r_ldbase }, of which each takes a word with what aligns the
// next. From version 2 on the address of the next namespace's follows (glibc 2.35); memory behind an older one may not exist. A
// version of 0 is a structure that the linker has not filled in yet.
func (s *ProgramSpace) namespace(at arch.Addr) (n Namespace, next arch.Addr, err error) {
	const words, extended = 5, 2
	word := arch.Addr(s.isa.AddrSize)
	b := make([]byte, words*s.isa.AddrSize)
	if err := s.read(at, b); err != nil {
		return n, 0, fmt.Errorf("the dynamic linker's r_debug: %w", err)
	}
	version := s.isa.Order.Uint32(b)
	if version == 0 {
		return n, 0, nil
	}
	w := s.split(b)
	n = Namespace{at, arch.Addr(w[1]), arch.Addr(w[2]), LinkState(s.isa.Order.Uint32(b[3*word:]))}
	if version >= extended {
		if next, err = s.pointer(at + words*word); err != nil {
			return n, 0, fmt.Errorf("the dynamic linker's r_debug: %w", err)
		}
	}
	return n, next, nil
}

// LinkMap reads the list of every namespace. The error may come with what was read before it: if the map is not consistent, the
// process was stopped in the middle of a change.
func (s *ProgramSpace) LinkMap() (m LinkMap, err error) {
	m.Namespaces, err = s.Namespaces()
	for i, n := range m.Namespaces {
		if i == 0 {
			m.Main = n.Map
		}
		if walked := s.walk(&m, n); walked != nil {
			return m, walked
		}
	}
	return m, err
}

// walk appends the objects of one list of { l_addr; char *l_name; l_ld; l_next; l_prev }. An entry must name the one before it:
// that finds lists that lead elsewhere or back into themselves.
func (s *ProgramSpace) walk(m *LinkMap, n Namespace) error {
	var prev arch.Addr
	vdso := s.value(AtSysinfoEhdr)
	for at := n.Map; at != 0; {
		if len(m.Objects) == maxObjects {
			return fmt.Errorf("the dynamic linker's list has more than %d objects", maxObjects)
		}
		w, err := s.words(at, 5)
		if err != nil {
			return fmt.Errorf("the dynamic linker's list: %w", err)
		}
		if arch.Addr(w[4]) != prev {
			return fmt.Errorf("the dynamic linker's list is damaged: in front of the entry at %s is %s, but it names %s",
				at, prev, arch.Addr(w[4]))
		}
		bias := arch.Addr(w[0])
		m.Objects = append(m.Objects, LinkObject{
			Name: s.text(arch.Addr(w[1])), LMID: n.RDebug, LM: at, Addr: bias, LD: arch.Addr(w[2]), VDSO: vdso != 0 && bias == vdso,
		})
		prev, at = at, arch.Addr(w[3])
	}
	return nil
}
