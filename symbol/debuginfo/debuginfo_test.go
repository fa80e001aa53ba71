package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tracewell/internal/test/testtool"
)

// build compiles a source of testdata in a folder of its own, and returns the program.
func build(t testing.TB, source string, flags ...string) string {
	t.Helper()
	return buildIn(t, t.TempDir(), source, flags...)
}

func buildIn(t testing.TB, dir, source string, flags ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, source), text, 0o644); err != nil {
		t.Fatal(err)
	}
	compiler := "gcc"
	if strings.HasSuffix(source, ".cc") {
		compiler = "g++"
	}
	run(t, dir, compiler, append([]string{"-g", "-o", "program", source}, flags...)...)
	return filepath.Join(dir, "program")
}

// programs are the layouts of testdata/shapes.cc that have been compiled.
var programs sync.Map

// program is testdata/shapes.cc in a layout, compiled once for all tests.
func program(t testing.TB, layout string) string {
	t.Helper()
	compile, _ := programs.LoadOrStore(layout, sync.OnceValue(func() string {
		dir, err := os.MkdirTemp(folder, "layout")
		if err != nil {
			t.Fatal(err)
		}
		return buildIn(t, dir, "shapes.cc", layouts[layout]...)
	}))
	return compile.(func() string)()
}

// folder has what several tests use.
var folder string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "debuginfo")
	if err != nil {
		panic(err)
	}
	folder = dir
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

func run(t testing.TB, dir, command string, args ...string) string {
	t.Helper()
	c := testtool.Command(t, command, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", command, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func open(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path, Options{DebugDirs: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !f.HasDWARF() {
		t.Fatal(f.WhyNoDWARF())
	}
	for _, warning := range f.Warnings() {
		t.Error(warning)
	}
	return f
}

// layouts are ways to lay debug information out.
var layouts = map[string][]string{
	"4":        {"-gdwarf-4"},
	"5":        {"-gdwarf-5"},
	"4 -O2":    {"-gdwarf-4", "-O2"},
	"5 -O2":    {"-gdwarf-5", "-O2"},
	"zlib":     {"-gdwarf-5", "-gz=zlib"},
	"old zlib": {"-gdwarf-4", "-gz=zlib-gnu"},
	"4 types":  {"-gdwarf-4", "-fdebug-types-section"},
	"5 types":  {"-gdwarf-5", "-fdebug-types-section"},
	"64-bit":   {"-gdwarf-5", "-gdwarf64"},
	"lto":      {"-gdwarf-5", "-O2", "-flto"},
	"3":        {"-gdwarf-3"},
	"2":        {"-gdwarf-2"},
}

// TestAgainstStandardLibrary compares all DIEs, their names, nesting and ranges, with what debug/dwarf reads.
func TestAgainstStandardLibrary(t *testing.T) {
	for name := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := program(t, name)
			f := open(t, program)
			file, err := elf.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			data, err := file.DWARF()
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for r := data.Reader(); ; {
				want, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					break
				}
				if want.Tag == 0 {
					continue
				}
				compared++
				got, err := f.Entry(Offset(want.Offset))
				if err != nil {
					t.Fatal(err)
				}
				compare(t, f, got, want, data)
			}
			if compared < 100 {
				t.Errorf("only %d DIEs", compared)
			}
		})
	}
}

func compare(t *testing.T, f *File, got *Entry, want *dwarf.Entry, data *dwarf.Data) {
	t.Helper()
	name, _ := want.Val(dwarf.AttrName).(string)
	if got.Tag != want.Tag || got.HasChildren != want.Children || got.Name() != name {
		t.Errorf("%#x: %v %q, want %v %q", want.Offset, got.Tag, got.Name(), want.Tag, name)
	}
	for _, field := range want.Field {
		v, ok := got.Value(field.Attr)
		if !ok {
			t.Errorf("%#x: no %v", want.Offset, field.Attr)
			continue
		}
		same := true
		switch wanted := field.Val.(type) {
		case string:
			same = v.String() == wanted
		case int64:
			same = v.num == uint64(wanted)
		case uint64:
			same = v.num == wanted || isSignature(t, f, v, wanted)
		case bool:
			same = v.num == 1 == wanted
		case []byte:
			same = slices.Equal(v.Bytes(), wanted)
		case dwarf.Offset:
			same = v.Offset() == Offset(wanted)
		}
		if !same {
			t.Errorf("%#x: %v is %#v, want %v", want.Offset, field.Attr, v, field.Val)
		}
	}
	ranges, err := data.Ranges(want)
	if err != nil {
		t.Fatal(err)
	}
	var have [][2]uint64
	for _, r := range f.Ranges(got) {
		have = append(have, [2]uint64{uint64(r.Begin), uint64(r.End)})
	}
	ranges = slices.DeleteFunc(ranges, func(r [2]uint64) bool { return r[0] == r[1] })
	if !slices.Equal(have, ranges) {
		t.Errorf("%#x: ranges %x, want %x", want.Offset, have, ranges)
	}
}

// isSignature reports whether a value refers to the type of a signature, which is all that debug/dwarf says of it.
func isSignature(t *testing.T, f *File, v Value, signature uint64) bool {
	e, err := f.Entry(v.Offset())
	if err != nil || v.Class != ClassReference {
		t.Errorf("reference by signature %#x: %#v, %v", signature, v, err)
		return false
	}
	return e.Unit.signature == signature && uint64(e.Offset%spaceSize) == e.Unit.start+e.Unit.typeAt
}

func TestProgress(t *testing.T) {
	var last, all atomic.Int64
	f, err := Open(program(t, "5"), Options{DebugDirs: []string{}, Progress: func(done, total int64) {
		last.Store(max(last.Load(), done))
		all.Store(total)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Load()
	if last.Load() == 0 || last.Load() != all.Load() {
		t.Errorf("%d of %d", last.Load(), all.Load())
	}
}

// TestSections is about what is read of the file besides debug information.
func TestSections(t *testing.T) {
	path := build(t, "shapes.cc", "-no-pie", "-Wl,--build-id=none")
	run(t, "", "strip", path)
	f, err := Open(path, Options{DebugDirs: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.HasDWARF() || f.PIE() || f.Base() != 0x400000 || f.EntryPoint() == 0 || f.DebugPath() != "" || f.BuildID() != nil {
		t.Errorf("%t, PIE %t, at %v, entry %v", f.HasDWARF(), f.PIE(), f.Base(), f.EntryPoint())
	}
	content, addr, ok := f.Section(".rodata")
	if !ok || addr == 0 || !strings.Contains(string(content), "%d %d\n") {
		t.Errorf(".rodata at %v: %q", addr, content)
	}
	if _, _, ok := f.Section(".bss"); ok {
		t.Error(".bss has content")
	}
	if f.Functions("main") != nil || f.UnitAt(f.EntryPoint()) != nil || f.FunctionAt(f.EntryPoint()) != nil {
		t.Error("there are functions without debug information")
	}
	if _, err := f.Entry(1); err == nil {
		t.Error("there is a DIE without debug information")
	}
}
