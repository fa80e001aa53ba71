package expr

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// compiler turns the tree of an expression into values. Its parts give up by a panic with an *Error, which rescue turns into
// a result.
type compiler struct {
	text    string
	scope   Scope
	abi     ctype.ABI
	dialect cexpr.Dialect
	partial *partial // of a Scalar; nil for an agent expression and for an Evaluator

	passed []value // this, for static members that are named without it: GDB reads it on its way to them
}

// newCompiler starts an expression in a scope, in the dialect of tracepoints.
func newCompiler(text string, s Scope) *compiler {
	return &compiler{text: text, scope: s, abi: s.ABI(), dialect: cexpr.Tracing}
}

// rescue turns the panic by which a part has given up into an *Error. Any other panic is a bug, and the failed type assertion
// shows it.
func rescue(err *error) {
	if failure := recover(); failure != nil {
		*err = (*Error)(failure.(*cexpr.Error))
	}
}

// parse reads the whole text as one expression.
func (c *compiler) parse() *cexpr.Node {
	root, err := cexpr.Parse(c.text, c.grammar(), c.dialect)
	if err != nil {
		panic(err)
	}
	return root
}

// parseList reads what stands behind the first bytes of the text.
func (c *compiler) parseList(from int) []*cexpr.Node {
	list, err := cexpr.ParseList(strings.Repeat(" ", from)+c.text[from:], c.grammar(), cexpr.Tracing)
	if err != nil {
		err.Text = c.text
		panic(err)
	}
	return list
}

// fail gives up with an error about a part of the text.
func (c *compiler) fail(n *cexpr.Node, problem, hint string) {
	panic(n.Error(c.text, problem, hint))
}

// grammar is what C's grammar has to know of a scope.
type grammar struct {
	scope Scope
	mixed bool // the names are of several languages
}

// grammar is that of the scope. What a frame has may come from a part of the program in any language.
func (c *compiler) grammar() grammar { return grammar{c.scope, c.partial != nil} }

// Keyword reports whether a keyword of C cannot be a name.
func (g grammar) Keyword(word string) bool {
	switch g.scope.Language() {
	case ctype.Rust, ctype.Go:
		return false
	case ctype.C:
		return !g.mixed && word != "bool" // which a header makes one
	}
	return true
}

// Type finds a type.
func (g grammar) Type(name string) (*ctype.Type, bool) {
	t, err := g.scope.Type(name)
	return t, err == nil && t != nil
}

// Value finds out whether something has the name. The constructors of a class do not hide it.
func (g grammar) Value(name string) bool {
	object, err := g.scope.Lookup(name)
	if err == nil && object.Type != nil && object.Type.Kind == ctype.Function {
		_, isType := g.Type(name)
		return !isType
	}
	return err == nil
}

// ABI is that of the scope.
func (g grammar) ABI() ctype.ABI { return g.scope.ABI() }

// value compiles a part. A reference stands for what it refers to.
func (c *compiler) value(n *cexpr.Node) value {
	if c.partial != nil {
		if v, ok := c.operand(n); ok {
			return c.followed(n, v)
		}
	}
	return c.followed(n, compilers[n.Form](c, n))
}

// followed is what a reference refers to, or else the value itself. C++ has no way to name the reference as such; &x is the
// address of what it refers to.
func (c *compiler) followed(n *cexpr.Node, v value) value {
	if v.typ == nil {
		c.fail(n, "the type of "+n.String()+" is not known", "")
	}
	if v.typ.Kind == ctype.Pointer && v.typ.Reference {
		return value{typ: v.typ.Elem, place: Memory{c.load(n, v)}}
	}
	return v
}

// compilers has how each form is compiled.
var compilers [cexpr.Forms]func(*compiler, *cexpr.Node) value

