package symtab

import (
	"bytes"
	"debug/elf"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/demo"
)

func demoTable(t *testing.T) *Table {
	t.Helper()
	table, err := Read(bytes.NewReader(demo.Program()))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestDescribe(t *testing.T) {
	table := demoTable(t)
	handle, err := demo.Lookup(demo.Handle)
	if err != nil {
		t.Fatal(err)
	}
	queue, err := demo.Lookup(demo.Queue)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[arch.Addr]string{
		handle.Addr:      "handle",
		handle.Addr + 10: "handle+10",
		queue.Addr + 24:  "queue+24",
		0:                "",
		1 << 60:          "",
	} {
		if got := table.Describe(addr); got != want {
			t.Errorf("Describe(%v) = %q, want %q", addr, got, want)
		}
	}
	if table.Relocatable() {
		t.Error("the demo program is at a fixed address")
	}
	moved := table.Rebase(0x1000)
	if got := moved.Describe(handle.Addr + 0x1001); got != "handle+1" {
		t.Errorf("moved by a page: %q", got)
	}
	if s, ok := moved.Named("handle"); !ok || s.Addr != handle.Addr+0x1000 || s.Size != handle.Size {
		t.Errorf("moved by a page: Named gives %+v, %v", s, ok)
	}
}

func symbol(name string, info byte, addr, size uint64) elf.Symbol {
	return elf.Symbol{Name: name, Info: info, Section: 1, Value: addr, Size: size}
}

const (
	localFunction  = byte(elf.STB_LOCAL)<<4 | byte(elf.STT_FUNC)
	globalFunction = byte(elf.STB_GLOBAL)<<4 | byte(elf.STT_FUNC)
	globalObject   = byte(elf.STB_GLOBAL)<<4 | byte(elf.STT_OBJECT)
)

func TestChoice(t *testing.T) {
	imported := symbol("imported", globalFunction, 0x100, 16)
	imported.Section = elf.SHN_UNDEF
	table := &Table{symbols: sorted([]elf.Symbol{
		symbol("alias", localFunction, 0x100, 16),
		symbol("object", globalObject, 0x100, 16),
		symbol("function", globalFunction, 0x100, 16),
		symbol("outer", globalFunction, 0x200, 0x100),
		symbol("inner", localFunction, 0x210, 8),
		symbol("assembly", globalFunction, 0x400, 0),
		symbol("twice", localFunction, 0x500, 4),
		symbol("twice", localFunction, 0x600, 4),
		symbol("empty", globalObject, 0x700, 0),
		imported,
	})}
	for addr, want := range map[arch.Addr]string{
		0x100: "function", 0x110: "", 0x212: "inner+2", 0x220: "outer+32", 0x300: "", 0x450: "assembly+80",
		0x501: "twice+1", 0x700: "empty", 0x701: "",
	} {
		if got := table.Describe(addr); got != want {
			t.Errorf("Describe(%v) = %q, want %q", addr, got, want)
		}
	}
	if _, ok := table.Named("twice"); ok {
		t.Error("a name that two functions have was found")
	}
	if _, ok := table.Named("imported"); ok {
		t.Error("a symbol without an address was found")
	}
}

// TestStripped reads an executable without a symbol table: the program's own test binary would have one, so it takes the
// demo's and hides the section.
func TestStripped(t *testing.T) {
	program := demo.Program()
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	const headerSize, typeOffset = 64, 4
	table := int(file.ByteOrder.Uint64(program[0x28:])) // e_shoff
	for i, section := range file.Sections {
		if section.Type == elf.SHT_SYMTAB {
			file.ByteOrder.PutUint32(program[table+i*headerSize+typeOffset:], uint32(elf.SHT_NULL))
		}
	}
	stripped, err := Read(bytes.NewReader(program))
	if err != nil || stripped.Len() != 0 {
		t.Errorf("%d symbols, error %v, want none", stripped.Len(), err)
	}
	if got := stripped.Describe(0x401000); got != "" {
		t.Errorf("an empty table describes an address as %q", got)
	}
}

func TestNotELF(t *testing.T) {
	if _, err := Read(strings.NewReader("#!/bin/sh\n")); err == nil || !strings.Contains(err.Error(), "ELF") {
		t.Errorf("a script gave error %v", err)
	}
}
