//go:build linux && amd64

package linux

import (
	"debug/elf"
	"encoding/binary"
	"errors"

	"tracewell/arch"
)

// library finds the symbols of a loaded object as the dynamic linker does, in the program's memory: so it finds those of the
// object that is really there, whatever has become of the file, and of a program in a container, too.
//
// The table that it goes by is DT_GNU_HASH. It begins with the number of buckets, the index of the first symbol that it
// knows, and the length in words of the filter and a shift for it, which can be done without. Then come the filter, the
// buckets, and a hash for each symbol. A bucket is the index of its first symbol; the hashes of its symbols follow each
// other, and the last one has its lowest bit set.
type library struct {
	p       *process
	bias    arch.Addr
	dynamic arch.Addr // the dynamic section

	symbols, names, hash arch.Addr
}

// Limits against sections that the program has damaged.
const (
	maxDynamic = 1024    // entries
	maxChain   = 1 << 16 // symbols in a bucket
)

// open finds the tables.
func (l *library) open() error {
	for i := range arch.Addr(maxDynamic) {
		var entry elf.Dyn64
		if err := l.load(l.dynamic+i*arch.Addr(binary.Size(entry)), &entry); err != nil {
			return err
		}
		switch elf.DynTag(entry.Tag) {
		case elf.DT_NULL:
			if l.symbols == 0 || l.names == 0 || l.hash == 0 {
				return errors.New("the object has no table of symbols")
			}
			return nil
		case elf.DT_SYMTAB:
			l.symbols = l.pointer(entry)
		case elf.DT_STRTAB:
			l.names = l.pointer(entry)
		case elf.DT_GNU_HASH:
			l.hash = l.pointer(entry)
		}
	}
	return errors.New("the dynamic section has no end")
}

// pointer is the address in an entry of the dynamic section. glibc's linker has added the bias, others leave it as it is in
// the file.
func (l *library) pointer(entry elf.Dyn64) arch.Addr {
	addr := arch.Addr(entry.Val)
	if addr < l.bias {
		addr += l.bias
	}
	return addr
}

// find returns the address of a symbol that the object defines.
func (l *library) find(name string) (arch.Addr, bool) {
	var head struct{ Buckets, First, Filter, Shift uint32 }
	if l.load(l.hash, &head) != nil || head.Buckets == 0 {
		return 0, false
	}
	buckets := l.hash + arch.Addr(binary.Size(head)) + 8*arch.Addr(head.Filter)
	hashes := buckets + 4*arch.Addr(head.Buckets)
	wanted := gnuHash(name)
	var index uint32
	if l.load(buckets+4*arch.Addr(wanted%head.Buckets), &index) != nil || index < head.First {
		return 0, false
	}
	for range maxChain {
		var hash uint32
		if l.load(hashes+4*arch.Addr(index-head.First), &hash) != nil {
			break
		}
		if hash|1 == wanted|1 {
			if addr, ok := l.symbol(index, name); ok {
				return addr, true
			}
		}
		if hash&1 != 0 {
			break
		}
		index++
	}
	return 0, false
}

// symbol is the address of the symbol of an index if it has that name.
func (l *library) symbol(index uint32, name string) (arch.Addr, bool) {
	var sym elf.Sym64
	if l.load(l.symbols+arch.Addr(index)*elf.Sym64Size, &sym) != nil || elf.SectionIndex(sym.Shndx) == elf.SHN_UNDEF {
		return 0, false
	}
	found := make([]byte, len(name)+1)
	if _, err := l.p.read(l.names+arch.Addr(sym.Name), found); err != nil || string(found) != name+"\x00" {
		return 0, false
	}
	return l.bias + arch.Addr(sym.Value), true
}

// load reads a value of fixed size.
func (l *library) load(addr arch.Addr, value any) error {
	b := make([]byte, binary.Size(value))
	if _, err := l.p.read(addr, b); err != nil {
		return err
	}
	_, err := binary.Decode(b, binary.LittleEndian, value)
	return err
}

func gnuHash(name string) uint32 {
	hash := uint32(5381)
	for i := range len(name) {
		hash = hash*33 + uint32(name[i])
	}
	return hash
}
