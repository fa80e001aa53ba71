package view

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/trace"
)

// Condition is an expression over frames that holds or does not. It counts what frames lacked for it, so several goroutines
// need one each.
// It is compiled once for each location, so that a frame costs no lookup of names and no allocation.
type Condition struct {
	expression *Expression
	lacking    map[string]int
}

// Expression is an expression over what frames hold. What its names mean may differ from tracepoint to tracepoint.
type Expression struct {
	text     string
	compiled map[*trace.Tracepoint]*compiled // nil key: frames whose tracepoint is not defined
}

// compiled is an expression for the frames of one location, and its expr.Values.
type compiled struct {
	expr     *expr.Scalar
	operands []operand
	reader   *Reader
	lacks    []bool // by leaf
	lacked   bool
}

// Condition compiles a condition. The error is a *expr.Error: of what no tracepoint can make sense of.
func (v *View) Condition(text string) (*Condition, error) {
	e, err := v.Expression(text)
	if err != nil {
		return nil, err
	}
	return &Condition{e, make(map[string]int)}, nil
}

// Expression compiles an expression. The error is a *expr.Error.
func (v *View) Expression(text string) (*Expression, error) {
	all := v.collected()
	e := &Expression{text: text, compiled: make(map[*trace.Tracepoint]*compiled)}
	var first error
	try := func(c *collection) {
		// The first error is the one that is shown, and its suggestions are searched for among all names; those of the
		// others would cost as much for nothing.
		s := &frameScope{view: v, collection: c, all: all, nameless: first != nil}
		expr, err := expr.CompileScalar(text, s)
		if err != nil {
			if first == nil {
				first = err
			}
			return
		}
		e.compiled[c.tracepoint] = &compiled{expr: expr, operands: s.operands, lacks: make([]bool, len(expr.Leaves()))}
	}
	for _, t := range v.definitions {
		try(all.of[t])
	}
	// Frames of a tracepoint that no line defines have registers and trace state variables, which may be all that is
	// asked for.
	try(all.none)
	if len(e.compiled) > 0 {
		return e, nil
	}
	failure := (*expr.Error)(nil)
	if errors.As(first, &failure) && v.Symbols == nil && failure.Unknown != "" && !strings.HasPrefix(failure.Unknown, "$") {
		failure.Hint += "; variables of the program have names when it is given, too"
	}
	return nil, first
}

// String returns the expression as it was given.
func (e *Expression) String() string { return e.text }

// Value computes the expression on the frame that a Reader reads from, false if the frame lacks something for it.
func (e *Expression) Value(r *Reader) (ctype.Number, bool) {
	c := e.compiled[r.collection.tracepoint]
	if c == nil {
		return ctype.Number{}, false
	}
	// compiled is the expr.Values of its own expression; the reader is passed this way since interfaces made for each
	// frame allocate.
	c.reader = r
	return c.expr.Eval(c)
}

// Text is Reader.Text of what Value returned. What a value from the entry of a call points to was collected there.
func (e *Expression) Text(r *Reader, v ctype.Number) (string, bool) {
	for _, o := range e.compiled[r.collection.tracepoint].operands {
		if o.item != nil {
			r = r.Of(o.item)
		}
	}
	return r.Text(v)
}

// Match reports whether the condition holds in the frame that a Reader reads from. In one that lacks something that decides
// it, it does not hold.
func (c *Condition) Match(r *Reader) bool {
	at := c.expression.compiled[r.collection.tracepoint]
	if at == nil {
		if !r.view.Entry(r.frame) || !ofCall(c.expression.text) {
			c.lacking[c.expression.text]++
		}
		return false
	}
	// Most frames lack nothing, and clearing would be most of the work.
	if at.lacked {
		clear(at.lacks)
		at.lacked = false
	}
	at.reader = r
	value, ok := at.expr.Eval(at)
	if !ok {
		for i, lacks := range at.lacks {
			if name := at.expr.Leaves()[i]; lacks && !(ofCall(name) && r.view.Entry(r.frame)) {
				c.lacking[name]++
			}
		}
	}
	return ok && value.Bits != 0
}

// ofCall reports whether an expression is about calls that have returned: the frame of an entry need not have what it asks for.
func ofCall(text string) bool {
	return strings.Contains(text, "$"+trace.ReturnName) || strings.Contains(text, tookName) || strings.Contains(text, atEntry)
}

// Lack says how many frames could not be decided because they lack something.
type Lack struct {
	Name   string
	Frames int
}

// Lacking returns what the frames that could not be decided lacked, the most frequent first.
func (c *Condition) Lacking() []Lack {
	var all []Lack
	for name, frames := range c.lacking {
		all = append(all, Lack{name, frames})
	}
	slices.SortFunc(all, func(a, b Lack) int {
		// Equal counts are in the order of the names, so that the output of one trace is always the same.
		if a.Frames != b.Frames {
			return b.Frames - a.Frames
		}
		return slices.Compare([]byte(a.Name), []byte(b.Name))
	})
	return all
}

// String says it: "12 frames lack j->id".
func (l Lack) String() string {
	if l.Frames == 1 {
		return "1 frame lacks " + l.Name
	}
	return strconv.Itoa(l.Frames) + " frames lack " + l.Name
}

// Value implements expr.Values.
func (c *compiled) Value(id int) (uint64, bool) {
	o := &c.operands[id]
	r := c.reader
	switch o.kind {
	case operandRegister:
		b, ok := r.register(o.slot)
		if !ok {
			return 0, false
		}
		return r.view.integer(b), true
	case operandItem:
		d, ok := r.Read(o.item)
		if !ok || len(d.Bytes) > 8 {
			return 0, false
		}
		return r.view.integer(d.Bytes), true
	case operandMemory:
		return r.integerAt(o.addr, o.size)
	case operandVariable:
		n, ok := r.variable(o.variable)
		return uint64(n), ok
	case operandFrame:
		return uint64(r.frame.Number), true
	case operandTracepoint:
		return uint64(r.frame.Tracepoint()), true
	// Enumerators and the like, which debug information has as numbers.
	case operandConstant:
		return o.value, true
	case operandComm:
		name, ok := r.view.Comm(r.frame)
		if (name == o.comm) != o.differs {
			return 1, ok
		}
		return 0, ok
	case operandPC:
		return uint64(r.frame.PC), r.frame.HasPC
	}
	return 0, false
}

// Address implements expr.Values.
// A register has none, nor has an item whose value an expression computed: & of these is an error of that frame, not
// of the text.
func (c *compiled) Address(id int) (uint64, bool) {
	o := &c.operands[id]
	switch o.kind {
	case operandMemory:
		return uint64(o.addr), true
	case operandItem:
		d, ok := c.reader.Read(o.item)
		return uint64(d.Addr), ok && d.HasAddr
	}
	return 0, false
}

// Memory implements expr.Values.
func (c *compiled) Memory(addr uint64, size int) (uint64, bool) {
	return c.reader.integerAt(arch.Addr(addr), size)
}

// Lacks implements expr.Values.
func (c *compiled) Lacks(leaf int) {
	c.lacks[leaf], c.lacked = true, true
}
