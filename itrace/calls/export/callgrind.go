package export

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
)

// edge is calls of a function by another.
type edge struct{ caller, callee int32 }

type edgeCost struct{ calls, inclusive uint64 }

// WriteCallgrind writes a profile in the format of callgrind. Costs of functions are by address and line; a call is said to be made
// where its caller begins, since only who called whom is kept.
func (c *Calls) WriteCallgrind(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "# callgrind format\nversion: 1\ncreator: tracewell\n")
	if c.Program != "" {
		fmt.Fprintf(w, "cmd: %s\n", c.Program)
	}
	var all uint64
	byFunction := make(map[int32][]int)
	for _, n := range c.Table.Executed() {
		s := &c.Table.Sites[n]
		byFunction[s.Function] = append(byFunction[s.Function], n)
		all += s.Count
	}
	fmt.Fprintf(w, "positions: instr line\nevent: Ir : Instructions\nevents: Ir\nsummary: %d\n", all)
	edges := c.edges()
	for f := range c.Functions {
		number := int32(f)
		if len(byFunction[number]) == 0 && len(edges[number]) == 0 {
			continue
		}
		begin := c.Functions[f].Begin
		path, line := c.line(begin)
		fmt.Fprintf(w, "\nfl=%s\nfn=%s\n", cmp.Or(path, "???"), Name(c.Functions[f]))
		for _, n := range byFunction[number] {
			s := &c.Table.Sites[n]
			in, at := c.line(s.PC)
			if in != path { // inlined
				fmt.Fprintf(w, "fi=%s\n", cmp.Or(in, "???"))
			}
			fmt.Fprintf(w, "0x%x %d %d\n", s.PC, at, s.Count)
			if in != path {
				fmt.Fprintf(w, "fe=%s\n", cmp.Or(path, "???"))
			}
		}
		for _, callee := range sortedCallees(edges[number]) {
			cost := edges[number][callee]
			to := c.Functions[callee]
			file, at := c.line(to.Begin)
			fmt.Fprintf(w, "cfi=%s\ncfn=%s\ncalls=%d 0x%x %d\n0x%x %d %d\n", cmp.Or(file, "???"), Name(to), cost.calls, to.Begin, at,
				begin, line, cost.inclusive)
		}
	}
	return w.Flush()
}

// edges are the calls of each function, by callees. What a call took with all below it counts once where the same call is below it.
func (c *Calls) edges() map[int32]map[int32]*edgeCost {
	inclusive, _ := c.Inclusive()
	all := make(map[int32]map[int32]*edgeCost)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.Parent <= 0 || n.Calls == 0 && inclusive[i] == 0 {
			continue
		}
		e := edge{c.Nodes[n.Parent].Function, n.Function}
		if all[e.caller] == nil {
			all[e.caller] = make(map[int32]*edgeCost)
		}
		cost := all[e.caller][e.callee]
		if cost == nil {
			cost = &edgeCost{}
			all[e.caller][e.callee] = cost
		}
		cost.calls += n.Calls
		if !c.above(n.Parent, e) {
			cost.inclusive += inclusive[i]
		}
	}
	return all
}

// above reports whether a call is on the path of a node.
func (c *Calls) above(node int32, e edge) bool {
	for ; node > 0; node = c.Nodes[node].Parent {
		if parent := c.Nodes[node].Parent; parent > 0 && c.Nodes[parent].Function == e.caller && c.Nodes[node].Function == e.callee {
			return true
		}
	}
	return false
}

func sortedCallees(costs map[int32]*edgeCost) []int32 {
	var list []int32
	for callee := range costs {
		list = append(list, callee)
	}
	slices.Sort(list)
	return list
}
