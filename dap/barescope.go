package dap

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/trace"
)

// bareScope is what names mean without a program: registers and trace state variables have values, and C's own types are known.
type bareScope struct{ names *names }

// Lookup implements expr.Scope.
func (s bareScope) Lookup(name string) (expr.Object, error) {
	return expr.Object{}, fmt.Errorf("there is no %s: %w", name, errNoNames)
}

// Register implements expr.Scope.
func (s bareScope) Register(name string) (expr.Object, error) {
	if s.names.layout != nil {
		if m := s.names.machine; m != nil {
			if role, ok := map[string]string{"pc": m.PC, "sp": m.SP, "fp": m.FP}[name]; ok && role != "" {
				name = role
			}
		}
		if slot := s.names.layout.ByName(name); slot != nil {
			place := expr.Register{Num: slot.Reg.Num, Size: slot.Size}
			return expr.Object{Name: name, Type: registerType(slot.Size), Place: place}, nil
		}
	}
	return expr.Object{}, fmt.Errorf("there is no register $%s", name)
}

// registerType is an unsigned integer where there is one of the size: most registers are looked at as addresses or bits.
func registerType(size int) *ctype.Type {
	switch size {
	case 1, 2, 4, 8:
		return ctype.Int(size, false)
	}
	return ctype.Bytes(size)
}

// Registers implements expr.Scope.
func (s bareScope) Registers() (all []arch.Reg) {
	if s.names.layout != nil {
		for i := range s.names.layout.Slots {
			all = append(all, s.names.layout.Slots[i].Reg.Num)
		}
	}
	return all
}

// Return implements expr.Scope.
func (bareScope) Return() (expr.Object, error) { return expr.Object{}, errNoNames }

// Length implements expr.Scope.
func (bareScope) Length(*ctype.Bound) (func(*ax.Builder) error, error) { return nil, errNoNames }

// Type implements expr.Scope.
func (bareScope) Type(name string) (*ctype.Type, error) {
	return nil, errors.New("there is no type " + name)
}

// Arguments implements expr.Scope.
func (bareScope) Arguments() []string { return nil }

// Locals implements expr.Scope.
func (bareScope) Locals() []string { return nil }

// Variable implements expr.Scope.
func (s bareScope) Variable(name string) (trace.VariableNumber, bool) {
	n, ok := s.names.variables[name]
	return n, ok
}

// Names implements expr.Scope.
func (bareScope) Names() []string { return nil }

// ABI implements expr.Scope.
func (s bareScope) ABI() ctype.ABI {
	const word = 8
	size := word
	if s.names.machine != nil && s.names.machine.AddrSize != 0 {
		size = s.names.machine.AddrSize
	}
	return ctype.ABI{Pointer: size, Long: size}
}

// Order implements expr.Scope.
func (s bareScope) Order() arch.ByteOrder { return s.names.order }

// Language implements expr.Scope.
func (bareScope) Language() ctype.Language { return ctype.C }

// Concrete implements expr.Scope.
func (bareScope) Concrete(string) []container.Concrete { return nil }
