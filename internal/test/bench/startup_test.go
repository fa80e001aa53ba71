package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"tracewell/internal/test/corpus"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// BenchmarkStartup measures how long it takes from the command to the first hit in a program of more than 100 MB, nearly all
// of it debugging information, and back: the program does little else. GDB does the same with a breakpoint.
func BenchmarkStartup(b *testing.B) {
	program := corpus.Big(b)
	status, err := os.Stat(program)
	check(b, err)
	output := filepath.Join(b.TempDir(), "run.tf")
	ours := func() *exec.Cmd {
		return exec.Command(gdbtest.Binary(b), "record", "--at", corpus.BigFunction, "--collect", "$args, $locals", "-q", "-o", output, "--", program)
	}
	gdb := func() *exec.Cmd {
		return exec.Command(testtool.Path(b, "gdb"), "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set index-cache enabled off",
			"-ex", "break "+corpus.BigFunction, "-ex", "run", "-ex", "info args", "-ex", "info locals", "-ex", "kill", program)
	}
	seconds := &figure{what: "tracewell", unit: "s", goal: 0.3}
	memory := &figure{what: "tracewell, memory", unit: "MB", goal: 200}
	theirs := &figure{what: "gdb", unit: "s"}
	their := &figure{what: "gdb, memory", unit: "MB"}
	for b.Loop() {
		for range *rounds {
			check(b, os.RemoveAll(output))
			startUp(b, ours(), seconds, memory)
			startUp(b, gdb(), theirs, their)
		}
	}
	name := fmt.Sprintf("first hit in a program of %.0f MB", float64(status.Size())/1e6)
	reports = append(reports, &figureTable{name, []*figure{seconds, memory, theirs, their}})
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
}

// startUp runs a command, and watches how much memory it takes.
func startUp(b *testing.B, cmd *exec.Cmd, seconds, memory *figure) {
	b.Helper()
	start := time.Now()
	check(b, cmd.Start())
	done := make(chan struct{})
	peak := watchMemory(cmd.Process.Pid, done)
	err := cmd.Wait()
	seconds.samples = append(seconds.samples, time.Since(start).Seconds())
	close(done)
	if err != nil {
		b.Fatalf("%v: %v", cmd, err)
	}
	memory.samples = append(memory.samples, float64(<-peak)/1e6)
}
