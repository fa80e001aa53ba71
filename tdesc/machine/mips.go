package machine

import "tracewell/tdesc"

// MIPS is a MIPS machine with Linux, by the register sets that it may have or lack. Its floating-point registers are always
// there: GDB takes no description without them.
type MIPS struct {
	Bits int  // of a register: 32 or 64
	DSP  bool // three more accumulators, and dspctl
}

// Target makes the description.
func (m MIPS) Target() *tdesc.Target {
	architecture := "mips"
	if m.Bits == 64 {
		architecture = "mips:isa64"
	}
	return describe(architecture, linux, []part{
		{true, mipsCPU(m.Bits)},
		{true, mipsCP0(m.Bits)},
		{true, mipsFPU(m.Bits)},
		{m.DSP, mipsDSP(m.Bits)},
		{true, feature{
			name:      "org.gnu.gdb.mips.linux",
			registers: []run{{names: list("restart"), bits: m.Bits, typ: "int", group: "system"}},
		}},
	})
}

// The numbers of the first three features interlock: status is between r31 and lo, cause before pc.
func mipsCPU(width int) feature {
	return feature{
		name: "org.gnu.gdb.mips.cpu",
		registers: []run{
			{names: numbered("r", 0, 31, ""), bits: width, typ: "int"},
			{names: list("lo", "hi"), bits: width, typ: "int", at: 33},
			{names: list("pc"), bits: width, typ: "int", at: 37},
		},
	}
}

func mipsCP0(width int) feature {
	return feature{
		name: "org.gnu.gdb.mips.cp0",
		registers: []run{
			{names: list("status"), bits: width, typ: "int", at: 32},
			{names: list("badvaddr", "cause"), bits: width, typ: "int", at: 35},
		},
	}
}

func mipsFPU(width int) feature {
	float := "ieee_single"
	if width == 64 {
		float = "ieee_double"
	}
	return feature{
		name: "org.gnu.gdb.mips.fpu",
		registers: []run{
			{names: numbered("f", 0, 31, ""), bits: width, typ: float, at: 38},
			{names: list("fcsr", "fir"), bits: width, typ: "int", group: "float"},
		},
	}
}

func mipsDSP(width int) feature {
	return feature{
		name: "org.gnu.gdb.mips.dsp",
		registers: []run{
			{names: list("hi1", "lo1", "hi2", "lo2", "hi3", "lo3"), bits: width, typ: "int"},
			{names: list("dspctl"), bits: 32, typ: "int"},
		},
	}
}
