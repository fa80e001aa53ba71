package machine

import "tracewell/tdesc"

// ARM is a 32-bit Arm machine of the A profile with Linux, by the register sets that it may have or lack.
type ARM struct {
	VFP  int  // registers of 64 bits that the floating-point unit has: 0, 16 or 32
	NEON bool // vectors, which GDB makes of d0 to d31; needs VFP 32
	TLS  bool // tpidruro
}

// Target makes the description.
func (m ARM) Target() *tdesc.Target {
	return describe("arm", linux, []part{
		{true, armCore},
		{m.VFP > 0, armVFP(m.VFP)},
		{m.NEON, feature{name: "org.gnu.gdb.arm.neon"}},
		{m.TLS, armTLS},
	})
}

// ARMM is an Arm machine of the M profile, with no system below the stub, by what it may have or lack.
type ARMM struct {
	VFP    bool // d0 to d15
	MVE    bool // vpr; GDB makes vectors of d0 to d15
	System bool // the main and the process stack pointer
	SecExt bool // both of them for either security state
}

// Target makes the description.
func (m ARMM) Target() *tdesc.Target {
	return describe("arm", "", []part{
		{true, armMCore},
		{m.VFP, armVFP(16)},
		{m.MVE, armMVE},
		{m.System, armSystem},
		{m.SecExt, armSecExt},
	})
}

// armGeneral is the sixteen registers of either profile.
var armGeneral = []run{
	{names: numbered("r", 0, 12, ""), bits: 32, typ: "uint32"},
	{names: list("sp"), bits: 32, typ: "data_ptr"},
	{names: list("lr"), bits: 32, typ: "int"},
	{names: list("pc"), bits: 32, typ: "code_ptr"},
}

// statusAt is the number of the status register of either profile. Before it there is room for the registers of the FPA.
const statusAt = 25

var armCore = feature{
	name:      "org.gnu.gdb.arm.core",
	registers: append(armGeneral[:4:4], run{names: list("cpsr"), bits: 32, typ: "int", at: statusAt}),
}

var armMCore = feature{
	name:      "org.gnu.gdb.arm.m-profile",
	registers: append(armGeneral[:4:4], run{names: list("xpsr"), bits: 32, typ: "int", at: statusAt}),
}

func armVFP(registers int) feature {
	return feature{
		name: "org.gnu.gdb.arm.vfp",
		registers: []run{
			{names: numbered("d", 0, registers-1, ""), bits: 64, typ: "ieee_double"},
			{names: list("fpscr"), bits: 32, typ: "int", group: "float"},
		},
	}
}

var armTLS = feature{
	name:      "org.gnu.gdb.arm.tls",
	registers: []run{{names: list("tpidruro"), bits: 32, typ: "data_ptr"}},
}

var armMVE = feature{
	name: "org.gnu.gdb.arm.m-profile-mve",
	types: []tdesc.Type{tdesc.Flags{ID: "vpr_reg", Size: 4, Bits: []tdesc.BitField{
		bits("P0", 0, 15, "uint32"),
		bits("MASK01", 16, 19, "uint32"),
		bits("MASK23", 20, 23, "uint32"),
	}}},
	registers: []run{{names: list("vpr"), bits: 32, typ: "vpr_reg"}},
}

var armSystem = feature{
	name:      "org.gnu.gdb.arm.m-system",
	registers: []run{{names: list("msp", "psp"), bits: 32, typ: "data_ptr"}},
}

var armSecExt = feature{
	name:      "org.gnu.gdb.arm.secext",
	registers: []run{{names: list("msp_ns", "psp_ns", "msp_s", "psp_s"), bits: 32, typ: "data_ptr"}},
}
