// Package gdbtest drives the GDB that is installed, unchanged and in batch, against the tracewell binary of this tree.
//
// A test writes a script of GDB commands with section marks, runs it, and looks at what GDB printed in each section. GDB
// sees neither the user's settings nor the network's debug information; it and everything it starts are killed when the
// time is up. Where GDB is missing the test fails; nothing here skips. Only tests import this package.
//
// A script is GDB commands, one a line, with two additions:
//
//	-- NAME --     what follows is printed into the section NAME
//	? COMMAND      the command may fail; its error is printed as "error: MESSAGE" and the script goes on
//
// Any other failing command ends the script, and with it the test.
package gdbtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testtool"
)

// Timeout is how long a script of Run may take before GDB is killed and the test fails.
const Timeout = 3 * time.Minute

// settings come first in every script, so that output is the same on every terminal and nothing waits for an answer.
const settings = `set confirm off
set pagination off
set width 0
set height 0
set style enabled off
set print thread-events off
set debuginfod enabled off
set remotetimeout 20
`

// Output is what GDB printed, standard output and error together, cut at the section marks.
type Output struct {
	All      string
	sections map[string]string
}

// Section returns what was printed in a section, without surrounding blank lines. A name used twice joins both. It fails the
// test when the script has no such section.
func (o *Output) Section(t testing.TB, name string) string {
	t.Helper()
	text, ok := o.sections[name]
	if !ok {
		t.Fatalf("GDB's output has no section %q:\n%s", name, o.All)
	}
	return strings.Trim(text, "\n")
}

// Run runs a script in GDB, with program as the executable when it is not empty, and fails the test when a command fails
// that is not marked with "?".
func Run(t testing.TB, program, script string) *Output {
	t.Helper()
	return mustRun(t, debugger{"gdb", Timeout}, program, script)
}

// RunFor is Run with another time limit.
func RunFor(t testing.TB, limit time.Duration, program, script string) *Output {
	t.Helper()
	return mustRun(t, debugger{"gdb", limit}, program, script)
}

// RunMultiarch runs a script, as Run does, in the GDB that knows every architecture.
func RunMultiarch(t testing.TB, script string) *Output {
	t.Helper()
	return mustRun(t, debugger{"gdb-multiarch", Timeout}, "", script)
}

// RunMultiarchFor is RunMultiarch with another time limit.
func RunMultiarchFor(t testing.TB, limit time.Duration, script string) *Output {
	t.Helper()
	return mustRun(t, debugger{"gdb-multiarch", limit}, "", script)
}

// debugger is a GDB by the name of its command, and how long a script may take in it.
type debugger struct {
	command string
	limit   time.Duration
}

func mustRun(t testing.TB, d debugger, program, script string) *Output {
	t.Helper()
	output, err := run(t, d, program, script)
	if err != nil {
		t.Fatalf("%v; GDB printed:\n%s", err, output.All)
	}
	return output
}

// run tells by the last mark whether the whole script was executed: GDB's exit status does not.
func run(t testing.TB, d debugger, program, script string) (*Output, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "script.gdb")
	if err := os.WriteFile(path, []byte(compose(script)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d.limit)
	defer cancel()
	cmd := command(t, ctx, d.command, dir, path, program)
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	err := cmd.Run()
	output := &Output{All: all.String(), sections: split(all.String())}
	_, finished := output.sections[endMark]
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return output, fmt.Errorf("GDB was killed after %v", d.limit)
	case !finished:
		return output, fmt.Errorf("a command failed and ended the script (%v)", cmd.ProcessState)
	case err != nil:
		return output, err
	}
	return output, nil
}

// command prepares GDB in a process group of its own, which is what is killed when ctx ends.
func command(t testing.TB, ctx context.Context, gdb, home, script, program string) *exec.Cmd {
	t.Helper()
	args := []string{"-nx", "-nh", "-batch", "-x", script}
	if program != "" {
		args = append(args, program)
	}
	cmd := exec.CommandContext(ctx, testtool.Path(t, gdb), args...)
	cmd.Env = environment(home)
	Isolate(cmd)
	return cmd
}

// environment is this process's, less what would change GDB's behaviour.
func environment(home string) []string {
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home, "LC_ALL=C", "TERM=dumb"}
	for _, variable := range os.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); name {
		case "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "LC_ALL", "TERM", "DEBUGINFOD_URLS", "COLUMNS", "LINES":
		default:
			env = append(env, variable)
		}
	}
	return env
}
