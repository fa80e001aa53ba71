package query

import (
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/text"
	"tracewell/view/wire"
)

// profileCommand is "tracewell query profile".
//
// A sampling profiler estimates what this counts. The unit is the instruction: where the trace has times, "query functions" has
// them, but the time of a single instruction is mostly that of what the processor waited for.
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

// Run implements kong's command. It requires nothing of the trace but addresses.
func (c *profileCommand) Run(streams console.Streams) error {
	return c.readWhole(streams, nil, func(w *whole) error {
		// A program without lines would have an empty table, and a program is what the user has given for the lines.
		if c.By == "line" && !w.hasLines() {
			return w.noLines()
		}
		// Of an address both its function and its mnemonic are wanted; of a line or a function it would be one of many.
		byAddress := c.By == "address"
		columns := right("instructions", "share")
		if byAddress {
			columns = append(columns, text.Column{Title: "address"})
		}
		columns = append(columns, w.placeColumns()...)
		if byAddress {
			columns = append(columns, text.Column{Title: "mnemonic"})
		}
		return rows(w, first(w.HotSpots(c.By), c.Limit), columns, func(s wire.HotSpot) []string {
			row := []string{number(s.Instructions), percent(s.Share)}
			if !byAddress { // the address stands in for a name that there is not
				return append(row, w.placeCells(s.CodePlace, shown(s.CodePlace))...)
			}
			row = append(append(row, s.Address), w.placeCells(s.CodePlace, text.Visible(s.Function))...)
			return append(row, text.Visible(s.Mnemonic))
		})
	})
}
