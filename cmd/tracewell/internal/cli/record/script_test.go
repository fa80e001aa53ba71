//go:build unix

package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
)

// TestScriptEndsAtOnce names files as scripts that have no end, or nobody who writes them.
func TestScriptEndsAtOnce(t *testing.T) {
	dir := t.TempDir()
	fifo, large := filepath.Join(dir, "fifo"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<40); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		fifo:                 "it is a FIFO, not a regular file",
		"/dev/zero":          "it is a device, not a regular file",
		"/dev/urandom":       "it is a device, not a regular file",
		dir:                  "it is a directory, not a regular file",
		large:                "it has more than 16777216 bytes",
		"/proc/self/pagemap": "pagemap: ",
	} {
		got := clitest.Run(t, "record", "--script", path, "--dry-run", "--", "/bin/true")
		if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, want) || !strings.Contains(got.Stderr, path) {
			t.Errorf("%s: %+v, want %q", path, got, want)
		}
	}
}

// TestScriptOfPipe reads what a shell makes of <(...), and of a script with more than a pipe holds.
func TestScriptOfPipe(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	go func() {
		defer out.Close()
		fmt.Fprintf(out, "%s\ntrace main\n", strings.Repeat("# a comment\n", 100_000))
	}()
	text, err := readScript(fmt.Sprintf("/dev/fd/%d", in.Fd()))
	if err != nil || !strings.HasSuffix(string(text), "trace main\n") || len(text) < 1_200_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
