package machine

import "tracewell/tdesc"

// Power is a PowerPC or Power machine with Linux, by the register sets that it may have or lack.
type Power struct {
	Bits    int  // of a general register: 32 or 64
	FPU     bool // f0 to f31 and fpscr
	AltiVec bool // vr0 to vr31
	VSX     bool // the other halves of vs0 to vs31; needs AltiVec and FPU
	SPE     bool // the upper halves of general registers, in place of all of those above
	PPR     bool // ppr and dscr: Power 7
	TAR     bool // tar: Power 8
	EBB     bool // event-based branches and performance counters: Power 8
	HTM     bool // transactional memory, with the checkpointed copy of each register set that there is
}

// Target makes the description.
func (m Power) Target() *tdesc.Target {
	architecture := "powerpc:common"
	if m.Bits == 64 {
		architecture = "powerpc:common64"
	}
	parts := []part{
		{true, powerCore(m.Bits)},
		{m.FPU, powerFPU},
		{true, feature{
			name: "org.gnu.gdb.power.linux",
			registers: []run{
				{names: list("orig_r3"), bits: m.Bits, typ: "int", at: 71},
				{names: list("trap"), bits: m.Bits, typ: "int"},
			},
		}},
		{m.SPE, powerSPE},
		{m.AltiVec, powerAltiVec("", "")},
		{m.VSX, powerHalves("org.gnu.gdb.power.vsx", "vs")},
		{m.PPR, powerOne("ppr", "ppr")},
		{m.PPR, powerOne("dscr", "dscr")},
		{m.TAR, powerOne("tar", "tar")},
		{m.EBB, powerOne("ebb", "bescr", "ebbhr", "ebbrr")},
		{m.EBB, powerOne("linux.pmu", "mmcr0", "mmcr2", "siar", "sdar", "sier")},
	}
	return describe(architecture, linux, append(parts, m.checkpointed()...))
}

// powerGeneral is the registers that transactions keep a copy of, with their types.
func powerGeneral(width int, prefix string) []run {
	number := unsignedType(width)
	return []run{
		{names: list(prefix + "cr"), bits: 32, typ: "uint32"},
		{names: list(prefix + "lr"), bits: width, typ: "code_ptr"},
		{names: list(prefix + "ctr"), bits: width, typ: number},
		{names: list(prefix + "xer"), bits: 32, typ: "uint32"},
	}
}

func powerCore(width int) feature {
	number := unsignedType(width)
	return feature{
		name: "org.gnu.gdb.power.core",
		registers: append([]run{
			{names: numbered("r", 0, 31, ""), bits: width, typ: number},
			{names: list("pc"), bits: width, typ: "code_ptr", at: 64},
			{names: list("msr"), bits: width, typ: number},
		}, powerGeneral(width, "")...),
	}
}

// powerFPU has the numbers that the core leaves free.
var powerFPU = feature{
	name: "org.gnu.gdb.power.fpu",
	registers: []run{
		{names: numbered("f", 0, 31, ""), bits: 64, typ: "ieee_double", at: 32},
		{names: list("fpscr"), bits: 64, typ: "int", group: "float", at: 70},
	},
}

var powerSPE = feature{
	name: "org.gnu.gdb.power.spe",
	registers: []run{
		{names: numbered("ev", 0, 31, "h"), bits: 32, typ: "int"},
		{names: list("acc"), bits: 64, typ: "int"},
		{names: list("spefscr"), bits: 32, typ: "int"},
	},
}

// powerAltiVec is the vectors themselves, or with names as for transactions their checkpointed copies.
func powerAltiVec(of, prefix string) feature {
	return feature{
		name: "org.gnu.gdb.power." + of + "altivec",
		types: views("vec128", []view{
			{"v4_float", "v4f", "ieee_single", 4},
			{"v4_int32", "v4i32", "int32", 4},
			{"v8_int16", "v8i16", "int16", 8},
			{"v16_int8", "v16i8", "int8", 16},
		}, tdesc.Field{Name: "uint128", Type: "uint128"}),
		registers: []run{
			{names: numbered(prefix+"vr", 0, 31, ""), bits: 128, typ: "vec128"},
			{names: list(prefix+"vscr", prefix+"vrsave"), bits: 32, typ: "int", group: "vector"},
		},
	}
}

// powerHalves is the low halves of VSX registers, whose high halves are floating-point registers.
func powerHalves(name, prefix string) feature {
	return feature{name: name, registers: []run{{names: numbered(prefix, 0, 31, "h"), bits: 64, typ: "uint64"}}}
}

// powerOne is a feature of a few special registers.
func powerOne(name string, registers ...string) feature {
	return feature{
		name:      "org.gnu.gdb.power." + name,
		registers: []run{{names: registers, bits: 64, typ: "uint64"}},
	}
}

// checkpointed is what GDB can show of a transaction.
func (m Power) checkpointed() []part {
	number := unsignedType(m.Bits)
	return []part{
		{m.HTM, powerOne("htm.spr", "tfhar", "texasr", "tfiar")},
		{m.HTM, feature{
			name: "org.gnu.gdb.power.htm.core",
			registers: append([]run{{names: numbered("cr", 0, 31, ""), bits: m.Bits, typ: number}},
				powerGeneral(m.Bits, "c")...),
		}},
		{m.HTM && m.FPU, feature{
			name: "org.gnu.gdb.power.htm.fpu",
			registers: []run{
				{names: numbered("cf", 0, 31, ""), bits: 64, typ: "ieee_double"},
				{names: list("cfpscr"), bits: 64, typ: "int", group: "float"},
			},
		}},
		{m.HTM && m.AltiVec, powerAltiVec("htm.", "c")},
		{m.HTM && m.VSX, powerHalves("org.gnu.gdb.power.htm.vsx", "cvs")},
		{m.HTM && m.PPR, powerOne("htm.ppr", "cppr")},
		{m.HTM && m.PPR, powerOne("htm.dscr", "cdscr")},
		{m.HTM && m.TAR, powerOne("htm.tar", "ctar")},
	}
}
