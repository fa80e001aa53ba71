package gdbtest

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/testprog"
)

func TestSections(t *testing.T) {
	output := Run(t, "", `
		-- sums --
		print 1 + 2
		-- errors --
		? print no_such_symbol
		print "after"
		-- sums --
		printf "no newline"
		-- empty --
	`)
	want := map[string]string{
		"sums":   "$1 = 3\n\nno newline",
		"errors": "error: No symbol table is loaded.  Use the \"file\" command.\n$2 = \"after\"",
		"empty":  "",
	}
	for name, text := range want {
		if diff := cmp.Diff(text, output.Section(t, name)); diff != "" {
			t.Errorf("section %q (-want +got):\n%s", name, diff)
		}
	}
}

func TestFailingCommandIsReported(t *testing.T) {
	output, err := run(t, debugger{"gdb", Timeout}, "", "-- before --\nprint 1\nprint no_such_symbol\nprint 2")
	if err == nil {
		t.Error("a failing command went unnoticed")
	}
	if !strings.Contains(output.All, "No symbol table") || strings.Contains(output.All, "$2") {
		t.Errorf("GDB printed:\n%s", output.All)
	}
}

// TestRunsProgram lets GDB itself run a test program, which shows that both parts of the harness fit.
func TestRunsProgram(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{NoPIE: true})
	output := Run(t, program.Path, `
		set disable-randomization off
		break work
		run 3
		-- arguments --
		info args
		print item->label
		-- source --
		info source
		-- gone --
		kill
	`)
	if args := output.Section(t, "arguments"); !strings.Contains(args, "factor = 1") || !strings.Contains(args, `"item-1`) {
		t.Errorf("arguments: %s", args)
	}
	if source := output.Section(t, "source"); !strings.Contains(source, "Located in "+program.Source+"\n") {
		t.Errorf("source: %s", source)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("DEBUGINFOD_URLS", "http://localhost:1/")
	t.Setenv("KEPT", "yes")
	env := environment("/nowhere")
	if !slices.Contains(env, "HOME=/nowhere") || !slices.Contains(env, "KEPT=yes") {
		t.Errorf("environment lacks HOME or KEPT: %q", env)
	}
	for _, name := range []string{"DEBUGINFOD_URLS=", "HOME=" + os.Getenv("HOME")} {
		if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, name) }) {
			t.Errorf("environment has %s", name)
		}
	}
}

func TestListensOnSocket(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	if listensOnSocket(path) {
		t.Error("there is no socket yet")
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if !listensOnSocket(path) {
		table, _ := os.ReadFile("/proc/net/unix")
		t.Errorf("a listening socket is not seen; the kernel's table:\n%s", table)
	}
}

func TestListensOnPort(t *testing.T) {
	s := new(Server)
	s.stderr.text.WriteString("Process ./x created; pid = 123\n")
	if s.listensOnPort() {
		t.Error("the port has not been told yet")
	}
	s.stderr.text.WriteString("Listening on port 2345\n")
	if !s.listensOnPort() || s.Address != "localhost:2345" || s.InferiorPID(t) != 123 {
		t.Errorf("address %q, pid %d", s.Address, s.InferiorPID(t))
	}
}
