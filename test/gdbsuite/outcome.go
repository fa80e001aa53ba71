package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// results are the words that DejaGnu begins the result of a check with, in the order of the table's columns.
var results = []string{"PASS", "FAIL", "KFAIL", "XFAIL", "UNTESTED", "UNSUPPORTED"}

// broken are those that say that the test itself came to grief: an error of Tcl's, or a check that could not be decided. They
// count as fails.
var broken = []string{"ERROR", "UNRESOLVED"}

// test is one file of the suite on one board.
type test struct {
	board string
	file  string // as in gdb.trace/tfind
}

func (t test) String() string { return t.board + " " + t.file }

// outcome is what came of running a test.
type outcome struct {
	test
	status  string         // exit status of timeout(1)
	seconds string         // wall time
	counts  map[string]int // of each word in results
	fails   []string       // names of the checks that failed, and lines of what else went wrong
}

// cutOff reports whether the test ran into its time limit; 124 is timeout's status then, 137 when it had to kill.
func (o outcome) cutOff() bool { return o.status == "124" || o.status == "137" }

// readOutcomes reads the file outcomes of a run, one line a test with its board, file, exit status and seconds, and the
// summary that DejaGnu left of each. A test that was cut off may have left none.
func readOutcomes(run string) ([]outcome, error) {
	text, err := os.ReadFile(filepath.Join(run, "outcomes"))
	if err != nil {
		return nil, err
	}
	var outcomes []outcome
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		fields := strings.Fields(line)
		if len(fields) != 4 {
			return nil, fmt.Errorf("outcomes:%d: %q does not have four fields", i+1, line)
		}
		o := outcome{test: test{fields[0], fields[1]}, status: fields[2], seconds: fields[3]}
		summary, err := os.ReadFile(filepath.Join(run, o.board, "gdb", "testsuite", "results", o.file, "gdb.sum"))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		o.read(string(summary))
		outcomes = append(outcomes, o)
	}
	slices.SortStableFunc(outcomes, func(a, b outcome) int { return strings.Compare(a.String(), b.String()) })
	return outcomes, nil
}

// read takes the results from a summary, whose lines are "WORD: gdb.trace/tfind.exp: NAME OF THE CHECK".
func (o *outcome) read(summary string) {
	o.counts = map[string]int{}
	for line := range strings.Lines(summary) {
		word, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		switch {
		case !ok:
		case slices.Contains(results, word):
			o.counts[word]++
			if word == "FAIL" {
				o.fails = append(o.fails, strings.TrimPrefix(name, o.file+".exp: "))
			}
		case slices.Contains(broken, word):
			o.fails = append(o.fails, strings.TrimSpace(line))
		}
	}
}

// table prints the outcomes, a line each, and their sum for each board.
func table(outcomes []outcome) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(board, file string, counts map[string]int, seconds string) {
		fmt.Fprintf(w, "%s\t%s", board, file)
		for _, word := range results {
			fmt.Fprintf(w, "\t%d", counts[word])
		}
		fmt.Fprintf(w, "\t%s\n", seconds)
	}
	fmt.Fprintf(w, "board\tfile\t%s\tseconds\n", strings.ToLower(strings.Join(results, "\t")))
	sum := map[string]int{}
	for i, o := range outcomes {
		row(o.board, o.file, o.counts, o.seconds)
		for word, n := range o.counts {
			sum[word] += n
		}
		if i+1 == len(outcomes) || outcomes[i+1].board != o.board {
			row(o.board, "all", sum, "")
			clear(sum)
		}
	}
	w.Flush()
	return b.String()
}
