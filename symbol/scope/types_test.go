package scope

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
)

const sample = "../../tfile/testdata/queue"

// FuzzTypes: whatever stands where debugging information should, all types that there are have an end, and so do the scopes.
func FuzzTypes(f *testing.F) {
	content, err := os.ReadFile(sample)
	if err != nil {
		f.Fatal(err)
	}
	file, err := elf.Open(sample)
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	section := file.Section(".debug_info")
	for _, damage := range []string{"", "\x30\x00\x01", "\x50\x00\x49\x80\x00\x49\x00\x01\x22", "\xff\x00\x03\x00\x01\x03\x01\x01\x03"} {
		f.Add([]byte(damage))
	}
	f.Fuzz(func(t *testing.T, damage []byte) {
		damaged := append([]byte(nil), content...)
		for ; len(damage) >= 3; damage = damage[3:] {
			damaged[section.Offset+uint64(binary.LittleEndian.Uint16(damage))%section.FileSize] = damage[2]
		}
		path := filepath.Join(t.TempDir(), "queue")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := debuginfo.Open(path, debuginfo.Options{})
		if err != nil {
			return
		}
		defer file.Close()
		m := New(file, 0, Options{})
		printer := ctype.Printer{Order: binary.LittleEndian}
		file.EachName(debuginfo.KindType, func(name string, off debuginfo.Offset) bool {
			typ := m.types.at(off)
			_ = typ.String()
			printer.Append(nil, typ, make([]byte, min(max(typ.Size, 0), 1<<12)))
			return true
		})
		for _, pc := range []arch.Addr{0x4011b5, 0x401247} {
			s := m.At(pc)
			for _, name := range append(s.Arguments(), s.Names()...) {
				if o, err := s.Lookup(name); err == nil && o.Type == nil {
					t.Errorf("%s has no type", name)
				}
			}
		}
	})
}

// TestNames finds names that say where they are.
func TestNames(t *testing.T) {
	file, err := debuginfo.Open(sample, debuginfo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := At(file, 0x4011b5, 0, Options{})
	for name, want := range map[string]string{
		"q": "struct queue", "'queue.c'::q": "struct queue", "::limit": "int", "qq": "struct queue *", "push": "void (struct queue *, struct job *)",
		"LAST": "enum kind",
	} {
		o, err := s.Lookup(name)
		if err != nil || o.Type.String() != want {
			t.Errorf("%s is of type %v (%v), want %s", name, o.Type, err, want)
		}
	}
	for name, want := range map[string]string{
		"nothing": "there is no nothing", "'other.c'::q": "there is no source file other.c", "'queue.c'::nothing": "there is no nothing in queue.c",
	} {
		if _, err := s.Lookup(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, want := range map[string]int{"struct job": 40, "enum kind": 4} {
		if typ, err := s.Type(name); err != nil || typ.Size != want {
			t.Errorf("%s is %v (%v), want %d bytes", name, typ, err, want)
		}
	}
	if _, err := s.Type("job"); err == nil {
		t.Error("struct job is found without its keyword")
	}
	for name, want := range map[string]int{"rax": 8, "eax": 4, "ax": 2, "ah": 1, "sil": 1, "r8d": 4, "r10w": 2, "r15l": 1, "pc": 8, "xmm1": 16, "fs_base": 8} {
		if o, err := s.Register(name); err != nil || o.Type.Size != want {
			t.Errorf("$%s is %v (%v), want %d bytes", name, o.Type, err, want)
		}
	}
	if _, err := s.Register("rip2"); err == nil {
		t.Error("there is a register rip2")
	}
}
