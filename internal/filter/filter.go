package filter

import (
	"strconv"

	"tracewell/arch"
	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// Scope says what the names in an expression mean.
type Scope interface {
	// Operand finds what has a name, a whole expression being one, too: "limit", "$rip", "j->id", "buf[0]@16". The name
	// is in the form that Normal gives.
	Operand(name string) (Operand, bool)
	// Type finds a type that C does not define, "struct job" or "queue_t".
	Type(name string) (*ctype.Type, bool)
	// Names lists what can be named, for messages.
	Names() []string
	ABI() ctype.ABI
	Order() arch.ByteOrder // of memory
}

// Operand is what a name stands for.
type Operand struct {
	ID    int // by which Env knows it
	Type  *ctype.Type
	Place bool // it lies in memory: Env knows its address
}

// Env has the values of operands.
type Env interface {
	// Value returns the value of an operand of a scalar type in the lowest bytes, false if it is unavailable.
	Value(id int) (uint64, bool)
	// Address returns where an operand lies that has a Place.
	Address(id int) (uint64, bool)
	// Memory reads an integer of 1, 2, 4 or 8 bytes.
	Memory(addr uint64, size int) (uint64, bool)
	// Lacks is told what had no value, by its place in Expr.Leaves.
	Lacks(leaf int)
}

// Expr is a compiled expression.
type Expr struct {
	typ    *ctype.Type
	eval   eval
	leaves []string
}

// eval computes a value, extended to 64 bits by the sign of its type.
type eval func(Env) (uint64, bool)

// Compile compiles an expression whose value is an integer, a truth value or a pointer. The error is an *Error.
func Compile(text string, scope Scope) (*Expr, error) {
	c := compiler{scope: scope, abi: scope.ABI()}
	v, err := c.compile(text)
	if err != nil {
		return nil, err
	}
	return &Expr{v.typ, v.eval, c.leaves}, nil
}

// TypeOf returns the type of an expression, of any kind, and false if it cannot be compiled.
func TypeOf(text string, scope Scope) (*ctype.Type, bool) {
	c := compiler{scope: scope, abi: scope.ABI(), anyType: true}
	v, err := c.compile(text)
	return v.typ, err == nil
}

// Type returns the type of the value.
func (e *Expr) Type() *ctype.Type { return e.typ }

// Leaves returns the parts of the expression that have to be available, as the expression has them. Env.Lacks counts in it.
func (e *Expr) Leaves() []string { return e.leaves }

// Eval computes the value, false if it is unavailable.
func (e *Expr) Eval(env Env) (Value, bool) {
	bits, ok := e.eval(env)
	return Value{bits, e.typ}, ok
}

// Value is an integer with its type.
type Value struct {
	Bits uint64 // extended to 64 bits by the sign of the type
	Type *ctype.Type
}

// Signed reports whether the value is of a signed type.
func (v Value) Signed() bool { return v.Type.Signed }

// Float returns the value as a floating-point number, which is exact up to 2^53.
func (v Value) Float() float64 {
	if v.Signed() {
		return float64(int64(v.Bits))
	}
	return float64(v.Bits)
}

// Less reports whether v is less than other, which is of the same type.
func (v Value) Less(other Value) bool {
	if v.Signed() {
		return int64(v.Bits) < int64(other.Bits)
	}
	return v.Bits < other.Bits
}

// Append appends the value: a pointer in hexadecimal, other values in decimal.
func (v Value) Append(dst []byte) []byte {
	switch {
	case v.Type.Kind == ctype.Pointer:
		return strconv.AppendUint(append(dst, "0x"...), v.Bits, 16)
	case v.Signed():
		return strconv.AppendInt(dst, int64(v.Bits), 10)
	}
	return strconv.AppendUint(dst, v.Bits, 10)
}

// String gives what Append appends.
func (v Value) String() string { return string(v.Append(nil)) }

// Error is what is wrong with an expression.
type Error = cexpr.Error

// Normal brings an expression into the form in which a Scope knows it: without blanks, but for one between two words. Of
// what is no expression it is text as it is.
func Normal(text string) string { return cexpr.Normal(text) }

// IsWord reports whether a name can have the character in it.
func IsWord(r rune) bool { return cexpr.IsWord(r) }

// names is what the grammar has to know of a scope.
type names struct{ Scope }

func (n names) Value(name string) bool {
	_, known := n.Operand(name)
	return known
}
