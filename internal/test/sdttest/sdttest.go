// Package sdttest makes ELF files that hold nothing but the notes of static tracepoints, so that tests need no compiler. Only
// tests import it.
package sdttest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
)

// File is what an ELF file is made of. Numbers are addresses.
type File struct {
	Entry  uint64
	Base   uint64 // of the section .stapsdt.base now; 0 for a file without one
	Probes []Probe
	Cut    int               // bytes missing at the end of the notes
	Symbol map[string]uint64 // the symbol table; none for a file without one
}

// Probe is one note.
type Probe struct {
	PC, Base, Semaphore       uint64
	Provider, Name, Arguments string
}

// section is one section of the file.
type section struct {
	name string
	elf.Section64
	data []byte
}

// Bytes makes the file, for x86-64.
func (f File) Bytes() []byte {
	notes := f.notes()
	sections := []section{
		{},
		{".note.stapsdt", elf.Section64{Type: uint32(elf.SHT_NOTE), Addralign: 4}, notes[:len(notes)-min(f.Cut, len(notes))]},
	}
	if f.Base != 0 {
		sections = append(sections, section{".stapsdt.base", elf.Section64{Type: uint32(elf.SHT_PROGBITS), Addr: f.Base}, []byte{0}})
	}
	if f.Symbol != nil {
		symbols, names := f.symbols()
		at := uint32(len(sections))
		sections = append(sections,
			section{".symtab", elf.Section64{Type: uint32(elf.SHT_SYMTAB), Link: at + 1, Entsize: elf.Sym64Size}, symbols},
			section{".strtab", elf.Section64{Type: uint32(elf.SHT_STRTAB)}, names})
	}
	return f.file(sections)
}

// notes are the notes of all probes.
func (f File) notes() []byte {
	var b bytes.Buffer
	for _, p := range f.Probes {
		text := strings.Join([]string{p.Provider, p.Name, p.Arguments, ""}, "\x00")
		write(&b, []uint32{8, uint32(24 + len(text)), 3}, "stapsdt\x00", []uint64{p.PC, p.Base, p.Semaphore}, text)
		for b.Len()%4 != 0 {
			b.WriteByte(0)
		}
	}
	return b.Bytes()
}

// symbols are the symbol table and its names.
func (f File) symbols() (table, names []byte) {
	var b bytes.Buffer
	names = []byte{0}
	write(&b, elf.Sym64{})
	for name, value := range f.Symbol {
		write(&b, elf.Sym64{Name: uint32(len(names)), Info: uint8(elf.STT_OBJECT), Shndx: 1, Value: value})
		names = append(append(names, name...), 0)
	}
	return b.Bytes(), names
}

// file lays sections out behind the header, the table of sections last.
func (f File) file(sections []section) []byte {
	names := []byte{0}
	sections = append(sections, section{".shstrtab", elf.Section64{Type: uint32(elf.SHT_STRTAB)}, nil})
	for i := range sections[1:] {
		s := &sections[i+1]
		s.Section64.Name = uint32(len(names))
		names = append(append(names, s.name...), 0)
	}
	sections[len(sections)-1].data = names

	var body bytes.Buffer
	const head = 64
	for i := range sections {
		s := &sections[i]
		s.Off, s.Size = uint64(head+body.Len()), uint64(len(s.data))
		body.Write(s.data)
	}
	var b bytes.Buffer
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	write(&b, elf.Header64{
		Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Entry: f.Entry,
		Shoff: uint64(head + body.Len()), Ehsize: head, Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1),
	}, body.Bytes())
	for _, s := range sections {
		write(&b, s.Section64)
	}
	return b.Bytes()
}

// write appends values in the file's byte order, strings as they are.
func write(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			b.WriteString(s)
			continue
		}
		binary.Write(b, binary.LittleEndian, v) // a Buffer never fails
	}
}
