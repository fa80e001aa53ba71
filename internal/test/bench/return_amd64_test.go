//go:build linux && amd64

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// How often the program returned does what: where the tracer stops nothing, and under GDB.
const (
	returnSlices, returnCalls = 5, 100_000
	finished                  = 100
)

// returnBench is the program and a folder in memory.
type returnBench struct {
	*testing.B
	program, dir string
}

// BenchmarkReturn measures what a call costs the program whose return is recorded, with what it returns and how long it took: by
// record --return, which makes two frames of it, by bpftrace with a uretprobe, which makes none but adds up and counts, and by GDB's
// finish. It is processor time of the program but with GDB, where that is in the tracer.
func BenchmarkReturn(b *testing.B) {
	r := &returnBench{b, testprog.Build(b, "returned", testprog.Variant{NoPIE: true, Optimised: true}).Path, memoryDir(b)}
	ours := &figure{what: "record --return", unit: "ns"}
	ourWall := &figure{what: "record --return, wall time", unit: "ns"}
	probes := &figure{what: "bpftrace, uprobe and uretprobe", unit: "ns"}
	ratio := &figure{what: "bpftrace / record", unit: "x", goal: 1, atLeast: true}
	gdb := &figure{what: "GDB, break and finish, wall time", unit: "ns"}
	gdbRatio := &figure{what: "GDB / record, wall time", unit: "x", goal: 1, atLeast: true}
	for b.Loop() {
		for range *rounds {
			cost, wall := r.record()
			ours.add(cost)
			ourWall.add(wall)
			if _, err := os.Stat(bpftrace); err != nil {
				probes.note, ratio.note = err.Error(), "not measured"
			} else {
				probe := r.probe()
				probes.add(probe)
				ratio.add(probe / cost)
			}
			stop := r.finish()
			gdb.add(stop)
			gdbRatio.add(stop / wall)
		}
	}
	t := &figureTable{of: "what is added to a call whose return is recorded"}
	t.figures = []*figure{ours, probes, ratio, ourWall, gdb, gdbRatio}
	reports = append(reports, t)
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
	b.ReportMetric(ours.value(), "ns/call")
}

// record is the least that recording adds to a call in any of the slices, of processor time and of wall time.
func (r *returnBench) record() (cpu, wall float64) {
	r.Helper()
	output := filepath.Join(r.dir, "run.tf")
	cmd := exec.Command(gdbtest.Binary(r), "record", "-q", "--return=traced", "-o", output, "--",
		r.program, strconv.Itoa(returnSlices), strconv.Itoa(returnCalls))
	printed, err := cmd.Output()
	if err != nil {
		r.Fatalf("%v: %v", cmd, err)
	}
	count, err := exec.Command(gdbtest.Binary(r), "show", output, "--count").Output()
	check(r.B, err)
	if want := fmt.Sprintln(2 * returnSlices * returnCalls); string(count) != want {
		r.Fatalf("%s frames, want %s", count, want)
	}
	check(r.B, os.Remove(output))
	return r.read(string(printed), returnSlices)
}

// probe is the same of the processor time with bpftrace, which has to have seen every call.
func (r *returnBench) probe() float64 {
	r.Helper()
	script := strings.ReplaceAll("uprobe:PROGRAM:traced { @entered[tid] = nsecs; } "+
		"uretprobe:PROGRAM:traced { @took = sum(nsecs - @entered[tid]); @returned = sum(retval); @calls = count(); } END { clear(@entered); }",
		"PROGRAM", r.program)
	cmd := exec.Command(bpftrace, "-q", "-e", script, "-c", fmt.Sprintf("%s %d %d", r.program, returnSlices, returnCalls))
	printed, err := cmd.Output()
	if want := fmt.Sprintf("@calls: %d\n", returnSlices*returnCalls); err != nil || !strings.Contains(string(printed), want) {
		r.Fatalf("%v: %v\n%s", cmd, err, printed)
	}
	cpu, _ := r.read(string(printed), returnSlices)
	return cpu
}

// finish is what GDB adds to the wall time of a call of which it prints the result.
func (r *returnBench) finish() float64 {
	r.Helper()
	script := fmt.Sprintf("break traced\nrun 1 %d\nset $n = 1\nwhile $n < %[1]d\nfinish\ncontinue\nset $n = $n + 1\nend\nfinish\ncontinue\n", finished)
	_, wall := r.read(gdbtest.Run(r, r.program, script).All, 1)
	return wall
}

// read reads what the program has printed: the least that is added to a call.
func (r *returnBench) read(printed string, slices int) (cpu, wall float64) {
	r.Helper()
	all := testprog.OfKind(testprog.Records(printed), "slice")
	if len(all) != slices || !strings.Contains(printed, "done wrong=0\n") {
		r.Fatalf("the program printed\n%s", printed)
	}
	for i, slice := range all {
		ns := func(field string) float64 {
			v, err := strconv.ParseFloat(slice.Fields[field], 64)
			check(r.B, err)
			return v
		}
		moreCPU, moreWall := ns("traced")-ns("bare"), ns("wall")-ns("bare")
		if i == 0 {
			cpu, wall = moreCPU, moreWall
		}
		cpu, wall = min(cpu, moreCPU), min(wall, moreWall)
	}
	return cpu, wall
}
