// Package corpus is programs in C, C++, Rust and Go whose variables a debugger has to find, compiled in all the ways that make
// that hard, and what GDB sees in them.
//
// The sources are in testdata, a folder a language, with a library beside each program but Go's. Lines that are worth stopping at
// carry a mark, "@NAME" in a comment. Build compiles a program in one of Builds; Observe has the real GDB run it and tell of
// every variable in sight at the marks. A build is kept in the user's cache, as those of testprog are. Without a compiler
// the test fails; nothing here skips. Only tests import this package.
package corpus

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

//go:embed testdata
var sources embed.FS

// Language is the folder of a program in testdata.
type Language string

// The languages.
const (
	C    Language = "c"
	CPP  Language = "cpp"
	Rust Language = "rust"
	Go   Language = "go"
)

// Build is a way to compile a program.
type Build struct {
	Language Language
	Optimise string // what stands behind -O; for Go "0" keeps the compiler from optimising, all else lets it
	DWARF    int    // version: 4 or 5
	Joined   bool   // the library is linked into the program
	Fixed    bool   // C and C++: linked to a fixed address
	Debug    Debug
}

// Debug is where the debugging information is.
type Debug string

// The places. Only C and C++ have all of them.
const (
	Inside     Debug = ""
	Compressed Debug = "compressed"
	Separate   Debug = "separate" // in a file of its own beside the program, which names it
	Split      Debug = "split"    // in a file for each source file
)

// Builds is every way in which the programs are compiled; the first of a language and Few of them are quick to go through.
var Builds = []Build{
	{Language: C, Optimise: "0", DWARF: 5},
	{Language: C, Optimise: "2", DWARF: 5},
	{Language: C, Optimise: "0", DWARF: 4},
	{Language: C, Optimise: "2", DWARF: 4},
	{Language: C, Optimise: "0", DWARF: 5, Joined: true},
	{Language: C, Optimise: "2", DWARF: 5, Joined: true},
	{Language: C, Optimise: "0", DWARF: 4, Joined: true, Fixed: true},
	{Language: C, Optimise: "2", DWARF: 4, Joined: true, Fixed: true},
	{Language: C, Optimise: "g", DWARF: 5},
	{Language: C, Optimise: "1", DWARF: 5, Fixed: true},
	{Language: C, Optimise: "3", DWARF: 5, Joined: true},
	{Language: C, Optimise: "s", DWARF: 4},
	{Language: C, Optimise: "2", DWARF: 5, Debug: Compressed},
	{Language: C, Optimise: "2", DWARF: 5, Debug: Separate},
	{Language: C, Optimise: "2", DWARF: 5, Debug: Split},

	{Language: CPP, Optimise: "0", DWARF: 5},
	{Language: CPP, Optimise: "2", DWARF: 5},
	{Language: CPP, Optimise: "0", DWARF: 4},
	{Language: CPP, Optimise: "2", DWARF: 4},
	{Language: CPP, Optimise: "0", DWARF: 4, Joined: true, Fixed: true},
	{Language: CPP, Optimise: "2", DWARF: 5, Joined: true, Fixed: true},
	{Language: CPP, Optimise: "g", DWARF: 5},
	{Language: CPP, Optimise: "3", DWARF: 5},
	{Language: CPP, Optimise: "0", DWARF: 5, Debug: Split},
	{Language: CPP, Optimise: "2", DWARF: 5, Debug: Separate},

	// Debian's compiler knows no other version of DWARF.
	{Language: Rust, Optimise: "0", DWARF: 4},
	{Language: Rust, Optimise: "2", DWARF: 4},
	{Language: Rust, Optimise: "1", DWARF: 4},
	{Language: Rust, Optimise: "3", DWARF: 4},
	{Language: Rust, Optimise: "s", DWARF: 4},

	{Language: Go, Optimise: "0", DWARF: 5},
	{Language: Go, Optimise: "2", DWARF: 5},
	{Language: Go, Optimise: "0", DWARF: 4},
	{Language: Go, Optimise: "2", DWARF: 4},
}

// Few is two builds of each language, one that is optimised and one that is not.
func Few() []Build {
	var few []Build
	taken := map[Language]int{}
	for _, b := range Builds {
		if taken[b.Language]++; taken[b.Language] <= 2 {
			few = append(few, b)
		}
	}
	return few
}

// String names the build in a form that suits a subtest: "c-O2-dwarf5-joined".
func (b Build) String() string {
	name := fmt.Sprintf("%s-O%s-dwarf%d", b.Language, b.Optimise, b.DWARF)
	if b.Joined {
		name += "-joined"
	}
	if b.Fixed {
		name += "-fixed"
	}
	if b.Debug != Inside {
		name += "-" + string(b.Debug)
	}
	return name
}

// Program is a compiled program.
type Program struct {
	Path  string // of the executable; a library is in the same folder, where the executable looks for it
	Marks []Mark // in the order of the files and of the lines in them
}

// Mark is a marked line.
type Mark struct {
	Name string
	File string // the base name, which no other file of the program has
	Line int
}

