package query

import (
	"cmp"
	"slices"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/text"
	"tracewell/view/wire"
)

// functionsCommand is "tracewell query functions".
//
// It is the question that people ask first, so it prints the most of any: how often, how much alone, and how much with all that was
// called. A function that calls itself counts once in the latter, as in other profilers, so that no share is above all.
type functionsCommand struct {
	asking
	Limit flags.Count `short:"n" name:"limit" placeholder:"N" default:"0" help:"Print the first N functions (0: all)."`
	By    string      `enum:"inclusive,self,calls,name" default:"inclusive" help:"The order: inclusive, self, calls or name (${default})."`
}

// Examples implements flags.Exampler.
func (*functionsCommand) Examples() string {
	return `  tracewell query functions run.log --exec fw.elf               # calls, instructions and time of each function
  tracewell query functions run.log --exec fw.elf --by self -n 20
`
}

// Run implements kong's command. Functions that were not executed have no row; coverage lists those.
func (c *functionsCommand) Run(streams console.Streams) error {
	return c.readWhole(streams, nil, func(w *whole) error {
		// Self would be right without calls being told, but a table whose other columns are wrong is not.
		if err := w.requireFlow(); err != nil {
			return err
		}
		costs := w.FunctionCosts()
		// The order of addresses stays among those that are alike, so that two runs print the same.
		slices.SortStableFunc(costs, func(a, b wire.FunctionCost) int {
			switch c.By {
			case "self":
				return cmp.Compare(b.Self, a.Self)
			case "calls":
				return cmp.Compare(b.Calls, a.Calls)
			case "name":
				return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Address, b.Address))
			}
			return cmp.Compare(b.Inclusive, a.Inclusive)
		})
		return rows(w, first(costs, c.Limit), append(w.costColumns(), w.placeColumns()...), func(f wire.FunctionCost) []string {
			return append(costCells(f.Cost), w.placeCells(f.CodePlace, shown(f.CodePlace))...)
		})
	})
}

// costColumns are those of costs. Times have their unit in the title: instructions and times must not be taken for one another.
func (w *whole) costColumns() []text.Column {
	// Names come behind the figures: those of C++ are of any length, and would push these out of sight.
	columns := right("calls", "self", "inclusive")
	if w.Timed {
		columns = append(columns, right("self "+w.unit(), "inclusive "+w.unit())...)
	}
	return columns
}

// costCells are the cells of a cost, in the order of costColumns.
func costCells(c wire.Cost) []string {
	cells := []string{number(c.Calls), number(c.Self), number(c.Inclusive)}
	if c.SelfTime != nil {
		cells = append(cells, number(*c.SelfTime), number(*c.InclusiveTime))
	}
	return cells
}
