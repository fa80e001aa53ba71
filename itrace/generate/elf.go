package generate

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"strings"
)

// Source is the program as it would be in C, for debuggers to show; the lines of WriteELF are its.
func Source() string { return strings.Join(assembled.source, "\n") + "\n" }

// WriteELF writes the program as an ELF file with symbols and debugging information in DWARF: lines of the source, which is said
// to be at a path, functions, variables, and where callers are. What memory holds in the beginning is in it, but for the stack,
// of which nothing is known before it is used.
func WriteELF(w io.Writer, source string) error {
	f := &objectFile{}
	text := make([]byte, 0, 4*len(program))
	for i, in := range program {
		text = binary.BigEndian.AppendUint32(text, in.encode(entry+4*uint32(i)))
	}
	f.add(section{name: ".text", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: entry, content: text})
	f.add(section{name: ".bss", typ: elf.SHT_NOBITS, flags: elf.SHF_ALLOC | elf.SHF_WRITE, addr: dataAddr, size: dataSize})
	symbols, names := symbolTable()
	strtab := uint32(len(f.sections) + 2) // behind the null section and the symbols
	f.add(section{name: ".symtab", typ: elf.SHT_SYMTAB, content: symbols, link: strtab, info: 1, entry: elf.Sym32Size})
	f.add(section{name: ".strtab", typ: elf.SHT_STRTAB, content: names})
	for _, s := range debugSections(source) {
		s.typ = elf.SHT_PROGBITS
		f.add(s)
	}
	_, err := w.Write(f.bytes())
	return err
}

// The data of the program, all of which are 0 in the beginning.
const (
	dataAddr = interruptsAddr
	dataSize = arrayAddr + 4*arrayWords - dataAddr
)

// function is a function of the program.
type function struct {
	name     string
	from, to uint32 // addresses
	line     int
}

// functions are all, in the order of their addresses.
func functions() []function {
	mix, end := assembled.labels["mix"], assembled.here()
	list := []function{
		{name: "start", from: entry, to: mix},
		{name: "mix", from: mix, to: mix + 4*mixLength},
		{name: "handler", from: handlerEntry, to: end},
	}
	for i := range list {
		list[i].line = assembled.lines[(list[i].from-entry)/4]
	}
	return list
}

// mixLength is how many instructions mix has.
const mixLength = 13

// variable is a variable of the program, an array if it has a count.
type variable struct {
	name  string
	addr  uint32
	size  uint32 // of one
	count uint32
	line  int
}

var variables = []variable{
	{"interrupts", interruptsAddr, 4, 3, 2}, {"sum", sumAddr, 4, 0, 2}, {"numbers", arrayAddr, 4, arrayWords, 2},
	{"sum_low", sumAddr + 4, 1, 0, 3},
}

// symbolTable makes the symbols and their names.
func symbolTable() (symbols, names []byte) {
	symbols, names = make([]byte, elf.Sym32Size), []byte{0}
	add := func(name string, value, size uint32, typ elf.SymType, section uint16) {
		var b bytes.Buffer
		_ = binary.Write(&b, binary.BigEndian, elf.Sym32{
			Name: uint32(len(names)), Value: value, Size: size, Info: elf.ST_INFO(elf.STB_GLOBAL, typ), Shndx: section,
		})
		symbols = append(symbols, b.Bytes()...)
		names = append(append(names, name...), 0)
	}
	for _, f := range functions() {
		add(f.name, f.from, f.to-f.from, elf.STT_FUNC, 1)
	}
	for _, v := range variables {
		add(v.name, v.addr, v.size*max(v.count, 1), elf.STT_OBJECT, 2)
	}
	return symbols, names
}

// section is a section of a file.
type section struct {
	name        string
	typ         elf.SectionType
	flags       elf.SectionFlag
	addr        uint32
	content     []byte
	size        uint32 // of one without content
	link, info  uint32
	entry       uint32
	nameAt      uint32
	offset      uint32
	contentSize uint32
}

// objectFile is an ELF file that is made.
type objectFile struct{ sections []section }

func (f *objectFile) add(s section) { f.sections = append(f.sections, s) }

// The sizes of what an ELF file begins with.
const (
	fileHeader    = 52
	programHeader = 32
)

// bytes lays the file out: headers, contents, section headers.
func (f *objectFile) bytes() []byte {
	names := []byte{0}
	f.add(section{name: ".shstrtab", typ: elf.SHT_STRTAB})
	for i := range f.sections {
		f.sections[i].nameAt = uint32(len(names))
		names = append(append(names, f.sections[i].name...), 0)
	}
	f.sections[len(f.sections)-1].content = names
	const segments = 2
	var body bytes.Buffer
	start := uint32(fileHeader + segments*programHeader)
	for i := range f.sections {
		s := &f.sections[i]
		for body.Len()%4 != 0 {
			body.WriteByte(0)
		}
		s.offset, s.contentSize = start+uint32(body.Len()), max(s.size, uint32(len(s.content)))
		body.Write(s.content)
	}
	for body.Len()%4 != 0 {
		body.WriteByte(0)
	}
	var out bytes.Buffer
	put := func(v any) { _ = binary.Write(&out, binary.BigEndian, v) }
	header := elf.Header32{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_MIPS), Version: 1, Entry: entry, Phoff: fileHeader,
		Shoff: start + uint32(body.Len()), Flags: flagO32, Ehsize: fileHeader, Phentsize: programHeader, Phnum: segments,
		Shentsize: 40, Shnum: uint16(len(f.sections) + 1), Shstrndx: uint16(len(f.sections)),
	}
	copy(header.Ident[:], []byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS32), byte(elf.ELFDATA2MSB), 1})
	put(header)
	put(f.segment(0, elf.PF_R|elf.PF_X))
	put(f.segment(1, elf.PF_R|elf.PF_W))
	out.Write(body.Bytes())
	put(elf.Section32{})
	for _, s := range f.sections {
		put(elf.Section32{Name: s.nameAt, Type: uint32(s.typ), Flags: uint32(s.flags), Addr: s.addr, Off: s.offset,
			Size: s.contentSize, Link: s.link, Info: s.info, Addralign: 4, Entsize: s.entry})
	}
	return out.Bytes()
}

// flagO32 says that the file keeps to the calling convention o32.
const flagO32 = 0x1000

// segment loads a section.
func (f *objectFile) segment(i int, flags elf.ProgFlag) elf.Prog32 {
	s := f.sections[i]
	return elf.Prog32{Type: uint32(elf.PT_LOAD), Off: s.offset, Vaddr: s.addr, Paddr: s.addr, Filesz: uint32(len(s.content)),
		Memsz: s.contentSize, Flags: uint32(flags), Align: 4}
}
