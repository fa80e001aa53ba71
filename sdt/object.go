package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"

	"tracewell/arch"
)

// Object is what an ELF file says of static tracepoints. Addresses are those of the linker.
type Object struct {
	Entry  arch.Addr // where a program starts, so that its bias can be told from where it did start
	Probes []Probe   // in the order of the notes
}

// Probe is one place in the code where something can be traced. Several may have the same name.
type Probe struct {
	Provider, Name string
	PC             arch.Addr  // of the nop
	Semaphore      arch.Addr  // of a 16-bit counter that the program tests before it makes the arguments ready; 0 for none
	Text           string     // the arguments as the note has them
	Arguments      []Argument // the same, parsed
}

// maxNotes is how long the notes of a file may be: three orders of magnitude more than libc has.
const maxNotes = 16 << 20

// Read reads an ELF file. One without probes is no error. Notes that are not whole end the list without one, since what came
// before them is good; arguments that cannot be understood have an error of their own.
func Read(r io.ReaderAt) (*Object, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("read ELF file: %w", err)
	}
	o := &Object{Entry: arch.Addr(f.Entry)}
	var base arch.Addr
	if s := f.Section(".stapsdt.base"); s != nil {
		base = arch.Addr(s.Addr)
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOTE || s.Name != ".note.stapsdt" {
			continue
		}
		if s.Size > maxNotes {
			return nil, fmt.Errorf("section %s: %d bytes are more than the %d that are read", s.Name, s.Size, maxNotes)
		}
		b, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		o.Probes = append(o.Probes, parseNotes(b, f.ByteOrder, addressSize(f), base)...)
	}
	o.resolve(f)
	return o, nil
}

func addressSize(f *elf.File) int {
	if f.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// parseNotes reads notes up to the end or to one that is not whole. Each is the lengths of name and descriptor and a type, of
// four bytes each, then name and descriptor, both padded to four bytes.
func parseNotes(b []byte, order binary.ByteOrder, size int, base arch.Addr) []Probe {
	const noteType = 3
	const head = 12
	var probes []Probe
	for len(b) >= head {
		nameLength, length, kind := int64(order.Uint32(b)), int64(order.Uint32(b[4:])), order.Uint32(b[8:])
		start := head + padded(nameLength)
		if start+length > int64(len(b)) {
			break
		}
		name, descriptor := b[head:head+nameLength], b[start:start+length]
		b = b[min(start+padded(length), int64(len(b))):]
		if kind != noteType || string(name) != "stapsdt\x00" {
			continue
		}
		if p, ok := parseProbe(descriptor, order, size, base); ok {
			probes = append(probes, p)
		}
	}
	return probes
}

func padded(n int64) int64 { return (n + 3) &^ 3 }

// parseProbe reads a descriptor: the addresses of the probe, of the section .stapsdt.base and of the semaphore, and then
// provider, name and arguments, each ended by a zero byte. Prelinking moves sections but not what notes say of them, so the
// place of that section now and then tells how far the others were moved.
func parseProbe(b []byte, order binary.ByteOrder, size int, base arch.Addr) (Probe, bool) {
	if len(b) < 3*size {
		return Probe{}, false
	}
	var addresses [3]arch.Addr
	for i := range addresses {
		if size == 4 {
			addresses[i] = arch.Addr(order.Uint32(b[i*size:]))
		} else {
			addresses[i] = arch.Addr(order.Uint64(b[i*size:]))
		}
	}
	texts := bytes.SplitN(b[3*size:], []byte{0}, 4)
	if len(texts) < 3 {
		return Probe{}, false
	}
	p := Probe{Provider: string(texts[0]), Name: string(texts[1]), PC: addresses[0], Semaphore: addresses[2],
		Text: string(texts[2])}
	if base != 0 {
		moved := base - addresses[1]
		p.PC += moved
		if p.Semaphore != 0 {
			p.Semaphore += moved
		}
	}
	p.Arguments = ParseArguments(p.Text)
	return p, true
}

// resolve gives the symbols in arguments their addresses. The symbol tables are read only if there are any.
func (o *Object) resolve(f *elf.File) {
	var symbols map[string]arch.Addr
	for i := range o.Probes {
		for j := range o.Probes[i].Arguments {
			a := &o.Probes[i].Arguments[j]
			if a.Err != nil || a.Symbol == "" {
				continue
			}
			if symbols == nil {
				symbols = symbolTable(f)
			}
			at, ok := symbols[a.Symbol]
			if !ok {
				a.Err = fmt.Errorf("argument %q: the file has no symbol %q", a.Text, a.Symbol)
				continue
			}
			a.Displacement += int64(at)
			a.Linked = true
		}
	}
}

// symbolTable is all symbols that have an address in the file. Those of the dynamic linker survive stripping. A name that
// stands for several places, as those of static variables may, is left out: there is no telling which one is meant.
func symbolTable(f *elf.File) map[string]arch.Addr {
	table := make(map[string]arch.Addr)
	ambiguous := make(map[string]bool)
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, _ := read() // a file without is one in which nothing is found
		for _, s := range symbols {
			if s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE || elf.ST_TYPE(s.Info) == elf.STT_TLS {
				continue
			}
			if old, ok := table[s.Name]; ok && old != arch.Addr(s.Value) {
				ambiguous[s.Name] = true
			}
			table[s.Name] = arch.Addr(s.Value)
		}
	}
	for name := range ambiguous {
		delete(table, name)
	}
	return table
}
