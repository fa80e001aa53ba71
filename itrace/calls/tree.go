package calls

// Function is code that has a name, or that was called at its address.
type Function struct {
	Name  string // "" if no symbol has the address
	Begin uint64
}

// Node is a path of calls: the function that was called, by that of Parent. The first node is the root, which is no function.
type Node struct {
	Function int32 // number in Walker.Functions
	Parent   int32
	Handler  bool // it was entered by an exception or an interrupt
	Calls    uint64
	Self     uint64 // instructions of the function itself on this path
	Time     uint64 // the same in units of the trace
}

// maxNodes is how many paths there may be, beside those of one function alone, of which there are no more than functions.
const maxNodes = 1 << 18

type edge struct {
	parent, function int32
	handler          bool
}

// Tree is all paths of calls. A node comes behind its parent.
type Tree struct {
	Nodes  []Node
	Elided uint64 // calls that have no node of their own, because there were too many

	children map[edge]int32
}

func newTree() Tree {
	return Tree{Nodes: []Node{{Function: -1, Parent: -1}}, children: make(map[edge]int32)}
}

// child is the node of a function called on a path; the path itself when there are too many.
func (t *Tree) child(parent, function int32, handler bool) int32 {
	e := edge{parent, function, handler}
	n, known := t.children[e]
	if known {
		return n
	}
	if len(t.Nodes) >= maxNodes && parent > 0 {
		t.Elided++
		return parent
	}
	n = int32(len(t.Nodes))
	t.Nodes = append(t.Nodes, Node{Function: function, Parent: parent, Handler: handler})
	t.children[e] = n
	return n
}

// Totals are what functions, or paths with all that they called, come to.
type Totals struct {
	Calls                   uint64
	Self, Inclusive         uint64 // instructions
	SelfTime, InclusiveTime uint64
}

// Inclusive returns the instructions and the time of each node with all below it.
func (t *Tree) Inclusive() (instructions, time []uint64) {
	instructions, time = make([]uint64, len(t.Nodes)), make([]uint64, len(t.Nodes))
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		instructions[i] += n.Self
		time[i] += n.Time
		if n.Parent >= 0 {
			instructions[n.Parent] += instructions[i]
			time[n.Parent] += time[i]
		}
	}
	return instructions, time
}

// ByFunction adds up the nodes of each function, by its number. What a function took with all that it called counts once where it
// called itself.
func (t *Tree) ByFunction(functions int) []Totals {
	all := make([]Totals, functions)
	instructions, time := t.Inclusive()
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Function < 0 {
			continue
		}
		f := &all[n.Function]
		f.Calls += n.Calls
		f.Self += n.Self
		f.SelfTime += n.Time
		if !t.within(n.Parent, n.Function) {
			f.Inclusive += instructions[i]
			f.InclusiveTime += time[i]
		}
	}
	return all
}

// within reports whether a function is on the path of a node.
func (t *Tree) within(node, function int32) bool {
	for ; node > 0; node = t.Nodes[node].Parent {
		if t.Nodes[node].Function == function {
			return true
		}
	}
	return false
}

// Path is the nodes from the outermost call to a node.
func (t *Tree) Path(node int) (path []int) {
	for n := int32(node); n > 0; n = t.Nodes[n].Parent {
		path = append(path, int(n))
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}
