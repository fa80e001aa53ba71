package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/gdbtest"
)

// surviving makes GDB go on after an internal error, which otherwise ends it.
const surviving = `maintenance set internal-error quit no
maintenance set internal-error corefile no
maintenance set internal-error backtrace off
`

// look is what GDB is asked of each file. What the file before has left is taken away first.
const look = `? delete
? delete tvariable
-- %d --
? target tfile %s
? tstatus
? info tracepoints
? info tvariables
? tfind 0
? print $rip
? print $rax
? x/6xb 0x404020
? x/2xb 0x404024
? print $hi
? tfind 1
? print $rip
? tfind 2
`

// ask lets GDB look at files, all in one go.
func ask(t *testing.T, files [][]byte) []string {
	t.Helper()
	dir := t.TempDir()
	var script strings.Builder
	script.WriteString(surviving)
	for i, data := range files {
		name := filepath.Join(dir, fmt.Sprintf("%d.tf", i))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&script, look, i, name)
	}
	out := gdbtest.Run(t, "", script.String())
	said := make([]string, len(files))
	for i := range files {
		said[i] = out.Section(t, fmt.Sprint(i))
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
