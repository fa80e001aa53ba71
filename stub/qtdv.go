package stub

import (
	"fmt"
	"math"
	"slices"

	"tracewell/rsp"
	"tracewell/trace"
)

func errNoTracepoint(key trace.Key) error {
	return fmt.Errorf("there is no tracepoint %d at %v", key.Number, key.Addr)
}

// defineVariable is QTDV.
func (x *session) defineVariable(args string) ([]byte, error) {
	v, err := trace.ParseVariable(args)
	if err != nil {
		return nil, err
	}
	return replyOK, x.engine.DefineVariable(v)
}

// firstVariable is qTfV. GDB takes the last for its first, so that variables get their order back when they come newest first.
func (x *session) firstVariable(string) ([]byte, error) {
	x.variables = list{}
	for _, v := range slices.Backward(x.recorded.Variables()) {
		x.variables.items = append(x.variables.items, v.String())
	}
	return x.variables.advance(), nil
}

// moreVariables is qTsV.
func (x *session) moreVariables(string) ([]byte, error) { return x.variables.advance(), nil }

// variableValue is qTV: the value in the selected frame, or else the present one. U stands for one that is not known. Once there
// was a run a variable that is not defined reads as 0.
func (x *session) variableValue(args string) ([]byte, error) {
	in := rsp.NewScanner(args)
	n := trace.VariableNumber(in.HexUpTo(math.MaxUint16))
	if err := in.End(); err != nil {
		return nil, err
	}
	var value int64
	var ok bool
	switch {
	case x.frame != nil:
		value, ok = x.frame.Variable(n)
	case x.engine != nil:
		value, ok = x.engine.Variable(n)
	}
	if !ok {
		return []byte("U"), nil
	}
	return rsp.AppendHex([]byte{'V'}, uint64(value)), nil
}
