package debuginfo

import (
	"debug/elf"
	"io"
	"slices"

	"tracewell/arch"
	"tracewell/internal/radix"
)

// Extents is where the functions of an ELF file lie, and where exceptions go on in them, as its unwinding tables have it. Those are
// loaded with the program, so strip leaves them, and compilers write them for C as well. Nothing else of the file is read.
type Extents struct {
	List []Extent // in the order of their addresses

	tables frameSection // the exception tables (.gcc_except_table)
}

// Extent is one piece of code that has a description: a function, the part of one that a compiler has put elsewhere, or code of an
// assembler.
type Extent struct {
	Range
	table arch.Addr // of the exception table (LSDA), 0 without
}

// ReadExtents reads the extents of a file, none if it has no .eh_frame that can be read.
func ReadExtents(file *elf.File) *Extents {
	s := exceptionFrames(file)
	x := &Extents{List: make([]Extent, 0, len(s.data)/usualFDE)}
	s.each(func(r fde) {
		if r.Begin < r.End {
			x.List = append(x.List, Extent{r.Range, r.table})
		}
	})
	radix.Sort(x.List, func(e *Extent) uint64 { return uint64(e.Begin) })
	if i := slices.IndexFunc(x.List, func(e Extent) bool { return e.table != 0 }); i >= 0 {
		x.tables = frameSection{encoding: s.encoding}
		x.tables.data, x.tables.addr = contentAround(file, x.List[i].table)
	}
	return x
}

// EachFunction yields the functions of both symbol tables of a file, in their order. It reads no names, and little at once.
func EachFunction(file *elf.File, yield func(Range)) {
	e := encodingOf(file)
	size := map[bool]int{true: elf.Sym32Size, false: elf.Sym64Size}[e.addrSize == 4]
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		section := file.SectionByType(kind)
		if section == nil {
			continue
		}
		entries, buffer := section.Open(), make([]byte, size<<10)
		for n := len(buffer); n == len(buffer); {
			n, _ = io.ReadFull(entries, buffer) // what there is, which may be less than the header says
			for c := e.cursorAt(buffer[:n-n%size], 0); c.more(); {
				s := e.readSymbol(&c)
				if begin := arch.Addr(s.Value); elf.ST_TYPE(s.Info) == elf.STT_FUNC {
					yield(Range{begin, begin + arch.Addr(s.Size)})
				}
			}
		}
	}
}

// exceptionFrames is .eh_frame of a file, empty if it has none. Without section headers the program headers lead there, by
// .eh_frame_hdr.
func exceptionFrames(file *elf.File) *frameSection {
	s := &frameSection{encoding: encodingOf(file), eh: true, cies: map[uint64]*cie{}}
	if section := file.Section(".eh_frame"); section != nil {
		s.data, s.addr = sectionContent(section), arch.Addr(section.Addr)
	} else if s.addr = s.framesByHeader(file); s.addr != 0 {
		s.data, s.ends = contentFrom(file, s.addr), true
	}
	return s
}

// encodingOf is how a file writes numbers.
func encodingOf(file *elf.File) encoding {
	size := uint8(8)
	if file.Class == elf.ELFCLASS32 {
		size = 4
	}
	return encoding{big: file.Data == elf.ELFDATA2MSB, addrSize: size}
}

// framesByHeader finds .eh_frame by .eh_frame_hdr: a version, three encodings, and the address of .eh_frame (Linux Standard Base,
// 10.6.2). 0 stands for none.
func (s *frameSection) framesByHeader(file *elf.File) arch.Addr {
	for _, p := range file.Progs {
		if p.Type != elf.PT_GNU_EH_FRAME {
			continue
		}
		header := frameSection{encoding: s.encoding, addr: arch.Addr(p.Vaddr), data: contentFrom(file, arch.Addr(p.Vaddr))}
		c := header.cursorAt(header.data, 0)
		if version, how := c.u8(), c.u8(); version == 1 {
			c.skip(2)
			if at := header.pointer(&c, how); !c.bad {
				return at
			}
		}
	}
	return 0
}

// maxContent is how much of a section or segment is read. The tables of Chromium have some ten megabytes; a file may be sparse and
// claim any number.
const maxContent = 128 << 20

// sectionContent reads a section, nil if it cannot be.
func sectionContent(s *elf.Section) []byte {
	if s.Size > maxContent {
		return nil
	}
	content, err := s.Data()
	if err != nil {
		return nil
	}
	return content
}

// segmentAround reads the segment that an address is in, nil if it is in none.
func segmentAround(file *elf.File, at arch.Addr) ([]byte, arch.Addr) {
	for _, p := range file.Progs {
		if begin := arch.Addr(p.Vaddr); p.Type == elf.PT_LOAD && begin <= at && at-begin < arch.Addr(p.Filesz) {
			content, _ := io.ReadAll(io.LimitReader(p.Open(), maxContent)) // what there is, which may be less than the header says
			return content, begin
		}
	}
	return nil, 0
}

// contentFrom reads what is loaded from an address to the end of its segment, nil if there is nothing.
func contentFrom(file *elf.File, at arch.Addr) []byte {
	content, begin := segmentAround(file, at)
	return content[min(at-begin, arch.Addr(len(content))):]
}

// contentAround reads the section that an address is in, or its segment if there are no section headers.
func contentAround(file *elf.File, at arch.Addr) ([]byte, arch.Addr) {
	for _, s := range file.Sections {
		if begin := arch.Addr(s.Addr); s.Flags&elf.SHF_ALLOC != 0 && begin <= at && at-begin < arch.Addr(s.Size) {
			return sectionContent(s), begin
		}
	}
	return segmentAround(file, at)
}

// LandingPads returns where exceptions go on, in no order. A damaged table has what there is in front of the damage.
func (x *Extents) LandingPads() (pads []arch.Addr) {
	// A row has at least four bytes, and no two extents have rows in common, but for files that want to keep us busy.
	rest := len(x.tables.data) / 4
	for _, e := range x.List {
		if e.table != 0 {
			pads, rest = x.landingPads(e, pads, rest)
		}
	}
	return pads
}

// landingPads appends the landing pads of an extent, and takes the rows off the number of those that may be read.
//
// An exception table has a header, in which the place that landing pads count from may be missing, and a row for each piece of code
// that may throw: where it begins, its length, the landing pad, 0 for none, and what is done there (Itanium C++ ABI, "LSDA").
func (x *Extents) landingPads(e Extent, pads []arch.Addr, rest int) ([]arch.Addr, int) {
	s := &x.tables
	if e.table < s.addr || e.table-s.addr >= arch.Addr(len(s.data)) {
		return pads, rest
	}
	c := s.cursorAt(s.data, uint64(e.table-s.addr))
	from := e.Begin
	if how := c.u8(); how != pointerOmitted {
		from = s.pointer(&c, how)
	}
	if how := c.u8(); how != pointerOmitted {
		c.skipLeb() // to the table of types
	}
	how := c.u8() & 0x0f // whatever it says, the numbers of a row are relative to nothing
	for rows := c.part(c.uleb()); rows.more() && rest > 0; rest-- {
		s.pointer(&rows, how)
		s.pointer(&rows, how)
		pad := s.pointer(&rows, how)
		rows.skipLeb()
		if rows.bad {
			break
		}
		if pad != 0 {
			pads = append(pads, s.truncate(uint64(from+pad)))
		}
	}
	return pads, rest
}
