package machine

import "tracewell/tdesc"

// AMD64 is an x86-64 machine, by the register sets that it may have or lack.
type AMD64 struct {
	X32      bool // pointers of 32 bits
	OrigRAX  bool // orig_rax, the system call that is being made: Linux
	Segments bool // fs_base and gs_base
	AVX      bool // the upper halves of ymm0 to ymm15
	AVX512   bool // xmm16 to xmm31 with ymm and zmm halves, the upper halves of zmm0 to zmm15, k0 to k7; needs AVX
	PKU      bool // pkru
}

// LinuxAMD64 is what every x86-64 Linux has; the other register sets depend on the processor.
var LinuxAMD64 = AMD64{OrigRAX: true, Segments: true}

// Names of the features, which GDB's architecture code looks for.
const (
	featureCore     = "org.gnu.gdb.i386.core"
	featureSSE      = "org.gnu.gdb.i386.sse"
	featureLinux    = "org.gnu.gdb.i386.linux"
	featureSegments = "org.gnu.gdb.i386.segments"
	featureAVX      = "org.gnu.gdb.i386.avx"
	featureAVX512   = "org.gnu.gdb.i386.avx512"
	featurePKeys    = "org.gnu.gdb.i386.pkeys"
)

// Target makes the description. Registers are numbered on from feature to feature in the order of gdbserver, so the number
// of a register depends on which features come before its own; those of core and sse never change. Each call makes new
// features and registers; the fields of the types are shared, and nobody's to change.
func (m AMD64) Target() *tdesc.Target {
	architecture := "i386:x86-64"
	if m.X32 {
		architecture = "i386:x64-32"
	}
	return describe(architecture, linux, []part{
		{!m.X32, amd64Core},
		{m.X32, x32Core},
		{true, amd64SSE},
		{m.OrigRAX, amd64Linux},
		{m.Segments, amd64Segments},
		{m.AVX || m.AVX512, amd64AVX},
		{m.AVX512, amd64AVX512},
		{m.PKU, pkeys},
	})
}
