package view

import (
	"strings"

	"tracewell/symbol/ctype"
	"tracewell/tdesc"
)

// aliases are the registers that GDB's own names stand for, of whatever machine has one of that name.
var aliases = map[string][]string{
	"sp": {"sp", "rsp", "esp", "r1", "r15"},
	"fp": {"fp", "rbp", "ebp", "s0", "x29"},
}

// registerNamed finds a register by its name, or by one that GDB has for it; nil if there is none.
func (v *View) registerNamed(name string) *tdesc.Slot {
	if v.Layout == nil || name == "pc" {
		return nil // the pc of a frame may be known without registers
	}
	if slot := v.Layout.ByName(name); slot != nil {
		return slot
	}
	for _, real := range aliases[name] {
		if slot := v.Layout.ByName(real); slot != nil {
			return slot
		}
	}
	return nil
}

// abi is what C is like on the machine that was traced: what the size of its program counter tells, and the name of its
// architecture.
func (v *View) abi() ctype.ABI {
	size := 8
	if v.pc != nil && v.pc.Size == 4 {
		size = 4
	}
	abi := ctype.ABI{Pointer: size, Long: size}
	if v.Target != nil {
		for _, prefix := range unsignedChars {
			abi.UnsignedChar = abi.UnsignedChar || strings.HasPrefix(v.Target.Architecture, prefix)
		}
	}
	return abi
}

// unsignedChars begin the names of architectures on which a plain char has no sign.
var unsignedChars = []string{"aarch64", "arm", "powerpc", "riscv", "s390", "rs6000"}

// registerKinds has the types by which descriptions call what is no unsigned integer, by how the name begins.
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
		case *tdesc.Flags, *tdesc.Enum, tdesc.Flags, tdesc.Enum:
		default:
			t.Kind = ctype.Opaque
		}
	}
	return t
}