func init() {
	compilers = [...]func(*compiler, *cexpr.Node) value{
		cexpr.NameForm: (*compiler).name, cexpr.Literal: (*compiler).literal, cexpr.Unary: (*compiler).unary,
		cexpr.Binary: (*compiler).binary, cexpr.Choice: (*compiler).choice, cexpr.Cast: (*compiler).cast,
		cexpr.Memory: (*compiler).memory, cexpr.Index: (*compiler).index, cexpr.Member: (*compiler).member,
		cexpr.SizeType: (*compiler).sizeType, cexpr.SizeExpr: (*compiler).sizeExpr, cexpr.Assign: (*compiler).assign,
		cexpr.StepBefore: (*compiler).step, cexpr.StepAfter: (*compiler).step, cexpr.Comma: (*compiler).comma,
	}
}

// name finds what a name means, in GDB's order: a variable of the function, a member of this, a global, then constants of the
// language. An object of an outer scope gives way to a member of this.
func (c *compiler) name(n *cexpr.Node) value {
	if n.Token.Text[0] == '$' {
		return c.dollar(n)
	}
	name := unquoted(n.String())
	object, err := c.scope.Lookup(name)
	if err != nil || object.Outer {
		if v, ok := c.ofThis(n, name); ok {
			return v
		}
	}
	if err == nil {
		return c.object(object)
	}
	if bits, ok := wordConstants[name]; ok {
		return constant(bits, &ctype.Type{Kind: ctype.Bool, Name: "bool", Size: 1})
	}
	if object, err := c.scope.Lookup("&" + name); err == nil && c.scope.Language() == ctype.Go {
		return c.pointed(n, value{typ: object.Type, place: object.Place}) // a variable that Go keeps on the heap
	}
	panic(&cexpr.Error{Text: c.text, Start: n.Start(), End: n.End(), Problem: err.Error(),
		Hint: cexpr.Suggest(name, c.scope.Names()), Unknown: name})
}

// object is the value of what a name stands for. An enumerator becomes a constant at once, so that it can be folded.
func (c *compiler) object(o Object) value {
	known, ok := o.Place.(Constant)
	if ok && o.Type != nil && o.Type.Scalar() && len(known.Bytes) >= o.Type.Size {
		return constant(o.Type.Extend(constantBits(known, o.Type.Size, c.scope.Order())), o.Type)
	}
	return value{typ: o.Type, place: o.Place}
}

// unquoted takes the quotes off a name that has them around all of it. Debugging information has names that are none of C.
func unquoted(name string) string {
	inner, quoted := strings.CutPrefix(strings.TrimSuffix(name, "'"), "'")
	if quoted && len(inner) == len(name)-2 && !strings.Contains(inner, "'") {
		return inner
	}
	return name
}

// quoted puts quotes around a name that is none of C.
func quoted(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !cexpr.IsWord(r) }) {
		return "'" + name + "'"
	}
	return name
}

// wordConstants are words that are constants where nothing else is called so.
var wordConstants = map[string]uint64{"true": 1, "false": 0}

// ofThis finds a member of what this points to, which may be named without it in a method. What a static member is reached by is
// noted in passed: GDB reads this even then, and reports an error over a traceframe that lacks it.
func (c *compiler) ofThis(n *cexpr.Node, name string) (value, bool) {
	this, err := c.scope.Lookup("this")
	if err != nil || this.Type == nil || this.Type.Kind != ctype.Pointer || this.Type.Elem == nil {
		return value{}, false
	}
	class, member := this.Type.Elem, name
	if base, inBase := cutBase(class, name); inBase {
		member = base
	}
	if pathTo(class, member, 0) == nil {
		return value{}, false
	}
	if owner, static := staticIn(class, name); static {
		c.passed = append(c.passed, value{typ: this.Type, place: this.Place})
		return c.scopedMember(n, value{typ: owner}, name[strings.LastIndex(name, ":")+1:])
	}
	object := c.pointed(n, value{typ: this.Type, place: this.Place})
	return c.field(n, object, name), true
}

// The type of a trace state variable.
var variableType = ctype.Int(8, true)