// At is the mark as a location in GDB's syntax.
func (m Mark) At() string { return fmt.Sprintf("%s:%d", m.File, m.Line) }

// Compile compiles a program, unless it has been before.
func Compile(t testing.TB, b Build) *Program {
	t.Helper()
	files, err := fs.Glob(sources, path.Join("testdata", string(b.Language), "*"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	sum := sha256.New()
	for _, name := range files {
		text, err := sources.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[path.Base(name)] = string(text)
		fmt.Fprintf(sum, "%s %d %s", name, len(text), text)
	}
	fmt.Fprint(sum, b.script(), versions(t, b.Language))
	dir := filepath.Join(testprog.CacheDir(t), "corpus-"+b.String()+"-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err != nil {
		compile(t, b, dir, texts)
	}
	p := &Program{Path: filepath.Join(dir, "main")}
	for _, name := range files {
		p.Marks = append(p.Marks, marksOf(path.Base(name), texts[path.Base(name)])...)
	}
	return p
}

// compile runs the compilers in another folder, which then takes the name: another process may be compiling the same.
func compile(t testing.TB, b Build, dir string, texts map[string]string) {
	t.Helper()
	draft, err := os.MkdirTemp(filepath.Dir(dir), "compile-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(draft)
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(draft, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := testtool.Command(t, "sh", "-ec", b.script())
	cmd.Env = append(cmd.Env, "GO="+testtool.Path(t, "go"))
	cmd.Dir = draft
	if messages, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compiling %v: %v\n%s", b, err, messages)
	}
	if err := os.Rename(draft, dir); err != nil {
		if _, missing := os.Stat(dir); missing != nil {
			t.Fatal(err)
		}
	}
}

// script is the commands that compile the sources in the working folder. Folders of compilation are not named in the
// result, which moves; split information is found beside the program.
func (b Build) script() string {
	switch b.Language {
	case C:
		return b.native("gcc -std=gnu11", "store.c", "main.c pieces.c", "store")
	case CPP:
		return b.native("g++ -std=c++17", "shapes.cc", "main.cc", "shapes")
	case Rust:
		compiler := fmt.Sprintf("rustc -g -C opt-level=%s ", b.Optimise)
		return compiler + "--crate-type cdylib measures.rs -o libmeasures.so\n" +
			compiler + "main.rs -L . -C link-arg='-Wl,-rpath,$ORIGIN' -o main\n"
	}
	experiment := "norandomizedheapbase64" // two runs are to have the same addresses
	if b.DWARF == 4 {
		experiment += ",nodwarf5"
	}
	script := "export CGO_ENABLED=0 GOFLAGS= GO111MODULE=off GOEXPERIMENT=" + experiment + "\n"
	if b.Optimise == "0" {
		return script + "\"$GO\" build -gcflags='all=-N -l' -o main main.go\n"
	}
	return script + "\"$GO\" build -o main main.go\n"
}

// native is the commands for C and C++.
func (b Build) native(compiler, library, program, name string) string {
	compiler += fmt.Sprintf(" -g -gdwarf-%d -O%s -Wall -Wextra -Werror", b.DWARF, b.Optimise)
	switch b.Debug {
	case Compressed:
		compiler += " -gz=zlib"
	case Split:
		compiler += " -gsplit-dwarf"
	}
	pie := " -fPIE -pie"
	if b.Fixed {
		pie = " -fno-pie -no-pie"
	}
	var script strings.Builder
	if b.Joined {
		fmt.Fprintf(&script, "%s%s %s %s -o main\n", compiler, pie, program, library)
	} else {
		fmt.Fprintf(&script, "%s -fPIC -shared %s -o lib%s.so\n", compiler, library, name)
		fmt.Fprintf(&script, "%s%s %s -L . -l%s '-Wl,-rpath,$ORIGIN' -o main\n", compiler, pie, program, name)
	}
	if b.Debug == Separate {
		for _, file := range []string{"main", "lib" + name + ".so"} {
			fmt.Fprintf(&script, "objcopy --only-keep-debug %[1]s %[1]s.debug\nstrip %[1]s\nobjcopy --add-gnu-debuglink=%[1]s.debug %[1]s\n", file)
		}
	}
	return script.String()
}

// versions tells compilers apart.
func versions(t testing.TB, language Language) string {
	t.Helper()
	command := map[Language][]string{
		C: {"gcc", "--version"}, CPP: {"g++", "--version"}, Rust: {"rustc", "--version"}, Go: {"go", "version"},
	}[language]
	version, err := testtool.Command(t, command[0], command[1:]...).Output()
	if err != nil {
		t.Fatalf("%s: %v", command[0], err)
	}
	return string(version)
}

var markPattern = regexp.MustCompile(`(?://|/\*) @([a-z]+)`)

// marksOf finds the marks of a source file.
func marksOf(file, text string) []Mark {
	var marks []Mark
	for i, line := range strings.Split(text, "\n") {
		if m := markPattern.FindStringSubmatch(line); m != nil {
			marks = append(marks, Mark{Name: m[1], File: file, Line: i + 1})
		}
	}
	return marks
}
