// Package machine writes down the target descriptions of real machines, from tables.
//
// A description made here means what gdbserver 13 serves for the same machine: the same features, registers, numbers and
// types, so that GDB finds every register that it knows how to use, and a trace file written by one can be read with the
// description of the other. Nothing here looks at the machine that it runs on; the caller says what there is.
package machine

import (
	"strconv"

	"tracewell/arch"
	"tracewell/tdesc"
)

// AMD64 is an x86-64 machine, by the register sets that it may have or lack.
type AMD64 struct {
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
	var b builder
	for _, part := range []struct {
		present bool
		feature feature
	}{
		{true, amd64Core},
		{true, amd64SSE},
		{m.OrigRAX, amd64Linux},
		{m.Segments, amd64Segments},
		{m.AVX || m.AVX512, amd64AVX},
		{m.AVX512, amd64AVX512},
		{m.PKU, amd64PKeys},
	} {
		if part.present {
			b.add(part.feature)
		}
	}
	return &tdesc.Target{Architecture: "i386:x86-64", OSABI: "GNU/Linux", Features: b.features}
}

// feature is a feature before its registers have numbers.
type feature struct {
	name      string
	types     []tdesc.Type
	registers []run
}

// run is registers of one kind, one after the other in number.
type run struct {
	names []string
	bits  int
	typ   string
	group string
}

// builder numbers registers as it adds features.
type builder struct {
	features []*tdesc.Feature
	next     arch.Reg
}

func (b *builder) add(f feature) {
	out := &tdesc.Feature{Name: f.name}
	out.Types = append(out.Types, f.types...)
	for _, r := range f.registers {
		for _, name := range r.names {
			out.Registers = append(out.Registers, &tdesc.Register{
				Name: name, Bits: r.bits, Num: b.next, Type: r.typ, Group: r.group, SaveRestore: true,
			})
			b.next++
		}
	}
	b.features = append(b.features, out)
}

// numbered gives the names of registers that differ by a number: prefix, first to last, suffix.
func numbered(prefix string, first, last int, suffix string) []string {
	var names []string
	for i := first; i <= last; i++ {
		names = append(names, prefix+strconv.Itoa(i)+suffix)
	}
	return names
}
