package check

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// settings make GDB go on after an internal error, and never ask.
const settings = `set width 0
set height 0
set confirm off
set prompt
set debuginfod enabled off
maintenance set internal-error quit no
maintenance set internal-error corefile no
maintenance set internal-error backtrace off
`

// look is what GDB is asked of each file. What the file before has left is taken away first: its tracepoints and variables,
// and the place of its last frame, which GDB 13.1 keeps for the next file unless it is that of an empty one.
const look = `target tfile %[3]s
tfind 0
tfind none
delete
delete tvariable
echo @%[1]d@\n
target tfile %[2]s
tstatus
info tracepoints
info tvariables
tfind 0
print $rip
print $rax
x/6xb 0x404020
x/2xb 0x404024
print $hi
tfind 1
print $rip
tfind 2
echo @\n
`

func save(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ask lets GDB look at files, all in one go, and returns what it says of each. Errors do not end a script that comes by
// standard input: of some files GDB 13.1 complains after every command, so that they could not be caught otherwise.
func ask(t *testing.T, files [][]byte) []string {
	t.Helper()
	return askOf(t, "gdb", "", files)
}

// askOf is ask of one GDB or another, with the program that was traced.
func askOf(t *testing.T, gdb, program string, files [][]byte) []string {
	t.Helper()
	dir := t.TempDir()
	script := settings
	empty := good(t)
	empty.frames[0] = frame(2)
	data, _ := empty.bytes()
	between := save(t, dir, "between.tf", data)
	for i, data := range files {
		script += fmt.Sprintf(look, i, save(t, dir, fmt.Sprintf("%d.tf", i), data), between)
	}
	ctx, cancel := context.WithTimeout(t.Context(), gdbtest.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, testtool.Path(t, gdb), "-nx", "-nh", "-q", program)
	if program == "" {
		cmd.Args = cmd.Args[:len(cmd.Args)-1]
	}
	cmd.Stdin = strings.NewReader(script + "echo end\\n\n")
	cmd.Env = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "TERM=dumb", "DEBUGINFOD_URLS=")
	out, err := cmd.CombinedOutput()
	if !strings.HasSuffix(string(out), "end\n") {
		t.Fatalf("GDB did not come to the end: %v\n%s", err, out)
	}
	said := make([]string, len(files))
	for i := range files {
		_, rest, _ := strings.Cut(string(out), fmt.Sprintf("@%d@\n", i))
		said[i], _, _ = strings.Cut(rest, "\n@\n")
	}
	return said
}

// TestGDBOnBreaches compares what the table says of GDB with what GDB says.
func TestGDBOnBreaches(t *testing.T) {
	var files [][]byte
	for _, b := range breaches {
		file := good(t)
		b.make(&file)
		data, _ := file.bytes()
		files = append(files, data)
	}
	for i, said := range ask(t, files) {
		b := breaches[i]
		t.Run(b.name, func(t *testing.T) {
			if text, not := strings.CutPrefix(b.gdb, "-"); strings.Contains(said, text) == not {
				t.Errorf("GDB said %q: %v; it said:\n%s", text, !not, said)
			}
			if refused := strings.Contains(said, "error: "); b.severity == odd && refused && !strings.Contains(said, "Cannot access memory") {
				t.Errorf("GDB refuses what is odd only:\n%s", said)
			}
			if crashed := strings.Contains(said, "internal-error"); crashed != (b.severity == crashes) {
				t.Errorf("GDB crashed: %v, severity %v:\n%s", crashed, b.severity, said)
			}
		})
	}
}

// TestGDBOnTheGoodFile sees to it that what the breaches are compared with is not broken itself.
func TestGDBOnTheGoodFile(t *testing.T) {
	data, _ := good(t).bytes()
	said := ask(t, [][]byte{data})[0]
	for _, complaint := range []string{"warning", "error"} {
		if strings.Contains(said, complaint) {
			t.Errorf("GDB has a %s:\n%s", complaint, said)
		}
	}
}
