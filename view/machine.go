package view

import (
	"strings"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/tdesc"
)

// registerNamed finds a register by its name, or by the role that GDB calls sp or fp on every machine; nil if there is none.
// GDB calls these four user registers: pc, sp, fp and ps; the names of the target's own description win.
func (v *View) registerNamed(name string) *tdesc.Slot {
	if v.Layout == nil || name == "pc" {
		return nil // the pc of a frame may be known without registers
	}
	if slot := v.Layout.ByName(name); slot != nil {
		return slot
	}
	m := v.machine()
	whole := m.Register(map[string]string{"sp": m.SP, "fp": m.FP}[name])
	if whole == nil {
		return nil
	}
	for _, real := range append([]string{whole.Name, whole.ABI}, whole.Aliases...) {
		if slot := v.Layout.ByName(real); slot != nil {
			return slot
		}
	}
	return nil
}

// machine is what was traced, by the description of its registers.
func (v *View) machine() *arch.Machine {
	if v.Target == nil {
		return arch.Unknown
	}
	if m := v.Target.Machine(); m != arch.Unknown {
		return m
	}
	return arch.ByRegisters(func(name string) bool { return v.Layout.ByName(name) != nil })
}

// abi is what C is like on the machine that was traced: what the size of its program counter tells, and its architecture.
func (v *View) abi() ctype.ABI {
	// Without a program counter in the description 8 bytes are assumed, as frames have addresses of 64 bits.
	size := 8
	if v.pc != nil && v.pc.Size == 4 {
		size = 4
	}
	return ctype.ABI{Pointer: size, Long: size, UnsignedChar: v.machine().C.UnsignedChar}
}

// registerKinds has the types by which descriptions call what is no unsigned integer, by how the name begins.
// They are the predefined types of GDB's manual, "Predefined Target Types", and those that its own descriptions use,
// int128 and the like.
var registerKinds = []struct {
	prefix string
	kind   ctype.Kind
	signed bool
}{
	{"code_ptr", ctype.Pointer, false}, {"data_ptr", ctype.Pointer, false},
	{"int", ctype.Integer, true}, {"long", ctype.Integer, true},
	{"ieee_", ctype.Float, false}, {"i387_ext", ctype.Float, false}, {"arm_fpa_ext", ctype.Float, false},
	{"bfloat16", ctype.Float, false}, {"float", ctype.Float, false},
}

// registerType is the type of C that a register has in expressions. Vectors and other compounds have none that could be
// computed with.
func registerType(slot *tdesc.Slot) *ctype.Type {
	t := &ctype.Type{Kind: ctype.Integer, Name: slot.Reg.Type, Size: slot.Size}
	for _, row := range registerKinds {
		if strings.HasPrefix(slot.Reg.Type, row.prefix) {
			t.Kind, t.Signed, t.Elem = row.kind, row.signed, ctype.Void
			return t
		}
	}
	for _, defined := range slot.Feature.Types {
		if defined.TypeID() != slot.Reg.Type {
			continue
		}
		switch defined.(type) {
		// Flags and enums are integers with names for their bits or values; structs, unions and vectors are several
		// values.
		case *tdesc.Flags, *tdesc.Enum, tdesc.Flags, tdesc.Enum:
		default:
			t.Kind = ctype.Opaque
		}
	}
	return t
}
