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
	"tracewell/itrace/sites"
	"tracewell/view/wire"
)

// mixCommand is "tracewell query mix".
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

// Run implements kong's command.
func (c *mixCommand) Run(streams console.Streams) error {
	return c.readWhole(streams, nil, func(w *whole) error {
		shares := first(w.mix(), c.Limit)
		if w.json {
			return objects(w, shares)
		}
		table := text.NewTable(w, w.Width, w.Style, text.Column{Title: "instructions", Right: true},
			text.Column{Title: "share", Right: true}, text.Column{Title: "addresses", Right: true}, text.Column{Title: "mnemonic"})
		for _, s := range shares {
			row := []string{strconv.FormatUint(s.Count, 10), percent(s.Share), strconv.Itoa(s.Sites),
				text.Visible(cmp.Or(s.Mnemonic, "(not told)"))}
			if err := table.Row(console.CellsOf(row)); err != nil {
				return err
			}
		}
		return table.Flush()
	})
}

// mix is how often each mnemonic was executed, most first. Code that was replaced by other at the same address counts as what was
// there last.
func (w *whole) mix() []wire.MixShare {
	all := w.executed()
	shares := make(map[string]*wire.MixShare)
	for i := range w.Table.Sites {
		s := &w.Table.Sites[i]
		if s.Count == 0 {
			continue
		}
		mnemonic := w.Table.Mnemonic(i)
		m := shares[mnemonic]
		if m == nil {
			m = &wire.MixShare{Mnemonic: mnemonic}
			shares[mnemonic] = m
		}
		m.Count += s.Count
		m.Sites++
	}
	list := make([]wire.MixShare, 0, len(shares))
	for m := range maps.Values(shares) {
		m.Share = w.share(m.Count, all)
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b wire.MixShare) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Mnemonic, b.Mnemonic))
	})
	return list
}

// blocksCommand is "tracewell query blocks".
type blocksCommand struct {
	asking
	Limit flags.Count `short:"n" name:"limit" placeholder:"N" default:"20" help:"Print the first N (${default}; 0: all)."`
}

// Examples implements flags.Exampler.
func (*blocksCommand) Examples() string {
	return `  tracewell query blocks run.log --exec fw.elf    # the basic blocks in which most instructions were executed
`
}

// Run implements kong's command.
func (c *blocksCommand) Run(streams console.Streams) error {
	return c.readWhole(streams, nil, func(w *whole) error {
		if err := w.requireFlow(); err != nil {
			return err
		}
		blocks := w.Table.Blocks()
		slices.SortStableFunc(blocks, func(a, b sites.Block) int { return cmp.Compare(b.Instructions, a.Instructions) })
		blocks = first(blocks, c.Limit)
		all := w.executed()
		columns := []text.Column{{Title: "executed", Right: true}, {Title: "length", Right: true}, {Title: "instructions", Right: true},
			{Title: "share", Right: true}, {Title: "addresses"}}
		table := text.NewTable(w, w.Width, w.Style, append(columns, w.placeColumns()...)...)
		for _, b := range blocks {
			block := w.block(b)
			var err error
			if w.json {
				err = objects(w, []wire.BasicBlock{block})
			} else {
				row := []string{strconv.FormatUint(b.Count, 10), strconv.Itoa(block.Length), strconv.FormatUint(b.Instructions, 10),
					percent(w.share(b.Instructions, all)), fmt.Sprintf("%s..%s", block.Address, block.Last)}
				err = table.Row(console.CellsOf(append(row, w.placeCells(block.CodePlace, text.Visible(block.Function))...)))
			}
			if err != nil {
				return err
			}
		}
		if w.json {
			return nil
		}
		return table.Flush()
	})
}

func (w *whole) block(b sites.Block) wire.BasicBlock {
	begin, last := &w.Table.Sites[b.Sites[0]], &w.Table.Sites[b.Sites[len(b.Sites)-1]]
	return wire.BasicBlock{CodePlace: w.place(begin.PC, begin.Function), Last: fmt.Sprintf("0x%x", last.PC), Length: len(b.Sites),
		Count: b.Count, Instructions: b.Instructions}
}