// dollar compiles a name that begins with a $.
func (c *compiler) dollar(n *cexpr.Node) value {
	name := n.Token.Text[1:]
	if number, ok := c.scope.Variable(name); ok {
		return value{typ: variableType, code: getVariable(number)}
	}
	if name == "_ret" {
		object, err := c.scope.Return()
		if err != nil {
			c.fail(n, err.Error(), "")
		}
		return value{typ: object.Type, place: object.Place}
	}
	if slices.Contains(groups, name) {
		c.fail(n, "$"+name+" stands for several values, and only alone", "")
	}
	register, err := c.scope.Register(name)
	if err != nil {
		panic(&cexpr.Error{Text: c.text, Start: n.Start(), End: n.End(), Unknown: n.Token.Text,
			Problem: fmt.Sprintf("there is no $%s: neither a trace state variable nor a register", name)})
	}
	return value{typ: register.Type, place: register.Place}
}

// literal is a number or a character. Strings would need memory in the program, floating point operations that agents lack.
func (c *compiler) literal(n *cexpr.Node) value {
	text := n.Token.Text
	switch n.Token.Kind {
	case cexpr.Character:
		bits, ok := cexpr.ParseCharacter(text, c.abi)
		if !ok {
			c.fail(n, text+" is not one character of one byte", "")
		}
		if c.partial != nil {
			return constant(bits, intType) // as in C, and not as in C++ and GDB
		}
		return constant(bits, &ctype.Type{Kind: ctype.Integer, Name: "char", Size: 1, Signed: !c.abi.UnsignedChar, Char: true})
	case cexpr.String:
		if c.partial != nil {
			c.fail(n, "a string can only be compared with the name of the thread", `as in comm == "worker"`)
		}
		c.fail(n, "a string in an expression would have to be put into the program", "")
	}
	bits, typ, ok := cexpr.ParseInteger(text, c.abi)
	if c.partial != nil && !ok {
		if v, isReal := realLiteral(text); isReal {
			return v
		}
		c.fail(n, text+" is no number", "")
	}
	switch {
	case ok:
	case strings.ContainsAny(text, ".eEpP"):
		c.fail(n, noFloat, "")
	default:
		c.fail(n, text+" is no number", "")
	}
	return constant(bits, typ)
}

// noFloat is what is said of all floating-point arithmetic.
const noFloat = "an agent expression cannot compute with floating-point numbers"

// load is the code that pushes a part that is one integer. An array and a function stand for their addresses.
func (c *compiler) load(n *cexpr.Node, v value) code {
	if c.partial != nil && isFloat(v.typ) {
		c.failType(n, v.typ)
	}
	switch {
	case v.code != nil:
		return v.code
	case v.field != nil:
		return c.loadBits(n, v)
	case v.typ.Kind == ctype.Array || v.typ.Kind == ctype.Function:
		return c.address(n, v)
	}
	if absent, ok := v.place.(Absent); ok {
		c.fail(n, n.String()+": "+absent.Reason, "")
	}
	if !v.typ.Scalar() {
		c.failType(n, v.typ)
	}
	loaded, err := c.loadFrom(n, v.place, v.typ)
	if err != nil {
		c.fail(n, n.String()+": "+err.Error(), "")
	}
	return loaded
}

// loadFrom is the code that pushes an integer of a part which lies in a place.
func (c *compiler) loadFrom(n *cexpr.Node, place Place, t *ctype.Type) (code, error) {
	if at, ok := place.(Memory); ok && c.partial != nil {
		return c.memoryCell(n, at.Emit, t), nil
	}
	return load(place, t, c.scope.Order())
}

// failType gives up because a part is no integer, with what a user can do about it.
func (c *compiler) failType(n *cexpr.Node, t *ctype.Type) {
	if c.partial != nil {
		hint := ""
		switch t.Kind {
		case ctype.Record:
			hint = "name one of its members"
		case ctype.Float:
			hint = fmt.Sprintf("a cast makes it one: (long)(%s)", n)
		}
		c.fail(n, fmt.Sprintf("%s is of type %v, which is no integer", n, t), hint)
	}
	if t.Swapped {
		c.fail(n, n.String()+" has its bytes in the other order than the machine's; an agent expression does not compute with it", "")
	}
	switch t.Kind {
	case ctype.Float, ctype.Complex:
		c.fail(n, noFloat, "")
	case ctype.Opaque:
		c.fail(n, fmt.Sprintf("the type of %s is not known", n), "a cast says what it is: (int)"+n.String())
	case ctype.Record:
		c.fail(n, fmt.Sprintf("%s is of type %v, which is no number", n, t), "name one of its members")
	case ctype.Integer:
		c.fail(n, fmt.Sprintf("%s is an integer of %d bytes; an agent expression computes with 8", n, t.Size), "")
	}
	c.fail(n, fmt.Sprintf("%s is of type %v, which is no number", n, t), "")
}

