package bench

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
)

var (
	rounds = flag.Int("rounds", 9, "how often each figure is measured")
	strict = flag.Bool("strict", false, "exit with status 1 when a goal is missed")
)

// report is what a benchmark found, and whether a goal is missed in it.
type report interface {
	fmt.Stringer
	missed() bool
}

// reports are for TestMain to print: a benchmark's own log is cut after ten lines.
var reports []report

func TestMain(m *testing.M) {
	flag.Parse()
	if done, err := readTrace(); done {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	status := m.Run()
	for _, r := range reports {
		fmt.Println(r)
	}
	if *strict && slices.ContainsFunc(reports, report.missed) {
		status = max(status, 1)
	}
	os.Exit(status)
}

// median returns the middle of the samples, or between the two middle ones.
func median(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
