package tdesctest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// fullest are the descriptions that have most of the registers of each row of arch's table that DWARF numbers.
func fullest() map[*arch.Machine]*tdesc.Target {
	all := make(map[*arch.Machine]*tdesc.Target)
	count := func(t *tdesc.Target) (n int) {
		for _, r := range t.Registers() {
			if slices.Contains(t.Machine().DWARF, r.Name) {
				n++
			}
		}
		return n
	}
	for _, shape := range machine.Shapes() {
		target := shape.Target()
		m := target.Machine()
		if known := all[m]; known == nil || count(target) > count(known) {
			all[m] = target
		}
	}
	return all
}

// TestTableAgrees holds the table of machines to the descriptions of real ones: every description belongs to a row, whose roles
// it has, and the sizes of registers that both know are the same.
func TestTableAgrees(t *testing.T) {
	for _, shape := range machine.Shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			target := shape.Target()
			layout, err := target.Layout()
			if err != nil {
				t.Fatal(err)
			}
			m := target.Machine()
			if m == arch.Unknown || len(m.Registers) == 0 {
				t.Fatalf("no row has its registers: %q", target.Architecture)
			}
			for _, role := range []string{m.PC, m.SP} {
				if layout.ByName(role) == nil {
					t.Errorf("it has no %s", role)
				}
			}
			if pc := layout.ProgramCounter(); pc == nil || pc.Reg.Name != m.PC {
				t.Errorf("the program counter is %v, not %s", pc, m.PC)
			}
			for _, slot := range layout.Slots {
				if r := m.Register(slot.Reg.Name); r != nil && r.Size != 0 && r.Size != slot.Size && slot.Reg.Type != "svev" {
					t.Errorf("%s has %d bytes, and %d in the table", r.Name, slot.Size, r.Size)
				}
			}
		})
	}
	for m, target := range fullest() {
		layout, err := target.Layout()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range m.Registers {
			if r.Kind == arch.General && layout.ByName(r.Name) == nil {
				t.Errorf("%s: the description has no %s", m.Name, r.Name)
			}
		}
	}
}

// flags are those of ELF files by which GDB knows the machine where it would take it for a narrower one.
var flags = map[string]uint32{"arm": 0x05000000, "mips64": 0x60000000, "powerpc64": 2, "riscv32": 2, "riscv64": 2}

// unnumbered are the registers whose numbers are by the ABIs of x86-64 and Arm alone: GDB 13.1 does not know them, or not in
// these files.
var unnumbered = regexp.MustCompile(`^([fg]s_base|xmm(1[6-9]|2.|3.)|d[0-9]+)$`)

// program makes an ELF file for a machine whose debugging information has an int variable vN in the register of each DWARF
// number N below count, and the machine's breakpoint for code.
func program(m *arch.Machine, count int) []byte {
	abbreviations := []byte{
		1, 0x11, 1, 0x03, 0x08, 0, 0, // a compilation unit with children: name
		2, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0, // a base type: name, size, encoding
		3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x3f, 0x19, 0x02, 0x18, 0, 0, // a variable: name, type, external, location
		0,
	}
	unit := m.Order.AppendUint16(nil, 4) // DWARF's version
	unit = m.Order.AppendUint32(unit, 0)
	unit = append(unit, byte(m.AddrSize), 1)
	unit = append(unit, "registers.c\x00"...)
	integer := uint32(len(unit) + 4)
	unit = append(unit, 2)
	unit = append(unit, "int\x00\x04\x05"...)
	for n := range count {
		location := binary.AppendUvarint([]byte{0x90}, uint64(n)) // DW_OP_regx
		unit = fmt.Appendf(append(unit, 3), "v%d\x00", n)
		unit = m.Order.AppendUint32(unit, integer)
		unit = append(append(unit, byte(len(location))), location...)
	}
	unit = append(unit, 0)
	unit = append(m.Order.AppendUint32(nil, uint32(len(unit))), unit...)
	return object(m, []section{
		{".text", elf.SHT_PROGBITS, elf.SHF_ALLOC | elf.SHF_EXECINSTR, codeAt, append(m.Breakpoint, make([]byte, 16)...)},
		{".debug_abbrev", elf.SHT_PROGBITS, 0, 0, abbreviations},
		{".debug_info", elf.SHT_PROGBITS, 0, 0, unit},
	})
}

// codeAt is where the code lies.
const codeAt = 0x10000

type section struct {
	name    string
	kind    elf.SectionType
	flags   elf.SectionFlag
	addr    uint64
	content []byte
}

