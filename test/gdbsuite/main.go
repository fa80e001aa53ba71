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
	var expected []string
	flag.Func("expected", "compare with the expectations in this `file`; may be given more than once", func(file string) error {
		expected = append(expected, file)
		return nil
	})
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gdbsuite [-expected FILE]… RUN")
		os.Exit(2)
	}
	good, err := judge(flag.Arg(0), expected)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/gdbsuite:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// judge prints the score of a run and, when there are files of expectations, what falls short of them. It reports whether
// nothing does.
func judge(run string, expected []string) (bool, error) {
	outcomes, err := readOutcomes(run)
	if err != nil {
		return false, fmt.Errorf("reading the run in %q: %w", filepath.Clean(run), err)
	}
	fmt.Print(table(outcomes))
	if len(expected) == 0 {
		return true, nil
	}
	want := newExpectations()
	for _, file := range expected {
		text, err := os.ReadFile(file)
		if err != nil {
			return false, fmt.Errorf("reading the expectations: %w", err)
		}
		if err := want.parse(string(text)); err != nil {
			return false, fmt.Errorf("%s: %w", file, err)
		}
	}
	v := want.judge(outcomes)
	fmt.Print(v.report())
	return len(v.worse) == 0, nil
}
