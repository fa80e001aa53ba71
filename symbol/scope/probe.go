package scope

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tracewell/ax"
	"tracewell/sdt"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
)

// What GDB calls the number of arguments of the static tracepoint at the pc, and the arguments, which are numbered from 0.
const (
	probeCount    = "_probe_argc"
	probeArgument = "_probe_arg"
)

// staticData is GDB's name for what a server writes of the arguments.
const staticData = "_sdata"

var errStatic = errors.New("no version of GDB reads a trace file with static trace data: collect $_probe_arg0 and so on")

// ofProbe finds what belongs to the static tracepoint at the pc. It is false for other names. What cannot be had is an absent
// place.
func (s *Scope) ofProbe(name string) (expr.Object, bool) {
	o := expr.Object{Name: name, Type: intType}
	digits, isProbe := strings.CutPrefix(name, probeArgument)
	n, failed := strconv.ParseUint(digits, 10, 8)
	var err error
	// An argument that is there and cannot be had is named in the message, rather than called unknown.
	switch {
	case name == staticData:
		err = errStatic
	case !isProbe || failed != nil && name != probeCount:
		return o, false
	default:
		o.Type, o.Place, err = s.probed(name, n)
	}
	if err != nil {
		o.Place = absent(err)
	}
	return o, true
}

// probed is the type and the place of the number of arguments, or of the argument of a number.
func (s *Scope) probed(name string, n uint64) (*ctype.Type, expr.Place, error) {
	var probe *sdt.Probe
	if s.image.options.Probe != nil {
		probe = s.image.options.Probe(s.pc)
	}
	switch {
	// Each of these is told in place of the value.
	case probe == nil:
		return intType, nil, errors.New("it has a value only at a static tracepoint (-probe PROVIDER:NAME)")
	case name == probeCount:
		count := make([]byte, 4)
		s.Order().PutUint32(count, uint32(len(probe.Arguments)))
		return intType, expr.Constant{Bytes: count}, nil
	case n >= uint64(len(probe.Arguments)):
		return intType, nil, fmt.Errorf("%s:%s has %d arguments, numbered from 0", probe.Provider, probe.Name, len(probe.Arguments))
	}
	a := &probe.Arguments[n]
	if a.Err != nil {
		return intType, nil, a.Err
	}
	// GDB compiles the operand in the same way, so that both collect the same: registers by number, memory by its address.
	place, err := s.argumentPlace(a)
	return argumentType(a), place, err
}

// intType is that of the number of arguments, and of what has no value.
var intType = &ctype.Type{Kind: ctype.Integer, Name: "int", Size: 4, Signed: true}

// argumentType is the type that GDB gives an argument: a number of its size.
func argumentType(a *sdt.Argument) *ctype.Type {
	// Notes have no names of types: sizes and signs are all that there is.
	switch {
	case a.Float && a.Size == 4:
		return &ctype.Type{Kind: ctype.Float, Name: "float", Size: 4}
	case a.Float:
		return &ctype.Type{Kind: ctype.Float, Name: "double", Size: 8}
	}
	return ctype.Int(a.Size, a.Signed)
}

// argumentPlace is where an argument is, by the operand of the instruction that the note describes.
func (s *Scope) argumentPlace(a *sdt.Argument) (expr.Place, error) {
	displacement := a.Displacement
	if a.Linked {
		displacement += int64(s.image.bias)
	}
	// An address of the linker's becomes one of the process; a plain number stays.
	switch a.Place {
	case sdt.Constant:
		// A constant is as wide as the argument, whose upper bytes an instruction would cut off.
		word := make([]byte, 8)
		s.Order().PutUint64(word, uint64(displacement))
		return expr.Constant{Bytes: word[:a.Size]}, nil
	case sdt.InRegister:
		slot := s.image.options.Layout.ByName(a.Register.Name)
		// Descriptions of stubs may lack vector registers.
		if slot == nil {
			return nil, fmt.Errorf("the target has no register $%s", a.Register.Name)
		}
		if a.Size > a.Register.Size {
			return nil, errors.New("the argument is wider than the register that it is in")
		}
		return expr.Register{Num: slot.Reg.Num, Offset: a.Register.Shift / 8, Size: a.Size}, nil
	}
	// Address: displacement, base, index times scale, and the base of a segment, as far as there are any.
	type term struct {
		register sdt.Register
		scale    int
	}
	// A register that has no name is left out, and a scale that is 0 goes with an index that is.
	terms := []term{{a.Register, 1}, {a.Index, a.Scale}, {sdt.Register{Name: a.Segment, Size: 8}, 1}}
	for _, t := range terms {
		if t.register.Name != "" && s.image.options.Layout.ByName(t.register.Name) == nil {
			return nil, fmt.Errorf("the target has no register $%s", t.register.Name)
		}
	}
	return expr.Memory{Emit: func(b *ax.Builder) error {
		b.Const(displacement)
		for _, t := range terms {
			if t.register.Name == "" {
				continue
			}
			// A base or an index may be the lower half of a register, which addresses count as unsigned.
			b.Emit(ax.OpReg, uint64(s.image.options.Layout.Number(t.register.Name)))
			if t.register.Size < 8 {
				b.Emit(ax.OpZeroExt, uint64(8*t.register.Size))
			}
			if t.scale > 1 {
				b.Const(int64(t.scale))
				b.Emit(ax.OpMul)
			}
			b.Emit(ax.OpAdd)
		}
		return nil
	}}, nil
}
