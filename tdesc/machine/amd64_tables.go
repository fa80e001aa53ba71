package machine

import "tracewell/tdesc"

var amd64Core = feature{
	name:  featureCore,
	types: []tdesc.Type{eflags},
	registers: []run{
		{names: []string{"rax", "rbx", "rcx", "rdx", "rsi", "rdi"}, bits: 64, typ: "int64"},
		{names: []string{"rbp", "rsp"}, bits: 64, typ: "data_ptr"},
		{names: numbered("r", 8, 15, ""), bits: 64, typ: "int64"},
		{names: []string{"rip"}, bits: 64, typ: "code_ptr"},
		{names: []string{"eflags"}, bits: 32, typ: "i386_eflags"},
		{names: []string{"cs", "ss", "ds", "es", "fs", "gs"}, bits: 32, typ: "int32"},
		{names: numbered("st", 0, 7, ""), bits: 80, typ: "i387_ext"},
		{
			names: []string{"fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"},
			bits:  32, typ: "int", group: "float",
		},
	},
}

var amd64SSE = feature{
	name:  featureSSE,
	types: append(vec128(), mxcsr),
	registers: []run{
		{names: numbered("xmm", 0, 15, ""), bits: 128, typ: "vec128"},
		{names: []string{"mxcsr"}, bits: 32, typ: "i386_mxcsr", group: "vector"},
	},
}

var amd64Linux = feature{
	name:      featureLinux,
	registers: []run{{names: []string{"orig_rax"}, bits: 64, typ: "int"}},
}

var amd64Segments = feature{
	name:      featureSegments,
	registers: []run{{names: []string{"fs_base", "gs_base"}, bits: 64, typ: "int"}},
}

var amd64AVX = feature{
	name:      featureAVX,
	registers: []run{{names: numbered("ymm", 0, 15, "h"), bits: 128, typ: "uint128"}},
}

var amd64AVX512 = feature{
	name:  featureAVX512,
	types: append(vec128(), tdesc.Vector{ID: "v2ui128", Elem: "uint128", Count: 2}),
	registers: []run{
		{names: numbered("xmm", 16, 31, ""), bits: 128, typ: "vec128"},
		{names: numbered("ymm", 16, 31, "h"), bits: 128, typ: "uint128"},
		{names: numbered("k", 0, 7, ""), bits: 64, typ: "uint64"},
		{names: numbered("zmm", 0, 31, "h"), bits: 256, typ: "v2ui128"},
	},
}

var amd64PKeys = feature{
	name:      featurePKeys,
	registers: []run{{names: []string{"pkru"}, bits: 32, typ: "uint32"}},
}

// vec128 is the views of an xmm register. Types belong to one feature, so each that has such registers has its own.
func vec128() []tdesc.Type {
	views := []struct {
		field  string
		vector tdesc.Vector
	}{
		{"v8_bfloat16", tdesc.Vector{ID: "v8bf16", Elem: "bfloat16", Count: 8}},
		{"v8_half", tdesc.Vector{ID: "v8h", Elem: "ieee_half", Count: 8}},
		{"v4_float", tdesc.Vector{ID: "v4f", Elem: "ieee_single", Count: 4}},
		{"v2_double", tdesc.Vector{ID: "v2d", Elem: "ieee_double", Count: 2}},
		{"v16_int8", tdesc.Vector{ID: "v16i8", Elem: "int8", Count: 16}},
		{"v8_int16", tdesc.Vector{ID: "v8i16", Elem: "int16", Count: 8}},
		{"v4_int32", tdesc.Vector{ID: "v4i32", Elem: "int32", Count: 4}},
		{"v2_int64", tdesc.Vector{ID: "v2i64", Elem: "int64", Count: 2}},
	}
	union := tdesc.Union{ID: "vec128"}
	var types []tdesc.Type
	for _, v := range views {
		types = append(types, v.vector)
		union.Fields = append(union.Fields, tdesc.Field{Name: v.field, Type: v.vector.ID})
	}
	union.Fields = append(union.Fields, tdesc.Field{Name: "uint128", Type: "uint128"})
	return append(types, union)
}

// eflags is rFLAGS by the names of the AMD64 manual. Bit 1 always reads as 1 and has no name.
var eflags = tdesc.Flags{ID: "i386_eflags", Size: 4, Bits: []tdesc.BitField{
	flag("CF", 0),
	flag("", 1),
	flag("PF", 2),
	flag("AF", 4),
	flag("ZF", 6),
	flag("SF", 7),
	flag("TF", 8),
	flag("IF", 9),
	flag("DF", 10),
	flag("OF", 11),
	flag("NT", 14),
	flag("RF", 16),
	flag("VM", 17),
	flag("AC", 18),
	flag("VIF", 19),
	flag("VIP", 20),
	flag("ID", 21),
}}

// mxcsr is the SSE control and status register: exceptions that occurred, denormals are zeros, exceptions that are masked,
// flush to zero. The rounding mode in bits 13 and 14 has no field in GDB's description.
var mxcsr = tdesc.Flags{ID: "i386_mxcsr", Size: 4, Bits: []tdesc.BitField{
	flag("IE", 0),
	flag("DE", 1),
	flag("ZE", 2),
	flag("OE", 3),
	flag("UE", 4),
	flag("PE", 5),
	flag("DAZ", 6),
	flag("IM", 7),
	flag("DM", 8),
	flag("ZM", 9),
	flag("OM", 10),
	flag("UM", 11),
	flag("PM", 12),
	flag("FZ", 15),
}}

func flag(name string, bit int) tdesc.BitField {
	return tdesc.BitField{Name: name, Start: bit, End: bit, Type: "bool"}
}
