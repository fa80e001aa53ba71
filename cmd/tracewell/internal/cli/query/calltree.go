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
	"tracewell/internal/jsontext"
	"tracewell/internal/packed"
	"tracewell/internal/text"
	"tracewell/itrace/calls/export"
)

// calltreeCommand is "tracewell query calltree".
//
// Paths that are the same are one, however often they were taken: a tree of all calls would be as long as the trace. Who wants each
// call by itself gets it in Perfetto's format, which is made to show millions of slices.
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
	// What goes to a terminal, or through a pipe to a script that draws flame graphs, needs no file.
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
	// The file is written by a function that reads the trace: what goes wrong meanwhile leaves no file, or the one that was there.
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
	// Tools know the same formats by other suffixes, too.
	write[".pb"], write[".perfetto-trace"] = write[".pprof"], write[".pftrace"]
	if write[filepath.Ext(name)] == nil {
		return fmt.Errorf("--output: %s: the suffix tells the format: .folded, .pprof or .pb, .callgrind, .pftrace", text.Quote(c.Output))
	}
	// Whoever mistypes -o must not lose a trace that took a night to make.
	if err := console.KeepApart(c.Output, []string{c.asking.Trace, c.Exec}, streams); err != nil {
		return err
	}
	return packed.Write(c.Output, method, write[filepath.Ext(name)])
}

// check is the error of a trace that does not tell what is asked. It can only be known when the trace has been read.
func (c *calltreeCommand) check(w *whole) error {
	if c.Time && !w.Timed {
		return errors.New("--time: the trace has no times")
	}
	return w.requireFlow()
}

// writeSlices writes calls as they are found, because there may be more of them than fit into memory.
func (c *calltreeCommand) writeSlices(streams console.Streams, out io.Writer) error {
	// The walker tells of a call when it happens, so the writer must be there before the first record.
	var slices *export.Slices
	return c.readWhole(streams, func(w *whole) error {
		slices = export.NewSlices(out, w.Walker, c.Time)
		w.Listener = slices
		return nil
	}, func(w *whole) error {
		return errors.Join(c.check(w), slices.Close(w.Position, w.Now()))
	})
}

// export is the calls for other tools. Without a program they get addresses for names, which is all that there is.
func (w *whole) export() *export.Calls {
	c := &export.Calls{Walker: w.Walker}
	if w.Code != nil {
		c.Program, c.Line = w.Code.File.Path(), w.Code.Line
	}
	return c
}

// timeUnit is the unit of times, "" if there are none.
func (w *whole) timeUnit() string {
	if !w.Timed {
		return ""
	}
	return w.unit()
}

// tree prints paths, each below that of its caller, those with the most instructions first.
func (w *whole) tree(depth int, least float64) error {
	instructions, time := w.Inclusive()
	children := make([][]int, len(w.Nodes))
	for i := range w.Nodes {
		// Of a part of the trace there are paths on which nothing was executed in it.
		if n := &w.Nodes[i]; n.Parent >= 0 && (instructions[i] > 0 || n.Calls > 0) {
			children[n.Parent] = append(children[n.Parent], i)
		}
	}
	for _, list := range children {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(instructions[b], instructions[a]) })
	}
	// What is left out at a node is left out with all below it, which took no more.
	least = least / 100 * float64(instructions[0])
	// What is still to be printed is a stack of our own, because paths may be deeper than Go's should be.
	var left, nodes, levels []int
	push := func(parent, level int) {
		for _, child := range slices.Backward(children[parent]) {
			if float64(instructions[child]) >= least && (depth == 0 || level < depth) {
				left = append(left, child, level)
			}
		}
	}
	for push(0, 0); len(left) > 0; {
		node, level := left[len(left)-2], left[len(left)-1]
		left = left[:len(left)-2]
		nodes, levels = append(nodes, node), append(levels, level)
		push(node, level+1)
	}
	if w.json { // each has all of its path, so the order is enough to see the tree
		for _, n := range nodes {
			if err := jsontext.Write(w.Output, w.Path(n, instructions[n], time[n]), ""); err != nil {
				return err
			}
		}
		return nil
	}
	// The rows come in the order of nodes, so that the level of each is at hand.
	at := 0
	// The path is last, since it is indented by its depth and may be of any length; figures stay where they are.
	columns := append(w.costColumns(), text.Column{Title: "share", Right: true}, text.Column{Title: "path"})
	return rows(w, nodes, columns, func(n int) []string {
		name := strings.Repeat("  ", levels[at]) + text.Visible(w.export().Frame(n))
		at++
		share := float64(instructions[n]) / float64(max(instructions[0], 1))
		return append(costCells(w.Path(n, instructions[n], time[n]).Cost), percent(share), name)
	})
}
