package query

import (
	"cmp"
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/text"
	"tracewell/view/wire"
)

// mixCommand is "tracewell query mix".
//
// The column of addresses tells a loop from code that is spread over the program: many executions at few addresses are a loop.
type mixCommand struct {
	asking
	Limit flags.Count `short:"n" name:"limit" placeholder:"N" default:"0" help:"Print the first N (0: all)."`
}

// Examples implements flags.Exampler.
func (*mixCommand) Examples() string {
	return `  tracewell query mix run.log                     # how often each instruction was executed
  tracewell query mix run.log --from main --to finish --exec fw.elf
`
}

// Run implements kong's command. What the trace does not tell is a row of its own, so that the shares are of everything.
func (c *mixCommand) Run(streams console.Streams) error {
	return c.readWhole(streams, nil, func(w *whole) error {
		// Mnemonics are as long as assemblers make them, so they are last.
		columns := append(right("instructions", "share", "addresses"), text.Column{Title: "mnemonic"})
		return rows(w, first(w.Mix(), c.Limit), columns, func(s wire.MixShare) []string {
			return []string{number(s.Count), percent(s.Share), number(s.Sites), text.Visible(cmp.Or(s.Mnemonic, "(not told)"))}
		})
	})
}

// blocksCommand is "tracewell query blocks".
//
// A hot loop is one or two rows here and dozens in a profile by address. The order is that of instructions executed, not of
// executions: a long block is worth more attention than a short one that is entered as often.
type blocksCommand struct {
	asking
	Limit flags.Count `short:"n" name:"limit" placeholder:"N" default:"20" help:"Print the first N (${default}; 0: all)."`
}

// Examples implements flags.Exampler.
func (*blocksCommand) Examples() string {
	return `  tracewell query blocks run.log --exec fw.elf    # the basic blocks in which most instructions were executed
`
}

// Run implements kong's command. Blocks end where something branches, so a trace of addresses alone has none.
func (c *blocksCommand) Run(streams console.Streams) error {
	return c.readWhole(streams, nil, func(w *whole) error {
		if err := w.requireFlow(); err != nil {
			return err
		}
		// Shares are of everything, so that rows that --limit leaves out are what is missing to 100 %.
		all := float64(max(w.Executed(), 1))
		columns := append(right("executed", "length", "instructions", "share"), text.Column{Title: "addresses"})
		return rows(w, first(w.Blocks(), c.Limit), append(columns, w.placeColumns()...), func(b wire.BasicBlock) []string {
			row := []string{number(b.Count), number(b.Length), number(b.Instructions), percent(float64(b.Instructions) / all),
				fmt.Sprintf("%s..%s", b.Address, b.Last)}
			return append(row, w.placeCells(b.CodePlace, text.Visible(b.Function))...)
		})
	})
}
