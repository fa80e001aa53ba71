package debuginfo

import (
	"debug/elf"
	"strings"

	"tracewell/arch"
	"tracewell/internal/radix"
)

// Symbol is a name of the linker's.
type Symbol struct {
	Name   string
	Addr   arch.Addr // of a thread-local variable, the offset in its module's block
	Size   uint64    // bytes; 0 where the file does not say, as for functions written in assembly
	Kind   SymbolKind
	Global bool
}

// Plain is the name in the source. In the symbol table of a library the linker puts the version behind it: fopen@@GLIBC_2.2.5 is
// the one that programs are linked to now, memcpy@GLIBC_2.2.5 one for those that were linked before there was another.
func (s *Symbol) Plain() string {
	if at := strings.IndexByte(s.Name, '@'); at > 0 {
		return s.Name[:at]
	}
	return s.Name
}

// Current reports whether a symbol has no version, or is the version that programs are linked to now.
func (s *Symbol) Current() bool {
	return len(s.Plain()) == len(s.Name) || strings.HasPrefix(s.Name[len(s.Plain()):], "@@")
}

// Title is Plain for a current symbol; an older version keeps its version, to be told from that.
func (s *Symbol) Title() string {
	if s.Current() {
		return s.Plain()
	}
	return s.Name
}

// SymbolKind is what a symbol stands for.
type SymbolKind uint8

// The kinds of symbols.
const (
	SymbolFunction    SymbolKind = iota + 1
	SymbolIndirect               // a function that returns the address of the one to call (ifunc)
	SymbolObject                 // a variable
	SymbolThreadLocal            // a variable that each thread has its own of
	SymbolLabel                  // a place without a type, as assembly has them
)

// symbolKind is what an entry of a symbol table stands for, 0 for anything else.
func symbolKind(s *elf.Sym64) SymbolKind {
	switch elf.ST_TYPE(s.Info) {
	case elf.STT_FUNC:
		return SymbolFunction
	case elf.STT_GNU_IFUNC:
		return SymbolIndirect
	case elf.STT_OBJECT:
		return SymbolObject
	case elf.STT_TLS:
		return SymbolThreadLocal
	case elf.STT_NOTYPE:
		return SymbolLabel
	}
	return 0
}

// Symbols are the defined functions, variables and labels of the symbol table, by address; those of the dynamic one in a file
// that has been stripped, as long as there is no separate file that has more.
func (f *File) Symbols() []Symbol { return f.symbols() }

func (f *File) readSymbols() []Symbol {
	for _, m := range []*image{f.main, f.debug} {
		if m == nil {
			continue
		}
		if list := m.readSymbols(".symtab", ".strtab"); len(list) > 0 {
			return list
		}
	}
	return f.main.readSymbols(".dynsym", ".dynstr")
}

// readSymbols reads the symbols of a table. It orders their places first and reads names last, as a large program has hundreds of
// thousands of symbols.
func (m *image) readSymbols(table, names string) []Symbol {
	entries := m.section(table)
	type place struct{ addr, at uint64 }
	places := make([]place, 0, len(entries)/elf.Sym64Size)
	for c := m.cursorAt(entries, 0); c.more(); {
		at := c.at
		s := m.readSymbol(&c)
		kind := symbolKind(&s)
		index := elf.SectionIndex(s.Shndx)
		if c.bad || kind == 0 || index == elf.SHN_UNDEF || index == elf.SHN_ABS || s.Name == 0 {
			continue
		}
		places = append(places, place{uint64(m.codeAddress(s.Value, kind)), at})
	}
	radix.Sort(places, func(p *place) uint64 { return p.addr })
	text := string(m.section(names)) // names are parts of it
	all := make([]Symbol, len(places))
	const share = 4096
	each((len(all)+share-1)/share, func(n int) {
		for i := n * share; i < min((n+1)*share, len(all)); i++ {
			c := m.cursorAt(entries, places[i].at)
			s := m.readSymbol(&c)
			name, global := nameAt(text, uint64(s.Name)), elf.ST_BIND(s.Info) != elf.STB_LOCAL
			all[i] = Symbol{name, arch.Addr(places[i].addr), s.Size, symbolKind(&s), global}
		}
	})
	return all
}

// nameAt returns the text that begins at an offset, up to the zero byte behind it.
func nameAt(text string, at uint64) string {
	if at >= uint64(len(text)) {
		return ""
	}
	name, _, _ := strings.Cut(text[at:], "\x00")
	return name
}

// readSymbol reads an entry of a symbol table, whose members have another order in files of 32 bits.
func (e encoding) readSymbol(c *cursor) (s elf.Sym64) {
	s.Name = c.u32()
	if e.addrSize == 4 {
		s.Value, s.Size = uint64(c.u32()), uint64(c.u32())
	}
	s.Info, s.Other, s.Shndx = c.u8(), c.u8(), c.u16()
	if e.addrSize == 8 {
		s.Value, s.Size = c.u64(), c.u64()
	}
	return s
}

// codeAddress is the address that a symbol stands for. The lowest bit of that of a function says on some machines in which of
// two instruction sets it is.
func (m *image) codeAddress(value uint64, kind SymbolKind) arch.Addr {
	isCode, tagged := kind == SymbolFunction || kind == SymbolIndirect, m.elf.Machine == elf.EM_ARM || m.elf.Machine == elf.EM_MIPS
	if isCode && tagged {
		value &^= 1
	}
	return arch.Addr(value)
}
