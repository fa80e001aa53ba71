package syscalls

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/tdesc"
	"tracewell/trace"
)

// Scope is what names mean at the entry into a system call, or at the return from it: its arguments by the names of the table,
// constants such as O_CREAT, registers, and $syscall, $return and what pairs both. Other names are those of the program.
type Scope struct {
	base    expr.Scope // of the program, nil where that is not known
	machine *arch.Machine
	layout  *tdesc.Layout
	number  int
	returns bool
	call    signature
}

// At is the scope at an address that stands for a system call (trace.CallAddr), false at any other, and where nothing is known of
// the system calls of the machine. The base has the names of the program and may be nil.
func At(at arch.Addr, m *arch.Machine, layout *tdesc.Layout, base expr.Scope) (*Scope, bool) {
	number, returns, ok := trace.ParseCall(at)
	if !ok || m.Calls == nil || number >= len(m.Calls.Names) || layout == nil {
		return nil, false
	}
	s := &Scope{base: base, machine: m, layout: layout, number: number, returns: returns}
	if s.call, ok = known()[m.Calls.Names[number]]; !ok {
		s.call = unknown
	}
	return s, true
}

// Arguments implements expr.Scope: all at the entry, and at the return those that the call has filled.
func (s *Scope) Arguments() (names []string) {
	for _, p := range s.call.parameters {
		if p.out || !s.returns {
			names = append(names, p.name)
		}
	}
	return names
}

// Lookup implements expr.Scope.
func (s *Scope) Lookup(name string) (expr.Object, error) {
	if i := s.find(name); i >= 0 {
		return s.argument(i)
	}
	for _, all := range constants {
		if at := slices.IndexFunc(all, func(v value) bool { return v.name == name }); at >= 0 {
			b := make([]byte, 8)
			s.machine.Order.PutUint64(b, uint64(all[at].n))
			return expr.Object{Name: name, Type: ctype.Int(8, true), Place: expr.Constant{Bytes: b}, Outer: true}, nil
		}
	}
	if s.base == nil {
		return expr.Object{}, fmt.Errorf("there is no %s", name)
	}
	return s.base.Lookup(name)
}

// find is the place of an argument, -1 without one of that name.
func (s *Scope) find(name string) int {
	return slices.IndexFunc(s.call.parameters, func(p parameter) bool { return p.name == name })
}

// argument is an argument of the call. One that has a length besides is both together, so that its text can be written.
func (s *Scope) argument(i int) (expr.Object, error) {
	p := s.call.parameters[i]
	k := kinds[p.kind]
	if p.out && !s.returns {
		k = kinds["pointer"]
	}
	place, err := s.register(s.machine.Calls.Arguments[i])
	if k.points == nil {
		t := k.scalar(s.machine.Order)
		place.Size = t.Size
		return expr.Object{Name: p.name, Type: t, Place: place}, err
	}
	length, register := s.length(p)
	t := k.pointer(s.machine.Order, length)
	if length == unbounded || err != nil {
		return expr.Object{Name: p.name, Type: t, Place: place}, err
	}
	second, err := s.register(register)
	pieces := expr.Pieces{{Place: place, Bits: 8 * place.Size}, {Place: second, Bits: 8 * second.Size}}
	return expr.Object{Name: p.name, Type: t, Place: pieces}, err
}

// length is where the length of a parameter is, and in which register that, or its address.
func (s *Scope) length(p parameter) (lengths, string) {
	name, isPointer := strings.CutPrefix(p.length, "*")
	switch {
	case !p.bounded:
		return unbounded, ""
	case name == "":
		return inArgument, s.machine.Calls.Result
	}
	i := s.find(name)
	register := s.machine.Calls.Arguments[i]
	switch {
	case isPointer:
		return inMemory, register
	case kinds[s.call.parameters[i].kind].size == 4:
		return inWord, register
	}
	return inArgument, register
}

