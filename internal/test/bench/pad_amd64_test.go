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

// beside is the cost of a pad beside that of the pad by hand, in the same slices; and what the tracer takes besides.
type beside struct{ hand, ours, ratio, tracer, wall *figure }

func newBeside(threads string) beside {
	return beside{
		hand:   &figure{what: threads + "pad by hand", unit: "ns"},
		ours:   &figure{what: threads + "record --bare", unit: "ns"},
		ratio:  &figure{what: threads + "record / by hand", unit: "x", goal: 1},
		tracer: &figure{what: threads + "processor time of the tracer", unit: "ns"},
		wall:   &figure{what: threads + "wall time, with the frames in a file in memory", unit: "ns"},
	}
}

func (c beside) add(r recorded) {
	for _, s := range r.slices {
		c.hand.add(s.byHand())
		c.ours.add(s.cost())
		c.ratio.add(s.cost() / s.byHand())
	}
	c.tracer.add(r.tracer)
	c.wall.add(r.wall())
}

// figures are those of the program, then those of both.
func (c beside) figures() []*figure { return []*figure{c.hand, c.ours, c.ratio, c.tracer, c.wall} }

// BenchmarkPad measures every way once a round, and many hits once.
func BenchmarkPad(b *testing.B) {
	p := &padBench{b, testprog.Build(b, "padcost", testprog.Variant{NoPIE: true, Optimised: true}).Path, memoryDir(b)}
	var compared []beside
	for n := range 3 {
		compared = append(compared, newBeside(fmt.Sprintf("%d threads, ", 1<<n)))
	}
	stamped := &figure{what: "record, with time and thread", unit: "ns"}
	stampedTracer := &figure{what: "record, with time and thread, processor time of the tracer", unit: "ns"}
	never := &figure{what: "condition false", unit: "ns", goal: 3}
	inVain := &figure{what: "breakpoint, condition false", unit: "ns", goal: 3}
	trapped := &figure{what: "breakpoint, condition false, as a trap", unit: "ns"}
	all := &figure{what: "serve, $regs with all vectors, 16 bytes", unit: "ns", goal: 150}
	agent := &figure{what: "gdbserver, ftrace, 16 bytes", unit: "ns"}
	agentAll := &figure{what: "gdbserver, ftrace, $regs, 16 bytes", unit: "ns"}
	writing := &figure{what: "writing as many bytes", unit: "ns"}
	excess := &figure{what: "1 threads, wall time / larger of 100 ns and 1.2 x writing", unit: "x", goal: 1}
	cliff := &figure{what: "last 5 of 20 million hits / first 5", unit: "x", goal: 1.2}
	for b.Loop() {
		for range *rounds {
			for n, c := range compared {
				r := p.record(1<<n, padSlices, padCalls, "--bare")
				c.add(r)
				if n == 0 {
					bare := p.write(r.size, padSlices, padCalls)
					writing.add(bare)
					excess.add(r.wall() / max(100, 1.2*bare))
				}
			}
			r := p.record(1, padSlices, padCalls)
			stamped.addCosts(r.slices)
			stampedTracer.add(r.tracer)
			never.addCosts(p.serve("trace tick_traced if $rdi == -1", "$regs, buffer", 0))
			inVain.addCosts(p.breaks(padSlices, padCalls))
			trapped.addCosts(p.breaks(agentSlices, agentCalls, "--no-pads"))
			all.addCosts(p.serve("trace tick_traced", "$regs, buffer", padSlices*padCalls))
			p.agent(agent, "buffer")
			p.agent(agentAll, "$regs, buffer")
		}
		cliff.add(later(p.record(1, manySlices, manyCalls, "--bare").slices))
	}
	t := &figureTable{of: "what a hit of a pad adds to a call: processor time of the program; registers, pc and 16 bytes but where more is said\n" +
		map[bool]string{true: "record and writing have", false: "nothing has"}[p.realTime()] + " real-time priority over other work on the machine"}
	for _, c := range compared {
		t.figures = append(t.figures, c.figures()...)
	}
	t.figures = append(t.figures, writing, excess, stamped, stampedTracer, never, inVain, trapped, all, agent, agentAll, cliff)
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

// chrt starts programs, and changes processes, so that they have a processor before any other work on the machine.
func (p *padBench) chrt(args ...string) *exec.Cmd {
	return exec.Command(testtool.Path(p, "chrt"), args...)
}

// realTime reports whether this user may do that. Then wall times are nearly those of a quiet machine.
func (p *padBench) realTime() bool { return p.chrt("-f", "1", "/bin/true").Run() == nil }

// recorded is what a run of record came to.
type recorded struct {
	slices []slice
	size   int64   // of the file, which is removed: it has gigabytes
	tracer float64 // nanoseconds of processor time of the tracer a frame, its start not counted
}

// wall is the least wall time of a call. Other work on the machine only adds to it.
func (r recorded) wall() float64 {
	best := r.slices[0].wall
	for _, s := range r.slices {
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

// record records into a file in memory.
func (p *padBench) record(threads, slices, calls int, flags ...string) recorded {
	p.Helper()
	r, all := p.run(threads, slices, calls, flags)
	_, start := p.run(threads, 1, threads, flags)
	own := all - start
	for _, s := range r.slices {
		own -= (s.bare + s.hand + s.traced) * float64(calls)
	}
	r.tracer = own / float64(slices*calls)
	return r
}

// run runs padcost under record, and returns the nanoseconds of processor time of both.
func (p *padBench) run(threads, slices, calls int, flags []string) (r recorded, cpu float64) {
	p.Helper()
	output := filepath.Join(p.dir, "run.tf")
	args := append([]string{"record", "-q", "--at", "tick_traced", "--collect", "$pc, buffer", "-o", output}, flags...)
	args = append(args, "--", p.program, strconv.Itoa(slices), strconv.Itoa(calls/threads), strconv.Itoa(threads))
	cmd := exec.Command(gdbtest.Binary(p), args...)
	if p.realTime() {
		cmd = p.chrt(append([]string{"-f", "1", gdbtest.Binary(p)}, args...)...)
	}
	var messages bytes.Buffer
	cmd.Stderr = &messages
	printed, err := cmd.Output()
	if err != nil {
		p.Fatalf("%v: %v\n%s", cmd, err, &messages)
	}
	status, err := os.Stat(output)
	check(p.B, err)
	check(p.B, os.Remove(output))
	// The system has added up the times of processes that have been waited for.
	cpu = float64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	return recorded{slices: p.read(string(printed), slices), size: status.Size()}, cpu
}

// write writes as many bytes into a file in memory, in pieces of the size that record has, and returns the nanoseconds that the
// bytes of a call took in the best of the slices.
func (p *padBench) write(size int64, slices, calls int) float64 {
	p.Helper()
	f, err := os.CreateTemp(p.dir, "bytes")
	check(p.B, err)
	defer os.Remove(f.Name())
	defer f.Close()
	if self := strconv.Itoa(os.Getpid()); p.realTime() {
		check(p.B, p.chrt("-a", "-f", "-p", "1", self).Run())
		defer p.chrt("-a", "-o", "-p", "0", self).Run()
	}
	piece := bytes.Repeat([]byte{1}, 256<<10)
	best := time.Hour
	for range slices {
		start := time.Now()
		for left := size / int64(slices); left > 0; left -= int64(len(piece)) {
			_, err := f.Write(piece[:min(left, int64(len(piece)))])
			check(p.B, err)
		}
		best = min(best, time.Since(start))
	}
	return float64(best) / float64(calls)
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
