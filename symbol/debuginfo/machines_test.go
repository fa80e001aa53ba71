package debuginfo

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tracewell/arch"
)

// kinds are files of both classes in both orders.
var kinds = []struct {
	machine elf.Machine
	big     bool
	addr    int
}{
	{elf.EM_386, false, 4}, {elf.EM_MIPS, true, 4}, {elf.EM_AARCH64, false, 8}, {elf.EM_PPC64, true, 8},
}

// assembly is a section in the making.
type assembly struct {
	bytes.Buffer
	order binary.ByteOrder
	addr  int
}

// put appends numbers by the size of their types; an arch.Addr has that of the machine's addresses.
func (a *assembly) put(all ...any) {
	for _, v := range all {
		switch v := v.(type) {
		case string:
			a.WriteString(v + "\x00")
		case arch.Addr:
			if a.addr == 4 {
				a.put(uint32(v))
			} else {
				a.put(uint64(v))
			}
		case []byte:
			a.Write(v)
		default:
			binary.Write(&a.Buffer, a.order, v)
		}
	}
}

// sized puts the length in front of what is written.
func (a *assembly) sized(write func(a *assembly)) {
	inner := &assembly{order: a.order, addr: a.addr}
	write(inner)
	a.put(uint32(inner.Len()), inner.Bytes())
}

// Where the made programs have their code and their variable.
const (
	foreignCode  = arch.Addr(0xfffe_0100)
	foreignLimit = arch.Addr(0x8123_4568)
)

// foreign makes the program of a machine: a function push of 64 bytes with two lines, and a variable limit.
func foreign(machine elf.Machine, big bool, addr int) []byte {
	order := binary.ByteOrder(binary.LittleEndian)
	if big {
		order = binary.BigEndian
	}
	section := func(write func(a *assembly)) []byte {
		a := &assembly{order: order, addr: addr}
		write(a)
		return a.Bytes()
	}
	return foreignFile(machine, order, addr, []foreignSection{
		{".text", elf.SHT_PROGBITS, elf.SHF_ALLOC | elf.SHF_EXECINSTR, make([]byte, 64)},
		{".debug_abbrev", elf.SHT_PROGBITS, 0, section(foreignAbbrev)},
		{".debug_info", elf.SHT_PROGBITS, 0, section(func(a *assembly) { a.sized(foreignInfo) })},
		{".debug_line", elf.SHT_PROGBITS, 0, section(func(a *assembly) { a.sized(foreignLines) })},
		{".debug_frame", elf.SHT_PROGBITS, 0, section(foreignFrames)},
		{".symtab", elf.SHT_SYMTAB, 0, section(foreignSymbols)},
		{".strtab", elf.SHT_STRTAB, 0, []byte("\x00push\x00limit\x00")},
	})
}

func foreignAbbrev(a *assembly) {
	attr := func(attr dwarf.Attr, f form) []byte { return []byte{byte(attr), byte(f)} }
	a.put([]byte{1, byte(dwarf.TagCompileUnit), 1}, attr(dwarf.AttrName, formString), attr(dwarf.AttrStmtList, formSecOffset),
		attr(dwarf.AttrLowpc, formAddr), attr(dwarf.AttrHighpc, formData2), []byte{0, 0})
	a.put([]byte{2, byte(dwarf.TagSubprogram), 0}, attr(dwarf.AttrName, formString), attr(dwarf.AttrLowpc, formAddr),
		attr(dwarf.AttrHighpc, formData4), []byte{0, 0})
	a.put([]byte{3, byte(dwarf.TagVariable), 0}, attr(dwarf.AttrName, formString), attr(dwarf.AttrLocation, formExprloc), []byte{0, 0, 0})
}

func foreignInfo(a *assembly) {
	a.put(uint16(4), uint32(0), uint8(a.addr))
	a.put(uint8(1), "queue.c", uint32(0), foreignCode, uint16(64))
	a.put(uint8(2), "push", foreignCode, uint32(64))
	a.put(uint8(3), "limit", uint8(1+a.addr), uint8(3), foreignLimit, uint8(0))
}

func foreignLines(a *assembly) {
	a.put(uint16(2))
	a.sized(func(a *assembly) {
		a.put(uint8(1), uint8(1), int8(-3), uint8(12), uint8(10), []byte{0, 1, 1, 1, 1, 0, 0, 0, 1}, uint8(0))
		a.put("queue.c", []byte{0, 0, 0}, uint8(0))
	})
	a.put(uint8(0), uint8(1+a.addr), uint8(lineSetAddress), foreignCode)
	a.put(uint8(lineAdvanceLine), uint8(22), uint8(lineCopy))
	a.put(uint8(lineFixedAdvancePC), uint16(0x10), uint8(lineAdvanceLine), uint8(1), uint8(lineCopy))
	a.put(uint8(lineAdvancePC), uint8(0x30), uint8(0), uint8(1), uint8(lineEndSequence))
}

func foreignFrames(a *assembly) {
	a.sized(func(a *assembly) {
		a.put(^uint32(0), uint8(1), "", uint8(4), uint8(0x7c), uint8(31), []byte{frameDefCFA, 29, 0})
	})
	a.sized(func(a *assembly) {
		a.put(uint32(0), foreignCode, arch.Addr(64), []byte{frameAdvance2}, uint16(4), []byte{frameDefCFAOffset, 24})
	})
}

