package machine

import "tracewell/tdesc"

// S390 is a z/Architecture or ESA/390 machine with Linux, by the register sets that it may have or lack.
type S390 struct {
	Bits       int  // of a general register: 64, or 32 for the architecture that GDB calls 31-bit
	LastBreak  bool // the address of the last branch taken
	SystemCall bool // the system call that is being made
	TDB        bool // the transaction diagnostic block
	Vector     bool // v0 to v31, of which the first sixteen have a floating-point register as one half
	Guarded    bool // guarded storage, with its broadcast control; needs 64 bits
}

// Target makes the description.
func (m S390) Target() *tdesc.Target {
	architecture := "s390:64-bit"
	if m.Bits == 32 {
		architecture = "s390:31-bit"
	}
	return describe(architecture, linux, []part{
		{true, s390Core(m.Bits)},
		{true, s390ACR},
		{true, s390FPR},
		{true, s390Linux(m)},
		{m.TDB, s390TDB},
		{m.Vector, s390VX},
		{m.Guarded, s390Guarded("gs", "")},
		{m.Guarded, s390Guarded("gsbc", "bc_")},
	})
}

func s390Core(width int) feature {
	number := unsignedType(width)
	return feature{
		name: "org.gnu.gdb.s390.core",
		registers: []run{
			{names: list("pswm", "pswa"), bits: width, typ: number, group: "psw"},
			{names: numbered("r", 0, 15, ""), bits: width, typ: number, group: "general"},
		},
	}
}

var s390ACR = feature{
	name:      "org.gnu.gdb.s390.acr",
	registers: []run{{names: numbered("acr", 0, 15, ""), bits: 32, typ: "uint32", group: "access"}},
}

var s390FPR = feature{
	name: "org.gnu.gdb.s390.fpr",
	registers: []run{
		{names: list("fpc"), bits: 32, typ: "uint32", group: "float"},
		{names: numbered("f", 0, 15, ""), bits: 64, typ: "ieee_double", group: "float"},
	},
}

func s390Linux(m S390) feature {
	f := feature{
		name:      "org.gnu.gdb.s390.linux",
		registers: []run{{names: list("orig_r2"), bits: m.Bits, typ: unsignedType(m.Bits), group: "system"}},
	}
	if m.LastBreak {
		f.registers = append(f.registers, run{names: list("last_break"), bits: m.Bits, typ: "code_ptr", group: "system", lost: true})
	}
	if m.SystemCall {
		f.registers = append(f.registers, run{names: list("system_call"), bits: 32, typ: "uint32", group: "system"})
	}
	return f
}

// s390TDB is the parts of the block that the z/Architecture Principles of Operation name, and the general registers at the
// time of the abort.
var s390TDB = feature{
	name: "org.gnu.gdb.s390.tdb",
	registers: []run{
		{names: list("tdb0", "tac"), bits: 64, typ: "uint64", group: "tdb", lost: true},
		{names: list("tct"), bits: 64, typ: "uint64", group: "tdb", lost: true},
		{names: list("atia"), bits: 64, typ: "uint64", group: "tdb", lost: true},
		{names: numbered("tr", 0, 15, ""), bits: 64, typ: "uint64", group: "tdb", lost: true},
	},
}

var s390VX = feature{
	name: "org.gnu.gdb.s390.vx",
	types: views("vec128", []view{
		{"v4_float", "v4f", "ieee_single", 4},
		{"v2_double", "v2d", "ieee_double", 2},
		{"v16_int8", "v16i8", "int8", 16},
		{"v8_int16", "v8i16", "int16", 8},
		{"v4_int32", "v4i32", "int32", 4},
		{"v2_int64", "v2i64", "int64", 2},
	}, tdesc.Field{Name: "uint128", Type: "uint128"}),
	registers: []run{
		{names: numbered("v", 0, 15, "l"), bits: 64, typ: "uint64"},
		{names: numbered("v", 16, 31, ""), bits: 128, typ: "vec128"},
	},
}

func s390Guarded(name, prefix string) feature {
	return feature{
		name: "org.gnu.gdb.s390." + name,
		registers: []run{
			{names: list(prefix + "gsd"), bits: 64, typ: "uint64", group: "system"},
			{names: list(prefix + "gssm"), bits: 64, typ: "uint64", group: "system"},
			{names: list(prefix + "gsepla"), bits: 64, typ: "data_ptr", group: "system"},
		},
	}
}
