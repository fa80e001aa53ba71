package query

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/packed"
	"tracewell/internal/text"
	"tracewell/itrace/calls/export"
	"tracewell/view/wire"
)

// calltreeCommand is "tracewell query calltree".
type calltreeCommand struct {
	asking
	Depth  flags.Count `placeholder:"N" default:"0" help:"Print N levels of calls (0: all)."`
	Min    float64     `name:"min" placeholder:"PERCENT" default:"0" help:"Leave out paths with less than so many percent of all instructions."`
	Folded bool        `help:"Print folded stacks, which flame graphs are made of: a path of functions and its instructions on each line."`
	Time   bool        `help:"The time of the trace in place of instructions: in folded stacks, and as the axis of Perfetto."`
	Output string      `short:"o" placeholder:"FILE" help:"Write the calls to a file for another tool, compressed if its name ends in .gz or .zst: .folded, .pprof or .pb, .callgrind, or .pftrace (Perfetto, a slice for each call)."`
}

// Examples implements flags.Exampler.
func (*calltreeCommand) Examples() string {
	return `  tracewell query calltree run.log --exec fw.elf                   # paths of calls, with counts
  tracewell query calltree run.log --exec fw.elf --min 1 --depth 4
  tracewell query calltree run.log --exec fw.elf --folded | flamegraph.pl > run.svg
  tracewell query calltree run.log --exec fw.elf -o run.pb.gz      # then: go tool pprof -http :8000 run.pb.gz
  tracewell query calltree run.log --exec fw.elf -o run.callgrind  # then: kcachegrind run.callgrind
  tracewell query calltree run.log --exec fw.elf -o run.pftrace    # for ui.perfetto.dev
`
}

// Run implements kong's command.
func (c *calltreeCommand) Run(streams console.Streams) error {
	if c.Output == "" {
		return c.readWhole(streams, nil, func(w *whole) error {
			switch err := c.check(w); {
			case err != nil:
				return err
			case c.Folded:
				return w.export().WriteFolded(w, c.Time)
			}
			return w.tree(int(c.Depth), c.Min)
		})
	}
	method, name := packed.BySuffix(c.Output)
	// after writes to the file when the whole trace has been read.
	after := func(write func(w *whole, out io.Writer) error) func(io.Writer) error {
		return func(out io.Writer) error {
			return c.readWhole(streams, nil, func(w *whole) error {
				if err := c.check(w); err != nil {
					return err
				}
				return write(w, out)
			})
		}
	}
	write := map[string]func(io.Writer) error{
		".folded":    after(func(w *whole, out io.Writer) error { return w.export().WriteFolded(out, c.Time) }),
		".pprof":     after(func(w *whole, out io.Writer) error { return w.export().WriteProfile(out, w.timeUnit()) }),
		".callgrind": after(func(w *whole, out io.Writer) error { return w.export().WriteCallgrind(out) }),
		".pftrace":   func(out io.Writer) error { return c.writeSlices(streams, out) },
	}
	write[".pb"], write[".perfetto-trace"] = write[".pprof"], write[".pftrace"]
	if write[filepath.Ext(name)] == nil {
		return fmt.Errorf("--output: %s: the suffix tells the format: .folded, .pprof or .pb, .callgrind, .pftrace", text.Quote(c.Output))
	}
	if err := console.KeepApart(c.Output, []string{c.asking.Trace, c.Exec}, streams); err != nil {
		return err
	}
	return packed.Write(c.Output, method, write[filepath.Ext(name)])
}

// check is the error of a trace that does not tell what is asked.
func (c *calltreeCommand) check(w *whole) error {
	if c.Time && !w.timed {
		return errors.New("--time: the trace has no times")
	}
	return w.requireFlow()
}

// writeSlices writes calls as they are found, because there may be more of them than fit into memory.
func (c *calltreeCommand) writeSlices(streams console.Streams, out io.Writer) error {
	var slices *export.Slices
	return c.readWhole(streams, func(w *whole) error {
		slices = export.NewSlices(out, w.Walker, c.Time)
		w.Listener = slices
		return nil
	}, func(w *whole) error {
		return errors.Join(c.check(w), slices.Close(w.Position, w.Now()))
	})
}

// export is the calls for other tools.
func (w *whole) export() *export.Calls {
	c := &export.Calls{Walker: w.Walker}
	if w.program != nil {
		c.Program, c.Line = w.program.File.Path(), w.program.Line
	}
	return c
}

// timeUnit is the unit of times, "" if there are none.
func (w *whole) timeUnit() string {
	if !w.timed {
		return ""
	}
	return w.unit()
}

// tree prints paths, each below that of its caller, those with the most instructions first.
func (w *whole) tree(depth int, percent float64) error {
	instructions, time := w.Inclusive()
	children := make([][]int, len(w.Nodes))
	for i := range w.Nodes {
		if n := &w.Nodes[i]; n.Parent >= 0 && (instructions[i] > 0 || n.Calls > 0) {
			children[n.Parent] = append(children[n.Parent], i)
		}
	}
	for _, list := range children {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(instructions[b], instructions[a]) })
	}
	table := w.costTable(text.Column{Title: "share", Right: true}, text.Column{Title: "path"})
	least := percent / 100 * float64(instructions[0])
	// A stack of what is still to be printed, because paths may be deeper than calls should be.
	type entry struct{ node, level int }
	var left []entry
	push := func(parent, level int) {
		for _, child := range slices.Backward(children[parent]) {
			if float64(instructions[child]) >= least && (depth == 0 || level < depth) {
				left = append(left, entry{child, level})
			}
		}
	}
	for push(0, 0); len(left) > 0; {
		e := left[len(left)-1]
		left = left[:len(left)-1]
		n := &w.Nodes[e.node]
		cost := wire.Cost{Calls: n.Calls, Self: n.Self, Inclusive: instructions[e.node], SelfTime: w.time(n.Time),
			InclusiveTime: w.time(time[e.node])}
		var err error
		if w.json {
			err = objects(w, []wire.PathCost{w.pathCost(e.node, cost)})
		} else {
			share := fmt.Sprintf("%.1f%%", 100*w.share(instructions[e.node], instructions[0]))
			name := strings.Repeat("  ", e.level) + text.Visible(w.export().Frame(e.node))
			err = table.Row(console.CellsOf(append(w.costCells(cost), share, name)))
		}
		if err != nil {
			return err
		}
		push(e.node, e.level+1)
	}
	if w.json {
		return nil
	}
	return table.Flush()
}

func (w *whole) pathCost(node int, cost wire.Cost) wire.PathCost {
	p := wire.PathCost{Cost: cost}
	for _, at := range w.Path(node) {
		p.Path = append(p.Path, export.Name(w.Functions[w.Nodes[at].Function]))
		p.Handler = p.Handler || w.Nodes[at].Handler
	}
	return p
}

// base is the name of a file without its folders.
func base(path string) string { return filepath.Base(path) }
