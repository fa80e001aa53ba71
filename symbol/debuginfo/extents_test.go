package debuginfo

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// extentsOf reads the extents of a file.
func extentsOf(t testing.TB, path string) *Extents {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return ReadExtents(file)
}

// sharedFile is a library of the compiler's, or of the C library.
func sharedFile(t testing.TB, name string) string {
	return strings.TrimSpace(run(t, "", "gcc", "-print-file-name="+name))
}

// frameLine is an FDE as readelf prints it.
var frameLine = regexp.MustCompile(`(?m)^[0-9a-f]{8,16} .* FDE cie=[0-9a-f]+ pc=([0-9a-f]+)\.\.([0-9a-f]+)$`)

// TestExtentsAgainstReadelf compares the extents of stripped libraries and programs with those that readelf prints.
func TestExtentsAgainstReadelf(t *testing.T) {
	for _, path := range []string{
		sharedFile(t, "libc.so.6"), sharedFile(t, "libstdc++.so.6"), testtool.Path(t, "bash"), testtool.Path(t, "perl"),
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			var got, want []string
			for _, e := range extentsOf(t, path).List {
				got = append(got, fmt.Sprintf("%016x..%016x", uint64(e.Begin), uint64(e.End)))
			}
			for _, m := range frameLine.FindAllStringSubmatch(run(t, "", "readelf", "--debug-dump=frames,no-follow-links", path), -1) {
				if m[1] != m[2] {
					want = append(want, m[1]+".."+m[2])
				}
			}
			slices.Sort(want)
			if len(want) < 500 {
				t.Fatalf("readelf prints %d", len(want))
			}
			if !slices.IsSorted(got) || !slices.Equal(slices.Compact(got), slices.Compact(want)) {
				t.Errorf("%d extents, readelf prints %d", len(got), len(want))
			}
		})
	}
}

// withoutSections is a file of 64 bits whose header says that it has no section headers.
func withoutSections(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(data[0x28:], 0) // e_shoff
	copy(data[0x3c:], make([]byte, 4))            // e_shnum, e_shstrndx
	return data
}

// TestExtentsWithoutSections finds the same in a file that has program headers only.
func TestExtentsWithoutSections(t *testing.T) {
	path := sharedFile(t, "libstdc++.so.6")
	want := extentsOf(t, path)
	file, err := elf.NewFile(bytes.NewReader(withoutSections(t, path)))
	if err != nil || len(file.Sections) > 0 {
		t.Fatal(err, len(file.Sections))
	}
	got := ReadExtents(file)
	if len(got.List) < 1000 || !slices.Equal(got.List, want.List) {
		t.Errorf("%d extents, %d with section headers", len(got.List), len(want.List))
	}
	if pads := got.LandingPads(); len(pads) < 1000 || !slices.Equal(pads, want.LandingPads()) {
		t.Errorf("%d landing pads, %d with section headers", len(pads), len(want.LandingPads()))
	}
}

// A row of a call-site table as GCC writes it, and the label of its landing pad.
var siteRow = regexp.MustCompile(`\.uleb128 \.LEHB\d+-[^\n]*\n\s*\.uleb128 [^\n]*\n\s*\.uleb128 (\.L\d+)-`)

// TestLandingPads compares the landing pads with those that the compiler has written, which the assembler is made to keep as
// symbols.
func TestLandingPads(t *testing.T) {
	for _, flags := range []string{"-O2", "-O2 -fno-pie -no-pie", "-O0", "-Os -fno-reorder-blocks-and-partition"} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			options := strings.Fields(flags)
			dir := t.TempDir()
			source, err := filepath.Abs("testdata/lands.cc")
			if err != nil {
				t.Fatal(err)
			}
			run(t, dir, "g++", append(options, "-S", "-o", "lands.s", source)...)
			text, err := os.ReadFile(filepath.Join(dir, "lands.s"))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range siteRow.FindAllSubmatch(text, -1) {
				label := regexp.MustCompile(regexp.QuoteMeta(string(m[1])) + `\b`)
				text = label.ReplaceAll(text, []byte("landing"+string(m[1][2:])))
			}
			if err := os.WriteFile(filepath.Join(dir, "lands.s"), text, 0o600); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "lands")
			run(t, dir, "g++", append(options, "-o", path, "lands.s")...)
			compareLandings(t, path)
			run(t, dir, "strip", path)
			if x := extentsOf(t, path); len(x.LandingPads()) == 0 {
				t.Error("no landing pads in the stripped program")
			}
		})
	}
}

