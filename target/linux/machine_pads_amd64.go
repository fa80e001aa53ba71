//go:build linux

package linux

import (
	"slices"
	"strings"

	"os"

	"tracewell/arch/amd64"
	"tracewell/fast"
)

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

// padProcessor implements machine. The kernel prints the processor's abilities as far as programs may use them.
func (x86) padProcessor() fast.Processor {
	text, _ := os.ReadFile("/proc/cpuinfo")
	flags, _, _ := strings.Cut(string(text), "\n\n")
	words := strings.Fields(flags)
	return fast.Processor{AVX512BW: slices.Contains(words, "avx512bw"), RDFSBase: slices.Contains(words, "fsgsbase")}
}
