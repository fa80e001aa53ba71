package expr

import (
	"errors"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// Plan is an expression that is ready to be evaluated over frames. It does not change.
type Plan struct {
	Text string
	Type *ctype.Type // of the value, with references followed
}

// World is what a plan is evaluated over: the registers and the memory of a frame or of a process that stands.
type World interface {
	// Register returns a whole register, in the byte order of the target.
	Register(r arch.Reg) ([]byte, error)
	// Memory reads n bytes, all of them.
	Memory(addr arch.Addr, n int) ([]byte, error)
	// Variable returns a trace state variable.
	Variable(n trace.VariableNumber) (int64, error)
}

// Result is where a value is found, or what it is.
type Result struct {
	InMemory bool
	Addr     arch.Addr // InMemory
	Bytes    []byte    // otherwise: as memory would hold it
}

// Compile compiles an expression of any type for its value. The error is an *Error.
func Compile(text string, s Scope) (*Plan, error) { return nil, errors.ErrUnsupported }

// Locate finds the value in a world. It reads no more than it takes to know where the value lies.
func (p *Plan) Locate(w World) (Result, error) { return Result{}, errors.ErrUnsupported }

// Bytes returns the value in a world, as memory would hold it.
func (p *Plan) Bytes(w World) ([]byte, error) { return nil, errors.ErrUnsupported }
