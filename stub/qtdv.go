package stub

import (
	"fmt"
	"slices"

	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/trace"
)

func errNoTracepoint(key trace.Key) error {
	return fmt.Errorf("there is no tracepoint %d at %v", key.Number, key.Addr)
}

// defineVariable is QTDV.
func (x *session) defineVariable(v trace.Variable) error {
	return x.engine.DefineVariable(v)
}

// firstVariable is qTfV. GDB takes the last for its first, so that variables get their order back when they come newest first.
func (x *session) firstVariable(request.None) ([]byte, error) {
	x.variables = list{}
	for _, v := range slices.Backward(x.recorded.Variables()) {
		x.variables.items = append(x.variables.items, v.String())
	}
	return x.variables.advance(), nil
}

// moreVariables is qTsV.
func (x *session) moreVariables(request.None) ([]byte, error) { return x.variables.advance(), nil }

// variableValue is qTV: the value in the selected frame, or else the present one. U stands for one that is not known. Once there
// was a run a variable that is not defined reads as 0.
func (x *session) variableValue(n trace.VariableNumber) (v reply.Variable, err error) {
	switch {
	case x.frame != nil:
		v.Value, v.Known = x.frame.Variable(n)
	case x.engine != nil:
		v.Value, v.Known = x.engine.Variable(n)
	}
	return v, nil
}
