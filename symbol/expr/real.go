package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// Agent expressions have no floating-point numbers, so a Scalar computes with them in cells. Their code leaves the bits of a
// double, whatever the type: a value of type float is one that a float can hold, as operations of that type round it. On
// machines with registers for them a float and an int make a float, as in C without the extended precision of the x87.

// isFloat reports whether a Scalar can compute with values of a type as floating-point numbers; long double is none.
func isFloat(t *ctype.Type) bool {
	return t.Kind == ctype.Float && (t.Size == 4 || t.Size == 8) && !t.Swapped
}

// common is the type of an operation on two numbers. One of type double makes it double.
func common(a, b *ctype.Type) *ctype.Type {
	switch {
	case isFloat(a) && a.Size == 8, isFloat(b) && b.Size == 8:
		return cexpr.Double
	case isFloat(a), isFloat(b):
		return cexpr.Float
	}
	return cexpr.Common(a, b)
}

// widened is a number as it was read, made 64 bits of what cells have.
func (c *compiler) widened(n *cexpr.Node, read code, typ *ctype.Type) code {
	switch {
	case !isFloat(typ):
		return read.extended(typ)
	case typ.Size == 8:
		return read
	}
	return c.mapped(n, read, func(a uint64) uint64 { return math.Float64bits(float64(math.Float32frombits(uint32(a)))) })
}

// mapped is a cell that applies a function to one number.
func (c *compiler) mapped(n *cexpr.Node, operand code, apply func(a uint64) uint64) code {
	u := c.unit(n, operand)
	return c.cell(n, func(e *evaluation) (uint64, bool) {
		a, ok := u.eval(e)
		return apply(a), ok
	})
}

// rounded rounds a number to a type, float or double, and returns it as its cell holds it. Rounding to float after each operation
// on doubles gives what float arithmetic gives: 53 bits are more than twice 24 and two.
func rounded(f float64, typ *ctype.Type) uint64 {
	if typ.Size == 4 {
		f = float64(float32(f))
	}
	return math.Float64bits(f)
}

// realLiteral reads a floating-point literal: decimal with a point or an exponent, or hexadecimal with the exponent p.
func realLiteral(text string) (value, bool) {
	digits, typ := strings.ToLower(text), cexpr.Double
	hexadecimal := strings.HasPrefix(digits, "0x")
	if !strings.ContainsAny(digits, ".p") && (hexadecimal || !strings.Contains(digits, "e")) || strings.Contains(digits, "_") {
		return value{}, false
	}
	if shorter, found := strings.CutSuffix(digits, "f"); found && (!hexadecimal || strings.Contains(digits, "p")) {
		digits, typ = shorter, cexpr.Float
	}
	f, err := strconv.ParseFloat(digits, 64)
	return value{typ: typ, code: pushed(rounded(f, typ))}, err == nil
}

// arithmetic compiles a part that is one number. For an agent expression that is an integer: floating point is an error there.
func (c *compiler) arithmetic(n *cexpr.Node) value { return c.arithmeticOf(n, c.value(n)) }

// arithmeticOf makes one number of a value.
func (c *compiler) arithmeticOf(n *cexpr.Node, v value) value {
	switch at, inMemory := v.place.(Memory); {
	case c.partial == nil || !isFloat(v.typ):
		return c.scalarOf(n, v)
	case v.code == nil && inMemory:
		return value{typ: v.typ, code: c.memoryCell(n, at.Emit, v.typ)}
	}
	return value{typ: v.typ, code: v.code}
}

// condition compiles a part that is a condition to an integer which is not 0 where it holds.
func (c *compiler) condition(n *cexpr.Node) value {
	v := c.arithmetic(n)
	if !isFloat(v.typ) {
		return v
	}
	return value{typ: intType, code: c.mapped(n, v.code, func(a uint64) uint64 { return truth(math.Float64frombits(a) != 0) })}
}

// converted makes a number one of another type, either of which may be a floating-point type. A floating-point number beyond the
// range of an integer type is undefined in C (C17, 6.3.1.4); here the result is what Go's conversion gives on the machine.
func (c *compiler) converted(n *cexpr.Node, v value, typ *ctype.Type) value {
	from := v.typ
	var apply func(uint64) uint64
	switch {
	case !isFloat(from) && !isFloat(typ):
		return convert(v, typ)
	case isFloat(from) && isFloat(typ):
		apply = func(a uint64) uint64 { return rounded(math.Float64frombits(a), typ) }
	case isFloat(from) && typ.Kind == ctype.Bool:
		apply = func(a uint64) uint64 { return truth(math.Float64frombits(a) != 0) }
	case isFloat(from) && !typ.Signed && typ.Size == 8:
		apply = func(a uint64) uint64 { return uint64(math.Float64frombits(a)) }
	case isFloat(from):
		apply = func(a uint64) uint64 { return typ.Extend(uint64(int64(math.Float64frombits(a)))) }
	case from.Signed:
		apply = func(a uint64) uint64 { return rounded(float64(int64(a)), typ) }
	default:
		apply = func(a uint64) uint64 { return rounded(float64(a), typ) }
	}
	return value{typ: typ, code: c.mapped(n, v.code, apply)}
}

// realOperations are the operators that floating-point numbers have. A division by zero is an infinity or not a number, by IEEE
// 754; it is not unavailable as that of integers is.
var realOperations = map[string]func(a, b float64) float64{
	"+": func(a, b float64) float64 { return a + b },
	"-": func(a, b float64) float64 { return a - b },
	"*": func(a, b float64) float64 { return a * b },
	"/": func(a, b float64) float64 { return a / b },
}

// realComparisons are those whose result is an int.
var realComparisons = map[string]func(a, b float64) bool{
	"==": func(a, b float64) bool { return a == b },
	"!=": func(a, b float64) bool { return a != b },
	"<":  func(a, b float64) bool { return a < b },
	">":  func(a, b float64) bool { return a > b },
	"<=": func(a, b float64) bool { return a <= b },
	">=": func(a, b float64) bool { return a >= b },
}

// realSigns are the unary operators whose result is of the operand's type.
var realSigns = map[string]func(uint64) uint64{
	"-": func(a uint64) uint64 { return a ^ 1<<63 },
	"+": func(a uint64) uint64 { return a },
}

// realBinary is an operator on two numbers, one of which at least is a floating-point number.
func (c *compiler) realBinary(n *cexpr.Node, operator string, left, right value) value {
	typ := common(left.typ, right.typ)
	a, b := c.unit(n, c.converted(n, left, typ).code), c.unit(n, c.converted(n, right, typ).code)
	both := func(apply func(x, y float64) uint64) code {
		return c.cell(n, func(e *evaluation) (uint64, bool) {
			x, ok := a.eval(e)
			y, known := b.eval(e)
			return apply(math.Float64frombits(x), math.Float64frombits(y)), ok && known
		})
	}
	if compare, ok := realComparisons[operator]; ok {
		return value{typ: intType, code: both(func(x, y float64) uint64 { return truth(compare(x, y)) })}
	}
	apply, ok := realOperations[operator]
	if !ok || left.typ.Kind == ctype.Pointer || right.typ.Kind == ctype.Pointer {
		c.fail(n, fmt.Sprintf("%v %s %v means nothing", left.typ, operator, right.typ), "")
	}
	return value{typ: typ, code: both(func(x, y float64) uint64 { return rounded(apply(x, y), typ) })}
}
