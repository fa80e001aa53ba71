package fakestub

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"maps"
	"slices"
)

// ELF makes an executable file of the program, with its labels as symbols: work and start are functions.
func (s *Stub) ELF() []byte {
	const header, segment, section = 64, 56, 64
	p := s.program
	symbols, names := make([]elf.Sym64, 1), []byte{0}
	for _, name := range slices.SortedFunc(maps.Keys(p.labels), func(a, b string) int { return int(p.labels[a]) - int(p.labels[b]) }) {
		symbol := elf.Sym64{Name: uint32(len(names)), Shndx: 1, Value: p.labels[name]}
		switch name {
		case "start":
			symbol.Info, symbol.Size = elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), p.labels["work"]-p.org
		case "work":
			symbol.Info, symbol.Size = elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), p.pc()-p.labels["work"]
		default:
			symbol.Info = elf.ST_INFO(elf.STB_LOCAL, elf.STT_NOTYPE)
		}
		symbols, names = append(symbols, symbol), append(append(names, name...), 0)
	}
	slices.SortStableFunc(symbols[1:], func(a, b elf.Sym64) int { return int(a.Info>>4) - int(b.Info>>4) }) // local ones first
	locals := slices.IndexFunc(symbols, func(s elf.Sym64) bool { return elf.ST_BIND(s.Info) == elf.STB_GLOBAL })

	sectionNames := []byte("\x00.text\x00.symtab\x00.strtab\x00")
	code := uint64(header + segment)
	table := (code + uint64(len(p.code)) + 7) &^ 7
	strings := table + uint64(len(symbols))*elf.Sym64Size
	more := strings + uint64(len(names))
	sections := (more + uint64(len(sectionNames)) + 7) &^ 7

	var b bytes.Buffer
	put := func(at uint64, parts ...any) {
		b.Write(make([]byte, at-uint64(b.Len())))
		for _, part := range parts {
			_ = binary.Write(&b, binary.LittleEndian, part) // a buffer takes everything
		}
	}
	head := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_RISCV), Version: uint32(elf.EV_CURRENT), Entry: p.org, Phoff: header,
		Shoff: sections, Flags: 1, /* compressed instructions */
		Ehsize: header, Phentsize: segment, Phnum: 1, Shentsize: section, Shnum: 5, Shstrndx: 4,
	}
	copy(head.Ident[:], elf.ELFMAG+string([]byte{byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}))
	size := uint64(len(p.code))
	put(0, head, elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: code, Vaddr: p.org, Paddr: p.org, Filesz: size, Memsz: size, Align: 2,
	})
	put(code, p.code)
	put(table, symbols, names, sectionNames)
	put(sections, []elf.Section64{
		{},
		{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: p.org, Off: code, Size: size, Addralign: 2},
		{Name: 7, Type: uint32(elf.SHT_SYMTAB), Off: table, Size: strings - table, Link: 3, Info: uint32(locals), Addralign: 8, Entsize: elf.Sym64Size},
		{Name: 15, Type: uint32(elf.SHT_STRTAB), Off: strings, Size: uint64(len(names)), Addralign: 1},
		{Name: 15, Type: uint32(elf.SHT_STRTAB), Off: more, Size: uint64(len(sectionNames)), Addralign: 1},
	})
	return b.Bytes()
}
