package query

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/text"
	"tracewell/view/wire"
)

// profileCommand is "tracewell query profile".
type profileCommand struct {
	asking
	By    string      `enum:"address,line,function" default:"address" help:"What is counted: address, line or function (${default})."`
	Limit flags.Count `short:"n" name:"limit" placeholder:"N" default:"20" help:"Print the first N (${default}; 0: all)."`
}

// Examples implements flags.Exampler.
func (*profileCommand) Examples() string {
	return `  tracewell query profile run.log                              # the addresses executed most often
  tracewell query profile run.log --exec fw.elf --by line -n 10
`
}

// Run implements kong's command.
func (c *profileCommand) Run(streams console.Streams) error {
	return c.readWhole(streams, nil, func(w *whole) error {
		if c.By == "line" && !w.hasLines() {
			return w.noLines()
		}
		spots := first(w.hotSpots(c.By), c.Limit)
		if w.json {
			return objects(w, spots)
		}
		columns := []text.Column{{Title: "instructions", Right: true}, {Title: "share", Right: true}}
		if c.By == "address" {
			columns = append(columns, text.Column{Title: "address"})
		}
		columns = append(columns, w.placeColumns()...)
		if c.By == "address" {
			columns = append(columns, text.Column{Title: "mnemonic"})
		}
		table := text.NewTable(w, w.Width, w.Style, columns...)
		for _, s := range spots {
			row := []string{strconv.FormatUint(s.Instructions, 10), percent(s.Share)}
			function := shown(s.CodePlace)
			if c.By == "address" {
				row, function = append(row, s.Address), text.Visible(s.Function)
			}
			row = append(row, w.placeCells(s.CodePlace, function)...)
			if c.By == "address" {
				row = append(row, text.Visible(s.Mnemonic))
			}
			if err := table.Row(console.CellsOf(row)); err != nil {
				return err
			}
		}
		return table.Flush()
	})
}

// noLines is the error of a question about lines of a program that has none.
func (w *whole) noLines() error {
	if w.program == nil {
		return fmt.Errorf("lines require the program: --exec")
	}
	return fmt.Errorf("%s: no lines: %s", text.Visible(w.program.File.Path()), w.program.File.WhyNoDWARF())
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// hotSpots are what was executed by what, most first.
func (w *whole) hotSpots(by string) []wire.HotSpot {
	all := w.executed()
	spots := make(map[wire.CodePlace]*wire.HotSpot)
	for _, n := range w.Table.Executed() {
		s := &w.Table.Sites[n]
		at, place := s.PC, wire.CodePlace{}
		if by == "function" && s.Function >= 0 {
			at = w.Functions[s.Function].Begin
		}
		place = w.place(at, s.Function)
		key := place
		if by == "line" { // the first address stands for the line
			if key.Address = ""; key.Line == 0 {
				continue
			}
		}
		spot := spots[key]
		if spot == nil {
			spot = &wire.HotSpot{CodePlace: place}
			spots[key] = spot
		}
		spot.Instructions += s.Count
		if by == "address" {
			spot.Mnemonic = w.Table.Mnemonic(n)
		}
	}
	list := make([]wire.HotSpot, 0, len(spots))
	for spot := range maps.Values(spots) {
		spot.Share = w.share(spot.Instructions, all)
		list = append(list, *spot)
	}
	slices.SortFunc(list, func(a, b wire.HotSpot) int {
		return cmp.Or(cmp.Compare(b.Instructions, a.Instructions), cmp.Compare(len(a.Address), len(b.Address)),
			cmp.Compare(a.Address, b.Address))
	})
	return list
}
