package query

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/internal/wholefile"
	"tracewell/itrace/coverage"
	"tracewell/view/wire"
)

// coverageCommand is "tracewell query coverage".
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

// Run implements kong's command.
func (c *coverageCommand) Run(streams console.Streams) error {
	if c.Exec == "" {
		return errors.New("coverage requires the program: --exec")
	}
	if err := console.KeepApart(c.LCOV, []string{c.Trace, c.Exec}, streams); err != nil {
		return err
	}
	return c.readWhole(streams, nil, func(w *whole) error {
		byLine := c.By == "file" || c.Missing || c.LCOV != ""
		if byLine && !w.hasLines() {
			return fmt.Errorf("%w; --by function requires none", w.noLines())
		}
		totals := w.ByFunction(len(w.Functions))
		r := coverage.Of(w.Table, w.program, func(function int) uint64 { return totals[function].Calls })
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

// covered is a part of a whole for people.
func covered(c wire.Covered) string {
	if c.All == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d %.1f%%", c.Executed, c.All, 100*float64(c.Executed)/float64(c.All))
}

func (w *whole) fileCoverage(r *coverage.Report) error {
	table := text.NewTable(w, w.Width, w.Style, text.Column{Title: "lines", Right: true}, text.Column{Title: "functions", Right: true},
		text.Column{Title: "branches", Right: true}, text.Column{Title: "file"})
	var sum wire.FileCoverage
	add := func(to *wire.Covered, c wire.Covered) { to.All, to.Executed = to.All+c.All, to.Executed+c.Executed }
	row := func(c wire.FileCoverage, name string) error {
		return table.Row(console.CellsOf([]string{covered(c.Lines), covered(c.Functions), covered(c.Branches), name}))
	}
	for _, f := range r.Files {
		c := wire.FileCoverage{
			File: f.Path, Lines: wire.Covered{All: len(f.Lines), Executed: f.Hit()},
			Functions: wire.Covered{All: len(f.Functions), Executed: coverage.Called(f.Functions)},
			Branches:  wire.Covered{All: 2 * len(f.Branches), Executed: coverage.Directions(f.Branches)}}
		add(&sum.Lines, c.Lines)
		add(&sum.Functions, c.Functions)
		add(&sum.Branches, c.Branches)
		var err error
		if w.json {
			err = objects(w, []wire.FileCoverage{c})
		} else {
			err = row(c, text.Visible(f.Path))
		}
		if err != nil {
			return err
		}
	}
	if w.json {
		return nil
	}
	if len(r.Files) > 1 {
		if err := row(sum, "(all)"); err != nil {
			return err
		}
	}
	return table.Flush()
}

func (w *whole) functionCoverage(r *coverage.Report) error {
	columns := []text.Column{{Title: "calls", Right: true}, {Title: "instructions", Right: true},
		text.Column{Title: "branches", Right: true}}
	table := text.NewTable(w, w.Width, w.Style, append(columns, w.placeColumns()...)...)
	for _, f := range r.Functions {
		c := wire.FunctionCoverage{
			CodePlace: wire.CodePlace{Address: fmt.Sprintf("0x%x", f.Begin), Function: f.Name, File: f.Path, Line: f.Line}, Calls: f.Calls,
			Instructions: wire.Covered{All: f.Code, Executed: f.Executed},
			Branches:     wire.Covered{All: 2 * len(f.Branches), Executed: coverage.Directions(f.Branches)}}
		var err error
		if w.json {
			err = objects(w, []wire.FunctionCoverage{c})
		} else {
			row := []string{strconv.FormatUint(f.Calls, 10), covered(c.Instructions), covered(c.Branches)}
			err = table.Row(console.CellsOf(append(row, w.placeCells(c.CodePlace, shown(c.CodePlace))...)))
		}
		if err != nil {
			return err
		}
	}
	if w.json {
		return nil
	}
	return table.Flush()
}

// missing prints the lines that were not executed. Lines without code between them do not part them.
func (w *whole) missing(r *coverage.Report) error {
	for _, f := range r.Files {
		for i := 0; i < len(f.Lines); i++ {
			if f.Lines[i].Count > 0 {
				continue
			}
			u := wire.UncoveredLines{File: f.Path, First: f.Lines[i].Number}
			for i+1 < len(f.Lines) && f.Lines[i+1].Count == 0 {
				i++
			}
			u.Last = f.Lines[i].Number
			var err error
			switch {
			case w.json:
				err = objects(w, []wire.UncoveredLines{u})
			case u.First == u.Last:
				_, err = fmt.Fprintf(w, "%s:%d\n", text.Visible(u.File), u.First)
			default:
				_, err = fmt.Fprintf(w, "%s:%d-%d\n", text.Visible(u.File), u.First, u.Last)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
