// Package emulate finds the emulator of single instructions for a machine: what a debugger needs to pass a breakpoint without
// having the processor execute the instruction under it.
//
// An emulator knows the instructions that stand under breakpoints in practice, as at the beginning of functions and of lines, and
// refuses all others, for which the processor has to be stepped.
package emulate

import (
	"tracewell/arch"
	"tracewell/arch/a64"
	"tracewell/arch/effect"
	"tracewell/arch/riscv"
	"tracewell/arch/thumb"
)

// Processor emulates instructions of one machine. It is for one goroutine at a time.
type Processor struct {
	// Registers are the names that the registers of the emulator's numbers have in a target description; "" for a number that it
	// does not use or that the description lacks. The pc is not among them.
	Registers []string
	// Longest is how many bytes of code Emulate needs for any instruction.
	Longest int

	emulate func(s *effect.Step, code []byte, pc uint64, own bool) bool
}

// Emulate has s begin with the instruction that code begins with and that t stands at. It reports whether the effects are known;
// otherwise s means nothing. Code that ends inside of the instruction is refused. It does not keep code. own says that the code is
// of a program for the machine: a processor may have modes in which the same bytes are other instructions.
func (p *Processor) Emulate(s *effect.Step, t effect.Thread, code []byte, pc arch.Addr, own bool) bool {
	s.Begin(t)
	return p.emulate(s, code, uint64(pc), own) && s.OK()
}

// For is the emulator for a machine as a target has it, nil if there is none. has reports whether the target's description has a
// register of a name.
func For(isa *arch.ISA, has func(register string) bool) *Processor {
	if isa.Order != isa.Machine.Order { // of those below all are little endian
		return nil
	}
	switch isa.Machine {
	case arch.ByName("riscv32"), arch.ByName("riscv64"):
		wide := isa.AddrSize == 8
		return &Processor{names(isa.Machine, 32, has), riscv.Longest,
			func(s *effect.Step, code []byte, pc uint64, _ bool) bool { return riscv.Emulate(s, code, pc, wide) }}
	case arch.ByName("arm"):
		if has("xpsr") { // of the M profile, which has no state but Thumb
			list := append(names(isa.Machine, 15, has), "", "xpsr")
			return &Processor{list, thumb.Longest, always(thumb.Emulate)}
		}
	case arch.ByName("aarch64"):
		if !has("gcspr") { // calls and returns have a second stack
			list := append(names(isa.Machine, 32, has), "cpsr")
			return &Processor{list, a64.Longest, always(a64.Emulate)}
		}
	case arch.AMD64:
		return newX86(has)
	}
	return nil
}

// always is an emulator of a processor whose mode is in its registers.
func always(emulate func(s *effect.Step, code []byte, pc uint64) bool) func(*effect.Step, []byte, uint64, bool) bool {
	return func(s *effect.Step, code []byte, pc uint64, _ bool) bool { return emulate(s, code, pc) }
}

// names are those of the first n registers of a machine, by whatever name the description has them.
func names(m *arch.Machine, n int, has func(register string) bool) []string {
	found := make([]string, n)
	for i, r := range m.Registers[:n] {
		for _, name := range append([]string{r.Name, r.ABI}, r.Aliases...) {
			if found[i] == "" && has(name) {
				found[i] = name
			}
		}
	}
	return found
}
