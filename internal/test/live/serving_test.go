package live

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestAttachOption has the server attach to a process that runs already, by both forms of gdbserver's command line, and
// GDB look at it and let it go. The server then ends, and the process goes on as if nothing had been.
func TestAttachOption(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "sleeper", testprog.Variant{})
	for name, flags := range map[string][2][]string{
		"before": {{"--attach"}, nil},
		"behind": {nil, {"--attach"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sleeper := exec.CommandContext(t.Context(), program.Path, "1000", "stdin")
			in, err := sleeper.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := sleeper.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := sleeper.Start(); err != nil {
				t.Fatal(err)
			}
			printed := bufio.NewScanner(out)
			printed.Scan() // it is ready
			pid := strconv.Itoa(sleeper.Process.Pid)

			server := gdbtest.Start(t, gdbtest.Config{Flags: flags[0], Command: slices.Concat(flags[1], []string{pid})})
			output := gdbtest.Run(t, program.Path, `
				target remote `+server.Address+`
				break tick
				continue
				-- stopped --
				info inferiors
				backtrace
				-- end --
				detach
			`)
			contains(t, output, "stopped", "process "+pid, "tick (n=", "in main (")
			contains(t, output, "end", "detached]")
			if status := server.Wait(t); status != 0 {
				t.Errorf("the server's exit status is %d", status)
			}
			for _, want := range []string{"Attached; pid = " + pid + "\n", "Detaching from process " + pid + "\n"} {
				if !strings.Contains(server.Stderr(), want) {
					t.Errorf("the server did not say %q:\n%s", want, server.Stderr())
				}
			}
			in.Close()
			if printed.Scan(); !strings.HasPrefix(printed.Text(), "done ticks=") {
				t.Errorf("the program ended by %q", printed.Text())
			}
			if err := sleeper.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMultiRunsTwice starts a server without a program. GDB runs one, with two lists of arguments, lets it end both
// times, and ends the server.
func TestMultiRunsTwice(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "exits", testprog.Variant{})
	server := gdbtest.Start(t, gdbtest.Config{Flags: []string{"--multi"}})
	output := gdbtest.Run(t, program.Path, `
		target extended-remote `+server.Address+`
		set remote exec-file `+program.Path+`
		break step
		set args 2
		run
		-- first --
		print call
		disable
		continue
		-- second --
		set args 3
		enable
		run
		print call
		continue
		print call
		disable
		continue
		-- end --
		monitor exit
	`)
	contains(t, output, "first", "$1 = 0", "exited with code 07]")
	contains(t, output, "second", "$2 = 0", "$3 = 1", "exited with code 07]")
	if status := server.Wait(t); status != 0 {
		t.Errorf("the server's exit status is %d", status)
	}
	if printed := lines(server.Stdout(), "step"); len(printed) != 2+3 {
		t.Errorf("the program printed in two runs:\n%s", strings.Join(printed, "\n"))
	}
	for _, want := range []string{"Process " + program.Path + " created; pid = ", "\nChild exited with status 7\n"} {
		if n := strings.Count(server.Stderr(), want); n != 2 {
			t.Errorf("the server said %q %d times:\n%s", want, n, server.Stderr())
		}
	}
}

// TestMultiServesOn has three clients one after another, of which only the first runs a program, which is gone when it
// leaves.
func TestMultiServesOn(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "exits", testprog.Variant{})
	server := gdbtest.Start(t, gdbtest.Config{Flags: []string{"--multi"}})
	connect := "target extended-remote " + server.Address + "\n"
	gdbtest.Run(t, program.Path, connect+"set remote exec-file "+program.Path+"\nbreak step\nrun\nkill")
	gdbtest.Run(t, "", connect+"disconnect")
	gdbtest.Run(t, "", connect+"monitor exit")
	if status := server.Wait(t); status != 0 {
		t.Errorf("the server's exit status is %d", status)
	}
	const again = "Remote side has terminated connection.  GDBserver will reopen the connection.\n"
	if n := strings.Count(server.Stderr(), again); n != 2 {
		t.Errorf("the server said %d times that it goes on:\n%s", n, server.Stderr())
	}
}

// TestWrapper starts programs by env, on the server's command line and by GDB's run.
func TestWrapper(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "exits", testprog.Variant{})
	const look = `
		-- environment --
		print ((char *(*)(const char *)) getenv)("TRACEWELL_WRAPPED")
		monitor exit
	`
	wrapper := []string{"--wrapper", "env", "TRACEWELL_WRAPPED=yes", "--"}
	for _, way := range []struct {
		name    string
		flags   []string
		command []string
		script  string
	}{
		{"command-line", wrapper, []string{program.Path, "1"}, "target remote {SERVER}\nbreak main\ncontinue"},
		{"run", append(slices.Clone(wrapper), "--multi"), nil, "target extended-remote {SERVER}\nset remote exec-file " +
			program.Path + "\nbreak main\nrun"},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			server := gdbtest.Start(t, gdbtest.Config{Flags: way.flags, Command: way.command})
			output := gdbtest.Run(t, program.Path, strings.ReplaceAll(way.script, "{SERVER}", server.Address)+look)
			contains(t, output, "environment", `"yes"`)
			server.Wait(t)
		})
	}
}

// TestServerOutlivesClient: after a detach the server stays until the program that it has started ends, since that uses its
// terminal and whoever waits for the server means the program.
func TestServerOutlivesClient(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "sleeper", testprog.Variant{})
	in, closed := io.Pipe()
	server := gdbtest.Start(t, gdbtest.Config{Stdin: in, Command: []string{program.Path, "1000", "stdin"}})
	gdbtest.Run(t, program.Path, "target remote "+server.Address+inMain+"detach")
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/exe", server.PID())); err != nil {
		t.Errorf("the server is gone before its program: %v", err)
	}
	closed.Close()
	if status := server.Wait(t); status != 0 {
		t.Errorf("the server's exit status is %d", status)
	}
	if !strings.Contains(server.Stdout(), "done ticks=") {
		t.Errorf("the server ended before its program, which printed:\n%s", server.Stdout())
	}
}
