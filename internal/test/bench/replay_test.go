package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/itrace/execution"
	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
	"tracewell/target"
	"tracewell/target/replay"
)

// replayInstructions make a trace of a gigabyte.
const replayInstructions = 12_500_000

// BenchmarkReplay measures what it takes to index an execution trace of a gigabyte, in processor time, and how long one waits for answers:
// each is asked of a target that knows nothing yet, with the files in the page cache.
func BenchmarkReplay(b *testing.B) {
	path := filepath.Join(b.TempDir(), "run.log")
	f, err := os.Create(path)
	check(b, err)
	fault := generate.Fault{Kind: generate.FaultInterrupt, At: replayInstructions / 5}
	_, err = generate.Write(f, generate.Options{Instructions: replayInstructions, Faults: []generate.Fault{fault}})
	check(b, err)
	status, err := f.Stat()
	check(b, err)
	defer f.Close()
	size := float64(status.Size())
	build := &figure{what: "index, of processor time", unit: "MB/s", goal: 150, atLeast: true}
	memory := &figure{what: "index, memory", unit: "MB", goal: 300}
	share := &figure{what: "index, of the trace", unit: "%", goal: 6}
	questions := []*figure{
		{what: "go to an instruction, registers and 64 bytes of memory", unit: "ms", goal: 50},
		{what: "back to a watchpoint 4/5 of the trace away", unit: "ms", goal: 50},
		{what: "on to a breakpoint that is not met any more", unit: "ms", goal: 50},
	}
	commands := []*figure{
		{what: "query at an instruction, from start to end", unit: "ms", goal: 50},
		{what: "query writers --last 1, from start to end", unit: "ms", goal: 50},
		{what: "query executed --count, of processor time", unit: "MB/s", goal: 200, atLeast: true},
	}
	for b.Loop() {
		for round := range *rounds {
			if round%3 == 0 {
				seconds, peak := indexOnce(b, path)
				build.samples = append(build.samples, size/1e6/seconds)
				memory.samples = append(memory.samples, float64(peak)/1e6)
			}
			source := execution.Source{Name: path, Content: f, Size: status.Size(), Path: path, Status: status}
			e, _, err := replay.NewExecution(source, matcher.Dialect, replay.ExecutionOptions{})
			check(b, err)
			for range 10 {
				ask(b, e, questions)
			}
			check(b, e.Close())
			wall, _ := query(b, "at", path, fmt.Sprint(rand.Int64N(replayInstructions)))
			commands[0].add(wall * 1e3)
			wall, _ = query(b, "writers", path, "0x400,4", "--last", "1")
			commands[1].add(wall * 1e3)
			if round%3 == 0 {
				_, processor := query(b, "executed", path, "0x800080bc", "--count")
				commands[2].add(size / 1e6 / processor)
			}
		}
	}
	index, err := os.Stat(path + execution.IndexSuffix)
	check(b, err)
	share.samples = []float64{100 * float64(index.Size()) / size}
	reports = append(reports, &figureTable{fmt.Sprintf("replay of %d instructions, %.0f MB", replayInstructions, size/1e6),
		slices.Concat([]*figure{build, memory, share}, questions, commands)})
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
}

// indexOnce has tracewell build the index anew, for a client that leaves at once.
func indexOnce(b *testing.B, path string) (seconds float64, peak int64) {
	b.Helper()
	cmd := exec.Command(gdbtest.Binary(b), "replay", path, "--index", "anew", "--listen", "-")
	check(b, cmd.Start())
	done := make(chan struct{})
	memory := watchMemory(cmd.Process.Pid, done)
	check(b, cmd.Wait())
	close(done)
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), <-memory
}

// query has tracewell answer a question by the index that is there, and returns how long that takes, in seconds of the clock and of
// processors.
func query(b *testing.B, args ...string) (wall, processor float64) {
	b.Helper()
	cmd := exec.Command(gdbtest.Binary(b), append([]string{"query"}, args...)...)
	start := time.Now()
	check(b, cmd.Run())
	return time.Since(start).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// ask asks each question of a new target.
func ask(b *testing.B, e *replay.Execution, questions []*figure) {
	b.Helper()
	const interrupts = 0x400 // what only the handler writes
	question := []func(t *replay.ExecutionTarget){
		func(t *replay.ExecutionTarget) {
			t.Goto(rand.Int64N(replayInstructions))
			registers := make([]byte, 1<<10)
			check(b, t.ReadRegisters(t.Threads()[0], registers))
			_, _ = t.ReadMemory(t.Threads()[0], 0x1000, make([]byte, 64))
		},
		func(t *replay.ExecutionTarget) {
			t.Goto(replayInstructions)
			resume(b, t, target.Breakpoint{Kind: target.WriteWatch, Addr: interrupts, Length: 4}, t.ResumeBackwards, target.ReasonWatch)
		},
		func(t *replay.ExecutionTarget) {
			t.Goto(replayInstructions / 2)
			resume(b, t, target.Breakpoint{Kind: target.Software, Addr: arch.Addr(0x800081f0), Length: 4}, t.Resume, target.ReasonEnd)
		},
	}
	for i, q := range question {
		t, err := e.Target()
		check(b, err)
		start := time.Now()
		q(t)
		questions[i].samples = append(questions[i].samples, time.Since(start).Seconds()*1e3)
	}
}

// resume resumes with one breakpoint, and expects a reason to stop.
func resume(b *testing.B, t *replay.ExecutionTarget, at target.Breakpoint, way func([]target.Action) error, reason target.Reason) {
	b.Helper()
	id := t.Threads()[0]
	check(b, t.InsertBreakpoint(id, at))
	check(b, way([]target.Action{{Thread: id, Anew: true}}))
	if ev := <-t.Events(); ev.Reason != reason {
		b.Fatalf("stopped with %+v", ev)
	}
}
