// Command compare-traces compares two execution traces of any producers, and says where the second one truly departs from the
// first. The exit status is 1 if it does.
//
//	go run ./examples/compare-traces REFERENCE OTHER
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"tracewell/itrace/dialects"
	"tracewell/itrace/match"
	"tracewell/itrace/match/report"
)

func main() {
	log.SetFlags(0)
	equal, err := run(context.Background(), os.Args[1:], os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	if !equal {
		os.Exit(1)
	}
}

// run writes a report for people. The error is that nothing could be compared.
func run(ctx context.Context, args []string, out io.Writer) (equal bool, err error) {
	if len(args) != 2 {
		return false, errors.New("usage: compare-traces REFERENCE OTHER")
	}
	var sides [2]match.Input
	for i, name := range args {
		file, err := os.Open(name)
		if err != nil {
			return false, err
		}
		defer file.Close()
		sides[i] = match.Input{Name: name, Reader: file} // without a Dialect it is detected
	}
	r := match.Compare(ctx, sides[0], sides[1], dialects.All, match.Options{})
	if r.Verdict == match.Failed {
		return false, errors.New(r.Reason)
	}
	for _, d := range r.Differences { // root causes in the order in which they were met, as values
		fmt.Fprintf(out, "%s %s: %q expected, got %q\n", d.Class, d.What, d.Expected, d.Got)
	}
	return r.Verdict == match.Equal, report.Text(out, r, report.Style{Dialects: dialects.All})
}
