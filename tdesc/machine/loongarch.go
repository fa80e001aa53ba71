package machine

import "tracewell/tdesc"

// LoongArch is a LoongArch machine with Linux, by the register sets that it may have or lack.
type LoongArch struct {
	Bits int  // of a register: 32 or 64
	FPU  bool // f0 to f31 and the condition flags
	LSX  bool // vectors of 128 bits; GDB knows them from version 15 on
	LASX bool // vectors of 256 bits, likewise
}

// Target makes the description.
func (m LoongArch) Target() *tdesc.Target {
	architecture := "loongarch64"
	if m.Bits == 32 {
		architecture = "loongarch32"
	}
	return describe(architecture, linux, []part{
		{true, loongArchBase(m.Bits)},
		{m.FPU, loongArchFPU},
		{m.LSX, loongArchVector("lsx", "vr", 1)},
		{m.LASX, loongArchVector("lasx", "xr", 2)},
	})
}

func loongArchBase(width int) feature {
	return feature{
		name: "org.gnu.gdb.loongarch.base",
		registers: []run{
			{names: numbered("r", 0, 31, ""), bits: width, typ: unsignedType(width), group: "general"},
			{names: list("orig_a0"), bits: width, typ: unsignedType(width), group: "general"},
			{names: list("pc", "badv"), bits: width, typ: "code_ptr", group: "general"},
		},
	}
}

var loongArchFPU = feature{
	name: "org.gnu.gdb.loongarch.fpu",
	types: []tdesc.Type{tdesc.Union{ID: "fputype", Fields: []tdesc.Field{
		{Name: "f", Type: "ieee_single"}, {Name: "d", Type: "ieee_double"},
	}}},
	registers: []run{
		{names: numbered("f", 0, 31, ""), bits: 64, typ: "fputype", group: "float"},
		{names: numbered("fcc", 0, 7, ""), bits: 8, typ: "uint8", group: "float"},
		{names: list("fcsr"), bits: 32, typ: "uint32", group: "float"},
	},
}

// loongArchVector is vector registers of so many times 128 bits.
func loongArchVector(name, prefix string, quads int) feature {
	return feature{
		name: "org.gnu.gdb.loongarch." + name,
		types: views(name+"type", []view{
			{"v_float", "vf", "ieee_single", 4 * quads},
			{"v_double", "vd", "ieee_double", 2 * quads},
			{"v_int8", "vi8", "int8", 16 * quads},
			{"v_int16", "vi16", "int16", 8 * quads},
			{"v_int32", "vi32", "int32", 4 * quads},
			{"v_int64", "vi64", "int64", 2 * quads},
			{"v_uint128", "vu128", "uint128", quads},
		}),
		registers: []run{{names: numbered(prefix, 0, 31, ""), bits: 128 * quads, typ: name + "type", group: "vector"}},
	}
}
