package program

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"tracewell/itrace/generate"
	"tracewell/symbol/debuginfo"
)

// open opens a file as a program that was loaded so far above its own addresses.
func open(t *testing.T, path string, bias uint64) *Program {
	t.Helper()
	file, err := debuginfo.Open(path, debuginfo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return New(file, bias)
}

// TestAssembly: labels of assembly without types and sizes are functions if they are global, up to the next; one that is local is a
// function only where no other is. Data and what the assembler makes for itself are none.
func TestAssembly(t *testing.T) {
	const path, bias = "../../internal/test/producers/testdata/plain.elf", 0x10000
	p := open(t, path, bias)
	if p.Set == nil || p.Set.Title != "RISC-V of 32 bits" {
		t.Errorf("the set is %v", p.Set)
	}
	for _, test := range []struct {
		pc   uint64
		want string
	}{
		{0x7fffffff, ""}, {0x80000000, "reset"}, {0x8000007f, "reset"}, {0x80000080, "_start"}, {0x80000163, "_start"},
		{0x80000164, "finish"}, {0x800001c8, "fib"}, {0x8000020f, "fib"}, {0x80000210, "crc32"}, {0x8000031c, "halves"}, {0x80001080, ""},
	} {
		got := ""
		if i := p.At(test.pc + bias); i >= 0 {
			got = p.Functions[i].Name
		}
		if got != test.want {
			t.Errorf("0x%x: %q, not %q", test.pc, got, test.want)
		}
	}
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text := file.Section(".text")
	content, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	for at := range len(content) {
		if got := p.Code(text.Addr + bias + uint64(at)); !bytes.Equal(got, content[at:]) {
			t.Fatalf("the code at 0x%x has %d bytes", at, len(got))
		}
	}
	if p.Code(text.Addr+bias-1) != nil || p.Code(text.Addr+bias+text.Size) != nil {
		t.Error("there is code outside of the section")
	}
}

// TestSizes: a function ends with its size, and has a line where it begins.
func TestSizes(t *testing.T) {
	var object bytes.Buffer
	if err := generate.WriteELF(&object, "/src/program.c"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program.elf")
	if err := os.WriteFile(path, object.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, path, 0)
	file, err := elf.NewFile(bytes.NewReader(object.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	functions := 0
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		functions++
		first, last, behind := p.At(s.Value), p.At(s.Value+s.Size-1), p.At(s.Value+s.Size)
		if first < 0 || first != last || first == behind || p.Functions[first].Name != s.Name {
			t.Errorf("%s: %d, %d, %d", s.Name, first, last, behind)
		}
		if source, line, ok := p.Line(s.Value); !ok || source != "/src/program.c" || line == 0 {
			t.Errorf("%s: %s:%d", s.Name, source, line)
		}
	}
	if functions != len(p.Functions) || functions == 0 {
		t.Errorf("%d functions, not %d", len(p.Functions), functions)
	}
}

// TestParts: what a compiler has put elsewhere of a function is a part of it; of a function that is not there it is one by itself.
func TestParts(t *testing.T) {
	p := &Program{Functions: []Function{{Name: "f", Whole: 0}, {Name: "f.cold", Whole: 1}, {Name: "g.cold.2", Whole: 2}, {Name: "f.part.0", Whole: 3}}}
	p.join()
	for i, want := range []Function{{Name: "f"}, {Name: "f"}, {Name: "g.cold.2", Whole: 2}, {Name: "f.part.0", Whole: 3}} {
		if p.Functions[i] != want {
			t.Errorf("%+v, not %+v", p.Functions[i], want)
		}
	}
}
