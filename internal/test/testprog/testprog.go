// Package testprog compiles the C programs that the integration tests trace. They are in src, each with a comment that says
// how to run it and what it prints; what it prints is computed independently of any tracer, so that tests can hold
// collected values against it.
//
// A program is compiled when a test asks for it and kept in the user's cache under a name made of its source, its flags and
// the compiler, so that the packages of one test run share it and nothing stale is ever used. Without a compiler the test
// fails; nothing here skips. Only tests import this package.
//
// Where there is no compiler, as in a virtual machine, the programs were compiled before by another compiler (Ahead).
package testprog

import (
	"crypto/sha256"
	"debug/elf"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tracewell/internal/test/testtool"
)

//go:embed src/*.c src/lib/*.c
var sources embed.FS

// Variant is how a program is compiled and linked. The zero value is Debian's default, a position-independent and dynamically
// linked executable, without optimisation; all have debug information.
type Variant struct {
	NoPIE     bool // linked to a fixed address
	Static    bool // with the C library in it; together with PIE this is -static-pie
	Optimised bool // -O2 instead of -O0
	Library   bool // a shared library, whatever the others say; the sources are in src/lib
}

// Linkages are the four ways to link a program, unoptimised.
var Linkages = []Variant{{}, {NoPIE: true}, {Static: true}, {NoPIE: true, Static: true}}

// String names the variant in a form that suits a subtest: "pie-dynamic-O0".
func (v Variant) String() string {
	if v.Library {
		return "library-" + pick(v.Optimised, "O2", "O0")
	}
	name := pick(v.NoPIE, "fixed", "pie") + "-" + pick(v.Static, "static", "dynamic")
	return name + "-" + pick(v.Optimised, "O2", "O0")
}

func pick(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

func (v Variant) flags() []string {
	flags := []string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-pthread", "-fno-omit-frame-pointer"}
	flags = append(flags, pick(v.Optimised, "-O2", "-O0"))
	switch {
	case v.Library:
		return append(flags, "-fPIC", "-shared")
	case v.Static && v.NoPIE:
		return append(flags, "-fno-pie", "-static")
	case v.Static:
		return append(flags, "-fPIE", "-static-pie")
	case v.NoPIE:
		return append(flags, "-fno-pie", "-no-pie")
	}
	return append(flags, "-fPIE", "-pie")
}

// Program is a compiled test program.
type Program struct {
	Path   string // of the executable
	Source string // path of the C file that its debug information names
	text   string
}

// Build returns the program compiled from src/NAME.c as the variant says, or the library from src/lib/NAME.c.
func Build(t testing.TB, name string, v Variant) *Program {
	t.Helper()
	text, err := sources.ReadFile("src/" + pick(v.Library, "lib/", "") + name + ".c")
	if err != nil {
		t.Fatalf("no test program %q: %v", name, err)
	}
	if ahead := os.Getenv(aheadFolder); ahead != "" {
		program := v.aheadProgram(ahead, name, string(text))
		if _, err := os.Stat(program.Path); err != nil {
			t.Fatalf("%s as %v was not compiled ahead: %v", name, v, err)
		}
		return program
	}
	key := cacheKey(compilerVersion(t), strings.Join(v.flags(), " "), string(text))
	dir := filepath.Join(CacheDir(t), name+"-"+v.String()+"-"+key)
	program := &Program{Path: filepath.Join(dir, name), Source: filepath.Join(dir, name+".c"), text: string(text)}
	if _, err := os.Stat(program.Path); err == nil {
		return program
	}
	compile(t, program, v)
	return program
}

func compile(t testing.TB, program *Program, v Variant) {
	t.Helper()
	Install(t, program.Source, func(draft string) error { return os.WriteFile(draft, []byte(program.text), 0o600) })
	Install(t, program.Path, func(draft string) error {
		cmd := testtool.Command(t, "gcc", append(v.flags(), "-o", draft, program.Source)...)
		messages, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("compiling %s as %v: %w\n%s", filepath.Base(program.Source), v, err, messages)
		}
		return err
	})
}

// Install makes a file in a folder that other processes may be filling, too. It is made under another name first: whoever finds the
// final name may use it at once. What has the name keeps it, as a program whose file is replaced has none any more.
func Install(t testing.TB, path string, write func(draft string) error) {
	t.Helper()
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	scratch, err := os.MkdirTemp(dir, "draft-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(scratch)
	draft := filepath.Join(scratch, filepath.Base(path))
	if err := write(draft); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(draft, path); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
}

// Symbols are the symbols of an ELF file by their names.
func Symbols(t testing.TB, path string) map[string]elf.Symbol {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	list, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	symbols := make(map[string]elf.Symbol)
	for _, s := range list {
		symbols[s.Name] = s
	}
	return symbols
}

// Line returns the number, from 1, of the source line that carries the comment "mark: NAME".
func (p *Program) Line(t testing.TB, name string) int {
	t.Helper()
	for i, line := range strings.Split(p.text, "\n") {
		if strings.Contains(line, "/* mark: "+name+" */") {
			return i + 1
		}
	}
	t.Fatalf("%s has no line marked %q", filepath.Base(p.Source), name)
	return 0
}

// version is what the compiler says of itself; it is asked once per process.
var version struct {
	sync.Mutex
	text string
}

func compilerVersion(t testing.TB) string {
	t.Helper()
	version.Lock()
	defer version.Unlock()
	if version.text == "" {
		text, err := testtool.Command(t, "gcc", "--version").Output()
		if err != nil {
			t.Fatalf("gcc: %v", err)
		}
		version.text = string(text)
	}
	return version.text
}

// cacheKey tells apart whatever differs in any of its parts.
func cacheKey(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// CacheDir returns the folder in which builds for tests are kept from run to run. It may be removed at any time that no
// test runs.
func CacheDir(t testing.TB) string {
	t.Helper()
	base, err := os.UserCacheDir()
	if err != nil {
		t.Fatalf("no folder to keep test programs in: %v", err)
	}
	dir := filepath.Join(base, "tracewell-tests")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
