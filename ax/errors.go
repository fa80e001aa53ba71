package ax

import (
	"errors"
	"fmt"
)

// The kinds of error that gdbserver has too. Their texts are its wording, which GDB shows after "terror:" in the status of
// a trace run.
var (
	ErrEmptyExpression = errors.New("empty expression")
	ErrEmptyStack      = errors.New("empty stack")
	ErrStackOverflow   = errors.New("stack overflow")
	ErrStackUnderflow  = errors.New("stack underflow")
	ErrUnhandledOp     = errors.New("unhandled opcode")
	ErrUnknownOp       = errors.New("unrecognized opcode")
	ErrDivideByZero    = errors.New("divide by zero")
	ErrInvalidGoto     = errors.New("invalid goto")
	ErrMemory          = errors.New("invalid memory access")
)

// The kinds of error of which gdbserver takes no notice: it hangs, aborts or reads on.
var (
	ErrTruncated = errors.New("truncated instruction")      // an operand is not whole
	ErrFormat    = errors.New("unterminated printf format") // the bytes of a printf format do not end in NUL
	ErrNoEnd     = errors.New("missing end")                // control can run off the end
	ErrStepLimit = errors.New("step limit exceeded")        // loops used up the budget of the Machine
	ErrRegister  = errors.New("register not available")     // Env.Register failed
	ErrPrintf    = errors.New("printf failed")              // Env.Printf failed
	ErrHeight    = errors.New("inconsistent stack height")  // Requirements: two paths meet with different heights
	ErrDeadCode  = errors.New("instruction is unreachable") // Requirements: no path leads here
)

// Error is what is wrong with an expression, or went wrong in it, at one instruction. All errors of Decode and of a Machine
// are of this type except for ErrEmptyExpression, which has no place to point at.
type Error struct {
	Kind   error // one of the Err values of this package
	Op     Op
	Offset int   // of the instruction from the start of the expression
	Cause  error // what else there is to say: an error of the Env, or a detail; may be nil
}

// Error gives kind, instruction, offset and cause: "divide by zero: div_signed at offset 12".
func (e *Error) Error() string {
	text := fmt.Sprintf("%v: %v at offset %d", e.Kind, e.Op, e.Offset)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap gives kind and cause, so that errors.Is finds either.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}
