package scope

import (
	"fmt"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/tdesc"
)

// register finds a register of the target by DWARF's number, which the psABI of each machine assigns: its number in packets, and
// its size in bytes. The name is what both sides know; arch has it for each machine.
func (m *Image) register(n uint64) (arch.Reg, int, error) {
	if slot, size := m.slot(m.registerName(n)); slot != nil {
		return slot.Reg.Num, size, nil
	}
	if len(m.options.Layout.Slots) == 0 {
		return 0, 0, fmt.Errorf("its location needs a register, and those of %s are not known", m.options.ISA.Name)
	}
	return 0, 0, fmt.Errorf("the target has no register %s", m.registerName(n))
}

// slot finds a register of the target, or the wider one that it is a part of, by the name that arch has. It returns how many bytes
// the register of that name has.
func (m *Image) slot(name string) (*tdesc.Slot, int) {
	if slot := m.options.Layout.ByName(name); slot != nil {
		return slot, slot.Size
	}
	machine := m.options.ISA.Machine
	if slot := m.options.Layout.ByName(machine.WiderName(name)); slot != nil {
		return slot, machine.Register(name).Size
	}
	return nil, 0
}

// registerName is what GDB calls a register, for messages as well.
func (m *Image) registerName(n uint64) string {
	if name := m.options.ISA.Machine.DWARFName(n); name != "" {
		return name
	}
	return "number " + strconv.FormatUint(n, 10)
}

// Registers lists the registers of the target, all that its description has, as $regs collects them.
func (s *Scope) Registers() []arch.Reg {
	var all []arch.Reg
	for _, slot := range s.image.options.Layout.Slots {
		all = append(all, slot.Reg.Num)
	}
	return all
}

// Register finds a register by its name without the $: by the names that GDB has on every machine ($pc, $sp, $fp), by that of the
// target description, and parts of registers such as $eax and $al, which GDB calls pseudo registers. A part has a signed type, as
// in GDB. What belongs to the call, such as $return, and to the static tracepoint,
// such as $_probe_arg0, is found in the same way.
func (s *Scope) Register(name string) (expr.Object, error) {
	if object, ok := s.ofCall(name); ok {
		return object, nil
	}
	if object, ok := s.ofProbe(name); ok {
		return object, nil
	}
	o := s.image.options
	if slot := o.Layout.ByNumber(o.ISA.Role(name)); slot != nil {
		return wholeRegister(name, slot), nil
	}
	if slot := o.Layout.ByName(name); slot != nil {
		return wholeRegister(name, slot), nil
	}
	if part, ok := o.ISA.Machine.Part(name); ok {
		if slot := o.Layout.ByName(part.Of); slot != nil && slot.Size >= part.Offset+part.Size {
			return expr.Object{Name: name, Type: ctype.Int(part.Size, true),
				Place: expr.Register{Num: slot.Reg.Num, Offset: part.Offset, Size: part.Size}}, nil
		}
	}
	return expr.Object{}, fmt.Errorf("the target has no register $%s", name)
}

// wholeRegister is a register with the type that GDB shows it in.
func wholeRegister(name string, slot *tdesc.Slot) expr.Object {
	return expr.Object{Name: name, Type: registerType(slot), Place: expr.Register{Num: slot.Reg.Num, Size: slot.Size}}
}

// instructions is what $pc points to, which makes "print $pc" a function pointer, as in GDB.
var (
	instructions = &ctype.Type{Kind: ctype.Function, Size: 1, Elem: ctype.Void}
	vector       = vectorType()
)

// registerType is the type that GDB gives a register by the type in the target description. $eflags and other flag registers are
// plain numbers here.
func registerType(slot *tdesc.Slot) *ctype.Type {
	typ := slot.Reg.Type
	switch {
	case typ == "code_ptr":
		return ctype.PointerTo(instructions, slot.Size)
	case typ == "data_ptr":
		return ctype.PointerTo(ctype.Void, slot.Size)
	case typ == "i387_ext":
		return &ctype.Type{Kind: ctype.Float, Name: "i387_ext", Size: slot.Size}
	case typ == "vec128":
		return vector
	case strings.HasPrefix(typ, "ieee_") || typ == "float":
		return &ctype.Type{Kind: ctype.Float, Name: typ, Size: slot.Size}
	}
	return ctype.Bytes(slot.Size)
}

// vectorType is the union of what a vector register of 16 bytes may hold, with the names and in the order of GDB's i386
// descriptions.
func vectorType() *ctype.Type {
	lanes := func(name string, elem *ctype.Type) ctype.Field {
		return ctype.Field{Name: name, Type: ctype.ArrayOf(elem, 16/elem.Size)}
	}
	t := ctype.RecordOf("vec128", 16,
		lanes("v4_float", &ctype.Type{Kind: ctype.Float, Name: "float", Size: 4}),
		lanes("v2_double", &ctype.Type{Kind: ctype.Float, Name: "double", Size: 8}),
		lanes("v16_int8", ctype.Int(1, true)), lanes("v8_int16", ctype.Int(2, true)),
		lanes("v4_int32", ctype.Int(4, true)), lanes("v2_int64", ctype.Int(8, true)),
		ctype.Field{Name: "uint128", Type: &ctype.Type{Kind: ctype.Integer, Name: "uint128_t", Size: 16}})
	t.Union = true
	return t
}
