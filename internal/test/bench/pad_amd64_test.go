//go:build linux && amd64

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// What a hit costs the program where the tracepoint is a pad. The program padcost times itself, in slices: in each it calls a
// function without a probe, one with a pad by hand, and one that is traced. Processor times and their ratios are much the same on
// a busy machine as on a quiet one; wall times are not.

// How often padcost does what: where frames are made by a pad, where gdbserver makes them, and where hits are to be many.
const (
	padSlices, padCalls     = 10, 400_000
	agentSlices, agentCalls = 6, 30_000
	manySlices, manyCalls   = 20, 1_000_000
)

// slice is what padcost printed of one: nanoseconds a call.
type slice struct{ bare, hand, traced, wall float64 }

// cost is what the tracepoint adds to a call, and byHand what the pad by hand does.
func (s slice) cost() float64   { return s.traced - s.bare }
func (s slice) byHand() float64 { return s.hand - s.bare }

// padBench is the program and a folder in memory.
type padBench struct {
	*testing.B
	program, dir string
}

// beside is the cost of a pad beside that of the pad by hand, in the same slices.
type beside struct{ hand, ours, ratio *figure }

func newBeside(threads string) beside {
	return beside{
		hand:  &figure{what: threads + "pad by hand", unit: "ns"},
		ours:  &figure{what: threads + "record --bare", unit: "ns"},
		ratio: &figure{what: threads + "record / by hand", unit: "x", goal: 1},
	}
}

func (c beside) add(slices []slice) {
	for _, s := range slices {
		c.hand.add(s.byHand())
		c.ours.add(s.cost())
		c.ratio.add(s.cost() / s.byHand())
	}
}

// BenchmarkPad measures every way once a round, and many hits once.
func BenchmarkPad(b *testing.B) {
	p := &padBench{b, testprog.Build(b, "padcost", testprog.Variant{NoPIE: true, Optimised: true}).Path, memoryDir(b)}
	var compared []beside
	for n := range 3 {
		compared = append(compared, newBeside(fmt.Sprintf("%d threads, ", 1<<n)))
	}
	stamped := &figure{what: "record, with time and thread", unit: "ns"}
	never := &figure{what: "condition false", unit: "ns", goal: 3}
	inVain := &figure{what: "breakpoint, condition false", unit: "ns", goal: 3}
	trapped := &figure{what: "breakpoint, condition false, as a trap", unit: "ns"}
	all := &figure{what: "serve, $regs with all vectors, 16 bytes", unit: "ns", goal: 150}
	agent := &figure{what: "gdbserver, ftrace, 16 bytes", unit: "ns"}
	agentAll := &figure{what: "gdbserver, ftrace, $regs, 16 bytes", unit: "ns"}
	wall := &figure{what: "wall time, record --bare into memory", unit: "ns"}
	writing := &figure{what: "wall time, writing as many bytes", unit: "ns"}
	excess := &figure{what: "wall time / larger of 100 ns and 1.2 x writing", unit: "x", goal: 1}
	cliff := &figure{what: "last 5 of 20 million hits / first 5", unit: "x", goal: 1.2}
	for b.Loop() {
		for range *rounds {
			for n, c := range compared {
				slices, size := p.record(1<<n, padSlices, padCalls, "--bare")
				c.add(slices)
				if n == 0 {
					best, bare := bestWall(slices), p.write(size, padSlices*padCalls)
					wall.add(best)
					writing.add(bare)
					excess.add(best / max(100, 1.2*bare))
				}
			}
			slices, _ := p.record(1, padSlices, padCalls)
			stamped.addCosts(slices)
			never.addCosts(p.serve("trace tick_traced if $rdi == -1", "$regs, buffer", 0))
			inVain.addCosts(p.breaks(padSlices, padCalls))
			trapped.addCosts(p.breaks(agentSlices, agentCalls, "--no-pads"))
			all.addCosts(p.serve("trace tick_traced", "$regs, buffer", padSlices*padCalls))
			p.agent(agent, "buffer")
			p.agent(agentAll, "$regs, buffer")
		}
		slices, _ := p.record(1, manySlices, manyCalls, "--bare")
		cliff.add(later(slices))
	}
	t := &figureTable{of: "what a hit of a pad adds to a call: processor time of the program; registers, pc and 16 bytes but where more is said"}
	for _, c := range compared {
		t.figures = append(t.figures, c.hand, c.ours, c.ratio)
	}
	t.figures = append(t.figures, stamped, never, inVain, trapped, all, agent, agentAll, cliff, wall, writing, excess)
	reports = append(reports, t)
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
	b.ReportMetric(compared[0].ours.value(), "ns/hit")
}

// addCosts adds what each slice cost.
func (f *figure) addCosts(slices []slice) {
	for _, s := range slices {
		f.add(s.cost())
	}
}

// bestWall is the least wall time of a call. Other work on the machine only adds to it.
func bestWall(slices []slice) float64 {
	best := slices[0].wall
	for _, s := range slices {
		best = min(best, s.wall)
	}
	return best
}

// later is the cost in the last quarter of a run over that in the first, each beside the pad by hand.
func later(slices []slice) float64 {
	quarter := len(slices) / 4
	ratio := func(part []slice) float64 {
		var all []float64
		for _, s := range part {
			all = append(all, s.cost()/s.byHand())
		}
		return median(all)
	}
	return ratio(slices[len(slices)-quarter:]) / ratio(slices[:quarter])
}

