package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// Collection is what has to be collected so that expressions can be evaluated over the frame.
type Collection struct {
	Text      string
	Registers []arch.Reg     // ascending
	Memory    []trace.Action // M and X actions
	Items     []Item
	Missing   []Missing // locals and arguments of $locals and $args that cannot be had
}

// Item is a value that a collection makes visible. Text is an expression for Compile, or $regs.
type Item struct {
	Text string
	Type *ctype.Type // nil for $regs
}

// Missing is a variable that cannot be collected.
type Missing struct {
	Name   string
	Reason string
}

// groups are the names that stand for several values, in all of GDB's spellings.
var groups = []string{"reg", "regs", "arg", "args", "loc", "local", "locals"}

// mostText is how many bytes of a string are collected when nothing else is said: as many as GDB prints.
const mostText = 200

// Collect compiles what a collect action names: expressions with commas between them, $regs, $args, $locals, $_ret, and
// trace state variables. Text may begin with /s, or /s and a number: then a pointer to characters means the string, of at
// most that many bytes. The error is an *Error.
// Of containers the contents are collected, too, within limits.
func Collect(text string, s Scope, limits container.Limits) (result *Collection, err error) {
	c := &collector{compiler: newCompiler(text, s), result: &Collection{Text: text}, classes: map[*ctype.Type]bool{}, limits: limits}
	c.shapes.Concrete = s.Concrete
	defer rescue(&err)
	for _, n := range c.parseList(c.options()) {
		c.item(n)
	}
	slices.Sort(c.result.Registers)
	c.result.Registers = slices.Compact(c.result.Registers)
	return c.result, nil
}

// Actions returns the actions that collect all of the collections: one for the registers if there are any, then those for memory,
// in order. The mask of registers is written with the highest byte first and without leading zeros, as QTDP has it. An empty list
// is for a tracepoint that only counts.
func Actions(collections ...*Collection) []trace.Action {
	var mask []byte // lowest byte first
	var actions []trace.Action
	for _, c := range collections {
		for _, r := range c.Registers {
			for len(mask) <= int(r)/8 {
				mask = append(mask, 0)
			}
			mask[r/8] |= 1 << (r % 8)
		}
		actions = append(actions, c.Memory...)
	}
	if len(mask) == 0 {
		return actions
	}
	slices.Reverse(mask)
	return append([]trace.Action{{Kind: trace.CollectRegisters, Mask: mask}}, actions...)
}

// collector compiles for the collection that it makes.
type collector struct {
	*compiler
	result *Collection
	text   uint64 // the limit of a string that a pointer means, 0 for the pointer alone

	classes map[*ctype.Type]bool // whose static members are collected already
	limits  container.Limits
	shapes  container.Shapes
}

// options reads /s at the beginning and returns how many bytes of the text it is. The modifier is that of GDB's collect action.
func (c *collector) options() int {
	rest := strings.TrimLeft(c.compiler.text, " \t")
	from := len(c.compiler.text) - len(rest)
	if !strings.HasPrefix(rest, "/") {
		return 0
	}
	option := rest[:len(rest)-len(strings.TrimLeft(rest[1:], "s0123456789"))]
	limit, err := uint64(mostText), error(nil)
	if digits := strings.TrimPrefix(option, "/s"); digits != "" {
		limit, err = strconv.ParseUint(digits, 10, 31)
	}
	// GDB takes /s80 only; any other letter is an error there as well.
	if err != nil || limit == 0 || len(rest) > len(option) && !strings.ContainsAny(rest[len(option):][:1], " \t") {
		word, _, _ := strings.Cut(rest, " ")
		panic(&cexpr.Error{Text: c.compiler.text, Start: from, End: from + len(word), Problem: word + " is no option",
			Hint: "/s collects strings, /s80 at most 80 bytes of each"})
	}
	c.text = limit
	return from + len(option)
}

// item collects what one expression names.
func (c *collector) item(n *cexpr.Node) {
	name := n.String()
	switch name {
	case "$reg", "$regs":
		c.result.Registers = append(c.result.Registers, c.scope.Registers()...)
		c.result.Items = append(c.result.Items, Item{Text: "$regs"})
	case "$arg", "$args":
		c.group(c.scope.Arguments())
	case "$loc", "$local", "$locals":
		c.group(c.scope.Locals())
	default:
		v := c.value(n)
		c.collect(n, v)
		c.result.Items = append(c.result.Items, Item{name, v.typ})
	}
}

// group collects variables of the function. What one of them lacks is no error.
func (c *collector) group(names []string) {
	for _, name := range names {
		if err := c.one(name); err != nil {
			c.result.Missing = append(c.result.Missing, Missing{name, strings.TrimPrefix(err.Problem, name+": ")})
		}
	}
}

// one collects one of several variables.
func (c *collector) one(name string) *cexpr.Error {
	return attempt(func() {
		n := cexpr.NewName(name)
		v := c.value(n)
		c.collect(n, v)
		c.result.Items = append(c.result.Items, Item{quoted(name), v.typ})
	})
}

// attempt runs what may give up, and returns why it did.
func attempt(work func()) (failure *cexpr.Error) {
	defer func() {
		if f := recover(); f != nil {
			failure = f.(*cexpr.Error)
		}
	}()
	work()
	return nil
}

