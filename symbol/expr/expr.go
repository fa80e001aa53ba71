package expr

import (
	"errors"

	"tracewell/arch"
	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// Error is what is wrong with an expression, with the part marked.
type Error = cexpr.Error

// Collection is what has to be collected so that expressions can be evaluated over the frame.
type Collection struct {
	Text      string
	Registers []arch.Reg // ascending
	Memory    []trace.Action
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

// Collect compiles what a collect action names: expressions with commas between them, $regs, $args, $locals, $_ret, and
// trace state variables. Text may begin with /s, or /s and a number: then a pointer to characters means the string, of at
// most that many bytes. The error is an *Error.
func Collect(text string, s Scope) (*Collection, error) { return nil, errors.ErrUnsupported }

// Actions returns the actions that collect all of the collections: one for the registers if there are any, then those for
// memory.
func Actions(collections ...*Collection) []trace.Action { return nil }

// Condition compiles a condition to the bytecode of its value, which is not 0 where it holds. The error is an *Error.
func Condition(text string, s Scope) ([]byte, error) { return nil, errors.ErrUnsupported }

// Evaluate compiles what a teval action does, "$count = $count + 1", to bytecode that does it: expressions with commas
// between them, whose assignments are to trace state variables. The error is an *Error.
func Evaluate(text string, s Scope) ([]byte, error) { return nil, errors.ErrUnsupported }
