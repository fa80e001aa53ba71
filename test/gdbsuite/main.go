// Command gdbsuite judges what GDB's own test-suite says of a server: it reads the logs of a run that test/gdbsuite/run has
// made, prints the score of each file, and compares it with what is expected.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	expected := flag.String("expected", "", "compare with the expectations in this `file`")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gdbsuite [-expected FILE] RUN")
		os.Exit(2)
	}
	good, err := judge(flag.Arg(0), *expected)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/gdbsuite:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// judge prints the score of a run and, when there is a file of expectations, what falls short of them. It reports whether
// nothing does.
func judge(run, expected string) (bool, error) {
	outcomes, err := readOutcomes(run)
	if err != nil {
		return false, fmt.Errorf("reading the run in %q: %w", filepath.Clean(run), err)
	}
	fmt.Print(table(outcomes))
	if expected == "" {
		return true, nil
	}
	text, err := os.ReadFile(expected)
	if err != nil {
		return false, fmt.Errorf("reading the expectations: %w", err)
	}
	want, err := parseExpectations(string(text))
	if err != nil {
		return false, fmt.Errorf("%s: %w", expected, err)
	}
	v := want.judge(outcomes)
	fmt.Print(v.report())
	return len(v.worse) == 0, nil
}
