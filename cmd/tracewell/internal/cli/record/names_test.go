//go:build linux && amd64

package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// copyOf copies a program to a folder of the test.
func copyOf(t *testing.T, path, name string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(made, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return made
}

// stripped is a copy of a program without symbols and debugging information.
func stripped(t *testing.T, path string) string {
	t.Helper()
	made := copyOf(t, path, filepath.Base(path))
	if out, err := testtool.Command(t, "strip", made).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v\n%s", err, out)
	}
	return made
}

// TestStrippedMainKeepsLibraries: the libraries have their names, whatever the program itself has lost.
func TestStrippedMainKeepsLibraries(t *testing.T) {
	library := testprog.Build(t, "pluginlib", testprog.Variant{Library: true})
	p := testprog.Build(t, "plugins", testprog.Variant{})
	var outputs, tables []string
	for _, program := range []string{p.Path, stripped(t, p.Path)} {
		got, path := clitest.RecordInto(t, "-q", "--pending", "--at", "plugin_work", "--bare", "--collect", "number, number * 2, $rdi + 1",
			"--format", "{function} {file} {values}", "--", program, library.Path, "2")
		outputs = append(outputs, strings.ReplaceAll(got.Stdout, "done calls=6 sum=84\n", "")) // the program's own, which may come anywhere
		shown := clitest.Run(t, "show", path, "-r", "rip", "--frames", "1:1")
		_, values, _ := strings.Cut(shown.Stdout, "<plugin_work")
		tables = append(tables, regexp.MustCompile(`0x[0-9a-f]+|[\d:.]{15}`).ReplaceAllString(values, "?"))
	}
	if outputs[0] != outputs[1] || strings.Count(outputs[0], "plugin_work pluginlib.c number = 2, number * 2 = 4, $rdi + 1 = 3\n") != 2 {
		t.Errorf("with symbols\n%swithout\n%s", outputs[0], outputs[1])
	}
	if tables[0] != tables[1] || !strings.HasSuffix(tables[0], "  number=2 number * 2=4 $rdi + 1=3\n") {
		t.Errorf("show prints with symbols\n%s\nwithout\n%s", tables[0], tables[1])
	}
}

// TestPrintOfProgramInPath: a program that is found in PATH has its types.
func TestPrintOfProgramInPath(t *testing.T) {
	p := testprog.Build(t, "foreign", testprog.Variant{})
	t.Setenv("PATH", filepath.Dir(p.Path)+":"+os.Getenv("PATH"))
	got, _ := clitest.RecordInto(t, "-q", "--at", "take", "--collect", "*l", "--format", "{values}", "--frames", "2", "--", "foreign")
	if !strings.Contains(got.Stdout, `, number = -1}`) {
		t.Errorf("it prints\n%s%s", got.Stdout, got.Stderr)
	}
}

// TestPrintOfDeletedProgram: a process whose executable is deleted, or is in a mount namespace of its own, is printed with the types
// by which it is traced.
func TestPrintOfDeletedProgram(t *testing.T) {
	p := testprog.Build(t, "ticks", testprog.Variant{})
	for name, start := range map[string]func(*testing.T) *exec.Cmd{
		"deleted": func(t *testing.T) *exec.Cmd {
			program := copyOf(t, p.Path, "gone")
			t.Cleanup(func() { os.Remove(program) })
			return exec.Command(program)
		},
		"namespace": func(t *testing.T) *exec.Cmd {
			within := t.TempDir()
			return testtool.Command(t, "unshare", "--mount", "--map-root-user", "sh", "-c",
				fmt.Sprintf("mount -t tmpfs none %[1]s && cp %[2]s %[1]s/hidden && exec %[1]s/hidden", within, p.Path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := start(t)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				cmd.Process.Kill()
				cmd.Wait()
			}()
			if _, err := fmt.Fscanln(out, new(string)); err != nil { // it runs
				t.Fatal(err)
			}
			if name == "deleted" {
				if err := os.Remove(cmd.Path); err != nil {
					t.Fatal(err)
				}
			}
			got, _ := clitest.RecordInto(t, "-q", "--at", "tick", "--collect", "*now", "--format", "{function}: {values}", "--frames", "2",
				"--pid", fmt.Sprint(cmd.Process.Pid))
			if strings.Count(got.Stdout, "tick: *now = {count = ") != 2 {
				t.Errorf("it prints\n%s%s", got.Stdout, got.Stderr)
			}
		})
	}
}
