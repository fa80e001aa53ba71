package query

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/text"
	"tracewell/itrace/calls"
	"tracewell/view/wire"
)

// calltreeCommand is "tracewell query calltree".
type calltreeCommand struct {
	asking
	Depth  flags.Count `placeholder:"N" default:"0" help:"Print N levels of calls (0: all)."`
	Min    float64     `name:"min" placeholder:"PERCENT" default:"0" help:"Leave out paths with less than so many percent of all instructions."`
	Folded bool        `help:"Print folded stacks, which flame graphs are made of: a path of functions and its instructions on each line."`
	Time   bool        `help:"With --folded, the time of the trace in place of instructions."`
}

// Examples implements flags.Exampler.
func (*calltreeCommand) Examples() string {
	return `  tracewell query calltree run.log --exec fw.elf                   # paths of calls, with counts
  tracewell query calltree run.log --exec fw.elf --min 1 --depth 4
  tracewell query calltree run.log --exec fw.elf --folded | flamegraph.pl > run.svg
`
}

// Run implements kong's command.
func (c *calltreeCommand) Run(streams console.Streams) error {
	return c.readWhole(streams, nil, func(w *whole) error {
		if err := w.requireFlow(); err != nil {
			return err
		}
		if c.Time && !w.timed {
			return fmt.Errorf("--time: the trace has no times")
		}
		if c.Folded {
			return w.folded(c.Time)
		}
		return w.tree(int(c.Depth), c.Min)
	})
}

// frameName is the name of a function in a folded stack, in which semicolons and line feeds have a meaning. The first of a handler has
// brackets, so that interrupts stand beside what they interrupt.
func (w *whole) frameName(n *calls.Node) string {
	name := strings.NewReplacer(";", ":", "\n", " ").Replace(w.name(n.Function))
	if n.Handler && n.Parent == 0 {
		return "[handler] " + name
	}
	return name
}

// folded prints a line for each path.
func (w *whole) folded(time bool) error {
	totals := make(map[string]uint64)
	for i := range w.Nodes {
		n := &w.Nodes[i]
		value := n.Self
		if time {
			value = n.Time
		}
		if value == 0 {
			continue
		}
		var names []string
		for _, at := range w.Path(i) {
			names = append(names, w.frameName(&w.Nodes[at]))
		}
		totals[strings.Join(names, ";")] += value
	}
	for _, path := range slices.Sorted(maps.Keys(totals)) {
		if _, err := fmt.Fprintf(w, "%s %d\n", text.Visible(path), totals[path]); err != nil {
			return err
		}
	}
	return nil
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
			name := strings.Repeat("  ", e.level) + text.Visible(w.frameName(n))
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
		p.Path = append(p.Path, w.name(w.Nodes[at].Function))
		p.Handler = p.Handler || w.Nodes[at].Handler
	}
	return p
}

// base is the name of a file without its folders.
func base(path string) string { return filepath.Base(path) }
