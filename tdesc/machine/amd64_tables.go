package machine

import "tracewell/tdesc"

var amd64Core = feature{
	name:  featureCore,
	types: []tdesc.Type{eflags},
	registers: append([]run{
		{names: list("rax", "rbx", "rcx", "rdx", "rsi", "rdi"), bits: 64, typ: "int64"},
		{names: list("rbp", "rsp"), bits: 64, typ: "data_ptr"},
		{names: numbered("r", 8, 15, ""), bits: 64, typ: "int64"},
		{names: list("rip"), bits: 64, typ: "code_ptr"},
	}, x86Rest...),
}

// x32Core is the core with pointers of 32 bits, to which no register of 64 bits can be a pointer.
var x32Core = feature{
	name:  featureCore,
	types: []tdesc.Type{eflags},
	registers: append([]run{
		{names: list("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp"), bits: 64, typ: "int64"},
		{names: numbered("r", 8, 15, ""), bits: 64, typ: "int64"},
		{names: list("rip"), bits: 64, typ: "int64"},
	}, x86Rest...),
}

// x86Rest is the registers of the core that have the same size on every x86.
var x86Rest = []run{
	{names: list("eflags"), bits: 32, typ: "i386_eflags"},
	{names: list("cs", "ss", "ds", "es", "fs", "gs"), bits: 32, typ: "int32"},
	{names: numbered("st", 0, 7, ""), bits: 80, typ: "i387_ext"},
	{
		names: list("fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"),
		bits:  32, typ: "int", group: "float",
	},
}

var amd64SSE = feature{
	name:  featureSSE,
	types: append(vec128(), mxcsr),
	registers: []run{
		{names: numbered("xmm", 0, 15, ""), bits: 128, typ: "vec128"},
		{names: list("mxcsr"), bits: 32, typ: "i386_mxcsr", group: "vector"},
	},
}

var amd64Linux = feature{
	name:      featureLinux,
	registers: []run{{names: list("orig_rax"), bits: 64, typ: "int"}},
}

var amd64Segments = feature{
	name:      featureSegments,
	registers: []run{{names: list("fs_base", "gs_base"), bits: 64, typ: "int"}},
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

var pkeys = feature{
	name:      featurePKeys,
	registers: []run{{names: list("pkru"), bits: 32, typ: "uint32"}},
}

// vec128 is the views of an xmm register. Types belong to one feature, so each that has such registers has its own.
func vec128() []tdesc.Type {
	return views("vec128", []view{
		{"v8_bfloat16", "v8bf16", "bfloat16", 8},
		{"v8_half", "v8h", "ieee_half", 8},
		{"v4_float", "v4f", "ieee_single", 4},
		{"v2_double", "v2d", "ieee_double", 2},
		{"v16_int8", "v16i8", "int8", 16},
		{"v8_int16", "v8i16", "int16", 8},
		{"v4_int32", "v4i32", "int32", 4},
		{"v2_int64", "v2i64", "int64", 2},
	}, tdesc.Field{Name: "uint128", Type: "uint128"})
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
