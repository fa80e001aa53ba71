package firmware

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// With returns the path of the program's executable with what options give other values, to be started by other means than Start.
func (p *Program) With(t testing.TB, with ...Option) string {
	t.Helper()
	return p.patched(t, chosen(with).values)
}

// patched returns the path of an executable that is the program's with other initial values of some globals of 32 bits.
func (p *Program) patched(t testing.TB, values map[string]uint32) string {
	t.Helper()
	if len(values) == 0 {
		return p.Path
	}
	image, err := os.ReadFile(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range values {
		binary.LittleEndian.PutUint32(image[p.offset(t, name):], value)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(p.Path))
	if err := os.WriteFile(path, image, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// offset returns where the initial value of a global is in the file.
func (p *Program) offset(t testing.TB, name string) uint64 {
	t.Helper()
	at := p.Address(t, name)
	file, err := elf.Open(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, s := range file.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type == elf.SHT_PROGBITS && s.Addr <= at && at+4 <= s.Addr+s.Size {
			return s.Offset + at - s.Addr
		}
	}
	t.Fatalf("%s: %s has no initial value in the file", filepath.Base(p.Path), name)
	return 0
}