// memoryDir is a folder in memory, or where there is none any other.
func memoryDir(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "tracewell-bench-")
	if err != nil {
		return b.TempDir()
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// record records into a file in memory, and returns its size too. The file is removed: it has gigabytes.
func (p *padBench) record(threads, slices, calls int, flags ...string) ([]slice, int64) {
	p.Helper()
	output := filepath.Join(p.dir, "run.tf")
	args := append([]string{"record", "-q", "--at", "tick_traced", "--collect", "$pc, buffer", "-o", output}, flags...)
	args = append(args, "--", p.program, strconv.Itoa(slices), strconv.Itoa(calls/threads), strconv.Itoa(threads))
	cmd := exec.Command(gdbtest.Binary(p), args...)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	printed, err := cmd.Output()
	if err != nil {
		p.Fatalf("%v: %v\n%s", cmd, err, &messages)
	}
	status, err := os.Stat(output)
	check(p.B, err)
	check(p.B, os.Remove(output))
	return p.read(string(printed), slices), status.Size()
}

// write writes as many bytes into a file in memory, in pieces of the size that record has, and returns the nanoseconds for each of
// so many parts.
func (p *padBench) write(size int64, parts int) float64 {
	p.Helper()
	f, err := os.CreateTemp(p.dir, "bytes")
	check(p.B, err)
	defer os.Remove(f.Name())
	defer f.Close()
	piece := bytes.Repeat([]byte{1}, 256<<10)
	start := time.Now()
	for ; size > 0; size -= int64(len(piece)) {
		_, err := f.Write(piece[:min(size, int64(len(piece)))])
		check(p.B, err)
	}
	return float64(time.Since(start)) / float64(parts)
}

// padScript is what GDB does before the program runs on. The buffer is circular, so that it has room for any number of frames.
const padScript = `
	set trace-buffer-size 67108864
	set circular-trace-buffer on
	%s
	actions
		collect %s
	end
	tstart
`

// serve has GDB trace with tracewell serve.
func (p *padBench) serve(command, collect string, frames int) []slice {
	p.Helper()
	s := gdbtest.Start(p, gdbtest.Config{
		Comm: "localhost:0", Command: []string{p.program, strconv.Itoa(padSlices), strconv.Itoa(padCalls)},
	})
	output := gdbtest.Run(p, p.program, fmt.Sprintf(script, s.Address, fmt.Sprintf(padScript, command, collect)))
	s.Wait(p)
	if status := output.Section(p, "status"); !strings.Contains(status, fmt.Sprint(frames)) {
		p.Fatalf("%s: want %d frames, GDB says\n%s", command, frames, status)
	}
	return p.read(s.Stdout(), padSlices)
}

// breaks has GDB insert a breakpoint with a condition that no call meets. The first hits, of some hundred thousand, are traps.
func (p *padBench) breaks(slices, calls int, flags ...string) []slice {
	p.Helper()
	s := gdbtest.Start(p, gdbtest.Config{
		Flags: flags, Comm: "localhost:0", Command: []string{p.program, strconv.Itoa(slices), strconv.Itoa(calls)},
	})
	gdbtest.Run(p, p.program, fmt.Sprintf(script, s.Address, "break tick_traced"+never))
	s.Wait(p)
	return p.read(s.Stdout(), slices)
}

// agent has GDB trace with gdbserver and the agent that goes into the program with it, if it is installed and works here.
func (p *padBench) agent(f *figure, collect string) {
	p.Helper()
	const library = "/usr/lib/libinproctrace.so"
	if _, err := os.Stat(library); err != nil {
		f.note = "not measured: " + err.Error()
		return
	}
	s := gdbtest.Start(p, gdbtest.Config{
		Server: []string{testtool.Path(p, "gdbserver")}, Flags: []string{"--wrapper", "env", "LD_PRELOAD=" + library, "--"},
		Comm: "localhost:0", Command: []string{p.program, strconv.Itoa(agentSlices), strconv.Itoa(agentCalls)},
	})
	commands := fmt.Sprintf(padScript, "? ftrace tick_traced", collect)
	output := gdbtest.Run(p, p.program, fmt.Sprintf(script, s.Address, commands))
	s.Wait(p)
	if status := output.Section(p, "status"); !strings.Contains(status, fmt.Sprint(agentSlices*agentCalls)) {
		f.note = "not measured: the agent has not made all frames: " + strings.Join(strings.Fields(status), " ")
		return
	}
	f.addCosts(p.read(s.Stdout(), agentSlices))
}

// read reads what padcost has printed.
func (p *padBench) read(printed string, slices int) (all []slice) {
	p.Helper()
	for _, r := range testprog.OfKind(testprog.Records(printed), "slice") {
		ns := func(field string) float64 {
			v, err := strconv.ParseFloat(r.Fields[field], 64)
			check(p.B, err)
			return v
		}
		all = append(all, slice{ns("bare"), ns("hand"), ns("traced"), ns("wall")})
	}
	if len(all) != slices || !strings.Contains(printed, "done wrong=0\n") {
		p.Fatalf("the program printed\n%s", printed)
	}
	return all
}