// compareLandings compares the landing pads of a file with its symbols of that name.
func compareLandings(t *testing.T, path string) {
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, want := map[arch.Addr]bool{}, map[arch.Addr]bool{}
	for name, s := range testprog.Symbols(t, path) {
		if strings.HasPrefix(name, "landing") {
			want[arch.Addr(s.Value)] = true
		}
	}
	for _, at := range ReadExtents(file).LandingPads() {
		got[at] = true
	}
	if len(want) < 3 || !maps.Equal(got, want) {
		t.Errorf("landing pads %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

func FuzzExtents(f *testing.F) {
	f.Add(small(f))
	data, err := os.ReadFile(build(f, "lands.cc", "-O2", "-s"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(slices.Concat(data[:0x28], make([]byte, 8), data[0x30:0x3c], make([]byte, 4), data[0x40:]))
	f.Fuzz(func(_ *testing.T, data []byte) {
		file, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			return
		}
		ReadExtents(file).LandingPads()
	})
}

// TestExtentsDamaged damages the tables at random.
func TestExtentsDamaged(t *testing.T) {
	data, err := os.ReadFile(build(t, "lands.cc", "-O2", "-s"))
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(data)
	file, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		copy(data, whole)
		for range 1 + random.IntN(4) {
			s := file.Section([]string{".eh_frame", ".gcc_except_table"}[random.IntN(2)])
			data[s.Offset+random.Uint64N(s.FileSize)] = byte(random.Uint32())
		}
		damaged, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		ReadExtents(damaged).LandingPads()
	}
}

// FuzzLandingPads reads exception tables alone, of which there are more tries a second.
func FuzzLandingPads(f *testing.F) {
	f.Add([]byte("\xff\x9b\x15\x01\x0c\x05\x05\x00\x00\x10\x05\x20\x01\x1a\x03\x00\x00\x01\x00\x7d\x00\x00\x00\x00"))
	f.Add([]byte("\x1b\x10\x00\x00\x00\xff\x03\x0d\x05\x00\x00\x00\x05\x00\x00\x00\x09\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := &Extents{tables: frameSection{encoding: encoding{addrSize: 8}, data: data, addr: 0x2000}}
		for range 1000 {
			x.List = append(x.List, Extent{Range{0x1000, 0x1100}, 0x2000})
		}
		if pads := x.LandingPads(); len(pads) > len(data)/4 {
			t.Errorf("%d landing pads in %d bytes", len(pads), len(data))
		}
	})
}

// TestFramesWithoutSections finds the frame descriptions of a file that has program headers only.
func TestFramesWithoutSections(t *testing.T) {
	path := sharedFile(t, "libstdc++.so.6")
	bare := filepath.Join(t.TempDir(), "bare.so")
	if err := os.WriteFile(bare, withoutSections(t, path), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	without, err := Open(bare, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer without.Close()
	compared := 0
	for i, e := range extentsOf(t, path).List {
		if i%7 > 0 {
			continue
		}
		want, err := whole.CFA(e.End - 1)
		got, err2 := without.CFA(e.End - 1)
		if fmt.Sprint(want, err) != fmt.Sprint(got, err2) {
			t.Errorf("%v: %v, %v with section headers; %v, %v without", e.End-1, want, err, got, err2)
		}
		compared++
	}
	if compared < 500 {
		t.Errorf("only %d", compared)
	}
}
