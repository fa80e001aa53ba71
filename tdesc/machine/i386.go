package machine

import "tracewell/tdesc"

// I386 is a 32-bit x86 machine with Linux, by the register sets that it may have or lack.
type I386 struct {
	SSE     bool // xmm0 to xmm7 and mxcsr
	OrigEAX bool // orig_eax, the system call that is being made: Linux
	AVX     bool // the upper halves of ymm0 to ymm7; needs SSE
	AVX512  bool // the upper halves of zmm0 to zmm7, k0 to k7; needs AVX
	PKU     bool // pkru
}

// Target makes the description.
func (m I386) Target() *tdesc.Target {
	return describe("i386", linux, []part{
		{true, i386Core},
		{m.SSE, i386SSE},
		{m.OrigEAX, i386Linux},
		{m.AVX, i386AVX},
		{m.AVX512, i386AVX512},
		{m.PKU, pkeys},
	})
}

var i386Core = feature{
	name:  featureCore,
	types: []tdesc.Type{eflags},
	registers: append([]run{
		{names: list("eax", "ecx", "edx", "ebx"), bits: 32, typ: "int32"},
		{names: list("esp", "ebp"), bits: 32, typ: "data_ptr"},
		{names: list("esi", "edi"), bits: 32, typ: "int32"},
		{names: list("eip"), bits: 32, typ: "code_ptr"},
	}, x86Rest...),
}

var i386SSE = feature{
	name:  featureSSE,
	types: append(vec128(), mxcsr),
	registers: []run{
		{names: numbered("xmm", 0, 7, ""), bits: 128, typ: "vec128"},
		{names: list("mxcsr"), bits: 32, typ: "i386_mxcsr", group: "vector"},
	},
}

var i386Linux = feature{
	name:      featureLinux,
	registers: []run{{names: list("orig_eax"), bits: 32, typ: "int"}},
}

var i386AVX = feature{
	name:      featureAVX,
	registers: []run{{names: numbered("ymm", 0, 7, "h"), bits: 128, typ: "uint128"}},
}

var i386AVX512 = feature{
	name:  featureAVX512,
	types: []tdesc.Type{tdesc.Vector{ID: "v2ui128", Elem: "uint128", Count: 2}},
	registers: []run{
		{names: numbered("k", 0, 7, ""), bits: 64, typ: "uint64"},
		{names: numbered("zmm", 0, 7, "h"), bits: 256, typ: "v2ui128"},
	},
}
