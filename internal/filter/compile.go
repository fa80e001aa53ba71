package filter

import (
	"fmt"

	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// compiler turns the tree of an expression into functions, and decides every type on the way.
type compiler struct {
	scope   Scope
	abi     ctype.ABI
	anyType bool // the whole need not be a scalar

	text   string
	leaves []string
}

// value is a part that is compiled. One of an array or structure has no eval, but an addr.
type value struct {
	typ  *ctype.Type
	eval eval
	addr eval // where it lies; nil if it lies nowhere
	bits *uint64
}

// compile compiles a whole expression. Like the parser, the parts give up by a panic with an *Error.
func (c *compiler) compile(text string) (v value, err error) {
	c.text = text
	root, failure := cexpr.Parse(text, names{c.scope}, cexpr.Reading)
	if failure != nil {
		return value{}, failure
	}
	defer func() {
		if failure := recover(); failure != nil {
			v, err = value{}, failure.(*Error)
		}
	}()
	v = c.value(root)
	if !c.anyType {
		v = c.scalar(root, v)
	}
	return v, nil
}

func (c *compiler) fail(n *cexpr.Node, problem, hint string) {
	panic(n.Error(c.text, problem, hint))
}

// leaf makes a part that can lack a value count as one.
func (c *compiler) leaf(text string) int {
	for i, leaf := range c.leaves {
		if leaf == text {
			return i
		}
	}
	c.leaves = append(c.leaves, text)
	return len(c.leaves) - 1
}

// available makes a leaf of get: when it has no value the Env is told.
func (c *compiler) available(text string, get eval) eval {
	leaf := c.leaf(text)
	return func(env Env) (uint64, bool) {
		bits, ok := get(env)
		if !ok {
			env.Lacks(leaf)
		}
		return bits, ok
	}
}

// value compiles a part. What the scope has a name for is not looked into.
func (c *compiler) value(n *cexpr.Node) value {
	name := n.String()
	if n.Form != cexpr.Literal {
		if operand, ok := c.scope.Operand(name); ok {
			return c.operand(name, operand)
		}
	}
	return compilers[n.Form](c, n)
}

// compilers has how each form is compiled.
var compilers [cexpr.Forms]func(*compiler, *cexpr.Node) value

func init() {
	compilers = [cexpr.Forms]func(*compiler, *cexpr.Node) value{
		cexpr.NameForm: (*compiler).unknown, cexpr.Literal: (*compiler).literal, cexpr.Unary: (*compiler).unary,
		cexpr.Binary: (*compiler).binary, cexpr.Choice: (*compiler).choice, cexpr.Cast: (*compiler).cast,
		cexpr.Memory: (*compiler).memory, cexpr.Index: (*compiler).index, cexpr.Member: (*compiler).member,
		cexpr.SizeType: (*compiler).sizeType, cexpr.SizeExpr: (*compiler).sizeExpr,
	}
}

func (c *compiler) operand(name string, o Operand) value {
	v := value{typ: o.Type}
	if o.Place {
		v.addr = c.available(name, func(env Env) (uint64, bool) { return env.Address(o.ID) })
	}
	get := func(env Env) (uint64, bool) { return env.Value(o.ID) }
	switch {
	case o.Type.Scalar():
		v.eval = extended(c.available(name, get), o.Type)
	case isFloat(o.Type):
		v.eval = widened(c.available(name, get), o.Type)
	}
	return v
}

// extended widens what get reads by the sign of its type.
func extended(get eval, typ *ctype.Type) eval {
	if typ.Size == 8 && typ.Kind != ctype.Bool {
		return get
	}
	return func(env Env) (uint64, bool) {
		bits, ok := get(env)
		return typ.Extend(bits), ok
	}
}

// at is what lies in memory at an address.
func (c *compiler) at(n *cexpr.Node, typ *ctype.Type, addr eval) value {
	v := value{typ: typ, addr: addr}
	if !typ.Scalar() && !isFloat(typ) {
		return v
	}
	size, leaf := typ.Size, c.leaf(n.String())
	get := func(env Env) (uint64, bool) {
		place, ok := addr(env)
		if !ok {
			return 0, false
		}
		bits, ok := env.Memory(place, size)
		if !ok {
			env.Lacks(leaf)
		}
		return bits, ok
	}
	v.eval = extended(get, typ)
	if isFloat(typ) {
		v.eval = widened(get, typ)
	}
	return v
}

func (c *compiler) unknown(n *cexpr.Node) value {
	name := n.Token.Text
	panic(&Error{Text: c.text, Start: n.Token.Start, End: n.Token.End(), Problem: "there is no " + name,
		Hint: cexpr.Suggest(name, c.scope.Names()), Unknown: name})
}

func (c *compiler) literal(n *cexpr.Node) value {
	text := n.Token.Text
	if n.Token.Kind == cexpr.Character {
		bits, ok := cexpr.ParseCharacter(text, c.abi)
		if !ok {
			c.fail(n, text+" is not one character of one byte", "")
		}
		return constant(bits, ctype.Int(4, true))
	}
	bits, typ, ok := cexpr.ParseInteger(text, c.abi)
	if ok {
		return constant(bits, typ)
	}
	if bits, typ, ok = parseFloat(text); !ok {
		c.fail(n, text+" is no number", "")
	}
	return value{typ: typ, eval: func(Env) (uint64, bool) { return bits, true }}
}

func constant(bits uint64, typ *ctype.Type) value {
	return value{typ: typ, bits: &bits, eval: func(Env) (uint64, bool) { return bits, true }}
}

// scalar checks that a part is one number. An array stands for the address of its first element.
func (c *compiler) scalar(n *cexpr.Node, v value) value {
	switch {
	case v.typ.Kind == ctype.Array && v.addr != nil:
		return value{typ: ctype.PointerTo(v.typ.Elem, c.abi.Pointer), eval: v.addr}
	case v.eval != nil && v.typ.Scalar():
		return v
	}
	hint := ""
	switch v.typ.Kind {
	case ctype.Record:
		hint = "name one of its members"
	case ctype.Float:
		hint = "a cast makes it one: (long)(" + n.String() + ")"
	}
	c.fail(n, fmt.Sprintf("%s is of type %v, which is no integer", n.String(), v.typ), hint)
	return value{}
}

func (c *compiler) number(n *cexpr.Node) value { return c.scalar(n, c.value(n)) }

// pointed takes a value for an address, and returns it with the type of what is there. An integer points to an int, as in GDB.
func pointed(v value) (addr eval, elem *ctype.Type) {
	if v.typ.Kind == ctype.Pointer {
		return v.eval, v.typ.Elem
	}
	return v.eval, ctype.Int(4, true)
}

func (c *compiler) memory(n *cexpr.Node) value {
	addr := c.number(n.Kids[0])
	return c.at(n, n.Type, addr.eval)
}

func (c *compiler) index(n *cexpr.Node) value {
	base, index := c.number(n.Kids[0]), c.number(n.Kids[1])
	if index.typ.Kind == ctype.Pointer && base.typ.Kind != ctype.Pointer {
		base, index = index, base
	}
	addr, elem := pointed(base)
	by := convert(index, ctype.Int(8, true))
	return c.at(n, elem, scaled(addr, by.eval, elem.Size))
}

// scaled is an address some elements behind another.
func scaled(addr, index eval, size int) eval {
	return func(env Env) (uint64, bool) {
		a, ok := addr(env)
		i, known := index(env)
		return a + i*uint64(size), ok && known
	}
}

func (c *compiler) member(n *cexpr.Node) value {
	whole := c.value(n.Kids[0])
	record, addr := whole.typ, whole.addr
	if n.Op == "->" {
		addr, record = pointed(c.scalar(n.Kids[0], whole))
	}
	if record.Kind != ctype.Record || addr == nil {
		c.fail(n, fmt.Sprintf("there is no %s: the type of %s has no members that are known", n.String(), n.Kids[0].String()),
			cexpr.Suggest(n.String(), c.scope.Names()))
	}
	field, ok := record.Field(n.Token.Text)
	if !ok {
		c.fail(n, fmt.Sprintf("%v has no member %s", record, n.Token.Text), cexpr.SuggestMember(n.Token.Text, record))
	}
	offset := uint64(field.Offset)
	place := func(env Env) (uint64, bool) {
		a, ok := addr(env)
		return a + offset, ok
	}
	if field.Bits > 0 {
		return c.bitField(n, field, place)
	}
	return c.at(n, field.Type, place)
}

// bitField takes a bit field out of the integers that have it.
func (c *compiler) bitField(n *cexpr.Node, f ctype.Field, addr eval) value {
	v := value{typ: f.Type}
	if !f.Type.Scalar() {
		return v
	}
	parts, leaf := f.Parts(c.scope.Order()), c.leaf(n.String())
	v.eval = func(env Env) (uint64, bool) {
		at, ok := addr(env)
		if !ok {
			return 0, false
		}
		var field uint64
		for _, p := range parts {
			bits, ok := env.Memory(at+uint64(p.Offset), p.Size)
			if !ok {
				env.Lacks(leaf)
				return 0, false
			}
			field |= p.Shifted(bits)
		}
		return f.Extend(field), true
	}
	return v
}

func (c *compiler) sizeType(n *cexpr.Node) value { return c.size(n, n.Type) }

func (c *compiler) sizeExpr(n *cexpr.Node) value { return c.size(n, c.value(n.Kids[0]).typ) }

func (c *compiler) size(n *cexpr.Node, typ *ctype.Type) value {
	if typ.Size == 0 {
		c.fail(n, fmt.Sprintf("the size of %v is not known", typ), "")
	}
	return constant(uint64(typ.Size), ctype.Int(c.abi.Pointer, false))
}

func (c *compiler) cast(n *cexpr.Node) value {
	v := c.arithmetic(n.Kids[0])
	if !n.Type.Scalar() && !isFloat(n.Type) || isFloat(v.typ) && n.Type.Kind == ctype.Pointer {
		c.fail(n, fmt.Sprintf("%v cannot be converted to %v", v.typ, n.Type), "")
	}
	return convert(v, n.Type)
}

// choice is a ? b : c. In C the type of the result is one that both can be converted to.
func (c *compiler) choice(n *cexpr.Node) value {
	condition := c.truth(n.Kids[0])
	yes, no := c.arithmetic(n.Kids[1]), c.arithmetic(n.Kids[2])
	typ := yes.typ
	if yes.typ.Kind != ctype.Pointer || no.typ.Kind != ctype.Pointer {
		typ = common(yes.typ, no.typ)
	}
	then, otherwise := convert(yes, typ).eval, convert(no, typ).eval
	return value{typ: typ, eval: func(env Env) (uint64, bool) {
		bits, ok := condition(env)
		switch {
		case !ok:
			return 0, false
		case bits != 0:
			return then(env)
		}
		return otherwise(env)
	}}
}