// register is the place of a whole register.
func (s *Scope) register(name string) (expr.Register, error) {
	slot := s.layout.ByName(name)
	if slot == nil {
		return expr.Register{}, fmt.Errorf("the target has no register $%s", name)
	}
	return expr.Register{Num: slot.Reg.Num, Size: slot.Size}, nil
}

// Register implements expr.Scope.
func (s *Scope) Register(name string) (expr.Object, error) {
	o := expr.Object{Name: name, Type: ctype.Int(8, true)}
	var err error
	switch name {
	case trace.CallName:
		o.Type = &ctype.Type{Kind: ctype.Integer, Name: "system call", Size: 8, Enum: true, Values: s.names()}
		o.Place, err = s.register(s.machine.Calls.Number)
		return o, err
	case trace.ActivationName:
		// A thread makes one call at a time, so the stack pointer is as good as any mark.
		o.Type = ctype.Int(8, false)
		o.Place, err = s.register(s.machine.SP)
		return o, err
	case trace.GoroutineName:
		o.Place = expr.Absent{Reason: "a system call is made by a thread"}
		return o, nil
	case trace.ReturnName:
		write := decimal
		if k := kinds[s.call.result]; k.write != nil {
			write = k.write
		}
		o.Type = kind{write: result(write)}.scalar(s.machine.Order)
		if o.Place, err = s.register(s.machine.Calls.Result); !s.returns {
			o.Place = expr.Absent{Reason: "it has a value only where the call returns (--return)"}
		}
		return o, err
	}
	if s.base != nil {
		return s.base.Register(name)
	}
	if slot := s.layout.ByName(name); slot != nil {
		o.Type = ctype.Bytes(slot.Size)
		o.Place, err = s.register(name)
		return o, err
	}
	return o, fmt.Errorf("the target has no register $%s", name)
}

// names are those of all system calls, by number.
func (s *Scope) names() (all []ctype.Enumerator) {
	for n, name := range s.machine.Calls.Names {
		if name != "" {
			all = append(all, ctype.Enumerator{Name: name, Value: int64(n)})
		}
	}
	return all
}

// Registers implements expr.Scope.
func (s *Scope) Registers() (all []arch.Reg) {
	for _, slot := range s.layout.Slots {
		all = append(all, slot.Reg.Num)
	}
	return all
}

var errNoFrame = errors.New("a system call has no frame of its own")

// Return implements expr.Scope.
func (s *Scope) Return() (expr.Object, error) { return expr.Object{}, errNoFrame }

// Length implements expr.Scope.
func (s *Scope) Length(b *ctype.Bound) (func(*ax.Builder) error, error) {
	if s.base == nil {
		return nil, errNoFrame
	}
	return s.base.Length(b)
}

// Type implements expr.Scope.
func (s *Scope) Type(name string) (*ctype.Type, error) {
	if s.base == nil {
		return nil, fmt.Errorf("there is no type %s", name)
	}
	return s.base.Type(name)
}

// Locals implements expr.Scope: there are none.
func (s *Scope) Locals() []string { return nil }

// Variable implements expr.Scope.
func (s *Scope) Variable(name string) (trace.VariableNumber, bool) {
	if s.base == nil {
		return 0, false
	}
	return s.base.Variable(name)
}

// Names implements expr.Scope.
func (s *Scope) Names() (names []string) {
	for _, p := range s.call.parameters {
		names = append(names, p.name)
	}
	return names
}

// ABI implements expr.Scope.
func (s *Scope) ABI() ctype.ABI {
	return ctype.ABI{Pointer: s.machine.AddrSize, Long: s.machine.AddrSize}
}

// Order implements expr.Scope.
func (s *Scope) Order() arch.ByteOrder { return s.machine.Order }

// Language implements expr.Scope.
func (s *Scope) Language() ctype.Language { return ctype.C }

// Concrete implements expr.Scope.
func (s *Scope) Concrete(string) []container.Concrete { return nil }
