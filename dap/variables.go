package dap

import (
	"context"
	"errors"
	"fmt"
	"strings"

	protocol "github.com/google/go-dap"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
)

// node is a variable as a client sees it.
type node struct {
	name, value, typ string
	evaluate         string // an expression for it, "" for none
	tree             *tree  // nil if it does not unfold
	memory           string // its address, "" for none
	static           bool
	plain            func() string // the text that it is, without quotation marks; nil for what is none
}

// tree is what something unfolds to: named children, or as many indexed ones. List returns those from one place up to another, or
// to the end.
type tree struct {
	indexed int
	list    func(ctx context.Context, from, to int) ([]node, error)
}

// fixed is a tree of nodes that are there already.
func fixed(nodes []node) *tree {
	return &tree{list: func(_ context.Context, from, to int) ([]node, error) {
		return nodes[min(from, len(nodes)):min(to, len(nodes))], nil
	}}
}

// handles are the numbers that a client has been given for calls and trees.
type handles struct {
	ctx   context.Context // of the request that is served
	calls []call
	trees []*tree
	base  int // of the numbers; those below have become invalid
}

// reset makes all numbers invalid. Numbers are not used again, so that a late request gets an error.
func (h *handles) reset() {
	const most = 1 << 30 // DAP: numbers are less than 2^31
	h.base += len(h.calls) + len(h.trees) + 1
	if h.base > most {
		h.base = 1
	}
	h.calls, h.trees = nil, nil
}

// addTree returns the number of a tree, 0 for none.
func (h *handles) addTree(t *tree) int {
	if t == nil {
		return 0
	}
	h.trees = append(h.trees, t)
	return h.base + len(h.trees) - 1
}

// addCall returns the number of a call.
func (h *handles) addCall(c call) int {
	h.calls = append(h.calls, c)
	return h.base + len(h.calls) - 1
}

// call finds a call by its number.
func (h *handles) call(id int) (*call, error) {
	if i := id - h.base; i >= 0 && i < len(h.calls) {
		return &h.calls[i], nil
	}
	return nil, fmt.Errorf("there is no stack frame %d any more", id)
}

// variable makes a variable of a node.
func (h *handles) variable(n node) protocol.Variable {
	v := protocol.Variable{Name: n.name, Value: n.value, Type: n.typ, EvaluateName: n.evaluate, MemoryReference: n.memory,
		VariablesReference: h.addTree(n.tree)}
	if n.tree != nil {
		v.IndexedVariables = n.tree.indexed
	}
	if n.static {
		v.PresentationHint = &protocol.VariablePresentationHint{Attributes: []string{"static"}}
	}
	return v
}

// mostValue is how many bytes of a value are shown before it is unfolded.
const mostValue = 1000

// mostUnpaged is how many children a client gets that asks for all of them. An answer of a million lines helps nobody.
const mostUnpaged = 10000

// of makes a node of a value. The name is what is shown, evaluate what stands for it in expressions.
func (n *names) node(name, evaluate string, v ctype.Value, p ctype.Printer) node {
	made := node{name: text.Visible(name), evaluate: evaluate, typ: text.Visible(v.Type.String())}
	made.value = shorten(string(p.AppendValue(nil, v)))
	if v.InMemory {
		made.memory = v.Addr.String()
	}
	made.tree = n.unfold(evaluate, v, p)
	made.plain = plainText(v, p)
	return made
}

// mostText is how many bytes of a text a log point prints.
const mostText = 1000

// plainText is the text that an array of characters or a pointer to some is; nil for any other value.
func plainText(v ctype.Value, p ctype.Printer) func() string {
	t := v.Type.Strip()
	if t.Elem == nil || !t.Elem.Strip().Char || t.Elem.Strip().Size != 1 || len(v.Holes) > 0 {
		return nil
	}
	b := v.Bytes
	switch {
	case t.Kind == ctype.Array:
	case t.Kind == ctype.Pointer && p.Memory != nil && t.Size <= len(b) && t.Size <= 8:
		b = make([]byte, mostText)
		at := arch.Addr(arch.Uint(v.Bytes[:t.Size], p.Order))
		if b = b[:p.Memory(at, b)]; len(b) == 0 {
			return nil // the address says more than nothing
		}
	default:
		return nil
	}
	return func() string {
		s, _, _ := strings.Cut(string(b[:min(len(b), mostText)]), "\x00")
		return s
	}
}

// shorten cuts what is too long for a line.
func shorten(s string) string {
	if len(s) <= mostValue {
		return text.Visible(s)
	}
	return text.Visible(strings.ToValidUTF8(s[:mostValue], "")) + "…"
}

// unfold is the tree of a value, nil if it has no children.
func (n *names) unfold(evaluate string, v ctype.Value, p ctype.Printer) *tree {
	t := v.Type.Strip()
	switch t.Kind {
	case ctype.Record, ctype.Complex:
	case ctype.Array:
		if t.Count == 0 {
			return nil
		}
		return &tree{indexed: t.Count, list: n.children(evaluate, v, p)}
	case ctype.Pointer:
		if t.Elem == nil || t.Elem.Strip().Kind == ctype.Function || t.Elem.Strip() == ctype.Void {
			return nil
		}
	default:
		return nil
	}
	for range p.Children(v) {
		return &tree{list: n.children(evaluate, v, p)}
	}
	return nil
}

