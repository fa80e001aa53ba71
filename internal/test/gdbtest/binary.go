package gdbtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// Binary returns the path of the tracewell binary, built from this tree once per process as it is released: static.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := buildOnce(testtool.Path(t, "go"), testprog.CacheDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	building sync.Mutex
	built    string
)

// buildOnce puts the binary into a folder for this tree inside dir. It is renamed into its place, since the tests of
// another package may be running the one that is there.
func buildOnce(goCommand, dir string) (string, error) {
	building.Lock()
	defer building.Unlock()
	if built != "" {
		return built, nil
	}
	module, err := exec.Command(goCommand, "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	tree := sha256.Sum256(module)
	scratch, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	draft := filepath.Join(scratch, "tracewell")
	cmd := exec.Command(goCommand, "build", "-o", draft, "./cmd/tracewell")
	cmd.Dir = filepath.Dir(strings.TrimSpace(string(module)))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if messages, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building tracewell: %w\n%s", err, messages)
	}
	final := filepath.Join(dir, "tracewell-"+hex.EncodeToString(tree[:8]))
	if err := os.Rename(draft, final); err != nil {
		return "", err
	}
	built = final
	return built, nil
}
