package machine

import (
	"strings"

	"tracewell/arch"
	"tracewell/tdesc"
)

// plain has the description of a row of arch's table without and with registers of floating point, as Linux has it.
var plain = map[string]struct{ integers, floats Machine }{
	arch.AMD64.Name: {LinuxAMD64, LinuxAMD64},
	"mips":          {MIPS{Bits: 32}, MIPS{Bits: 32}},
	"mips64":        {MIPS{Bits: 64}, MIPS{Bits: 64}},
	"riscv32":       {RISCV{Bits: 32}, RISCV{Bits: 32, Float: 64}},
	"riscv64":       {RISCV{Bits: 64}, RISCV{Bits: 64, Float: 64}},
	"arm":           {ARM{}, ARM{VFP: 32}},
	"aarch64":       {AArch64{}, AArch64{FPU: true}},
}

// Linux describes the registers that every Linux process has on a machine, nil where that is not known.
func Linux(m *arch.Machine) *tdesc.Target {
	if described, ok := plain[m.Name]; ok {
		return described.integers.Target()
	}
	return nil
}

// Bare describes a machine without the system that would run on it, nil where that is not known. float says that it has
// registers of floating point.
func Bare(m *arch.Machine, float bool) *tdesc.Target {
	described, ok := plain[m.Name]
	if !ok {
		return nil
	}
	t := described.integers.Target()
	if float {
		t = described.floats.Target()
	}
	t.OSABI = ""
	for i, f := range t.Features {
		if strings.HasSuffix(f.Name, ".linux") {
			t.Features = append(t.Features[:i:i], t.Features[i+1:]...)
			break
		}
	}
	return t
}
