package debuginfo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// holds checks that the names, lines and copies of testdata/shapes.cc are there.
func holds(t *testing.T, f *File) {
	t.Helper()
	for _, warning := range f.Warnings() {
		t.Error(warning)
	}
	for _, n := range shapeNames {
		if got := qualifiedNames(t, f, f.lookup(n.kind, n.name)); got != n.want {
			t.Errorf("%d %s: %q, want %q", n.kind, n.name, got, n.want)
		}
	}
	line := lineOf(t, "printf(\"%d %d")
	if found := f.LinesOf("shapes.cc", line); len(found) == 0 || found[0].Line != uint32(line) {
		t.Errorf("line %d: %+v", line, found)
	}
	if code := f.Instances(one(t, f, f.Functions("squeeze"))); len(code) < 2 {
		t.Errorf("%d copies of squeeze", len(code))
	}
	main := one(t, f, f.Functions("main"))
	if code := f.Instances(main); len(code) != 1 || f.FunctionAt(code[0].EntryPC+4).Offset != main {
		t.Errorf("code of main: %+v", code)
	}
}

func openIn(t *testing.T, path string, dirs ...string) *File {
	t.Helper()
	f, err := Open(path, Options{DebugDirs: append([]string{}, dirs...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestBuildID(t *testing.T) {
	program := build(t, "shapes.cc", "-gdwarf-5", "-Wl,--build-id=sha1")
	dir := filepath.Dir(program)
	run(t, dir, "objcopy", "--only-keep-debug", "program", "debug")
	run(t, dir, "strip", "program")
	f := openIn(t, program, dir)
	if f.HasDWARF() || !strings.Contains(f.WhyNoDWARF(), "no file for build ID") || !strings.Contains(f.WhyNoDWARF(), "no debug link") {
		t.Errorf("why: %q", f.WhyNoDWARF())
	}
	if len(f.BuildID()) != 20 {
		t.Fatalf("build ID %x", f.BuildID())
	}
	place := filepath.Join(dir, buildIDPath(f.BuildID()))
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "debug"), place); err != nil {
		t.Fatal(err)
	}
	f = openIn(t, program, "/nowhere", dir)
	if f.DebugPath() != place {
		t.Errorf("%q, want %q: %s", f.DebugPath(), place, f.WhyNoDWARF())
	}
	holds(t, f)
	if len(f.Symbols()) < 20 {
		t.Errorf("%d symbols", len(f.Symbols()))
	}
	if _, err := f.CFA(f.EntryPoint()); err != nil {
		t.Error(err)
	}
}

func TestDebugLink(t *testing.T) {
	program := build(t, "shapes.cc", "-gdwarf-4", "-Wl,--build-id=none")
	dir := filepath.Dir(program)
	run(t, dir, "objcopy", "--only-keep-debug", "program", "program.debug")
	run(t, dir, "objcopy", "--strip-all", "--add-gnu-debuglink=program.debug", "program")
	full, err := os.ReadFile(filepath.Join(dir, "program.debug"))
	if err != nil {
		t.Fatal(err)
	}
	debug := filepath.Join(t.TempDir(), "debug")
	for _, place := range []string{dir, filepath.Join(dir, ".debug"), filepath.Join(debug, dir)} {
		os.Remove(filepath.Join(dir, "program.debug"))
		os.RemoveAll(filepath.Join(dir, ".debug"))
		if err := os.MkdirAll(place, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(place, "program.debug"), full, 0o644); err != nil {
			t.Fatal(err)
		}
		f := openIn(t, program, debug)
		if f.DebugPath() != filepath.Join(place, "program.debug") {
			t.Fatalf("%q, want it in %q: %s", f.DebugPath(), place, f.WhyNoDWARF())
		}
		holds(t, f)
	}
	if err := os.WriteFile(filepath.Join(debug, dir, "program.debug"), append(full, 0), 0o644); err != nil {
		t.Fatal(err)
	}
	f := openIn(t, program, debug)
	if f.HasDWARF() || len(f.Warnings()) != 1 || !strings.Contains(f.Warnings()[0], "checksum") {
		t.Errorf("%q, %q", f.WhyNoDWARF(), f.Warnings())
	}
}

func TestSplit(t *testing.T) {
	for name, flags := range map[string][]string{
		"5":      {"-gdwarf-5", "-gsplit-dwarf"},
		"4":      {"-gdwarf-4", "-gsplit-dwarf"},
		"5 -O2":  {"-gdwarf-5", "-gsplit-dwarf", "-O2"},
		"4 -O2":  {"-gdwarf-4", "-gsplit-dwarf", "-O2"},
		"types":  {"-gdwarf-5", "-gsplit-dwarf", "-fdebug-types-section"},
		"types4": {"-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := build(t, "shapes.cc", flags...)
			f := open(t, program)
			holds(t, f)
			locations := 0
			for _, u := range f.Units() {
				if u.skeleton != nil && !u.Language.IsCPP() {
					t.Errorf("language %#x", u.Language)
				}
				u.eachEntry(func(at uint64, _ *abbrev) {
					e, _ := u.entry(at)
					for _, l := range f.Locations(e, 2) {
						if locations++; !l.Always && !l.Default && !f.HasCode(l.Begin) {
							t.Errorf("a location at %v", l.Begin)
						}
					}
				})
			}
			if locations < 20 {
				t.Errorf("%d locations", locations)
			}
			objects, err := filepath.Glob(filepath.Join(filepath.Dir(program), "*.dwo"))
			if err != nil || len(objects) == 0 {
				t.Fatal("no .dwo files")
			}
			for _, object := range objects {
				os.Remove(object)
			}
			without := openIn(t, program)
			if len(without.Functions("main")) > 0 || len(without.Warnings()) != 1 || !strings.Contains(without.Warnings()[0], ".dwo") {
				t.Errorf("without: %q", without.Warnings())
			}
			line := lineOf(t, "printf(\"%d %d")
			if found := without.LinesOf("shapes.cc", line); len(found) == 0 || without.UnitAt(found[0].Addr) == nil {
				t.Errorf("without: line %d: %+v", line, found)
			}
		})
	}
}

// TestCompressed compresses what has been linked; compilers may not know both methods yet.
func TestCompressed(t *testing.T) {
	plain := build(t, "shapes.cc", "-gdwarf-5")
	for _, method := range []string{"zlib", "zstd", "zlib-gnu"} {
		packed := plain + "." + method
		run(t, "", "objcopy", "--compress-debug-sections="+method, plain, packed)
		holds(t, openIn(t, packed))
	}
}

func TestDwz(t *testing.T) {
	program := build(t, "shapes.cc", "-gdwarf-5")
	dir := filepath.Dir(program)
	run(t, dir, "cp", "program", "second")
	run(t, dir, "dwz", "-m", "common", "program", "second")
	f := openIn(t, program)
	holds(t, f)
	if len(f.images) != 2 {
		t.Errorf("%d files", len(f.images))
	}
	os.Remove(filepath.Join(dir, "common"))
	f = openIn(t, program)
	if len(f.Warnings()) != 1 || !strings.Contains(f.Warnings()[0], "common") {
		t.Errorf("%q", f.Warnings())
	}
	f.EachName(KindFunction, func(string, Offset) bool { return true })
}

// TestPackage is about packages of .dwo files, which are named and not read.
func TestPackage(t *testing.T) {
	program := build(t, "shapes.cc", "-gdwarf-5", "-gsplit-dwarf")
	dir := filepath.Dir(program)
	objects, err := filepath.Glob(filepath.Join(dir, "*.dwo"))
	if err != nil || len(objects) != 1 {
		t.Fatal(objects, err)
	}
	if err := os.Rename(objects[0], program+".dwp"); err != nil {
		t.Fatal(err)
	}
	f := openIn(t, program)
	if len(f.Warnings()) != 1 || !strings.Contains(f.Warnings()[0], "packages of .dwo files are not read") {
		t.Errorf("%q", f.Warnings())
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	object := build(t, "small.cc", "-c")
	for path, want := range map[string]string{text: "reading an ELF file", object: "before it is linked", dir: "", filepath.Join(dir, "nothing"): "no such file"} {
		if f, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
}
