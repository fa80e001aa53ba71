package firmware

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

	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

//go:embed testdata
var sources embed.FS

// common are the flags of all boards. The optimisation is the lowest that keeps arguments in registers.
var common = []string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-O1", "-ffreestanding", "-fno-pic",
	"-fuse-ld=lld", "-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,-z,max-page-size=4096"}

// Program is the program built for a board.
type Program struct {
	Board  Board
	Path   string // of the ELF executable
	Source string // path of core.c, as its debug information has it

	text    string
	symbols map[string]elf.Symbol
}

// built are the programs of this process.
var built struct {
	sync.Mutex
	programs map[Board]*Program
}

// Build returns the program for a board. Each process compiles it at most once.
func Build(t testing.TB, b Board) *Program {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if p := built.programs[b]; p != nil {
		return p
	}
	dir := filepath.Join(testprog.CacheDir(t), "firmware-"+b.String()+"-"+key(t, boards[b]))
	text, err := sources.ReadFile("testdata/core.c")
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{
		Board: b, Path: filepath.Join(dir, boards[b].name+".elf"), Source: filepath.Join(dir, "core.c"), text: string(text),
	}
	if _, err := os.Stat(p.Path); err != nil {
		compile(t, boards[b], p)
	}
	p.symbols = testprog.Symbols(t, p.Path)
	if built.programs == nil {
		built.programs = map[Board]*Program{}
	}
	built.programs[b] = p
	return p
}

// files are the sources of a board: those in its folder, and the core unless these have another.
func (b *board) files() []string {
	folder := "testdata/" + b.folder
	files, _ := fs.Glob(sources, folder+"/*")
	if alone, _ := fs.Glob(sources, folder+"/*.c"); alone == nil {
		files = append(files, "testdata/core.c", "testdata/core.h")
	}
	return files
}

// key tells builds apart by whatever differs in them.
func key(t testing.TB, b *board) string {
	t.Helper()
	version, err := testtool.Command(t, "clang", "--version").Output()
	if err != nil {
		t.Fatalf("clang: %v", err)
	}
	sum := sha256.New()
	sum.Write(version)
	for _, flags := range [][]string{common, b.flags} {
		sum.Write([]byte(strings.Join(flags, "\x00") + "\x00"))
	}
	for _, file := range b.files() {
		text, err := sources.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(append([]byte(file), text...))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func compile(t testing.TB, b *board, p *Program) {
	t.Helper()
	dir := filepath.Dir(p.Path)
	args := append(append(b.flags, common...), "-I", dir)
	for _, file := range b.files() {
		path := filepath.Join(dir, filepath.Base(file))
		testprog.Install(t, path, func(draft string) error {
			text, err := sources.ReadFile(file)
			return errors.Join(err, os.WriteFile(draft, text, 0o600))
		})
		switch filepath.Ext(path) {
		case ".c", ".S":
			args = append(args, path)
		case ".ld":
			args = append(args, "-T", path)
		}
	}
	testprog.Install(t, p.Path, func(draft string) error {
		messages, err := testtool.Command(t, "clang", append(args, "-o", draft)...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("compiling for %s: %w\n%s", b.name, err, messages)
		}
		return err
	})
}

// Address returns where a function or global lies.
func (p *Program) Address(t testing.TB, name string) uint64 {
	t.Helper()
	s, ok := p.symbols[name]
	if !ok {
		t.Fatalf("%s has no symbol %q", filepath.Base(p.Path), name)
	}
	if boards[p.Board].class == elf.EM_ARM && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
		return s.Value &^ 1 // the bit that says Thumb
	}
	return s.Value
}

// Line returns the number, from 1, of the line of core.c that carries the comment "mark: NAME".
func (p *Program) Line(t testing.TB, name string) int {
	t.Helper()
	for i, line := range strings.Split(p.text, "\n") {
		if strings.Contains(line, "/* mark: "+name+" */") {
			return i + 1
		}
	}
	t.Fatalf("core.c has no line marked %q", name)
	return 0
}
