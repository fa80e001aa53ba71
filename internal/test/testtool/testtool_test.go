package testtool

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure is the message of Path for a tool.
func failure(t *testing.T, tool string) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Path(r, tool)
	}()
	<-done
	return r.message
}

// TestAllTools: test/setup has installed each tool of the table.
func TestAllTools(t *testing.T) {
	if len(packages()) < 20 {
		t.Fatalf("the table has only %d tools", len(packages()))
	}
	for tool := range packages() {
		if message := failure(t, tool); message != "" {
			t.Error(message)
		}
	}
	if message := failure(t, "go"); message != "" {
		t.Error(message)
	}
}

// TestPathIgnoresPATH puts other tools first in PATH: of a compiler, and of the linker that the compiler starts.
func TestPathIgnoresPATH(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"gcc", "as", "ld"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	cmd := Command(t, "gcc", "-x", "c", "-o", filepath.Join(folder, "program"), "-")
	cmd.Stdin = strings.NewReader("int main(void) { return 0; }")
	if output, err := cmd.CombinedOutput(); err != nil || cmd.Path != "/usr/bin/gcc" {
		t.Errorf("%s: %v\n%s", cmd.Path, err, output)
	}
}

// TestMissing: the message names the package, or the table that does not list the tool.
func TestMissing(t *testing.T) {
	before := table
	defer func() { table = before }()
	table += "no-such-tool  no-such-package\n"
	if got := failure(t, "no-such-tool"); !strings.Contains(got, "no-such-package has it; make setup") {
		t.Error(got)
	}
	if got := failure(t, "unlisted"); !strings.Contains(got, "unlisted: tests may use no such tool") {
		t.Error(got)
	}
}
