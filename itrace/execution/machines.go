package execution

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/tdesc"
)

// executed are the machines that execution traces are of.
func executed() []*arch.Machine {
	return slices.DeleteFunc(arch.Machines(), func(m *arch.Machine) bool { return m.Plausible == nil })
}

// Architectures lists what Options.Arch may be.
func Architectures() []string {
	var names []string
	for _, m := range executed() {
		names = append(names, m.Name)
	}
	return names
}

// setByName finds a machine by its name.
func setByName(name string) (*arch.Machine, error) {
	if m := arch.ByName(name); m != nil && m.Plausible != nil {
		return m, nil
	}
	return nil, fmt.Errorf("%q is no architecture of execution traces: there are %s", name, strings.Join(Architectures(), ", "))
}

// setOf finds the machine of a program.
func setOf(f *elf.File) (*arch.Machine, error) {
	bits := map[elf.Class]int{elf.ELFCLASS32: 32, elf.ELFCLASS64: 64}[f.Class]
	if m := arch.ByELF(f.Machine, bits/8); m != nil && m.Plausible != nil {
		return m, nil
	}
	return nil, fmt.Errorf("it is for %v of %d bits: execution traces are understood of %s", f.Machine, bits,
		strings.Join(Architectures(), ", "))
}

// Part is a register of a description, or some of its bytes.
type Part struct {
	Slot     *tdesc.Slot // nil for a name of the trace that is no register of the description
	From, To int         // bytes from the least significant one on
}

// partsOf are what the names of a trace are of on a machine, by their numbers; those without a slot are nothing that GDB knows.
func partsOf(m *arch.Machine, names []string, layout *tdesc.Layout) (parts []Part, registers map[string]string, known int) {
	registers = m.TraceNames(func(name string) bool { return slices.Contains(names, name) })
	for _, name := range names {
		base, high, low := cutRange(name)
		slot := layout.ByName(registers[base])
		if slot == nil {
			parts = append(parts, Part{})
			continue
		}
		known++
		p := Part{Slot: slot, To: slot.Size}
		if high >= low && high >= 0 {
			p.From, p.To = min(low/8, slot.Size), min((high+1)/8, slot.Size)
		}
		parts = append(parts, p)
	}
	return parts, registers, known
}

// cutRange takes a range of bits as in v0<127:64> or v0[127:64] from a name; without one high is -1.
func cutRange(name string) (base string, high, low int) {
	at := strings.IndexAny(name, "<[")
	if at < 0 {
		return name, -1, 0
	}
	first, last, ok := strings.Cut(strings.Trim(name[at:], "<>[]"), ":")
	high, errHigh := strconv.Atoi(first)
	low, errLow := strconv.Atoi(last)
	if !ok || errHigh != nil || errLow != nil || low < 0 || high < low {
		return name, -1, 0
	}
	return name[:at], high, low
}
