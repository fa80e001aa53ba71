package query

import (
	"errors"
	"fmt"
	"io"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/jsontext"
	"tracewell/internal/text"
	"tracewell/internal/wholefile"
	"tracewell/itrace/coverage"
	"tracewell/view/wire"
)

// coverageCommand is "tracewell query coverage".
//
// Coverage of a trace costs nothing on the target, and is of the binary that is shipped. It is reported in the terms that tools for
// instrumented builds have made usual, down to their file format, so that pages and thresholds of a CI work as they are.
type coverageCommand struct {
	asking
	By      string `enum:"file,function" default:"file" help:"What has a row: file or function (${default}). A program without lines has functions only."`
	Missing bool   `help:"Print the lines that were not executed."`
	LCOV    string `name:"lcov" placeholder:"FILE" help:"Also write lines, functions and branches to a file in the format of lcov, for genhtml and other tools."`
}

// Examples implements flags.Exampler.
func (*coverageCommand) Examples() string {
	return `  tracewell query coverage run.log --exec fw.elf                    # lines, functions and branches of each file
  tracewell query coverage run.log --exec fw.elf --missing          # the lines that were never executed
  tracewell query coverage run.log --exec fw.elf --lcov run.info    # then: genhtml run.info -o html
`
}

// Run implements kong's command. Without the program nothing tells what was not executed, which is what coverage is about.
func (c *coverageCommand) Run(streams console.Streams) error {
	if c.Exec == "" {
		return errors.New("coverage requires the program: --exec")
	}
	// A file of lcov over the trace or the program would destroy what it is made of.
	if err := console.KeepApart(c.LCOV, []string{c.Trace, c.Exec}, streams); err != nil {
		return err
	}
	return c.readWhole(streams, nil, func(w *whole) error {
		// Instructions of functions are known without debug information; for all else it is needed.
		if (c.By == "file" || c.Missing || c.LCOV != "") && !w.hasLines() {
			return fmt.Errorf("%w; --by function requires none", w.noLines())
		}
		// Calls are counted by the walker, since a loop may lead to the first instruction of a function as well.
		totals := w.ByFunction(len(w.Functions))
		r := coverage.Of(w.Table, w.Code, func(function int) uint64 { return totals[function].Calls })
		// The file comes in front of the table, so that a disk that is full is not overlooked behind pages of it.
		if c.LCOV != "" {
			if err := wholefile.Write(c.LCOV, func(out io.Writer) error { return r.WriteLCOV(out) }); err != nil {
				return err
			}
		}
		switch {
		case c.Missing:
			return w.missing(r)
		case c.By == "function":
			return w.functionCoverage(r)
		}
		return w.fileCoverage(r)
	})
}

// covered is a part of a whole for people. What has no branches is not covered by 0 %.
func covered(c wire.Covered) string {
	if c.All == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d %s", c.Executed, c.All, percent(float64(c.Executed)/float64(c.All)))
}

// fileCoverage prints a row for each file, and one of them all, which is none of the documents.
func (w *whole) fileCoverage(r *coverage.Report) error {
	sum := wire.FileCoverage{File: "(all)"}
	add := func(to *wire.Covered, c wire.Covered) { to.All, to.Executed = to.All+c.All, to.Executed+c.Executed }
	var list []wire.FileCoverage
	for _, f := range r.Files {
		c := wire.DescribeFileCoverage(f)
		list = append(list, c)
		add(&sum.Lines, c.Lines)
		add(&sum.Functions, c.Functions)
		add(&sum.Branches, c.Branches)
	}
	// The sum of one file would be the same row again; programs add up themselves.
	if len(list) > 1 && !w.json {
		list = append(list, sum)
	}
	columns := append(right("lines", "functions", "branches"), text.Column{Title: "file"})
	// Files are the last column, since their paths are of any length.
	return rows(w, list, columns, func(c wire.FileCoverage) []string {
		return []string{covered(c.Lines), covered(c.Functions), covered(c.Branches), text.Visible(c.File)}
	})
}

// functionCoverage prints a row for each function, in the order of addresses, those that were not executed included: they are what
// is looked for.
func (w *whole) functionCoverage(r *coverage.Report) error {
	var list []wire.FunctionCoverage
	for i := range r.Functions {
		list = append(list, wire.DescribeFunctionCoverage(&r.Functions[i]))
	}
	columns := append(right("calls", "instructions", "branches"), w.placeColumns()...)
	return rows(w, list, columns, func(c wire.FunctionCoverage) []string {
		row := []string{number(c.Calls), covered(c.Instructions), covered(c.Branches)}
		return append(row, w.placeCells(c.CodePlace, shown(c.CodePlace))...)
	})
}

// missing prints the lines that were not executed in the form that editors and compilers have for places, with the whole path, so
// that they can be gone to.
func (w *whole) missing(r *coverage.Report) error {
	for _, f := range r.Files {
		for _, u := range wire.Uncovered(f) {
			lines := number(u.First)
			if u.Last != u.First {
				lines += "-" + number(u.Last)
			}
			var err error
			if w.json {
				err = jsontext.Write(w.Output, u, "")
			} else {
				_, err = fmt.Fprintf(w, "%s:%s\n", text.Visible(u.File), lines)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
