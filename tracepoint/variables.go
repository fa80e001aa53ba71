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

// builtins are the built-in variables that are defined, each with the number that it has in package trace. A map that has been
// published is not changed.
type builtins map[trace.VariableNumber]trace.VariableNumber

// resetVariables leaves the time only.
func (e *Engine) resetVariables() {
	timestamp, _ := trace.Builtin(trace.TimestampName)
	e.variables = map[trace.VariableNumber]*variable{timestamp.Number: {Variable: timestamp}}
	e.builtins.Store(&builtins{timestamp.Number: timestamp.Number})
}

// DefineVariable makes a trace state variable, or gives one a new name and initial value; its value becomes the initial one
// at once. A variable with the name of a built-in one is built in, unless it begins with another value than 0. Telling the engine
// of $trace_timestamp is fine (GDB does at each tstart), taking its number is not.
func (e *Engine) DefineVariable(v trace.Variable) error {
	if v.Number == trace.Timestamp && v.Name != trace.TimestampName {
		return fmt.Errorf("trace state variable %d is the built-in $%s, it cannot become $%s", v.Number, trace.TimestampName, v.Name)
	}
	b, isBuiltin := trace.Builtin(v.Name)
	v.Builtin = isBuiltin && v.Initial == 0
	e.note(v.Number, b.Number, v.Builtin)
	e.state.Lock()
	e.variables[v.Number] = &variable{v, v.Initial}
	store := e.store
	e.state.Unlock()
	if store != nil && !v.Builtin {
		store.SetVariable(v.Number, v.Initial)
	}
	return nil
}

// note publishes whether a variable is a built-in one, and which.
func (e *Engine) note(n, which trace.VariableNumber, is bool) {
	e.state.Lock()
	defer e.state.Unlock()
	all := maps.Clone(*e.builtins.Load())
	if delete(all, n); is {
		all[n] = which
	}
	e.builtins.Store(&all)
}

// Variables lists the definitions in the order of their numbers.
func (e *Engine) Variables() []trace.Variable {
	e.readStore(false)
	e.state.Lock()
	defer e.state.Unlock()
	list := make([]trace.Variable, 0, len(e.variables))
	for _, n := range slices.Sorted(maps.Keys(e.variables)) {
		list = append(list, e.variables[n].Variable)
	}
	return list
}

// Variable returns the present value. Of a variable that does not exist it is 0, and false before the first run.
func (e *Engine) Variable(n trace.VariableNumber) (int64, bool) {
	e.state.Lock()
	v, store, ran := e.variables[n], e.store, e.started > 0
	if store == nil || v != nil && v.Builtin {
		defer e.state.Unlock()
		return e.value(v)
	}
	e.state.Unlock()
	if value, ok := store.Variable(n); ok {
		return value, true
	}
	return 0, v != nil || ran
}

// value is the value of a variable that does not live elsewhere, or of none. In a run, and after one, a variable that does not
// exist reads as 0, as in gdbserver. Of the built-in ones only the time has a value without a hit. State is held.
func (e *Engine) value(v *variable) (int64, bool) {
	switch {
	case v == nil:
		return 0, e.started > 0
	case v.Name == trace.TimestampName && v.Builtin:
		return int64(e.now()), true
	case v.Name == trace.NanosecondsName && v.Builtin:
		return int64(e.nanoseconds()), true
	case v.Builtin:
		return 0, false
	default:
		return v.value, true
	}
}

// recorded is the value of a variable that an expression records, which makes the variable.
func (e *Engine) recorded(n trace.VariableNumber) int64 {
	e.state.Lock()
	v := e.mention(n)
	if e.store == nil {
		defer e.state.Unlock()
		value, _ := e.value(v)
		return value
	}
	e.state.Unlock()
	value, _ := e.Variable(n)
	return value
}

// mention makes a variable that an expression sets or records and nobody has defined, under the name that GDB gives to one
// without a name: with a V block of it in a frame somebody has to be able to ask for it. State is held.
func (e *Engine) mention(n trace.VariableNumber) *variable {
	v := e.variables[n]
	if v == nil {
		v = &variable{Variable: trace.Variable{Number: n, Name: fmt.Sprintf("__tsv_%d", n)}}
		e.variables[n] = v
	}
	return v
}

// setVariable is what an expression does, here. What is written to a built-in variable has no effect: its value is computed.
func (e *Engine) setVariable(n trace.VariableNumber, value int64) {
	e.state.Lock()
	v, store := e.mention(n), e.store
	v.value = value
	e.state.Unlock()
	if store != nil && !v.Builtin {
		store.SetVariable(n, value)
	}
}

// initializeVariables begins a run: each variable has its initial value. State is held.
func (e *Engine) initializeVariables() {
	for _, v := range e.variables {
		v.value = v.Initial
	}
}
