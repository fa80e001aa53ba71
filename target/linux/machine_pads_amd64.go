//go:build linux

package linux

import (
	"os"
	"slices"
	"strings"
	"sync"

	"tracewell/arch/amd64"
	"tracewell/fast"
	"tracewell/internal/cpuid"
	"tracewell/internal/trial"
)

// noPads implements machine.
func (x86) noPads() error { return nil }

// leavePad implements machine.
func (x86) leavePad(p *fast.Pad, r *registers, m fast.Memory) fast.Outcome {
	return p.Leave((*amd64.UserRegs)(r), m)
}

// faultInPad implements machine.
func (x86) faultInPad(p *fast.Pad, r *registers, m fast.Memory, reader *fast.Reader) bool {
	return p.Fault((*amd64.UserRegs)(r), m, reader)
}

// addSP implements machine.
func (x86) addSP(r *registers, n int) { r[amd64.RSP] += uint64(n) }

// abilities are what the kernel prints of the first processor, as far as programs may use it.
var abilities = sync.OnceValue(func() []string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	first, _, _ := strings.Cut(string(text), "\n\n")
	return strings.Fields(first)
})

// padProcessor implements machine.
func (x86) padProcessor() fast.Processor {
	has := func(ability string) bool { return slices.Contains(abilities(), ability) }
	return fast.Processor{AVX512BW: has("avx512bw"), RDFSBase: has("fsgsbase") || trial.Machine().RDFSBase, XGETBV1: has("xgetbv1")}
}

// counter implements machine by the time stamp counter.
func (x86) counter() uint64 {
	if !slices.Contains(abilities(), "constant_tsc") || !slices.Contains(abilities(), "nonstop_tsc") {
		return 0
	}
	return cpuid.Counter()
}

// threadNumberAt implements machine: tid in glibc's struct pthread, which has been there since version 2.4.
func (x86) threadNumberAt() uint64 { return 0x2d0 }
