package demo

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/demo"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
	"tracewell/view/wire"
)

// TestDemo runs the demonstration, and then has the real GDB read what it left: the frames and the program.
func TestDemo(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	dir := filepath.Join(t.TempDir(), "with space")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, program := filepath.Join(dir, "run.tf"), filepath.Join(dir, "run")
	got := clitest.Run(t, "demo", "-o", file)
	if got.Status != console.StatusDone || got.Stderr != "" {
		t.Fatalf("exit status %d, message %q", got.Status, got.Stderr)
	}
	for _, want := range []string{"the program printed: demo: ", "q->depth > 24", "<handle>", "tracewell show '" + file + "'", "target tfile "} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("it printed\n%swithout %q", got.Stdout, want)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("written: %v, error %v", left, err)
	}
	if copied := clitest.Content(t, program); !bytes.Equal([]byte(copied), demo.Program()) {
		t.Error("the program beside the file is another")
	}
	frames := clitest.Objects(t, clitest.Run(t, "show", file, "--json").Stdout)
	if len(frames) < 200 {
		t.Fatalf("%d frames, want a few hundred", len(frames))
	}
	checkDemo(t, frames)
	compareDemo(t, program, file, frames)
}

// checkDemo looks whether the frames are what was asked for.
func checkDemo(t *testing.T, frames []wire.Frame) {
	t.Helper()
	handle, err := demo.Lookup(demo.Handle)
	if err != nil {
		t.Fatal(err)
	}
	for i, frame := range frames {
		depth := frame.Memory[0]
		if frame.PC != handle.Addr.String() || frame.Variables["crowded"] != int64(i+1) || depth.Address != frame.Registers["rdi"] {
			t.Fatalf("frame %d at %s, %v, depth at %s", i, frame.PC, frame.Variables, depth.Address)
		}
		if n, err := strconv.ParseUint(depth.Bytes[:2], 16, 8); err != nil || n <= 24 {
			t.Fatalf("frame %d: depth %s, which the condition does not let through", i, depth.Bytes)
		}
	}
}

// compareDemo holds values in some of the frames against those that GDB finds.
func compareDemo(t *testing.T, program, file string, frames []wire.Frame) {
	t.Helper()
	picked := []int{0, 1, len(frames) / 2, len(frames) - 1}
	script := "target tfile " + file + "\n"
	for _, n := range picked {
		job := frames[n].Memory[1]
		script += fmt.Sprintf("-- %d --\ntfind %d\n", n, n)
		script += `printf "%#lx %#lx %#lx %#lx %ld\n", $rip, $rsp, $rdi, q->ring[job - q->ring].id == job->id, $crowded` + "\n"
		script += fmt.Sprintf("x/%dxb %s\n", len(job.Bytes)/2, job.Address)
	}
	script += "-- end --\n? tfind\n-- status --\ntstatus\ninfo tracepoints"
	output := gdbtest.Run(t, program, script)
	for _, n := range picked {
		lines := strings.Split(output.Section(t, strconv.Itoa(n)), "\n")
		r := frames[n].Registers
		want := fmt.Sprintf("%s %s %s 0x1 %d", r["rip"], r["rsp"], r["rdi"], frames[n].Variables["crowded"])
		if !slices.Contains(lines, want) {
			t.Errorf("frame %d: show has %s, GDB printed\n%s", n, want, strings.Join(lines, "\n"))
		}
		if got := clitest.Examined(lines); got != frames[n].Memory[1].Bytes {
			t.Errorf("frame %d: show has the job %s, GDB %s", n, frames[n].Memory[1].Bytes, got)
		}
	}
	if end := output.Section(t, "end"); !strings.Contains(end, "No trace frame found") {
		t.Errorf("behind the last frame GDB printed %q", end)
	}
	status := output.Section(t, "status")
	for _, want := range []string{
		"Trace stopped by a tstop command (the program has ended).",
		fmt.Sprintf("Collected %d trace frames.", len(frames)),
		"trace only if q->depth > 24",
		"collect $regs, q->depth, *job, *q, $crowded",
		fmt.Sprintf("already hit %d times", len(frames)),
	} {
		if !strings.Contains(status, want) {
			t.Errorf("GDB printed\n%s\nwithout %q", status, want)
		}
	}
}

// TestDemoOverwrites: files of an earlier run are replaced, even if the program is running.
func TestDemoOverwrites(t *testing.T) {
	file := filepath.Join(t.TempDir(), "odd name")
	for range 2 {
		if got := clitest.Run(t, "demo", "-o", file); got.Status != console.StatusDone {
			t.Fatalf("exit status %d, message %q", got.Status, got.Stderr)
		}
		program, err := elf.Open(file + ".program")
		if err != nil {
			t.Fatal(err)
		}
		program.Close()
	}
}

// TestDemoFullDisk: what there is no room for leaves nothing behind. A limit to the size of files is met as a full disk is.
func TestDemoFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd := testtool.Command(t, "sh", "-c", "ulimit -f 8; exec "+gdbtest.Binary(t)+" demo")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	printed, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != console.StatusFailure || !strings.Contains(string(printed), "file too large") {
		t.Errorf("%v:\n%s", err, printed)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("files %q are left", left)
	}
}

func TestQuoted(t *testing.T) {
	for path, want := range map[string]string{
		"run.tf":     "run.tf",
		"/tmp/a-b_c": "/tmp/a-b_c",
		"with space": "'with space'",
		"it's":       `'it'\''s'`,
		"$HOME":      "'$HOME'",
		"":           "''",
	} {
		if got := quoted(path); got != want {
			t.Errorf("quoted(%q) = %s, want %s", path, got, want)
		}
	}
}

// TestDemoKeeps: nothing is written over that nobody has named.
func TestDemoKeeps(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, kept := range map[string]string{"tracewell-demo.tf": "mine", "tracewell-demo.2": "mine, too", "server": "a server"} {
		if err := os.WriteFile(name, []byte(kept), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got := clitest.Run(t, "demo"); got.Status != console.StatusDone {
			t.Fatal(got.Stderr)
		}
	}
	if got := clitest.Run(t, "demo", "-o", "server.tf"); got.Status != console.StatusFailure ||
		got.Stderr != "tracewell: server would be written over by the program of the demonstration: give another name by -o\n" {
		t.Errorf("status %d: %s", got.Status, got.Stderr)
	}
	want := []string{
		"server", "tracewell-demo.2", "tracewell-demo.3", "tracewell-demo.3.tf", "tracewell-demo.4", "tracewell-demo.4.tf", "tracewell-demo.tf",
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, want) || clitest.Content(t, "tracewell-demo.tf") != "mine" || clitest.Content(t, "server") != "a server" {
		t.Errorf("left: %q, want %q", names, want)
	}
	// A name that somebody gives is written over, as with any other command.
	for range 2 {
		if got := clitest.Run(t, "demo", "-o", "again.tf"); got.Status != console.StatusDone {
			t.Error(got.Stderr)
		}
	}
}
