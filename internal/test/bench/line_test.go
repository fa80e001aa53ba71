//go:build linux && amd64

package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// lines is how many lines of --print are timed each time, which come every lineEvery.
const (
	lines     = 400
	lineEvery = 5 * time.Millisecond
)

// BenchmarkLine measures how long it takes from a hit in a process until who reads the pipe of --print has its line, and the share of
// a processor that tracewell takes for that. The program itself says when it was about to call the function.
func BenchmarkLine(b *testing.B) {
	program := testprog.Build(b, "residents", testprog.Variant{})
	var figures []*figure
	type way struct {
		options             []string
		median, most, share *figure
	}
	var ways []way
	for _, w := range []struct {
		name    string
		options []string
	}{{"pad", nil}, {"trap", []string{"--no-pads"}}, {"--sync", []string{"--sync"}}} {
		way := way{w.options, &figure{what: w.name + ", median", unit: "µs", goal: 1000}, &figure{what: w.name + ", 99 %", unit: "µs"},
			&figure{what: w.name + ", processor", unit: "%"}}
		ways, figures = append(ways, way), append(figures, way.median, way.most, way.share)
	}
	for b.Loop() {
		for range *rounds {
			for _, w := range ways {
				delays, share := timeLines(b, program.Path, w.options)
				slices.Sort(delays)
				w.median.add(delays[lines/2])
				w.most.add(delays[lines*99/100])
				w.share.add(share)
			}
		}
	}
	reports = append(reports, &figureTable{fmt.Sprintf("line of --print for a hit every %v", lineEvery), figures})
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
}

// timeLines returns how many microseconds each line took, and the percentage of a processor that tracewell did.
func timeLines(b *testing.B, program string, options []string) (delays []float64, share float64) {
	b.Helper()
	traced := exec.Command(program, strconv.FormatInt(lineEvery.Microseconds(), 10), "1")
	in, err := traced.StdinPipe() // whose end is that of the program
	check(b, err)
	check(b, traced.Start())
	defer traced.Wait()
	defer in.Close()
	arguments := []string{"record", "-q", "--pid", strconv.Itoa(traced.Process.Pid), "--at", "tick", "--collect", "now", "--format", "{now}"}
	tracewell := exec.Command(gdbtest.Binary(b), append(arguments, options...)...)
	out, err := tracewell.StdoutPipe()
	check(b, err)
	check(b, tracewell.Start())
	defer tracewell.Wait()
	defer tracewell.Process.Signal(os.Interrupt)
	scanner := bufio.NewScanner(out)
	scanner.Scan() // whatever is slow once only
	start, ran := time.Now(), testprog.Ran(b, tracewell.Process.Pid)
	for len(delays) < lines && scanner.Scan() {
		now := time.Now().UnixNano()
		called, err := strconv.ParseInt(strings.TrimSpace(scanner.Text()), 10, 64)
		check(b, err)
		delays = append(delays, float64(now-called)/1e3)
	}
	check(b, scanner.Err())
	if len(delays) < lines {
		b.Fatalf("%d lines, want %d", len(delays), lines)
	}
	return delays, 100 * float64(testprog.Ran(b, tracewell.Process.Pid)-ran) / float64(time.Since(start))
}
