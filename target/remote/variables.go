package remote

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"tracewell/ax"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// sharedVariables are trace state variables that hits here and the stub's tracepoints use. While the program runs, the stub has the
// present values of those that its tracepoints use; they are read whenever frames are fetched, which is before anything here runs.
// What is set here reaches the stub before the program goes on, by a new definition.
type sharedVariables struct {
	target.Variables

	mu   sync.Mutex
	used map[trace.VariableNumber]bool // by the stub's tracepoints
	set  map[trace.VariableNumber]bool // here, since the stub was told
}

func (v *sharedVariables) load(values []target.VariableValue) {
	v.Load(values)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used, v.set = nil, make(map[trace.VariableNumber]bool)
}

// SetVariable implements target.VariableStore.
func (v *sharedVariables) SetVariable(n trace.VariableNumber, value int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.set[n] = true
	v.Variables.SetVariable(n, value)
}

// share defines the variables that the stub's tracepoints are about to use, with their present values.
func (c *collector) share() error {
	used := make(map[trace.VariableNumber]bool)
	for _, list := range c.offloaded {
		for _, tp := range list {
			c.noteVariables(tp, used)
		}
	}
	v := &c.variables
	v.mu.Lock()
	v.used = used
	clear(v.set)
	v.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(used)) {
		value, _ := v.Variable(n) // one that nobody has defined is 0
		named := trace.Variable{Number: n, Name: fmt.Sprintf("tracewell_%d", n), Initial: value}
		if err := command(&c.t.link, request.DefineVariable, named); err != nil {
			return err
		}
	}
	return nil
}

// noteVariables adds the variables that a tracepoint uses, but for built-in ones.
func (c *collector) noteVariables(tp *compiled.Tracepoint, used map[trace.VariableNumber]bool) {
	for p := range tp.Programs() {
		for in := range p.Instructions() {
			switch in.Op {
			case ax.OpGetv, ax.OpSetv, ax.OpTracev:
				n := trace.VariableNumber(in.Operand)
				if _, builtin := c.run.Builtins[n]; !builtin {
					used[n] = true
				}
			}
		}
	}
}

// readVariables reads what the stub's tracepoints have made of the variables. Those that were set here since are not read.
func (c *collector) readVariables() error {
	v := &c.variables
	v.mu.Lock()
	var due []trace.VariableNumber
	for n := range v.used {
		if !v.set[n] {
			due = append(due, n)
		}
	}
	v.mu.Unlock()
	for _, n := range due {
		present, err := ask(&c.t.link, client.Ask(request.VariableValue, n, reply.Value))
		if err != nil {
			return err
		}
		if present.Known { // a stub may not have computed it yet
			v.Variables.SetVariable(n, present.Value)
		}
	}
	return nil
}

// isSet reports whether a variable was set here of which the stub has another value.
func (c *collector) isSet() bool {
	v := &c.variables
	v.mu.Lock()
	defer v.mu.Unlock()
	for n := range v.set {
		if v.used[n] {
			return true
		}
	}
	return false
}

// pass tells the stub of variables that a hit here has set, before the program goes on.
func (c *collector) pass() {
	if c.running && c.isSet() {
		if err := c.define(); err != nil {
			c.lose(fmt.Errorf("the stub's tracepoints: %w", err))
		}
	}
}
