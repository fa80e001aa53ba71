package edit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"tracewell/ax"
	"tracewell/trace"
)

// addVariables takes over the variables of a part and returns the numbers that change.
func (m *merger) addVariables(p Part) (map[int32]int32, error) {
	changed := make(map[int32]int32)
	placed := make(map[trace.VariableNumber]bool)
	for _, v := range p.Content.Header().Variables {
		if placed[v.Number] {
			continue // a second definition of a number is none
		}
		placed[v.Number] = true
		old := v.Number
		if number, known := m.variables[v.Name]; known && v.Name != "" {
			v.Number = number
		} else {
			if m.hasVariable(v.Number) {
				if m.lastVariable == math.MaxUint16 {
					return nil, errors.New("no number is left for another trace state variable")
				}
				m.lastVariable++
				v.Number = m.lastVariable
			}
			m.variables[v.Name] = v.Number
			m.definitions = append(m.definitions, v)
		}
		if v.Number != old {
			changed[int32(old)] = int32(v.Number)
			m.changes = append(m.changes, Change{p.Name, "variable $" + v.Name, int(old), int(v.Number)})
		}
	}
	return changed, nil
}

func (m *merger) hasVariable(n trace.VariableNumber) bool {
	for _, v := range m.definitions {
		if v.Number == n {
			return true
		}
	}
	return false
}

// rewritten returns a tracepoint whose expressions have the changed numbers of variables.
func rewritten(t trace.Tracepoint, changed map[int32]int32) (trace.Tracepoint, error) {
	if len(changed) == 0 {
		return t, nil
	}
	var err error
	rewrite := func(code []byte) []byte {
		if len(code) == 0 || err != nil {
			return code
		}
		code, err = rewrittenCode(code, changed)
		return code
	}
	t.Condition = rewrite(t.Condition)
	for _, list := range []*[]trace.Action{&t.Actions, &t.StepActions} {
		actions := append([]trace.Action(nil), *list...)
		for i := range actions {
			actions[i].Code = rewrite(actions[i].Code)
		}
		*list = actions
	}
	if err != nil {
		err = fmt.Errorf("the variables in an expression of tracepoint %d get other numbers, but it cannot be read: %w", t.Number, err)
	}
	return t, err
}

// rewrittenCode returns an agent expression that names the variables by their changed numbers.
func rewrittenCode(code []byte, changed map[int32]int32) ([]byte, error) {
	program, err := ax.Decode(code)
	if err != nil {
		return nil, err
	}
	code = program.Code()
	for in := range program.Instructions() {
		switch in.Op {
		case ax.OpGetv, ax.OpSetv, ax.OpTracev:
			if n, ok := changed[int32(in.Operand)]; ok {
				binary.BigEndian.PutUint16(code[in.Offset+1:], uint16(n)) // behind the opcode; always big-endian
			}
		}
	}
	return code, nil
}
