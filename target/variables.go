package target

import (
	"maps"
	"slices"
	"sync"

	"tracewell/trace"
)

// Variables is a VariableStore in the memory of this process. The zero Variables is empty.
type Variables struct {
	mu     sync.Mutex
	values map[trace.VariableNumber]int64
}

var _ VariableStore = (*Variables)(nil)

// Load replaces all variables.
func (v *Variables) Load(values []VariableValue) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values = make(map[trace.VariableNumber]int64, len(values))
	for _, one := range values {
		v.values[one.Number] = one.Value
	}
}

// Variable implements VariableStore.
func (v *Variables) Variable(n trace.VariableNumber) (int64, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	value, ok := v.values[n]
	return value, ok
}

// SetVariable implements VariableStore.
func (v *Variables) SetVariable(n trace.VariableNumber, value int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.values == nil {
		v.values = make(map[trace.VariableNumber]int64)
	}
	v.values[n] = value
}

// AppendVariables implements VariableStore.
func (v *Variables) AppendVariables(dst []VariableValue) []VariableValue {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(v.values)) {
		dst = append(dst, VariableValue{Number: n, Value: v.values[n]})
	}
	return dst
}