// children lists what a value unfolds to. What a pointer to a structure leads to is shown at once, one level less deep.
func (n *names) children(evaluate string, v ctype.Value, p ctype.Printer) func(context.Context, int, int) ([]node, error) {
	return func(_ context.Context, from, to int) (list []node, err error) {
		if t := v.Type.Strip(); t.Kind == ctype.Pointer {
			for c := range p.Children(v) {
				if c.Missing == "" && c.Value.Type.Strip().Kind == ctype.Record {
					return n.children(pointee(evaluate), c.Value, p)(nil, from, to)
				}
				break
			}
		}
		i := 0
		for c := range p.Children(v) {
			if i++; i <= from {
				continue
			}
			if i > to {
				break
			}
			list = append(list, n.child(evaluate, c, p))
		}
		return list, nil
	}
}

// child makes a node of a child.
func (n *names) child(parent string, c ctype.Child, p ctype.Printer) node {
	evaluate := ""
	if parent != "" {
		switch c.Role {
		case ctype.MemberChild, ctype.StaticChild:
			evaluate = member(parent, c.Name)
		case ctype.BaseChild:
			evaluate = parent
		case ctype.ElementChild:
			evaluate = "(" + parent + ")" + c.Name
		case ctype.TargetChild:
			evaluate = "*(" + parent + ")"
		}
	}
	name := c.Name
	if name == "" {
		name = "<anonymous>"
	}
	if c.Missing != "" {
		return node{name: text.Visible(name), value: c.Missing, evaluate: evaluate, typ: text.Visible(c.Value.Type.String())}
	}
	made := n.node(name, evaluate, c.Value, p)
	made.static = c.Role == ctype.StaticChild
	return made
}

// member is the expression for a member.
func member(parent, name string) string {
	switch {
	case name == "":
		return parent // members of an anonymous structure count as the outer one's
	case strings.HasPrefix(parent, "*(") && strings.HasSuffix(parent, ")"):
		return strings.TrimSuffix(parent[2:], ")") + "->" + name
	case strings.HasPrefix(parent, "*"):
		return "(" + parent + ")." + name
	}
	return parent + "." + name
}

// pointee is the expression for what a pointer points to.
func pointee(pointer string) string {
	if pointer == "" {
		return ""
	}
	return "*(" + pointer + ")"
}

// values evaluates names of a call, such as its locals.
func (n *names) values(c *call, list []string) (nodes []node) {
	scope, err := n.scope(c)
	if err != nil {
		return nil
	}
	p := n.printer(c.moment.ReadMemory, scope.Language())
	for _, name := range list {
		made, err := n.value(scope, c.context, name, p)
		if err != nil {
			made = node{name: text.Visible(name), value: "<" + oneLine(err) + ">", evaluate: name}
		}
		nodes = append(nodes, made)
	}
	return nodes
}

// value evaluates an expression.
func (n *names) value(scope expr.Scope, in expr.Context, expression string, p ctype.Printer) (node, error) {
	e, err := expr.Compile(expression, scope)
	if err != nil {
		return node{}, err
	}
	v, err := e.Value(in)
	if err != nil {
		return node{}, err
	}
	return n.node(expression, expression, v, p), nil
}

// oneLine is the first line of an error.
func oneLine(err error) string {
	var wrong *expr.Error
	if errors.As(err, &wrong) {
		return wrong.Problem
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return text.Visible(first)
}

// registers is the tree of the registers of a call.
func (n *names) registers(c *call) *tree {
	var nodes []node
	if n.layout == nil {
		return nil
	}
	block, known := c.moment.block()
	if _, isCaller := c.context.(*callerContext); isCaller {
		return n.restored(c)
	}
	for i := range n.layout.Slots {
		slot := &n.layout.Slots[i]
		name := "$" + text.Visible(slot.Reg.Name)
		switch {
		case slot.Offset+slot.Size > len(block):
			continue
		case !isKnown(slot, block, known):
			nodes = append(nodes, node{name: name, value: ctype.Unavailable})
		default:
			nodes = append(nodes, node{name: name, evaluate: name, value: slot.Hex(block, n.order)})
		}
	}
	return fixed(nodes)
}

// restored is the registers that unwinding has restored.
func (n *names) restored(c *call) *tree {
	var nodes []node
	for i := range n.layout.Slots {
		slot := &n.layout.Slots[i]
		if b, err := c.context.Register(slot.Reg.Num); err == nil {
			name := "$" + text.Visible(slot.Reg.Name)
			nodes = append(nodes, node{name: name, evaluate: name, value: fmt.Sprintf("%#x", arch.Uint(b, n.order))})
		}
	}
	return fixed(nodes)
}
