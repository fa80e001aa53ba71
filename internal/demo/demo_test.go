package demo

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"strings"
	"testing"
)

func open(t *testing.T) *elf.File {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(Program()))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestProgramNeedsNothing(t *testing.T) {
	file := open(t)
	if file.Type != elf.ET_EXEC || file.Machine != elf.EM_X86_64 {
		t.Errorf("type %v for %v, want a non-PIE executable for x86-64", file.Type, file.Machine)
	}
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("segment %v: the program is not static", p.Type)
		}
	}
	if size := len(Program()); size > 16<<10 {
		t.Errorf("%d bytes, too many for a program that every binary carries", size)
	}
}

func TestProgramIsACopy(t *testing.T) {
	Program()[0] = 0
	if Program()[0] != 0x7f {
		t.Error("writing to the result of Program changed the program")
	}
}

func TestLookup(t *testing.T) {
	for name, size := range map[string]uint64{Queue: 3*8 + 64*JobSize, Handled: 4 * 8, Checksum: 8} {
		symbol, err := Lookup(name)
		if err != nil || symbol.Size != size {
			t.Errorf("Lookup(%q) = %+v, %v, want %d bytes", name, symbol, err, size)
		}
	}
	if handle, err := Lookup(Handle); err != nil || handle.Size == 0 || handle.Addr == 0 {
		t.Errorf("Lookup(%q) = %+v, %v", Handle, handle, err)
	}
	if _, err := Lookup("nowhere"); err == nil || !strings.Contains(err.Error(), `"nowhere"`) {
		t.Errorf(`Lookup("nowhere") gave error %v, want one that names it`, err)
	}
}

// TestLayout holds the documented shape of struct queue and struct job to the program's own debug information.
func TestLayout(t *testing.T) {
	info, err := open(t).DWARF()
	if err != nil {
		t.Fatal(err)
	}
	structs := map[string]*dwarf.StructType{}
	for reader := info.Reader(); ; {
		entry, err := reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		if entry == nil {
			break
		}
		if entry.Tag != dwarf.TagStructType {
			continue
		}
		if typ, err := info.Type(entry.Offset); err == nil {
			structs[typ.(*dwarf.StructType).StructName] = typ.(*dwarf.StructType)
		}
	}
	if queue := structs["queue"]; queue == nil || queue.Field[0].Name != "depth" || queue.Field[0].Type.Size() != 8 {
		t.Errorf("struct queue is %v, want it to begin with an 8-byte depth", queue)
	}
	if job := structs["job"]; job == nil || job.ByteSize != JobSize {
		t.Errorf("struct job is %v, want %d bytes", job, JobSize)
	}
}

func TestLineTable(t *testing.T) {
	info, err := open(t).DWARF()
	if err != nil {
		t.Fatal(err)
	}
	unit, err := info.Reader().Next()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := info.LineReader(unit)
	if err != nil {
		t.Fatal(err)
	}
	handle, err := Lookup(Handle)
	if err != nil {
		t.Fatal(err)
	}
	var line dwarf.LineEntry
	if err := lines.SeekPC(uint64(handle.Addr), &line); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(line.File.Name, SourceName) {
		t.Errorf("handle is in %q, want %q", line.File.Name, SourceName)
	}
	before, _, _ := strings.Cut(Source(), "unsigned handle(")
	if first := 1 + strings.Count(before, "\n"); line.Line < first || line.Line > first+10 {
		t.Errorf("handle begins at line %d of the table, at line %d of the source", line.Line, first)
	}
}
