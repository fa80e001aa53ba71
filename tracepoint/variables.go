package tracepoint

import (
	"fmt"
	"maps"
	"slices"

	"tracewell/trace"
)

// A variable is a trace state variable. Built-in ones have no value of their own: they are computed when looked at.
type variable struct {
	trace.Variable
	value int64
}

// timestamp is the one built-in variable.
var timestamp = trace.Variable{Number: trace.Timestamp, Builtin: true, Name: trace.TimestampName}

// resetVariables leaves the built-in variables only.
func (e *Engine) resetVariables() {
	e.variables = map[trace.VariableNumber]*variable{timestamp.Number: {Variable: timestamp}}
}

// DefineVariable makes a trace state variable, or gives one a new name and initial value; its value becomes the initial one
// at once. Telling the engine of its own built-in variable is fine (GDB does at each tstart), taking its number is not.
func (e *Engine) DefineVariable(v trace.Variable) error {
	e.state.Lock()
	defer e.state.Unlock()
	if v.Number == timestamp.Number {
		if v.Name == timestamp.Name {
			return nil
		}
		return fmt.Errorf("trace state variable %d is the built-in $%s, it cannot become $%s", v.Number, timestamp.Name, v.Name)
	}
	v.Builtin = false // nothing here would compute it
	e.variables[v.Number] = &variable{v, v.Initial}
	return nil
}

// Variables lists the definitions in the order of their numbers.
func (e *Engine) Variables() []trace.Variable {
	e.state.Lock()
	defer e.state.Unlock()
	list := make([]trace.Variable, 0, len(e.variables))
	for _, n := range slices.Sorted(maps.Keys(e.variables)) {
		list = append(list, e.variables[n].Variable)
	}
	return list
}

// Variable returns the present value, and false if there is no such variable.
func (e *Engine) Variable(n trace.VariableNumber) (int64, bool) {
	e.state.Lock()
	defer e.state.Unlock()
	return e.variable(n)
}

func (e *Engine) variable(n trace.VariableNumber) (int64, bool) {
	switch v := e.variables[n]; {
	case v == nil:
		return 0, false
	case v.Builtin:
		return int64(e.now()), true
	default:
		return v.value, true
	}
}

// setVariable drops what is written to a variable that does not exist or is built in, as gdbserver does.
func (e *Engine) setVariable(n trace.VariableNumber, value int64) {
	if v := e.variables[n]; v != nil {
		v.value = value
	}
}

// initializeVariables begins a run: each variable has its initial value.
func (e *Engine) initializeVariables() {
	for _, v := range e.variables {
		v.value = v.Initial
	}
}