func foreignSymbols(a *assembly) {
	a.put(make([]byte, map[int]int{4: 16, 8: 24}[a.addr]))
	for _, s := range []elf.Sym64{
		{Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Value: uint64(foreignCode), Size: 64},
		{Name: 6, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT), Shndx: 1, Value: uint64(foreignLimit), Size: 4},
	} {
		if a.addr == 4 {
			a.put(elf.Sym32{Name: s.Name, Value: uint32(s.Value), Size: uint32(s.Size), Info: s.Info, Shndx: s.Shndx})
		} else {
			a.put(s)
		}
	}
}

type foreignSection struct {
	name    string
	kind    elf.SectionType
	flags   elf.SectionFlag
	content []byte
}

// foreignFile makes a file of sections.
func foreignFile(machine elf.Machine, order binary.ByteOrder, addr int, sections []foreignSection) []byte {
	names := []byte{0}
	for _, s := range sections {
		names = append(append(names, s.name...), 0)
	}
	const last = ".shstrtab"
	sections = append(sections, foreignSection{last, elf.SHT_STRTAB, 0, append(append(names, last...), 0)})
	header := map[int]int{4: 52, 8: 64}[addr]
	content, table := &assembly{order: order, addr: addr}, &assembly{order: order, addr: addr}
	entry := map[int]int{4: 40, 8: 64}[addr]
	table.put(make([]byte, entry))
	name := uint32(1)
	for _, s := range sections {
		at := arch.Addr(0)
		if s.flags&elf.SHF_ALLOC != 0 {
			at = foreignCode
		}
		size := map[elf.SectionType]arch.Addr{elf.SHT_SYMTAB: map[int]arch.Addr{4: 16, 8: 24}[addr]}[s.kind]
		table.put(name, uint32(s.kind), arch.Addr(s.flags), at, arch.Addr(header+content.Len()), arch.Addr(len(s.content)))
		table.put(uint32(len(sections)-1), uint32(0), arch.Addr(1), size)
		content.Write(s.content)
		name += uint32(len(s.name)) + 1
	}
	file := &assembly{order: order, addr: addr}
	class, data := byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB)
	if addr == 8 {
		class = byte(elf.ELFCLASS64)
	}
	if order == binary.BigEndian {
		data = byte(elf.ELFDATA2MSB)
	}
	file.put([]byte{0x7f, 'E', 'L', 'F', class, data, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	file.put(uint16(elf.ET_EXEC), uint16(machine), uint32(1), foreignCode, arch.Addr(0), arch.Addr(header+content.Len()), uint32(0))
	file.put(uint16(header), uint16(0), uint16(0), uint16(entry), uint16(len(sections)+1), uint16(len(sections)))
	file.Write(content.Bytes())
	file.Write(table.Bytes())
	return file.Bytes()
}

// TestMachines reads what programs of other machines say.
func TestMachines(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.machine.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(path, foreign(kind.machine, kind.big, kind.addr), 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path, Options{DebugDirs: []string{}})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Machine() != kind.machine || f.AddrSize() != kind.addr || len(f.Warnings()) > 0 {
				t.Errorf("%v with addresses of %d bytes, warnings %q", f.Machine(), f.AddrSize(), f.Warnings())
			}
			symbols := fmt.Sprint(f.Symbols())
			if want := fmt.Sprintf("[{limit %v 4 3 true} {push %v 64 1 true}]", foreignLimit, foreignCode); symbols != want {
				t.Errorf("symbols %s, want %s", symbols, want)
			}
			checkForeign(t, f)
		})
	}
}

func checkForeign(t *testing.T, f *File) {
	t.Helper()
	if e := f.FunctionAt(foreignCode + 63); e == nil || f.Name(e) != "push" || f.FunctionAt(foreignCode+64) != nil {
		t.Errorf("the function is %v", e)
	}
	for offset, want := range map[arch.Addr]string{0: "queue.c:23 true", 15: "queue.c:23 true", 16: "queue.c:24 true", 64: ":0 false"} {
		line, ok := f.LineAt(foreignCode + offset)
		if got := fmt.Sprintf("%s:%d %v", line.Path, line.Line, ok); got != want {
			t.Errorf("line %s at offset %d, want %s", got, offset, want)
		}
	}
	limit, err := f.Entry(f.Variables("limit")[0])
	if err != nil {
		t.Fatal(err)
	}
	code, _ := limit.Expr(dwarf.AttrLocation)
	if got := arch.Addr(arch.Uint(code[1:], f.Order())); got != foreignLimit {
		t.Errorf("limit is at %v", got)
	}
	for offset, want := range map[arch.Addr]int64{0: 0, 12: 0, 16: 24, 63: 24} {
		if frame, err := f.CFA(foreignCode + offset); err != nil || frame.CFA.Register != 29 || frame.CFA.Offset != want || frame.Return != 31 {
			t.Errorf("the frame at offset %d is %+v, %v", offset, frame, err)
		}
	}
}

// TestDamagedMachines damages these programs at random.
func TestDamagedMachines(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, kind := range kinds {
		whole := foreign(kind.machine, kind.big, kind.addr)
		for range 500 {
			damaged := bytes.Clone(whole)
			damage(damaged, random)
			exercise(damaged)
			exercise(whole[:random.IntN(len(whole))])
		}
	}
}