// object makes an executable of sections, which has no segments.
func object(m *arch.Machine, sections []section) []byte {
	names := []byte{0}
	for _, s := range sections {
		names = append(append(names, s.name...), 0)
	}
	names = append(names, ".shstrtab\x00"...)
	sections = append(sections, section{".shstrtab", elf.SHT_STRTAB, 0, 0, names})
	headerSize, entrySize := 52, 40
	class, data := elf.ELFCLASS32, elf.ELFDATA2LSB
	if m.AddrSize == 8 {
		headerSize, entrySize, class = 64, 64, elf.ELFCLASS64
	}
	if m.Order == binary.BigEndian {
		data = elf.ELFDATA2MSB
	}
	word := func(b []byte, v uint64) []byte {
		if m.AddrSize == 8 {
			return m.Order.AppendUint64(b, v)
		}
		return m.Order.AppendUint32(b, uint32(v))
	}
	var contents []byte
	table := make([]byte, entrySize)
	for _, s := range sections {
		at := headerSize + len(contents)
		contents = append(contents, s.content...)
		table = m.Order.AppendUint32(table, uint32(bytes.Index(names, []byte("\x00"+s.name+"\x00"))+1))
		table = m.Order.AppendUint32(table, uint32(s.kind))
		table = word(table, uint64(s.flags))
		table = word(table, s.addr)
		table = word(word(table, uint64(at)), uint64(len(s.content)))
		table = m.Order.AppendUint32(m.Order.AppendUint32(table, 0), 0)
		table = word(word(table, 1), 0)
	}
	header := append([]byte(elf.ELFMAG), byte(class), byte(data), byte(elf.EV_CURRENT))
	header = append(header, make([]byte, elf.EI_NIDENT-len(header))...)
	header = m.Order.AppendUint16(m.Order.AppendUint16(header, uint16(elf.ET_EXEC)), uint16(m.ELF))
	header = m.Order.AppendUint32(header, uint32(elf.EV_CURRENT))
	header = word(word(word(header, codeAt), 0), uint64(headerSize+len(contents)))
	header = m.Order.AppendUint32(header, flags[m.Name])
	for _, v := range []int{headerSize, 0, 0, entrySize, len(sections) + 1, len(sections)} {
		header = m.Order.AppendUint16(header, uint16(v))
	}
	return append(append(header, contents...), table...)
}

// callingNames are those of a register in the calling conventions.
func callingNames(m *arch.Machine, register string) (names []string) {
	all := m.Registers
	if m.Convention != nil {
		all = slices.Concat(all, m.Convention.Registers)
	}
	for _, r := range all {
		if r.Name == register && r.ABI != "" {
			names = append(names, r.ABI)
		}
	}
	return names
}

// trapping are the disassemblers' words for breakpoint instructions. That of S/390 is one by being none: .long.
var trapping = regexp.MustCompile(`\s(int3|brk|bkpt|udf|ebreak|break|tw\w*|trap|\.word|\.inst|\.long)\b`)

// TestGDBNumbersRegisters has GDB say which register each number of DWARF's is, on every machine whose numbers the table has, and
// what instruction a breakpoint is.
func TestGDBNumbersRegisters(t *testing.T) {
	var script strings.Builder
	dir := t.TempDir()
	tried := make(map[string]*arch.Machine)
	for m, target := range fullest() {
		if len(m.DWARF) == 0 || m.ELF == elf.EM_LOONGARCH { // Debian's gdb-multiarch 13.1 is built without that
			continue
		}
		tried[m.Name] = m
		file, described := filepath.Join(dir, m.Name), filepath.Join(dir, m.Name+".xml")
		for path, content := range map[string][]byte{file: program(m, len(m.DWARF)), described: target.XML()} {
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintf(&script, "-- load %s --\nfile %s\nset tdesc filename %s\n", m.Name, file, described)
		fmt.Fprintf(&script, "-- code %s --\nx/i %d\n", m.Name, codeAt)
		for n, name := range m.DWARF {
			if name != "" {
				fmt.Fprintf(&script, "-- %s %d --\ninfo address v%d\n", m.Name, n, n)
			}
		}
		script.WriteString("-- next --\nfile\nunset tdesc filename\n")
	}
	output := gdbtest.RunMultiarch(t, script.String())
	for name, m := range tried {
		t.Run(name, func(t *testing.T) {
			for n, register := range m.DWARF {
				if register == "" || unnumbered.MatchString(register) {
					continue
				}
				got := output.Section(t, fmt.Sprintf("%s %d", name, n))
				in := func(name string) bool { return strings.Contains(got, "a variable in $"+name+".") }
				if !in(register) && !slices.ContainsFunc(callingNames(m, register), in) {
					t.Errorf("number %d is %s, and to GDB: %s", n, register, got)
				}
			}
			if code := output.Section(t, "code "+name); !trapping.MatchString(code) {
				t.Errorf("the breakpoint is: %s", code)
			}
		})
	}
	if len(tried) < 10 {
		t.Errorf("only %d machines were tried", len(tried))
	}
}
