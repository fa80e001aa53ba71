package machine

import "tracewell/tdesc"

// AArch64 is a 64-bit Arm machine with Linux, by the register sets that it may have or lack.
type AArch64 struct {
	FPU  bool // v0 to v31, fpsr, fpcr; of no meaning with SVE, which has them as parts of its own
	SVE  int  // length of a vector in units of 128 bits, 1 to 16; 0 for none
	Auth bool // masks of the bits of a pointer that hold its authentication code
	MTE  bool // tag_ctl
	TLS  int  // how many of tpidr and tpidr2 there are
}

// Target makes the description.
func (m AArch64) Target() *tdesc.Target {
	return describe("aarch64", linux, []part{
		{true, aarch64Core},
		{m.FPU && m.SVE == 0, aarch64FPU},
		{m.SVE != 0, aarch64SVE(m.SVE)},
		{m.Auth, aarch64Auth},
		{m.MTE, aarch64MTE},
		{m.TLS > 0, aarch64TLS(m.TLS)},
	})
}

var aarch64Core = feature{
	name:  "org.gnu.gdb.aarch64.core",
	types: []tdesc.Type{cpsr},
	registers: []run{
		{names: numbered("x", 0, 30, ""), bits: 64, typ: "int"},
		{names: list("sp"), bits: 64, typ: "data_ptr"},
		{names: list("pc"), bits: 64, typ: "code_ptr"},
		{names: list("cpsr"), bits: 32, typ: "cpsr_flags"},
	},
}

// cpsr is PSTATE as the Arm manual lays out SPSR_EL1.
var cpsr = tdesc.Flags{ID: "cpsr_flags", Size: 4, Bits: []tdesc.BitField{
	flag("SP", 0),
	bits("EL", 2, 3, "uint32"),
	flag("nRW", 4),
	flag("F", 6),
	flag("I", 7),
	flag("A", 8),
	flag("D", 9),
	bits("BTYPE", 10, 11, "uint32"),
	flag("SSBS", 12),
	flag("IL", 20),
	flag("SS", 21),
	flag("PAN", 22),
	flag("UAO", 23),
	flag("DIT", 24),
	flag("TCO", 25),
	flag("V", 28),
	flag("C", 29),
	flag("Z", 30),
	flag("N", 31),
}}

var fpsr = tdesc.Flags{ID: "fpsr_flags", Size: 4, Bits: []tdesc.BitField{
	flag("IOC", 0),
	flag("DZC", 1),
	flag("OFC", 2),
	flag("UFC", 3),
	flag("IXC", 4),
	flag("IDC", 7),
	flag("QC", 27),
}}

var fpcr = tdesc.Flags{ID: "fpcr_flags", Size: 4, Bits: []tdesc.BitField{
	flag("FIZ", 0),
	flag("AH", 1),
	flag("NEP", 2),
	flag("IOE", 8),
	flag("DZE", 9),
	flag("OFE", 10),
	flag("UFE", 11),
	flag("IXE", 12),
	flag("EBF", 13),
	flag("IDE", 15),
	bits("Len", 16, 18, "uint32"),
	flag("FZ16", 19),
	bits("Stride", 20, 21, "uint32"),
	bits("RMode", 22, 23, "uint32"),
	flag("FZ", 24),
	flag("DN", 25),
	flag("AHP", 26),
}}

// aarch64FPStatus comes behind the vectors in either feature that has these.
var aarch64FPStatus = []run{
	{names: list("fpsr"), bits: 32, typ: "fpsr_flags", group: "float"},
	{names: list("fpcr"), bits: 32, typ: "fpcr_flags", group: "float"},
}

var aarch64FPU = feature{
	name:      "org.gnu.gdb.aarch64.fpu",
	types:     append(aarch64Vector("aarch64v", "vn", "v", 1), fpsr, fpcr),
	registers: append([]run{{names: numbered("v", 0, 31, ""), bits: 128, typ: "aarch64v"}}, aarch64FPStatus...),
}

// aarch64SVE numbers the vectors as the feature fpu does, so z0 is in the place of v0. vg tells the length that vectors have
// at the time, in units of 64 bits.
func aarch64SVE(quads int) feature {
	registers := []run{{names: numbered("z", 0, 31, ""), bits: 128 * quads, typ: "svev"}}
	registers = append(registers, aarch64FPStatus...)
	return feature{
		name: "org.gnu.gdb.aarch64.sve",
		types: append(aarch64Vector("svev", "svevn", "svev", quads),
			tdesc.Vector{ID: "svep", Elem: "uint8", Count: 2 * quads}, fpsr, fpcr),
		registers: append(registers,
			run{names: numbered("p", 0, 15, ""), bits: 16 * quads, typ: "svep"},
			run{names: list("ffr"), bits: 16 * quads, typ: "svep", group: "vector"},
			run{names: list("vg"), bits: 64, typ: "int"},
		),
	}
}

// aarch64Vector makes the union of all views of a vector register of so many times 128 bits: by the size of the lanes, and
// for each size a union of the ways to read a lane.
func aarch64Vector(union, lanes, vector string, quads int) []tdesc.Type {
	sizes := []struct {
		suffix string
		count  int
		views  []view
	}{
		{"d", 2 * quads, []view{{"f", "df", "ieee_double", 0}, {"u", "du", "uint64", 0}, {"s", "ds", "int64", 0}}},
		{"s", 4 * quads, []view{{"f", "sf", "ieee_single", 0}, {"u", "su", "uint32", 0}, {"s", "ss", "int32", 0}}},
		{"h", 8 * quads, []view{
			{"bf", "hbf", "bfloat16", 0}, {"f", "hf", "ieee_half", 0}, {"u", "hu", "uint16", 0}, {"s", "hs", "int16", 0},
		}},
		{"b", 16 * quads, []view{{"u", "bu", "uint8", 0}, {"s", "bs", "int8", 0}}},
		{"q", quads, []view{{"u", "qu", "uint128", 0}, {"s", "qs", "int128", 0}}},
	}
	all := tdesc.Union{ID: union}
	var types []tdesc.Type
	for _, s := range sizes {
		for i := range s.views {
			s.views[i].id, s.views[i].count = vector+s.views[i].id, s.count
		}
		types = append(types, views(lanes+s.suffix, s.views)...)
		all.Fields = append(all.Fields, tdesc.Field{Name: s.suffix, Type: lanes + s.suffix})
	}
	return append(types, all)
}

var aarch64Auth = feature{
	name:      "org.gnu.gdb.aarch64.pauth",
	registers: []run{{names: list("pauth_dmask", "pauth_cmask"), bits: 64, typ: "int", lost: true}},
}

var aarch64MTE = feature{
	name:      "org.gnu.gdb.aarch64.mte",
	registers: []run{{names: list("tag_ctl"), bits: 64, typ: "uint64", group: "system", lost: true}},
}

func aarch64TLS(count int) feature {
	return feature{
		name:      "org.gnu.gdb.aarch64.tls",
		registers: []run{{names: list("tpidr", "tpidr2")[:min(count, 2)], bits: 64, typ: "data_ptr"}},
	}
}
