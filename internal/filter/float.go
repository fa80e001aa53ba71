package filter

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// A value of a floating-point type is computed as a double, whose bits its eval returns. One of type float is rounded to its
// precision after each operation, as C does it on machines with registers for floats.

var double, float = cexpr.Double, cexpr.Float

// isFloat reports whether values of a type can be computed with as floating-point numbers.
func isFloat(t *ctype.Type) bool { return t.Kind == ctype.Float && (t.Size == 4 || t.Size == 8) }

// widened makes a double of what get reads, which is of a floating-point type.
func widened(get eval, typ *ctype.Type) eval {
	if typ.Size == 8 {
		return get
	}
	return mapped(get, func(a uint64) uint64 { return math.Float64bits(float64(math.Float32frombits(uint32(a)))) })
}

// rounded limits a double to the precision of a type.
func rounded(f float64, typ *ctype.Type) uint64 {
	if typ.Size == 4 {
		f = float64(float32(f))
	}
	return math.Float64bits(f)
}

// parseFloat reads a floating-point literal: decimal with a point or an exponent, or hexadecimal with the exponent p.
func parseFloat(text string) (uint64, *ctype.Type, bool) {
	digits, typ := strings.ToLower(text), double
	hexadecimal := strings.HasPrefix(digits, "0x")
	if !strings.ContainsAny(digits, ".p") && (hexadecimal || !strings.Contains(digits, "e")) || strings.Contains(digits, "_") {
		return 0, nil, false
	}
	if shorter, found := strings.CutSuffix(digits, "f"); found && (!hexadecimal || strings.Contains(digits, "p")) {
		digits, typ = shorter, float
	}
	f, err := strconv.ParseFloat(digits, 64)
	return rounded(f, typ), typ, err == nil
}

// arithmetic compiles a part that has to be a number, of whatever kind.
func (c *compiler) arithmetic(n *cexpr.Node) value {
	v := c.value(n)
	if isFloat(v.typ) && v.eval != nil {
		return v
	}
	return c.scalar(n, v)
}

// truth compiles a part that is a condition: its value is not 0 where it holds.
func (c *compiler) truth(n *cexpr.Node) eval {
	v := c.arithmetic(n)
	if isFloat(v.typ) {
		return mapped(v.eval, func(a uint64) uint64 { return truth(math.Float64frombits(a) != 0) })
	}
	return v.eval
}

// commonFloat is the type of an operation of which one operand at least is a floating-point number.
func commonFloat(a, b *ctype.Type) *ctype.Type {
	if isFloat(a) && a.Size == 8 || isFloat(b) && b.Size == 8 {
		return double
	}
	return float
}

// convertFloat converts from a floating-point type, to one, or both.
func convertFloat(v value, typ *ctype.Type) value {
	var apply func(uint64) uint64
	switch {
	case isFloat(v.typ) && isFloat(typ):
		apply = func(a uint64) uint64 { return rounded(math.Float64frombits(a), typ) }
	case isFloat(v.typ) && typ.Kind == ctype.Bool:
		apply = func(a uint64) uint64 { return truth(math.Float64frombits(a) != 0) }
	case isFloat(v.typ) && !typ.Signed && typ.Size == 8:
		apply = func(a uint64) uint64 { return uint64(math.Float64frombits(a)) }
	case isFloat(v.typ):
		apply = func(a uint64) uint64 { return typ.Extend(uint64(int64(math.Float64frombits(a)))) }
	case v.typ.Signed:
		apply = func(a uint64) uint64 { return rounded(float64(int64(a)), typ) }
	default:
		apply = func(a uint64) uint64 { return rounded(float64(a), typ) }
	}
	return value{typ: typ, eval: mapped(v.eval, apply)}
}

// floatOperations are the operators that floating-point numbers have.
var floatOperations = map[string]func(a, b float64) float64{
	"+": func(a, b float64) float64 { return a + b },
	"-": func(a, b float64) float64 { return a - b },
	"*": func(a, b float64) float64 { return a * b },
	"/": func(a, b float64) float64 { return a / b },
}

// floatComparisons are those whose result is an int.
var floatComparisons = map[string]func(a, b float64) bool{
	"==": func(a, b float64) bool { return a == b },
	"!=": func(a, b float64) bool { return a != b },
	"<":  func(a, b float64) bool { return a < b },
	">":  func(a, b float64) bool { return a > b },
	"<=": func(a, b float64) bool { return a <= b },
	">=": func(a, b float64) bool { return a >= b },
}

// floatSigns are the unary operators whose result is of the operand's type.
var floatSigns = map[string]func(uint64) uint64{
	"-": func(a uint64) uint64 { return a ^ 1<<63 },
	"+": func(a uint64) uint64 { return a },
}

// floatBinary is an operator on two numbers of which one at least is a floating-point number.
func (c *compiler) floatBinary(n *cexpr.Node, left, right value) value {
	typ := commonFloat(left.typ, right.typ)
	a, b := convert(left, typ), convert(right, typ)
	if compare, ok := floatComparisons[n.Op]; ok {
		return value{typ: ctype.Int(4, true), eval: both(a, b, func(x, y uint64) uint64 {
			return truth(compare(math.Float64frombits(x), math.Float64frombits(y)))
		})}
	}
	apply, ok := floatOperations[n.Op]
	if !ok || left.typ.Kind == ctype.Pointer || right.typ.Kind == ctype.Pointer {
		c.fail(n, fmt.Sprintf("%v %s %v means nothing", left.typ, n.Op, right.typ), "")
	}
	return value{typ: typ, eval: both(a, b, func(x, y uint64) uint64 {
		return rounded(apply(math.Float64frombits(x), math.Float64frombits(y)), typ)
	})}
}
