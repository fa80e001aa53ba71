package firmware

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kallsyms are the symbols of a kernel, and where its text and all the rest of it lie: [start, middle) and [middle, end).
type kallsyms struct {
	symbols            []kernelSymbol // by address, local ones of an address first
	start, middle, end uint64
}

type kernelSymbol struct {
	at    uint64
	name  string
	local bool
}

// parseKallsyms parses /proc/kallsyms, with lines as "ffffffff81000000 T _stext". Offsets of variables that each processor has its own
// of, and modules, are left out.
func parseKallsyms(text []byte) (*kallsyms, error) {
	k := &kallsyms{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		at, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil {
			return nil, fmt.Errorf("kallsyms: %q: %w", line, err)
		}
		switch fields[2] {
		case "_stext":
			k.start = at
		case "_etext":
			k.middle = at
		case "_end":
			k.end = at
		}
		k.symbols = append(k.symbols, kernelSymbol{at, fields[2], strings.ToLower(fields[1]) == fields[1]})
	}
	if k.start == 0 || k.middle <= k.start || k.end <= k.middle {
		return nil, fmt.Errorf("kallsyms: the kernel is at %#x, %#x, %#x", k.start, k.middle, k.end)
	}
	k.symbols = slices.DeleteFunc(k.symbols, func(s kernelSymbol) bool { return s.at < k.start || s.at >= k.end })
	slices.SortStableFunc(k.symbols, func(a, b kernelSymbol) int {
		if a.at < b.at {
			return -1
		}
		return int(min(a.at-b.at, 1))
	})
	return k, nil
}

// symtab returns the content of .symtab and .strtab, and the number of the first global symbol. A symbol reaches up to the next one.
func (k *kallsyms) symtab() (table, names []byte, firstGlobal int) {
	names = []byte{0}
	table = make([]byte, elf.Sym64Size) // the first one is none
	firstGlobal = 1
	for _, local := range []bool{true, false} {
		next := k.end
		for _, s := range slices.Backward(k.symbols) {
			if s.local == local {
				table = append(table, k.symbol(s, next, len(names))...)
				names = append(append(names, s.name...), 0)
			}
			next = s.at
		}
		if local {
			firstGlobal = len(table) / elf.Sym64Size
		}
	}
	return table, names, firstGlobal
}

// symbol encodes one whose successor lies at next.
func (k *kallsyms) symbol(s kernelSymbol, next uint64, name int) []byte {
	entry := elf.Sym64{Name: uint32(name), Value: s.at, Size: next - s.at}
	bind, kind := elf.STB_GLOBAL, elf.STT_FUNC
	if s.local {
		bind = elf.STB_LOCAL
	}
	if entry.Shndx = 1; s.at >= k.middle {
		entry.Shndx, kind = 2, elf.STT_OBJECT
	}
	entry.Info = elf.ST_INFO(bind, kind)
	return encode(&entry)
}

func encode(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err) // structs of debug/elf have fixed sizes
		}
	}
	return b.Bytes()
}

// executable returns the ELF file with the kernel's text. All the rest of the kernel is a section without content.
func (k *kallsyms) executable(text []byte) []byte {
	const head, page = 64 + 2*56, 4096
	const sectionNames = "\x00.text\x00.data\x00.symtab\x00.strtab\x00.shstrtab\x00"
	table, names, firstGlobal := k.symtab()
	symtab := uint64(page + len(text))
	strtab := symtab + uint64(len(table))
	shstrtab := strtab + uint64(len(names))
	sections := (shstrtab + uint64(len(sectionNames)) + 7) &^ 7
	name := func(s string) uint32 { return uint32(strings.Index(sectionNames, s+"\x00")) }

	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Entry: k.start,
		Phoff: 64, Shoff: sections, Ehsize: 64, Phentsize: 56, Phnum: 2, Shentsize: 64, Shnum: 6, Shstrndx: 5,
	}
	rest := k.end - k.middle
	file := encode(&header,
		&elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: page, Vaddr: k.start, Paddr: k.start,
			Filesz: uint64(len(text)), Memsz: uint64(len(text)), Align: page},
		&elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: symtab, Vaddr: k.middle, Paddr: k.middle,
			Memsz: rest, Align: 1})
	file = append(file, make([]byte, page-head)...)
	file = append(append(append(append(file, text...), table...), names...), sectionNames...)
	file = append(file, make([]byte, sections-uint64(len(file)))...)
	return append(file, encode(
		&elf.Section64{},
		&elf.Section64{Name: name(".text"), Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR),
			Addr: k.start, Off: page, Size: uint64(len(text)), Addralign: page},
		&elf.Section64{Name: name(".data"), Type: uint32(elf.SHT_NOBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_WRITE),
			Addr: k.middle, Off: symtab, Size: rest, Addralign: 1},
		&elf.Section64{Name: name(".symtab"), Type: uint32(elf.SHT_SYMTAB), Link: 4, Info: uint32(firstGlobal),
			Off: symtab, Size: uint64(len(table)), Addralign: 1, Entsize: elf.Sym64Size},
		&elf.Section64{Name: name(".strtab"), Type: uint32(elf.SHT_STRTAB), Off: strtab, Size: uint64(len(names)), Addralign: 1},
		&elf.Section64{Name: name(".shstrtab"), Type: uint32(elf.SHT_STRTAB), Off: shstrtab, Size: uint64(len(sectionNames)),
			Addralign: 1},
	)...)
}
