package filter

import (
	"fmt"

	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// common is the type of an operation on two values.
func common(a, b *ctype.Type) *ctype.Type {
	if isFloat(a) || isFloat(b) {
		return commonFloat(a, b)
	}
	return cexpr.Common(a, b)
}

// convert makes a value one of another type.
func convert(v value, typ *ctype.Type) value {
	from := v.typ
	result := value{typ: typ, eval: v.eval}
	switch {
	case isFloat(from) || isFloat(typ):
		return convertFloat(v, typ)
	case v.bits != nil && typ.Kind == ctype.Bool:
		return constant(truth(*v.bits != 0), typ)
	case v.bits != nil:
		return constant(typ.Extend(*v.bits), typ)
	}
	fits := typ.Size > from.Size && (!from.Signed || typ.Signed) || typ.Size == from.Size && typ.Signed == from.Signed
	if typ.Kind != ctype.Bool && (fits || typ.Size == 8) {
		return result
	}
	get := v.eval
	if typ.Kind == ctype.Bool {
		result.eval = func(env Env) (uint64, bool) {
			bits, ok := get(env)
			return truth(bits != 0), ok
		}
		return result
	}
	result.eval = extended(get, typ)
	return result
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// operation is an arithmetic operator on two values of one type.
type operation struct {
	signed, unsigned func(a, b uint64) uint64
	compares         bool // the result is 0 or 1, an int
	divides          bool // not by 0
}

// operations are the operators but for shifts, && and ||. What C leaves undefined wraps around.
var operations = map[string]operation{
	"+": {signed: add, unsigned: add},
	"-": {signed: subtract, unsigned: subtract},
	"*": {signed: multiply, unsigned: multiply},
	"/": {signed: func(a, b uint64) uint64 { return uint64(int64(a) / int64(b)) },
		unsigned: func(a, b uint64) uint64 { return a / b }, divides: true},
	"%": {signed: func(a, b uint64) uint64 { return uint64(int64(a) % int64(b)) },
		unsigned: func(a, b uint64) uint64 { return a % b }, divides: true},
	"&":  {signed: and, unsigned: and},
	"|":  {signed: or, unsigned: or},
	"^":  {signed: xor, unsigned: xor},
	"==": {signed: equal, unsigned: equal, compares: true},
	"!=": {signed: unequal, unsigned: unequal, compares: true},
	"<": {signed: func(a, b uint64) uint64 { return truth(int64(a) < int64(b)) },
		unsigned: func(a, b uint64) uint64 { return truth(a < b) }, compares: true},
	">": {signed: func(a, b uint64) uint64 { return truth(int64(a) > int64(b)) },
		unsigned: func(a, b uint64) uint64 { return truth(a > b) }, compares: true},
	"<=": {signed: func(a, b uint64) uint64 { return truth(int64(a) <= int64(b)) },
		unsigned: func(a, b uint64) uint64 { return truth(a <= b) }, compares: true},
	">=": {signed: func(a, b uint64) uint64 { return truth(int64(a) >= int64(b)) },
		unsigned: func(a, b uint64) uint64 { return truth(a >= b) }, compares: true},
}

func add(a, b uint64) uint64      { return a + b }
func subtract(a, b uint64) uint64 { return a - b }
func multiply(a, b uint64) uint64 { return a * b }
func and(a, b uint64) uint64      { return a & b }
func or(a, b uint64) uint64       { return a | b }
func xor(a, b uint64) uint64      { return a ^ b }
func equal(a, b uint64) uint64    { return truth(a == b) }
func unequal(a, b uint64) uint64  { return truth(a != b) }

func (c *compiler) binary(n *cexpr.Node) value {
	switch n.Op {
	case "&&", "||":
		return c.logical(n)
	case "<<", ">>":
		return c.shift(n)
	case "@":
		return c.repeat(n)
	}
	left, right := c.arithmetic(n.Kids[0]), c.arithmetic(n.Kids[1])
	if isFloat(left.typ) || isFloat(right.typ) {
		return c.floatBinary(n, left, right)
	}
	pointers := truth(left.typ.Kind == ctype.Pointer) + truth(right.typ.Kind == ctype.Pointer)
	if pointers > 0 && (n.Op == "+" || n.Op == "-") {
		return c.pointerSum(n, left, right)
	}
	op := operations[n.Op]
	typ := common(left.typ, right.typ)
	a, b := convert(left, typ), convert(right, typ)
	apply := op.unsigned
	if typ.Signed {
		apply = op.signed
	}
	result := typ
	if op.compares {
		result = ctype.Int(4, true)
	}
	v := value{typ: result, eval: both(a, b, apply)}
	if op.divides {
		v.eval = divided(a.eval, b.eval, apply, c.leaf(n.String()+" (division by zero)"))
	}
	if typ.Size < 8 && !op.compares {
		v.eval = extended(v.eval, typ)
	}
	return v
}

// both applies a function to two values. The second is often a constant.
func both(a, b value, apply func(a, b uint64) uint64) eval {
	left, right := a.eval, b.eval
	if b.bits != nil {
		y := *b.bits
		return func(env Env) (uint64, bool) {
			x, ok := left(env)
			return apply(x, y), ok
		}
	}
	return func(env Env) (uint64, bool) {
		x, ok := left(env)
		y, known := right(env)
		return apply(x, y), ok && known
	}
}

// divided is both for what has no result for a second value of 0, which a leaf stands for.
func divided(left, right eval, apply func(a, b uint64) uint64, leaf int) eval {
	return func(env Env) (uint64, bool) {
		x, ok := left(env)
		y, known := right(env)
		if !known {
			return 0, false
		}
		if y == 0 {
			env.Lacks(leaf)
			return 0, false
		}
		return apply(x, y), ok
	}
}

// pointerSum is p + n, n + p, p - n and p - q, which count in elements.
func (c *compiler) pointerSum(n *cexpr.Node, left, right value) value {
	if right.typ.Kind == ctype.Pointer && left.typ.Kind != ctype.Pointer && n.Op == "+" {
		left, right = right, left
	}
	size := uint64(max(1, left.typ.Size))
	if left.typ.Kind == ctype.Pointer {
		size = uint64(max(1, left.typ.Elem.Size))
	}
	switch {
	case left.typ.Kind == ctype.Pointer && right.typ.Kind == ctype.Pointer && n.Op == "-":
		return value{typ: ctype.Int(c.abi.Long, true), eval: both(left, right, func(a, b uint64) uint64 {
			return uint64(int64(a-b) / int64(size))
		})}
	case left.typ.Kind != ctype.Pointer || right.typ.Kind == ctype.Pointer:
		c.fail(n, fmt.Sprintf("%v %s %v means nothing", left.typ, n.Op, right.typ), "")
	}
	apply := func(a, b uint64) uint64 { return a + b*size }
	if n.Op == "-" {
		apply = func(a, b uint64) uint64 { return a - b*size }
	}
	by := convert(right, ctype.Int(8, true))
	return value{typ: left.typ, eval: extended(both(left, by, apply), left.typ)}
}

// logical is && and ||. Either is decided by one operand that is available and decides it, whichever it is.
func (c *compiler) logical(n *cexpr.Node) value {
	left, right := c.truth(n.Kids[0]), c.truth(n.Kids[1])
	decisive := n.Op == "||"
	return value{typ: ctype.Int(4, true), eval: func(env Env) (uint64, bool) {
		a, ok := left(env)
		if ok && (a != 0) == decisive {
			return truth(decisive), true
		}
		b, known := right(env)
		if known && (b != 0) == decisive {
			return truth(decisive), true
		}
		return truth(!decisive), ok && known
	}}
}

// shift is << and >>. A count that is negative or as large as the value shifts everything out.
func (c *compiler) shift(n *cexpr.Node) value {
	left, right := c.number(n.Kids[0]), c.number(n.Kids[1])
	typ := cexpr.Promoted(left.typ)
	width := uint64(8 * typ.Size)
	apply := func(a, b uint64) uint64 { return a << b }
	switch {
	case n.Op == ">>" && typ.Signed:
		apply = func(a, b uint64) uint64 { return uint64(int64(a) >> min(b, width)) }
	case n.Op == ">>":
		apply = func(a, b uint64) uint64 { return a >> b }
	}
	v := value{typ: typ, eval: both(convert(left, typ), convert(right, ctype.Int(8, true)), apply)}
	if typ.Size < 8 {
		v.eval = extended(v.eval, typ)
	}
	return v
}

// repeat is GDB's value @ count, an array that begins with the value.
func (c *compiler) repeat(n *cexpr.Node) value {
	first, count := c.value(n.Kids[0]), c.number(n.Kids[1])
	if first.addr == nil || count.bits == nil || *count.bits == 0 || *count.bits > cexpr.MaxArray/uint64(max(1, first.typ.Size)) {
		c.fail(n, n.String()+" is no array: something in memory is wanted ahead of the @, and a number behind it", "")
	}
	return value{typ: ctype.ArrayOf(first.typ, int(*count.bits)), addr: first.addr}
}

func (c *compiler) unary(n *cexpr.Node) value {
	operand := n.Kids[0]
	switch n.Op {
	case "*":
		addr, elem := pointed(c.number(operand))
		return c.at(n, elem, addr)
	case "&":
		v := c.value(operand)
		if v.addr == nil {
			c.fail(n, operand.String()+" has no address", "")
		}
		return value{typ: ctype.PointerTo(v.typ, c.abi.Pointer), eval: v.addr}
	}
	if n.Op == "!" {
		return value{typ: ctype.Int(4, true), eval: mapped(c.truth(operand), func(a uint64) uint64 { return truth(a == 0) })}
	}
	v := c.arithmetic(operand)
	if sign, ok := floatSigns[n.Op]; ok && isFloat(v.typ) {
		return value{typ: v.typ, eval: mapped(v.eval, sign)}
	}
	v = c.scalar(operand, v)
	typ := cexpr.Promoted(v.typ)
	apply := signs[n.Op]
	if v.bits != nil {
		return constant(typ.Extend(apply(typ.Extend(*v.bits))), typ)
	}
	return value{typ: typ, eval: extended(mapped(convert(v, typ).eval, apply), typ)}
}

// signs are the unary operators whose result is of the operand's type.
var signs = map[string]func(uint64) uint64{
	"-": func(a uint64) uint64 { return -a },
	"+": func(a uint64) uint64 { return a },
	"~": func(a uint64) uint64 { return ^a },
}

func mapped(get eval, apply func(uint64) uint64) eval {
	return func(env Env) (uint64, bool) {
		bits, ok := get(env)
		return apply(bits), ok
	}
}
