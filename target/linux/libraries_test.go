//go:build linux

package linux_test

import (
	"debug/elf"
	"io"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// TestLibrariesOfLinker runs a program by way of the dynamic linker. The list is then none that the program that was started
// leads to, and an empty one would be wrong.
func TestLibrariesOfLinker(t *testing.T) {
	p := testprog.Build(t, "locals", fixed)
	direct := launch(t, p.Path)
	if links, err := direct.target.ReadLibraries(direct.pid); err != nil || len(links.Objects) != 0 {
		t.Errorf("before the linker has run its list is %+v, %v", links, err)
	}
	indirect := launch(t, interpreter(t, p.Path), p.Path)
	if links, err := indirect.target.ReadLibraries(indirect.pid); err == nil {
		t.Errorf("the dynamic linker itself has a list, %+v", links)
	}
}

// interpreter is the dynamic linker that an executable names.
func interpreter(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP {
			name, err := io.ReadAll(segment.Open())
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimRight(string(name), "\x00")
		}
	}
	t.Fatalf("%s names no dynamic linker", path)
	return ""
}
