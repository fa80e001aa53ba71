package view_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/test/gdbtest"
)

// TestHTML writes a page, which takes the place of another only when it is whole.
func TestHTML(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	if got := clitest.Run(t, "view", clitest.Basic, "--html", path); got.Status != console.StatusDone || got.Stdout != "" {
		t.Fatalf("exit status %d, printed %q, message %s", got.Status, got.Stdout, got.Stderr)
	}
	if page := clitest.Content(t, path); !strings.Contains(page, `"frames":85`) || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
		t.Errorf("the page has %d bytes and ends in %q", len(page), page[max(0, len(page)-100):])
	}
}

// TestDamaged: what can be read of a damaged file is shown, and the exit status tells of the damage.
func TestDamaged(t *testing.T) {
	folder := t.TempDir()
	damaged, path := filepath.Join(folder, "cut.tf"), filepath.Join(folder, "page.html")
	if err := os.WriteFile(damaged, []byte(clitest.Content(t, clitest.Basic)[:30_000]), 0o600); err != nil {
		t.Fatal(err)
	}
	got := clitest.Run(t, "view", damaged, "--html", path)
	if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "premature end") {
		t.Errorf("exit status %d, message %s", got.Status, got.Stderr)
	}
	if page := clitest.Content(t, path); !strings.Contains(page, `"frames":5`) || !strings.Contains(page, "premature end") {
		t.Error("the page does not tell of the damage")
	}
}

func TestRefused(t *testing.T) {
	for message, args := range map[string][]string{
		"no loopback address":                {clitest.Basic, "--listen", "192.0.2.1:0"},
		"0.0.0.0:0 is no loopback address":   {clitest.Basic, "--listen", "0.0.0.0:0"},
		"missing port":                       {clitest.Basic, "--listen", "127.0.0.1"},
		"can't be used together":             {clitest.Basic, "--html", "x.html", "--open"},
		"no such file":                       {"no/such/file.tf"},
		"tracewell: --source: lstat ":        {clitest.Basic, "--source", "no/such/folder"},
		"open no-such-program: no such file": {clitest.Basic, "--exec", "no-such-program"},
	} {
		got := clitest.Run(t, append([]string{"view"}, args...)...)
		if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, message) || got.Stdout != "" {
			t.Errorf("%q: exit status %d, printed %q, message %s, want %s", args, got.Status, got.Stdout, got.Stderr, message)
		}
	}
}

// TestServe: the address is on standard output, it answers, and Ctrl-C ends the command in order.
func TestServe(t *testing.T) {
	cmd := exec.Command(gdbtest.Binary(t), "view", clitest.Basic, "--exec", clitest.BasicProgram)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	reader := bufio.NewReader(out)
	address, err := reader.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(strings.TrimSpace(address) + "ask/search?where=n+%3E+3")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || !strings.HasPrefix(string(body), `{"total":8,"done":true`) {
		t.Errorf("the page's answer is %s, %v", body, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
		t.Errorf("standard output has %q besides, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
}
