//go:build linux && amd64

package padtest

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
)

// An image is a file of a program whose code is traced: the program itself, or a library.
type image struct {
	path string
	text []byte // of the section .text
	at   uint64 // where that begins, by the file's own addresses
	base uint64 // what the addresses of the program are more than those of its file; unknown for a library
}

// A place is an instruction in an image.
type place struct {
	image *image
	at    uint64
}

// String is the location as record takes it, wherever the image is loaded.
func (p place) String() string { return fmt.Sprintf("%s:%#x", filepath.Base(p.image.path), p.at) }

// code is what the file has at a place, at most n bytes.
func (p place) code(n int) []byte {
	rest := p.image.text[p.at-p.image.at:]
	return rest[:min(n, len(rest))]
}

// library finds a library by what the dynamic linker calls it, in the folder of Debian's libraries.
func library(t *testing.T, name string) string {
	t.Helper()
	linker, err := filepath.EvalSymlinks("/lib64/ld-linux-x86-64.so.2")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(filepath.Dir(linker), name)
}

// every is how many instructions the images of a subject have, and which are traced: every second one, and every second statement
// of what has line numbers.
type every struct {
	of     int
	places []place
}

func (s subject) every(t *testing.T) every {
	t.Helper()
	var all every
	for i, path := range append([]string{s.path}, s.libraries...) {
		file, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		section := file.Section(".text")
		text, err := section.Data()
		if err != nil {
			t.Fatal(err)
		}
		img := &image{path: path, text: text, at: section.Addr}
		if i == 0 && file.Type == elf.ET_DYN {
			img.base = base
		}
		instructions := instructions(t, path)
		chosen := append(second(instructions), second(statements(t, file, instructions))...)
		slices.Sort(chosen)
		for _, at := range slices.Compact(chosen) {
			all.places = append(all.places, place{img, at})
		}
		all.of += len(instructions)
	}
	return all
}

// second is every second element of a list.
func second(list []uint64) (chosen []uint64) {
	for i := 1; i < len(list); i += 2 {
		chosen = append(chosen, list[i])
	}
	return chosen
}

// instructions lists the addresses of the instructions in the text section of a file, as objdump decodes it.
func instructions(t *testing.T, path string) (list []uint64) {
	t.Helper()
	listing, err := testtool.Command(t, "objdump", "-d", "-j", ".text", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(listing)) {
		address, text, ok := strings.Cut(strings.TrimSpace(line), ":\t")
		at, err := strconv.ParseUint(address, 16, 64)
		if ok && err == nil && !strings.Contains(text, "(bad)") {
			list = append(list, at)
		}
	}
	return list
}

// statements lists the instructions at which statements begin, by the line numbers of a file, if it has any.
func statements(t *testing.T, file *elf.File, instructions []uint64) (list []uint64) {
	t.Helper()
	if file.Section(".debug_line") == nil {
		return nil
	}
	debug, err := file.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	units := debug.Reader()
	for {
		unit, err := units.Next()
		if err != nil {
			t.Fatal(err)
		}
		if unit == nil {
			break
		}
		units.SkipChildren()
		lines, err := debug.LineReader(unit)
		if err != nil || lines == nil { // a unit of types, or a form that Go does not know
			continue
		}
		for row := (dwarf.LineEntry{}); lines.Next(&row) == nil; {
			if _, begins := slices.BinarySearch(instructions, row.Address); begins && row.IsStmt && !row.EndSequence {
				list = append(list, row.Address)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// most is how many places one run has: there can be no more tracepoints than 32767.
const most = 30_000

// runs divides places into those of one run each, all that are next to each other in one. The first run is drawn, and
// flag -turns limits how many there are.
func (e every) runs(random uint64) (list [][]place) {
	n := (len(e.places) + most - 1) / most
	for i := range n {
		i = int((random + uint64(i)) % uint64(n))
		list = append(list, e.places[i*len(e.places)/n:(i+1)*len(e.places)/n])
	}
	if *turns > 0 && len(list) > *turns {
		list = list[:*turns]
	}
	return list
}

// sample draws n places in groups of neighbours, whose jumps are in each other's way.
func (e every) sample(random uint64, n int) (list []place) {
	const group = 10
	starts := rand.New(rand.NewPCG(random, 0)).Perm(len(e.places)/group + 1)
	starts = starts[:min(len(starts), n/group)]
	slices.Sort(starts)
	for _, start := range starts {
		list = append(list, e.places[start*group:min((start+1)*group, len(e.places))]...)
	}
	return list
}
