package bench

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
	"tracewell/itrace"
	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
)

// executions is two execution traces to compare.
type executions struct {
	name         string
	instructions int64 // of each
	options      generate.Options

	paths [2]string
	size  int64 // of both, in bytes
}

// pairs are the traces that are measured. Read whole the largest are 1.7 GB.
func pairs() []*executions {
	const m = 1_000_000
	drop := []generate.Fault{{Kind: generate.FaultDrop, At: m}}
	value := []generate.Fault{{Kind: generate.FaultValue, At: m}}
	return []*executions{
		{name: "10 M, other times", instructions: 10 * m, options: generate.Options{TimeBase: 77}},
		{name: "1 M, other times", instructions: m, options: generate.Options{TimeBase: 77}},
		{name: "2 M, the same", instructions: 2 * m},
		{name: "2 M, one value wrong", instructions: 2 * m, options: generate.Options{Faults: value}},
		{name: "2 M, one dropped", instructions: 2 * m, options: generate.Options{Faults: drop}},
		{name: "10 M, the same", instructions: 10 * m},
	}
}

// save writes both traces. References of one length are one file.
func (e *executions) save(b *testing.B, dir string) {
	b.Helper()
	length := strconv.FormatInt(e.instructions, 10)
	e.paths = [2]string{filepath.Join(dir, length), filepath.Join(dir, strings.ReplaceAll(e.name, " ", "-"))}
	for i, path := range e.paths {
		o := generate.Options{Instructions: e.instructions}
		if i == 1 {
			o = e.options
			o.Instructions = e.instructions
		}
		if _, err := os.Stat(path); err != nil {
			f, err := os.Create(path)
			check(b, err)
			_, err = generate.Write(f, o)
			check(b, err)
			check(b, f.Close())
		}
		status, err := os.Stat(path)
		check(b, err)
		e.size += status.Size()
	}
}

// executionTask is something to do with execution traces.
type executionTask struct {
	name  string
	pair  int   // of pairs
	whole int64 // how many of the two traces it reads
	goal  executionGoal
	ways  []executionWay
}

// executionWay is a way to do a task: a program.
type executionWay struct {
	name    way
	every   int // measure in every so-manieth round
	program func(b *testing.B, e *executions) *exec.Cmd
}

const (
	diffWay way = "diff"
	cmpWay  way = "cmp"
)

var executionTasks = []*executionTask{
	{"read all records", 0, 1, executionGoal{bytesPerSecond: 1e9}, []executionWay{{floorWay, 3, ownWork(floorWay)}, {ourWay, 3, ownWork(ourWay)}}},
	{"compare", 0, 2, executionGoal{seconds: 2, megabytes: 20}, []executionWay{{ourWay, 4, compareByUs}}},
	{"compare", 1, 2, executionGoal{ofDiff: 1, megabytes: 100}, []executionWay{{ourWay, 3, compareByUs}, {diffWay, 9, compareBy("diff")}}},
	{"compare", 2, 2, executionGoal{bytesPerSecond: 2e9, ofDiff: 1}, []executionWay{
		{ourWay, 2, compareByUs}, {diffWay, 2, compareBy("diff")}, {cmpWay, 2, compareBy("cmp")}}},
	{"compare", 3, 2, executionGoal{ofDiff: 1}, []executionWay{{ourWay, 3, compareByUs}, {diffWay, 3, compareBy("diff")}}},
	{"compare", 4, 2, executionGoal{ofDiff: 1}, []executionWay{{ourWay, 3, compareByUs}, {diffWay, 3, compareBy("diff")}}},
	{"compare", 5, 2, executionGoal{ofCmp: 1.6}, []executionWay{{ourWay, 2, compareByUs}, {cmpWay, 2, compareBy("cmp")}}},
}

// BenchmarkExecution measures what it takes to read and to compare execution traces, in seconds of processor time, which other
// programs on the machine disturb less than those of a clock.
func BenchmarkExecution(b *testing.B) {
	dir := b.TempDir()
	all := pairs()
	var measured executionTable
	for _, t := range executionTasks {
		for _, w := range t.ways {
			measured = append(measured, &executionRow{pair: all[t.pair], task: t, way: w})
		}
	}
	for _, e := range all {
		e.save(b, dir)
	}
	for b.Loop() {
		for round := range *rounds {
			for _, row := range measured {
				if round%row.way.every == 0 {
					row.measure(b)
				}
			}
		}
	}
	reports = append(reports, measured)
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
}

// measure runs the program of a row. Exit status 1 says that the traces differ.
func (r *executionRow) measure(b *testing.B) {
	b.Helper()
	cmd := r.way.program(b, r.pair)
	check(b, cmd.Start())
	done := make(chan struct{})
	peak := watchMemory(cmd.Process.Pid, done)
	err := cmd.Wait()
	close(done)
	if state := cmd.ProcessState; err != nil && state.ExitCode() != 1 {
		b.Fatalf("%v: %v", cmd, err)
	} else {
		r.samples = append(r.samples, (state.UserTime() + state.SystemTime()).Seconds())
	}
	r.peak = max(r.peak, <-peak)
}

// watchMemory yields the most memory that a process has had resident, in bytes, as the kernel says it until shortly before its end.
func watchMemory(pid int, done <-chan struct{}) <-chan int64 {
	result := make(chan int64, 1)
	go func() {
		var peak int64
		for {
			status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
			if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
				kilobytes, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
				peak = kilobytes << 10
			}
			select {
			case <-done:
				result <- peak
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return result
}

func compareByUs(b *testing.B, e *executions) *exec.Cmd {
	return exec.Command(gdbtest.Binary(b), "match", "--quiet", e.paths[0], e.paths[1])
}

func compareBy(program string) func(b *testing.B, e *executions) *exec.Cmd {
	return func(b *testing.B, e *executions) *exec.Cmd {
		return exec.Command(testtool.Path(b, program), e.paths[0], e.paths[1])
	}
}

// ownWork has this program read traces in another process of it: the floor only finds lines.
func ownWork(w way) func(b *testing.B, e *executions) *exec.Cmd {
	return func(_ *testing.B, e *executions) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run", "^$")
		cmd.Env = append(os.Environ(), readWay+"="+string(w), readPath+"="+e.paths[0])
		return cmd
	}
}

// The environment of a process that only reads a trace.
const (
	readWay  = "TRACEWELL_BENCH_WAY"
	readPath = "TRACEWELL_BENCH_PATH"
)

// readTrace reads the trace that the environment names, if it names one.
func readTrace() (done bool, err error) {
	path := os.Getenv(readPath)
	if path == "" {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return true, err
	}
	defer f.Close()
	if way(os.Getenv(readWay)) == ourWay {
		return true, readRecords(f)
	}
	return true, readLines(f)
}

func readRecords(f *os.File) error {
	records := make([]itrace.Record, 256)
	r := itrace.NewReader(f, matcher.Dialect)
	for {
		if _, err := r.Read(records); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func readLines(f *os.File) error {
	block := make([]byte, 1<<18)
	kept := 0
	for {
		n, err := f.Read(block[kept:])
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		rest := block[:kept+n]
		for {
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				break
			}
			rest = rest[end+1:]
		}
		kept = copy(block, rest)
	}
}
