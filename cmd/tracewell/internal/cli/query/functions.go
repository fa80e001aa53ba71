package query

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/jsontext"
	"tracewell/internal/text"
	"tracewell/itrace/calls"
	"tracewell/view/wire"
)

// functionsCommand is "tracewell query functions".
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

// Run implements kong's command.
func (c *functionsCommand) Run(streams console.Streams) error {
	return c.readWhole(streams, nil, func(w *whole) error {
		if err := w.requireFlow(); err != nil {
			return err
		}
		costs := w.functionCosts()
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
		costs = first(costs, c.Limit)
		if w.json {
			return objects(w, costs)
		}
		table := w.costTable(w.placeColumns()...)
		for _, f := range costs {
			if err := table.Row(console.CellsOf(append(w.costCells(f.Cost), w.placeCells(f.CodePlace, shown(f.CodePlace))...))); err != nil {
				return err
			}
		}
		return table.Flush()
	})
}

// functionCosts are the functions that were executed, by their numbers.
func (w *whole) functionCosts() (costs []wire.FunctionCost) {
	handlers := make(map[int32]bool)
	for i := range w.Nodes {
		if n := &w.Nodes[i]; n.Handler {
			handlers[n.Function] = true
		}
	}
	for i, t := range w.ByFunction(len(w.Functions)) {
		if t.Calls+t.Inclusive > 0 {
			costs = append(costs, wire.FunctionCost{
				CodePlace: w.place(w.Functions[i].Begin, int32(i)), Handler: handlers[int32(i)], Cost: w.cost(t)})
		}
	}
	return costs
}

func (w *whole) cost(t calls.Totals) wire.Cost {
	return wire.Cost{Calls: t.Calls, Self: t.Self, Inclusive: t.Inclusive, SelfTime: w.time(t.SelfTime),
		InclusiveTime: w.time(t.InclusiveTime)}
}

// costTable begins a table of costs, with other columns behind those of costs.
func (w *whole) costTable(more ...text.Column) *text.Table {
	columns := []text.Column{{Title: "calls", Right: true}, {Title: "self", Right: true}, {Title: "inclusive", Right: true}}
	if w.timed {
		columns = append(columns, text.Column{Title: "self " + w.unit(), Right: true},
			text.Column{Title: "inclusive " + w.unit(), Right: true})
	}
	return text.NewTable(w, w.Width, w.Style, append(columns, more...)...)
}

// unit is what times are counted in.
func (w *whole) unit() string { return cmp.Or(w.scale, "time") }

// costCells are the cells of a cost.
func (w *whole) costCells(c wire.Cost) []string {
	cells := []string{strconv.FormatUint(c.Calls, 10), strconv.FormatUint(c.Self, 10), strconv.FormatUint(c.Inclusive, 10)}
	if c.SelfTime != nil {
		cells = append(cells, strconv.FormatUint(*c.SelfTime, 10), strconv.FormatUint(*c.InclusiveTime, 10))
	}
	return cells
}

// shown is the name of a place for people.
func shown(p wire.CodePlace) string {
	if p.Function != "" {
		return text.Visible(p.Function)
	}
	return p.Address
}

// hasLines reports whether the program tells lines.
func (w *whole) hasLines() bool { return w.program != nil && w.program.File.HasDWARF() }

// placeColumns are those of a function, and of a line if the program tells lines.
func (w *whole) placeColumns() []text.Column {
	columns := []text.Column{{Title: "function"}}
	if w.hasLines() {
		columns = append(columns, text.Column{Title: "line"})
	}
	return columns
}

// placeCells are the cells of these columns.
func (w *whole) placeCells(p wire.CodePlace, function string) []string {
	switch {
	case !w.hasLines():
		return []string{function}
	case p.File == "":
		return []string{function, ""}
	}
	return []string{function, text.Visible(fmt.Sprintf("%s:%d", base(p.File), p.Line))}
}

// first are the first elements of a list, or all if the limit is 0.
func first[T any](list []T, limit flags.Count) []T {
	if limit > 0 && len(list) > int(limit) {
		return list[:limit]
	}
	return list
}

// objects prints each element of a list as an object on a line.
func objects[T any](w *whole, list []T) error {
	for _, item := range list {
		if err := jsontext.Write(w.Output, item, ""); err != nil {
			return err
		}
	}
	return nil
}