// collect makes the actions for a value: what has to be in the traceframe for GDB to print it. The cases are in this order
// because the earlier ones cover less than the value itself has: a string its text, a computed value what it was computed of.
func (c *collector) collect(n *cexpr.Node, v value) {
	for _, v := range c.passed {
		attempt(func() { c.collectPlace(n, v.place, v.typ.Size) }) // where it is not known the member is, all the same
	}
	c.passed = nil
	switch {
	// A string is collected in place of the pointer; the pointer itself comes with it, since its place is read.
	case c.text > 0 && c.string(n, v):
	// A computed value: what it reads is collected, and the number dropped. show computes it again from that.
	case v.code != nil:
		c.run(n, v.code, op(ax.OpPop))
	case v.field != nil:
		c.collectPlace(n, v.place, v.field.Span())
	case v.computed():
		c.run(n, c.address(n, v).with(c.bytes(n, v), op(ax.OpTrace)))
	// A function stands for its address, and where that is computed, what the computation reads is needed.
	case v.typ.Kind == ctype.Function:
		c.run(n, c.address(n, v), op(ax.OpPop))
	case v.typ.Size == 0 && v.typ.Kind == ctype.Opaque:
		c.failType(n, v.typ)
	case v.typ.Size == 0 && (v.typ.Open || v.typ.Kind != ctype.Record && v.typ.Kind != ctype.Array):
		c.fail(n, fmt.Sprintf("the size of %v is not known", v.typ), c.sized(n, v.typ))
	default:
		c.collectPlace(n, v.place, v.typ.Size)
		if c.limits.Depth > 0 {
			c.contents(n, v)
		} else {
			c.content(n, v, 0)
		}
		c.statics(n, v.typ, 0)
		c.virtuals(n, v, 0)
	}
}

// sized is how a user says how much there is of what has no size.
func (c *collector) sized(n *cexpr.Node, t *ctype.Type) string {
	if t.Kind != ctype.Array || t.Elem.Size == 0 {
		return ""
	}
	return "collect as many elements as there are: " + n.String() + "[0]@8"
}

// collectPlace collects what lies in a place: size bytes of it.
func (c *collector) collectPlace(n *cexpr.Node, p Place, size int) {
	switch at := p.(type) {
	case Memory:
		c.memoryAt(n, at.Emit, size)
	case Register:
		c.result.Registers = append(c.result.Registers, at.Num)
	case Value:
		c.run(n, at.Emit, op(ax.OpPop))
	case Pieces:
		c.pieces(n, at)
	case Absent:
		c.fail(n, n.String()+": "+at.Reason, "")
	}
}

// pieces collects those pieces that there are; some must be. Pieces that were optimized out do not keep GDB from printing the rest.
func (c *collector) pieces(n *cexpr.Node, pieces Pieces) {
	some := false
	for _, p := range pieces {
		if _, absent := p.Place.(Absent); p.Place == nil || absent {
			continue
		}
		some = true
		c.collectPlace(n, p.Place, (p.Offset+p.Bits+7)/8)
	}
	if !some {
		c.fail(n, n.String()+": optimized out", "")
	}
}

// memoryAt collects size bytes of memory: by their address where that is constant, or else by code that computes it at the hit.
func (c *collector) memoryAt(n *cexpr.Node, addr code, size int) {
	// A fixed range needs no bytecode: an M action is shorter, and cannot fail to be evaluated.
	if fixedAddr, err := fixed(addr); err == nil {
		c.result.Memory = append(c.result.Memory, trace.Action{Kind: trace.CollectMemory, Base: trace.Absolute,
			Offset: uint64(fixedAddr), Length: uint64(size)})
		return
	}
	c.run(n, addr, number(uint64(size)), op(ax.OpTrace))
}

// run collects what code reads in memory, with what the operations behind it collect. All registers that it reads are collected.
func (c *collector) run(n *cexpr.Node, work code, more ...func(*ax.Builder)) {
	p, err := build(work, more...)
	if err == nil {
		p, err = traced(p)
	}
	if err != nil {
		c.fail(n, err.Error(), "")
	}
	// GDB collects the registers that the bytecode reads as well: without them the frame could not be evaluated later.
	c.result.Registers = append(c.result.Registers, p.Requirements().Registers...)
	if !inert(p) {
		c.result.Memory = append(c.result.Memory, trace.Action{Kind: trace.CollectExpression, Code: p.Code()})
	}
}

// inert reports whether a program neither collects nor changes anything, and need not be in the traceframe's actions: all that it
// reads are registers, which the mask has.
func inert(p *ax.Program) bool {
	for in := range p.Instructions() {
		switch in.Op {
		case ax.OpTrace, ax.OpTraceQuick, ax.OpTracenz, ax.OpTracev, ax.OpSetv:
			return false
		}
	}
	return true
}

// string collects the string that a value is or points to; false if it is none.
func (c *collector) string(n *cexpr.Node, v value) bool {
	elem := v.typ.Elem
	if elem == nil || elem.Size != 1 || elem.Kind != ctype.Integer || v.field != nil {
		return false
	}
	switch v.typ.Kind {
	case ctype.Pointer:
		// The frame needs the pointer to find the text again.
		if register, ok := v.place.(Register); ok {
			c.result.Registers = append(c.result.Registers, register.Num)
		}
		c.run(n, c.load(n, v), number(c.text), op(ax.OpTracenz))
		return true
	case ctype.Array: // one that is short is collected whole
		if _, ok := v.place.(Memory); ok && (v.typ.Open || uint64(v.typ.Size) > c.text) {
			c.run(n, c.address(n, v), number(c.text), op(ax.OpTracenz))
			return true
		}
	}
	return false
}
