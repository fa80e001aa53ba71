package expr

import (
	"fmt"

	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// intType is C's int, of 4 bytes in every ABI of Linux.
var intType = ctype.Int(4, true)

// convert makes a value one of another type. It is extended by its own sign, which all that is as wide as a cell keeps.
func convert(v value, typ *ctype.Type) value {
	from := v.typ
	// Cells have 64 bits. A value that was extended by its own sign is the same number in a wider type, except that a negative one
	// becomes unsigned; and two types of one size differ in how the upper bits are filled.
	fits := typ.Size > from.Size && (!from.Signed || typ.Signed) || typ.Size == from.Size && typ.Signed == from.Signed
	switch {
	case v.known != nil && typ.Kind == ctype.Bool:
		return constant(truth(*v.known != 0), typ)
	case v.known != nil:
		return constant(typ.Extend(*v.known), typ)
	case typ.Kind == ctype.Bool && from.Kind != ctype.Bool:
		return value{typ: typ, code: v.code.then(op(ax.OpLogNot), op(ax.OpLogNot))}
	case fits || typ.Size == 8 || from.Kind == ctype.Bool:
		return value{typ: typ, code: v.code}
	}
	return value{typ: typ, code: v.code.extended(typ)}
}

// operation is an arithmetic operator on two values of one type.
type operation struct {
	signed, unsigned []ax.Op
	swapped          bool // the operands change places
	compares         bool // the result is 0 or 1, an int
	carries          bool // the result may need more bits than the type has
}

// same is an operation for which the sign makes no difference.
func same(ops ...ax.Op) operation { return operation{signed: ops, unsigned: ops} }

// carrying marks an operation whose result is cut to the type again, as in C: 32-bit arithmetic is done in 64 bits.
func carrying(o operation) operation {
	o.carries = true
	return o
}

// comparing makes the four comparisons of the one that the bytecode has, less, by exchanging its operands and by negating it.
func comparing(swapped, negated bool) operation {
	o := operation{signed: []ax.Op{ax.OpLessSigned}, unsigned: []ax.Op{ax.OpLessUnsigned}, swapped: swapped, compares: true}
	if negated {
		o.signed, o.unsigned = append(o.signed, ax.OpLogNot), append(o.unsigned, ax.OpLogNot)
	}
	return o
}

// operations are the operators but for shifts, && and ||.
var operations = map[string]operation{
	"+": carrying(same(ax.OpAdd)), "-": carrying(same(ax.OpSub)), "*": carrying(same(ax.OpMul)),
	"/":  carrying(operation{signed: []ax.Op{ax.OpDivSigned}, unsigned: []ax.Op{ax.OpDivUnsigned}}),
	"%":  {signed: []ax.Op{ax.OpRemSigned}, unsigned: []ax.Op{ax.OpRemUnsigned}},
	"&":  same(ax.OpBitAnd),
	"|":  same(ax.OpBitOr),
	"^":  same(ax.OpBitXor),
	"==": {signed: []ax.Op{ax.OpEqual}, unsigned: []ax.Op{ax.OpEqual}, compares: true},
	"!=": {signed: []ax.Op{ax.OpEqual, ax.OpLogNot}, unsigned: []ax.Op{ax.OpEqual, ax.OpLogNot}, compares: true},
	"<":  comparing(false, false),
	">":  comparing(true, false),
	"<=": comparing(true, true),
	">=": comparing(false, true),
}

// binary compiles an operator with two operands.
func (c *compiler) binary(n *cexpr.Node) value {
	switch n.Op {
	case "&&", "||":
		return c.logical(n)
	case "@":
		return c.repeat(n)
	}
	return c.operate(n, n.Op, c.arithmetic(n.Kids[0]), c.arithmetic(n.Kids[1]))
}

// operate is an arithmetic operator on two numbers: the usual arithmetic conversions (C17, 6.3.1.8), the operation in a cell of 64
// bits, and the result cut to the width of the type.
func (c *compiler) operate(n *cexpr.Node, operator string, left, right value) value {
	pointer := left.typ.Kind == ctype.Pointer || right.typ.Kind == ctype.Pointer
	switch {
	case operator == "<<" || operator == ">>":
		return c.shift(operator, c.scalarOf(n.Kids[0], left), c.scalarOf(n.Kids[1], right))
	case isFloat(left.typ) || isFloat(right.typ):
		return c.realBinary(n, operator, left, right)
	case pointer && (operator == "+" || operator == "-"):
		return c.pointerSum(n, operator, left, right)
	}
	o := operations[operator]
	typ := cexpr.Common(left.typ, right.typ)
	a, b := convert(left, typ), convert(right, typ)
	// Both operands are free of effects on each other, or stand in an expression whose order C leaves open.
	if c.partial != nil && (operator == "/" || operator == "%") {
		b = c.divisor(n, b)
	}
	if o.swapped {
		a, b = b, a
	}
	ops := o.unsigned
	if typ.Signed {
		ops = o.signed
	}
	v := value{typ: typ, code: a.code.with(b.code, allOf(ops))}
	switch {
	case o.compares:
		v.typ = intType
	case o.carries:
		v.code = v.code.extended(typ)
	}
	return folded(v, a, b)
}

// allOf is several operations without operands, one after the other.
func allOf(ops []ax.Op) func(*ax.Builder) {
	return func(b *ax.Builder) {
		for _, o := range ops {
			b.Emit(o)
		}
	}
}

// folded computes a value whose operands are constants, by running its code. Folding matters: an index has to be known where an
// array lies in registers, and a fixed address makes an M action in place of bytecode.
func folded(v value, operands ...value) value {
	for _, o := range operands {
		if o.known == nil {
			return v
		}
	}
	bits, err := fixed(v.code)
	if err != nil {
		return v // a division by zero, which is for the target to find
	}
	return constant(uint64(bits), v.typ)
}

// shift has the promoted type of the left operand alone (C17, 6.5.7).
func (c *compiler) shift(operator string, left, right value) value {
	typ := cexpr.Promoted(left.typ)
	a := convert(left, typ)
	shifted := ax.OpRshUnsigned
	switch {
	case operator == "<<":
		shifted = ax.OpLsh
	case typ.Signed:
		shifted = ax.OpRshSigned
	}
	v := value{typ: typ, code: a.code.with(right.code, op(shifted))}
	if operator == "<<" {
		v.code = v.code.extended(typ)
	}
	return folded(v, a, right)
}

// pointerSum is pointer + integer, pointer - integer and pointer - pointer, in units of what the pointer points to; void and
// functions count as 1 byte, as in GNU C.
func (c *compiler) pointerSum(n *cexpr.Node, operator string, left, right value) value {
	swap := operator == "+" && left.typ.Kind != ctype.Pointer
	if swap {
		left, right = right, left
	}
	elem := elementOf(left)
	switch {
	case right.typ.Kind == ctype.Pointer && left.typ.Kind == ctype.Pointer && operator == "-":
		// C requires the same type. Types that differ in qualifiers or names only are let pass, as GDB does.
		if c.partial == nil && (elem.Size == 0 || elem.Size != elementOf(right).Size) {
			c.fail(n, fmt.Sprintf("%v - %v means nothing", left.typ, right.typ), "")
		}
		distance := left.code.with(right.code, op(ax.OpSub))
		if elem.Size > 1 {
			distance = distance.then(number(uint64(elem.Size)), op(ax.OpDivSigned))
		}
		return value{typ: ctype.Int(c.abi.Long, true), code: distance}
	case right.typ.Kind == ctype.Pointer:
		c.fail(n, fmt.Sprintf("%v %s %v means nothing", left.typ, operator, right.typ), "")
	}
	move := op(ax.OpAdd)
	if operator == "-" {
		move = op(ax.OpSub)
	}
	return value{typ: left.typ, code: left.code.with(c.scaled(n, right, elem), move).extended(left.typ)}
}

// stride is how far the elements of an array are from one another; 0 if that is not known. Over what was collected, where a type
// may be known by its name alone, a pointer to any such counts in bytes, as GDB has it of void.
func (c *compiler) stride(elem *ctype.Type) int {
	if c.partial != nil {
		return max(elem.Size, 1)
	}
	return elem.Size
}

// logical is && and ||, of which the right operand is computed only if it decides.
func (c *compiler) logical(n *cexpr.Node) value {
	left, right := c.condition(n.Kids[0]).code, c.condition(n.Kids[1]).code
	if c.partial != nil {
		return value{typ: intType, code: c.decided(n, left, right)}
	}
	// The operand that decides is jumped on; the value is 0 or 1 whatever the operands are.
	jump := left.then(op(ax.OpLogNot))
	decided := int64(0)
	if n.Op == "||" {
		jump, decided = left, 1
	}
	return value{typ: intType, code: branch(jump, pushed(uint64(decided)), right.then(op(ax.OpLogNot), op(ax.OpLogNot)))}
}

// branch pushes what yes pushes if the condition is not 0, and what no pushes otherwise.
func branch(condition, yes, no code) code {
	return func(b *ax.Builder) error {
		taken, done := b.NewLabel(), b.NewLabel()
		if err := condition(b); err != nil {
			return err
		}
		b.Jump(ax.OpIfGoto, taken)
		if err := no(b); err != nil {
			return err
		}
		b.Jump(ax.OpGoto, done)
		b.Bind(taken)
		err := yes(b)
		b.Bind(done)
		return err
	}
}

// choice is a ? b : c. In C the type of the result is one that both can be converted to.
func (c *compiler) choice(n *cexpr.Node) value {
	condition := c.condition(n.Kids[0])
	yes, no := c.arithmetic(n.Kids[1]), c.arithmetic(n.Kids[2])
	typ := yes.typ
	if yes.typ.Kind != ctype.Pointer || no.typ.Kind != ctype.Pointer {
		typ = common(yes.typ, no.typ)
	}
	then, otherwise := c.converted(n, yes, typ).code, c.converted(n, no, typ).code
	if c.partial != nil {
		return value{typ: typ, code: c.chosen(n, condition.code, then, otherwise)}
	}
	return value{typ: typ, code: branch(condition.code, then, otherwise)}
}

// unary compiles an operator with one operand. Operands narrower than int are promoted first.
func (c *compiler) unary(n *cexpr.Node) value {
	switch n.Op {
	case "*":
		return c.dereference(n)
	case "&":
		return c.addressOf(n)
	}
	if n.Op == "!" {
		operand := c.condition(n.Kids[0])
		return folded(value{typ: intType, code: operand.code.then(op(ax.OpLogNot))}, operand)
	}
	operand := c.arithmetic(n.Kids[0])
	if sign, ok := realSigns[n.Op]; ok && isFloat(operand.typ) {
		return value{typ: operand.typ, code: c.mapped(n, operand.code, sign)}
	}
	operand = c.scalarOf(n.Kids[0], operand)
	typ := cexpr.Promoted(operand.typ)
	a := convert(operand, typ)
	switch n.Op {
	case "-":
		return folded(value{typ: typ, code: pushed(0).with(a.code, op(ax.OpSub)).extended(typ)}, a)
	case "~":
		return folded(value{typ: typ, code: a.code.then(op(ax.OpBitNot)).extended(typ)}, a)
	}
	return a
}

// cast converts to a scalar type. To what only the linker knows it gives a type in place of converting it, as GDB does: (int)errno.
func (c *compiler) cast(n *cexpr.Node) value {
	inner := c.value(n.Kids[0])
	switch {
	case inner.typ == n.Type && c.partial == nil: // else what lacks has its name without the cast
		return inner
	case inner.typ.Kind == ctype.Opaque && inner.typ.Size == 0 && inner.code == nil: // known to the linker alone
		return at(c.address(n.Kids[0], inner), n.Type)
	}
	if c.partial == nil && (inner.typ.Kind == ctype.Float || n.Type.Kind == ctype.Float) {
		c.fail(n, noFloat, "")
	}
	if !n.Type.Scalar() && !isFloat(n.Type) || isFloat(inner.typ) && n.Type.Kind == ctype.Pointer {
		c.fail(n, fmt.Sprintf("%v cannot be converted to %v", inner.typ, n.Type), "")
	}
	v := c.arithmeticOf(n.Kids[0], inner)
	if offset, ok := c.upcast(n, v.typ, n.Type); ok && offset != 0 {
		v.code = v.code.plus(offset)
	}
	return c.converted(n, v, n.Type)
}

// upcast is how far a base class lies from the start of its class, in bytes, where a pointer is cast from one to the other. ok is
// false for any other cast. GDB adjusts the pointer, too.
func (c *compiler) upcast(n *cexpr.Node, from, to *ctype.Type) (offset int, ok bool) {
	if from.Kind != ctype.Pointer || to.Kind != ctype.Pointer || from.Elem == nil || to.Elem == nil || from.Elem == to.Elem {
		return 0, false
	}
	base, ok := from.Elem.Field(to.Elem.Name)
	if !ok || !base.Base {
		return 0, false
	}
	if base.Virtual {
		c.fail(n, to.Elem.Name+" is a virtual base class, whose place is known to the object alone", "")
	}
	return base.Offset, true
}
