package randprog

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Build is a way to compile a program.
type Build struct {
	Language Language
	Compiler string // Debian's, by its path: others may come first in PATH
	Flags    string
}

// String names the build in a form that suits a subtest: "gcc-gdwarf-2-gstrict-dwarf-O2".
func (b Build) String() string {
	return filepath.Base(b.Compiler) + strings.ReplaceAll(strings.ReplaceAll(b.Flags, "-C opt-level=", "-O"), " ", "")
}

// Builds is every way; the first of a compiler and Few are quick to go through.
func Builds() []Build {
	var builds []Build
	for _, c := range []struct {
		language Language
		path     string
	}{{C, "/usr/bin/gcc"}, {C, "/usr/bin/clang"}, {CPP, "/usr/bin/g++"}, {CPP, "/usr/bin/clang++"}} {
		for _, version := range []string{"-gdwarf-5", "-gdwarf-4", "-gdwarf-3", "-gdwarf-2"} {
			for _, strict := range []string{" -O2", " -O0", " -gstrict-dwarf -O2"} {
				builds = append(builds, Build{c.language, c.path, version + strict})
			}
		}
		builds = append(builds, Build{c.language, c.path, "-gdwarf-5 -O1 -fno-pie -no-pie"})
	}
	builds = append(builds, Build{C, "/usr/bin/gcc", "-gdwarf-5 -O2 -fshort-enums"}, Build{C, "/usr/bin/gcc", "-gdwarf-5 -O2 -flto"})
	for _, level := range []string{"2", "0", "1"} { // Debian's compiler writes version 4 only
		builds = append(builds, Build{Rust, "/usr/bin/rustc", "-g -C opt-level=" + level})
	}
	return builds
}

// Few is a build or two of each compiler, with different versions of DWARF.
func Few() []Build {
	return []Build{
		{C, "/usr/bin/gcc", "-gdwarf-5 -O2"}, {C, "/usr/bin/gcc", "-gdwarf-4 -O0"}, {C, "/usr/bin/clang", "-gdwarf-4 -O2"},
		{CPP, "/usr/bin/g++", "-gdwarf-2 -gstrict-dwarf -O2"}, {CPP, "/usr/bin/clang++", "-gdwarf-5 -O2"},
		{CPP, "/usr/bin/clang++", "-gdwarf-2 -gstrict-dwarf -O2"}, {Rust, "/usr/bin/rustc", "-g -C opt-level=2"},
	}
}

// Compile compiles the program in a folder of its own and returns the executable's path.
func (p *Program) Compile(t testing.TB, b Build) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, p.File()), []byte(p.Source), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	arguments := append(strings.Fields(b.Flags), "-o", "program", p.File())
	if b.Language != Rust {
		arguments = append([]string{"-w"}, arguments...)
	}
	cmd := exec.CommandContext(ctx, b.Compiler, arguments...)
	cmd.Dir = dir
	if messages, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v, which test/setup installs: %v\n%s", cmd, err, messages)
	}
	return filepath.Join(dir, "program")
}

// At is a mark as a location in GDB's syntax.
func (p *Program) At(m Mark) string { return fmt.Sprintf("%s:%d", p.File(), m.Line) }
