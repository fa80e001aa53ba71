// Package cpuid asks the processor where it keeps the components of its extended state.
//
// The offsets differ between makers (the protection key register lies at 2688 on Intel's processors and elsewhere on AMD's), so
// nobody may take them from a table. The CPUID instruction is out of Go's reach, hence the lines of assembly.
package cpuid

func query(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// Counter reads the time stamp counter. It counts at one rate, alike on all processors, where the kernel says constant_tsc and
// nonstop_tsc.
func Counter() uint64

// Component is one component of the extended state in the standard (not compacted) form, which is the form of ptrace's
// register set.
type Component struct{ Offset, Size int }

// StateComponent returns where component number n lies; a zero Size means that the processor lacks it.
func StateComponent(n int) Component {
	const leaf = 0xd
	if highest, _, _, _ := query(0, 0); highest < leaf {
		return Component{}
	}
	size, offset, _, _ := query(leaf, uint32(n))
	return Component{int(offset), int(size)}
}