// loadBits pushes a bit-field: the integers that it lies in, joined, and its bits extended by the sign of its type.
func (c *compiler) loadBits(n *cexpr.Node, v value) code {
	f := v.field
	if !f.Type.Scalar() {
		c.failType(n, f.Type)
	}
	var whole code
	// A bit-field may lie in nine bytes. Its parts are aligned integers, shifted into place and joined.
	for _, p := range f.Parts(c.scope.Order()) {
		place := part(v.place, p.Offset, p.Size, f.Span(), c.scope.Order())
		bits, err := c.loadFrom(n, place, ctype.Int(p.Size, false))
		switch {
		case err != nil:
			c.fail(n, n.String()+": "+err.Error(), "")
		case p.Shift < 0:
			bits = bits.then(number(uint64(-p.Shift)), op(ax.OpRshUnsigned))
		case p.Shift > 0:
			bits = bits.then(number(uint64(p.Shift)), op(ax.OpLsh))
		}
		if whole == nil {
			whole = bits
		} else {
			whole = whole.with(bits, op(ax.OpBitOr))
		}
	}
	if f.Type.Signed {
		return whole.then(op(ax.OpExt, uint64(f.Bits)))
	}
	return whole.then(op(ax.OpZeroExt, uint64(f.Bits)))
}

// address is the code that pushes where a part lies in memory.
func (c *compiler) address(n *cexpr.Node, v value) code {
	switch at := v.place.(type) {
	case Memory:
		if v.field == nil {
			return at.Emit
		}
		c.fail(n, n.String()+" is a bit field, which has no address", "")
	case Register, Pieces:
		c.fail(n, n.String()+" is in a register, which has no address", "")
	case Absent:
		c.fail(n, n.String()+": "+at.Reason, "")
	}
	c.fail(n, n.String()+" is not in memory and has no address", "")
	return nil
}

// scalar compiles a part that is one integer.
func (c *compiler) scalar(n *cexpr.Node) value { return c.scalarOf(n, c.value(n)) }

// scalarOf makes one integer of a value: an array is the address of its first element.
func (c *compiler) scalarOf(n *cexpr.Node, v value) value {
	loaded := value{typ: v.typ, code: c.load(n, v), known: v.known}
	switch v.typ.Kind {
	case ctype.Array:
		loaded.typ = ctype.PointerTo(v.typ.Elem, c.abi.Pointer)
	case ctype.Function:
		loaded.typ = ctype.PointerTo(v.typ, c.abi.Pointer)
	}
	return loaded
}

// sizeType is sizeof (type).
func (c *compiler) sizeType(n *cexpr.Node) value { return c.size(n, n.Type) }

// sizeExpr is sizeof of an expression, which is not evaluated, except for an array of variable length as in C99.
func (c *compiler) sizeExpr(n *cexpr.Node) value {
	v := c.value(n.Kids[0])
	if v.computed() {
		return value{typ: ctype.Int(c.abi.Pointer, false), code: c.bytes(n, v)}
	}
	return c.size(n, v.typ)
}

// size is the constant that sizeof returns, an unsigned integer as wide as a pointer.
func (c *compiler) size(n *cexpr.Node, typ *ctype.Type) value {
	if typ.Size == 0 {
		c.fail(n, fmt.Sprintf("the size of %v is not known", typ), "")
	}
	return constant(uint64(typ.Size), ctype.Int(c.abi.Pointer, false))
}
