package inferior

import (
	"debug/elf"
	"errors"

	"tracewell/arch"
)

// library finds the symbols of a loaded object as the dynamic linker does, in the program's memory: so it finds those of the
// object that is really there, whatever has become of the file, and of a program in a container, too.
//
// The table that it goes by is DT_GNU_HASH. It begins with the number of buckets, the index of the first symbol that it
// contains, and the length in words of the filter and a shift for it, which can be done without. Then come the filter, the
// buckets, and a hash for each symbol. A bucket is the index of its first symbol; the hashes of its symbols follow each
// other, and the last one has its lowest bit set.
type library struct {
	space *ProgramSpace
	bias  arch.Addr

	symbols, names, hash arch.Addr
}

// maxChain limits the symbols of a bucket.
const maxChain = 1 << 16

// library finds the tables of an object by its dynamic section.
func (s *ProgramSpace) library(bias, at arch.Addr) (*library, error) {
	section, err := s.dynamicSection(at, maxDynamic, false)
	if err != nil {
		return nil, err
	}
	l := &library{space: s, bias: bias}
	tables := map[elf.DynTag]*arch.Addr{elf.DT_SYMTAB: &l.symbols, elf.DT_STRTAB: &l.names, elf.DT_GNU_HASH: &l.hash}
	for _, d := range section {
		if table := tables[d.tag]; table != nil {
			*table = l.pointer(d.value)
		}
	}
	if l.symbols == 0 || l.names == 0 || l.hash == 0 {
		return nil, errors.New("the object has no table of symbols")
	}
	return l, nil
}

// pointer is the address in an entry of the dynamic section. glibc's linker adds the bias to those that it uses itself; musl's, and
// any that has not run yet, leave the address of the file, which is lower.
func (l *library) pointer(addr arch.Addr) arch.Addr {
	if addr < l.bias {
		addr = l.space.wrap(addr + l.bias)
	}
	return addr
}

// find returns the address of a symbol that the object defines, 0 if it defines none of that name.
func (l *library) find(name string) arch.Addr {
	s := l.space
	head := make([]byte, 16)
	if s.read(l.hash, head) != nil {
		return 0
	}
	count, first := s.isa.Order.Uint32(head), s.isa.Order.Uint32(head[4:])
	filter := arch.Addr(s.isa.Order.Uint32(head[8:])) * arch.Addr(s.isa.AddrSize)
	if count == 0 {
		return 0
	}
	buckets := l.hash + arch.Addr(len(head)) + filter
	hashes := buckets + 4*arch.Addr(count)
	wanted := gnuHash(name)
	index, err := s.int32At(buckets + 4*arch.Addr(wanted%count))
	if err != nil || index < first {
		return 0
	}
	for range maxChain {
		hash, err := s.int32At(hashes + 4*arch.Addr(index-first))
		if err != nil {
			break
		}
		if hash|1 == wanted|1 {
			if addr := l.symbol(index, name); addr != 0 {
				return addr
			}
		}
		if hash&1 != 0 {
			break
		}
		index++
	}
	return 0
}

// symbol is the address of the symbol of an index, 0 unless it has that name and is defined. Elf32_Sym is { name; value; size;
// info; other; shndx }, Elf64_Sym { name; info; other; shndx; value; size }.
func (l *library) symbol(index uint32, name string) arch.Addr {
	s := l.space
	b := make([]byte, s.pick(elf.Sym32Size, elf.Sym64Size))
	if s.read(l.symbols+arch.Addr(index)*arch.Addr(len(b)), b) != nil {
		return 0
	}
	if section := s.isa.Order.Uint16(b[s.pick(14, 6):]); elf.SectionIndex(section) == elf.SHN_UNDEF {
		return 0
	}
	found := make([]byte, len(name)+1)
	if s.read(l.names+arch.Addr(s.isa.Order.Uint32(b)), found) != nil || string(found) != name+"\x00" {
		return 0
	}
	value := arch.Uint(b[s.pick(4, 8):][:s.isa.AddrSize], s.isa.Order)
	return s.wrap(l.bias + arch.Addr(value))
}

func gnuHash(name string) uint32 {
	hash := uint32(5381)
	for i := range len(name) {
		hash = hash*33 + uint32(name[i])
	}
	return hash
}
