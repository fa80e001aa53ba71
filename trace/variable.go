package trace

import (
	"fmt"
	"math"
)

// ParseVariable reads a trace state variable as the replies to qTfV and qTsV, the "tsv" lines of a trace file and, after
// "QTDV:", the packet that defines one write it:
//
//	<number>:<initial value>:<builtin, 0 or 1>:<name in pairs of hexadecimal digits>
//
// The value is 64 bits in two's complement, in hexadecimal as the number is. Errors wrap *rsp.SyntaxError.
func ParseVariable(text string) (Variable, error) {
	s := newScanner("trace state variable", text)
	v := Variable{Number: VariableNumber(s.HexUpTo(math.MaxUint16))}
	s.Literal(':')
	v.Initial = int64(s.HexField())
	s.Literal(':')
	v.Builtin = s.HexUpTo(1) == 1
	s.Literal(':')
	v.Name = s.hexString()
	if err := s.finish(); err != nil {
		return Variable{}, err
	}
	return v, nil
}

// String gives the definition as ParseVariable reads it.
func (v Variable) String() string {
	builtin := 0
	if v.Builtin {
		builtin = 1
	}
	return fmt.Sprintf("%x:%x:%d:%x", uint16(v.Number), uint64(v.Initial), builtin, v.Name)
}

// Variables gathers definitions of trace state variables, as they come out of a file or of a stub. Of those with one number the
// last counts, in the place of the first, as GDB 13.1 has it. The zero value is ready to use.
type Variables struct {
	list  []Variable
	index map[VariableNumber]int
}

// Add takes over one definition.
func (u *Variables) Add(v Variable) {
	i, known := u.index[v.Number]
	if known {
		u.list[i] = v
		return
	}
	if u.index == nil {
		u.index = make(map[VariableNumber]int)
	}
	u.index[v.Number] = len(u.list)
	u.list = append(u.list, v)
}

// List returns what has come together so far.
func (u *Variables) List() []Variable { return u.list }
