package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// recorded makes a trace file of a run of the queue.
func recorded(t *testing.T, program *testprog.Program) string {
	t.Helper()
	saved := filepath.Join(t.TempDir(), "saved.tf")
	server := gdbtest.Start(t, gdbtest.Config{Command: []string{program.Path, "5"}})
	gdbtest.Run(t, program.Path, fmt.Sprintf(`
		target remote %s
		trace queue.c:push
		actions
		collect $regs, *item
		end
		tbreak main
		continue
		tstart
		break exit
		continue
		tstop
		tsave %s
		kill
	`, server.Address, saved))
	return saved
}

// clients is what one GDB after another does with a recording: those that are given a program and those that are not, that
// choose the extended mode or not, that leave in every way there is.
const clients = `
	target extended-remote ADDRESS
	-- threads --
	info threads
	info sharedlibrary
	-- running --
	continue
	stepi
	-- changing --
	? print $rax = 3
	? print *(int *) main = 3
	? tstart
	? set trace-notes hello
	tfind 2
	? print $rax = 3
	? print item->number = 3
	? set var pushes = 3
	-- frame --
	print item->number
	print pushes
	print sizeof (pending)
	x/i main
	bt 1
	tfind none
	-- saved --
	tsave LOCAL
	tsave -r REMOTE
	? tsave -r /nowhere/remote.tf
	-- help --
	monitor help
	-- detached --
	detach
	info threads
	? tfind 1
	-- again --
	target extended-remote ADDRESS
	tfind 1
	-- killed --
	kill
	? tfind 1
	tstatus
	disconnect
	-- remote --
	target remote ADDRESS
	tfind 1
	disconnect
	target remote ADDRESS
	tfind 2
	detach
	target remote ADDRESS
	tfind 3
	kill
	target remote ADDRESS
	tfind 4
	print item->number
	-- left --
`

func TestClients(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{})
	saved := recorded(t, program)
	dir := t.TempDir()
	local, remote := filepath.Join(dir, "local.tf"), filepath.Join(dir, "remote.tf")
	server := serveReplay(t, "--exec", program.Path, "--listen", saved)
	output := gdbtest.Run(t, "", strings.NewReplacer("ADDRESS", server.Address, "LOCAL", local, "REMOTE", remote).Replace(clients))
	for section, texts := range map[string][]string{
		"threads":  {`* 1    Thread 4194304.1 "queue" 0x`, "in _start ()", "No shared libraries loaded at this time."},
		"running":  {"warning: Remote failure reply: E.a trace file cannot be run"},
		"changing": {"a trace file cannot be changed", "this trace run is a recording", "a traceframe is selected", "Cannot access memory"},
		"frame":    {"= 3", "= <unavailable>", "= 24", "<main>:\tpush   %rbp", "#0  push ("},
		"saved":    {"/nowhere"},
		"help":     {"The following monitor commands are supported:"},
		"detached": {"[Inferior 1 (process 4194304) detached]", "No threads.", "connect again to look at frames"},
		"again":    {"Assuming tracepoint 1 is same as target's tracepoint 1", "Found trace frame 1, tracepoint 1"},
		"killed":   {"[Inferior 1 (process 4194304) killed]", "No registers.", "Collected 5 trace frames"},
		"remote":   {"Found trace frame 1", "Found trace frame 2", "Found trace frame 3", "Found trace frame 4", "= 5"},
	} {
		for _, text := range texts {
			if got := output.Section(t, section); !strings.Contains(got, text) {
				t.Errorf("%s: GDB does not print %q:\n%s", section, text, got)
			}
		}
	}
	want := framesOf(t, saved)
	for _, path := range []string{local, remote} {
		if framesOf(t, path) != want {
			t.Errorf("the frames that were saved in %s are others", path)
		}
	}
}

// framesOf is what is behind the definitions of a file.
func framesOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, frames, found := strings.Cut(string(b), "\n\n")
	if !found {
		t.Fatalf("%s has no end of definitions", path)
	}
	return frames
}

// TestLinkerIsNowhere has a GDB that reads libraries where it is itself, so that it finds the dynamic linker, of which nobody
// knows where it was. It must not take addresses of the program for those of the linker.
func TestLinkerIsNowhere(t *testing.T) {
	for _, v := range []testprog.Variant{{}, {NoPIE: true}} {
		program := testprog.Build(t, "queue", v)
		server := serveReplay(t, "--exec", program.Path, "--listen", recorded(t, program))
		output := gdbtest.Run(t, program.Path, "set sysroot\ntarget remote "+server.Address+
			"\n-- symbols --\ninfo symbol $pc\ntfind 0\ninfo symbol $pc\ninfo symbol item->number\nprint &pending\n-- end --\n")
		if got := output.Section(t, "symbols"); strings.Contains(got, "ld-linux") || !strings.Contains(got, "_start in section .text") ||
			!strings.Contains(got, "push + ") || !strings.Contains(got, "<pending>") {
			t.Errorf("%v: GDB prints\n%s", v, got)
		}
	}
}
