//go:build linux && amd64

package dap_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	protocol "github.com/google/go-dap"

	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/record"
	"tracewell/record/local"
	"tracewell/record/plan"
	"tracewell/target"
)

var cost = flag.Bool("cost", false, "measure what a log point costs the program, beside record in the same run")

// TestCost measures what a hit of a log point costs the program, and what one of record does that collects the same into a file. The
// program tells both; runs of either take turns, so that a busy machine slows both down.
func TestCost(t *testing.T) {
	if !*cost {
		t.Skip("-cost measures")
	}
	program := testprog.Build(t, "padcost", testprog.Variant{})
	args := []string{"4", "100000"}
	var points, recorded []float64
	const rounds = 5
	for range rounds {
		points = append(points, logPointCost(t, program.Path, args))
		recorded = append(recorded, recordCost(t, program.Path, args))
	}
	ratio := median(points) / median(recorded)
	t.Logf("a hit of a log point takes %.0f ns (%.0f), of record %.0f ns (%.0f): %.2f", median(points), points, median(recorded), recorded,
		ratio)
	const most = 2 // processor time of the program itself; what the console gets is limited
	if ratio > most {
		t.Errorf("a log point costs %.2f times as much", ratio)
	}
}

// TestCostRedis measures what a request costs a busy Redis server without tracing, with a log point of which a hundredth of the hits
// print, and with the tracepoint of record that is the same: in processor time of its main thread, which does not depend on what else
// the machine does, and in requests a second. They take turns, and each round has ratios of its own.
func TestCostRedis(t *testing.T) {
	if !*cost {
		t.Skip("-cost measures")
	}
	socket, pid := redis(t)
	// The last digit of the key chooses one in ten hits, and the count one in ten of these.
	condition := keyByte(len("key:000000000000")-1) + " == '1'"
	var points, recorded, pointRates, recordedRates []float64
	const rounds = 7
	for range rounds {
		aloneTime, aloneRate := requests(t, socket, pid)
		c := connect(t, here())
		c.start("attach", map[string]any{"pid": pid, "logPoints": []any{map[string]any{"location": looksUp,
			"message": "{*(char **)($rsi + 8)}", "condition": condition, "hitCondition": "% 10"}}})
		ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
		event[*protocol.ProcessEvent](c)
		pointTime, pointRate := requests(t, socket, pid)
		if hits := c.console("hits"); strings.Contains(hits, " 0 hits,") {
			t.Fatal(hits)
		}
		c.leave(nil)
		p := &plan.Plan{Variables: []plan.Variable{{Name: "hits"}}}
		if err := p.AddItems([]plan.Item{{Option: "--at", Value: looksUp}, {Option: "--collect", Value: "*(char **)($rsi + 8)"},
			{Option: "--if", Value: "(" + condition + ") && (($hits = $hits + 1) % 10 == 0)"}}); err != nil {
			t.Fatal(err)
		}
		run, err := local.Open(local.Config{PIDs: []int{pid}, Config: record.Config{Plan: p, Output: filepath.Join(t.TempDir(), "run.tf")}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := run.Run(ctx)
			ended <- err
		}()
		recordedTime, recordedRate := requests(t, socket, pid)
		cancel()
		if err := errors.Join(<-ended, run.Close()); err != nil {
			t.Fatal(err)
		}
		points, recorded = append(points, pointTime/aloneTime), append(recorded, recordedTime/aloneTime)
		pointRates, recordedRates = append(pointRates, pointRate/aloneRate), append(recordedRates, recordedRate/aloneRate)
	}
	t.Logf("processor time of a request, to that without tracing: with a log point %.2f (%.2f), with record %.2f (%.2f)", median(points),
		points, median(recorded), recorded)
	t.Logf("requests a second: with a log point %.2f (%.2f), with record %.2f (%.2f)", median(pointRates), pointRates,
		median(recordedRates), recordedRates)
	const most = 1.2 // beside record
	if ratio := median(points) / median(recorded); ratio > most {
		t.Errorf("a request costs %.2f times as much as with record", ratio)
	}
}

var rate = regexp.MustCompile(`([0-9.]+) requests per second`)

// requests has a benchmark ask Redis, and returns what an answer costs its main thread, in nanoseconds, and how many there are a second.
func requests(t *testing.T, socket string, pid int) (cost, second float64) {
	t.Helper()
	const asked = 100000
	before := processorTime(t, pid)
	out, err := testtool.Command(t, "redis-benchmark", "-s", socket, "-n", strconv.Itoa(asked), "-c", "8", "-t", "get", "-r", "1000", "-q").Output()
	all := rate.FindAllSubmatch(out, -1)
	if err != nil || len(all) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	second, err = strconv.ParseFloat(string(all[len(all)-1][1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return (processorTime(t, pid) - before) / asked, second
}

// processorTime is what the main thread of a process has had, in nanoseconds.
func processorTime(t *testing.T, pid int) (ns float64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err == nil {
		_, err = fmt.Sscan(string(text), &ns)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

var tracedPattern = regexp.MustCompile(`traced=([0-9.]+)`)

// tracedIn is the least time of a call that the program has printed, in nanoseconds of its processor time.
func tracedIn(t *testing.T, printed string) float64 {
	t.Helper()
	var all []float64
	for _, m := range tracedPattern.FindAllStringSubmatch(printed, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		t.Fatalf("the program printed %q", printed)
	}
	return slices.Min(all)
}

func logPointCost(t *testing.T, path string, args []string) float64 {
	t.Helper()
	c := connect(t, here())
	c.start("launch", map[string]any{"program": path, "args": args, "logPoints": []any{map[string]any{
		"location": "tick_traced", "message": "{$rdi}"}}})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	_, printed, _ := logged[*protocol.TerminatedEvent](c)
	c.leave(nil)
	return tracedIn(t, strings.Join(printed, "\n"))
}

func recordCost(t *testing.T, path string, args []string) float64 {
	t.Helper()
	p := &plan.Plan{}
	if err := p.AddItems([]plan.Item{{Option: "--at", Value: "tick_traced"}, {Option: "--collect", Value: "$rdi"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"$trace_timestamp", "$tid"} {
		p.Always = append(p.Always, plan.Text{Value: name, Origin: "test", Line: name})
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	printed := make(chan string)
	go func() {
		content, _ := io.ReadAll(r)
		r.Close()
		printed <- string(content)
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	run, err := local.Open(local.Config{
		Config:  record.Config{Plan: p, Output: filepath.Join(t.TempDir(), "run.tf")},
		Program: target.Program{Path: path, Args: args},
		Streams: target.Streams{In: null, Out: w, Err: w},
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if _, err := run.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return tracedIn(t, <-printed)
}
