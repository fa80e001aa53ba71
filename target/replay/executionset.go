package replay

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// instructionSet is an architecture that execution traces are of.
type instructionSet struct {
	name  string // as in --arch
	title string
	bits  int
	order arch.ByteOrder // the usual one
	// littleCode says that instructions are little endian in any case.
	littleCode bool
	elf        elf.Machine
	// describe makes the description of its registers; float says that the trace has some of floating point.
	describe func(float bool) *tdesc.Target
	// registers names those of the description, by all names that they have in traces.
	registers func(names map[string]uint32) map[string]string
	zero      string // the register that is always 0, "" for none
	sp, fp    string
	// plausible reports whether an instruction can be one.
	plausible func(opcode uint64, size uint64) bool
}

// instructionSets are all, those whose names of registers are the most telling first.
var instructionSets = []*instructionSet{
	{name: "mips", title: "MIPS of 32 bits", bits: 32, order: binary.BigEndian, elf: elf.EM_MIPS, zero: "r0", sp: "r29", fp: "r30",
		describe: func(bool) *tdesc.Target { return bare(machine.MIPS{Bits: 32}) }, registers: mipsRegisters, plausible: ofFourBytes},
	{name: "mips64", title: "MIPS of 64 bits", bits: 64, order: binary.BigEndian, elf: elf.EM_MIPS, zero: "r0", sp: "r29", fp: "r30",
		describe: func(bool) *tdesc.Target { return bare(machine.MIPS{Bits: 64}) }, registers: mipsRegisters, plausible: ofFourBytes},
	{name: "riscv32", title: "RISC-V of 32 bits", bits: 32, order: binary.LittleEndian, littleCode: true, elf: elf.EM_RISCV,
		zero: "zero", sp: "sp", fp: "fp", describe: riscv(32), registers: riscvRegisters, plausible: riscvPlausible},
	{name: "riscv64", title: "RISC-V of 64 bits", bits: 64, order: binary.LittleEndian, littleCode: true, elf: elf.EM_RISCV,
		zero: "zero", sp: "sp", fp: "fp", describe: riscv(64), registers: riscvRegisters, plausible: riscvPlausible},
	{name: "arm", title: "Arm of 32 bits", bits: 32, order: binary.LittleEndian, littleCode: true, elf: elf.EM_ARM, sp: "sp", fp: "r11",
		describe: func(float bool) *tdesc.Target {
			if float {
				return bare(machine.ARM{VFP: 32})
			}
			return bare(machine.ARM{})
		}, registers: armRegisters, plausible: func(op, size uint64) bool { return size == 2 || size == 4 && op>>28 == 0xe }},
	{name: "aarch64", title: "AArch64", bits: 64, order: binary.LittleEndian, littleCode: true, elf: elf.EM_AARCH64, sp: "sp", fp: "x29",
		describe:  func(float bool) *tdesc.Target { return bare(machine.AArch64{FPU: float}) },
		registers: aarch64Registers, plausible: func(op, size uint64) bool { return size == 4 && op>>25&0xf >= 4 }},
}

func ofFourBytes(_, size uint64) bool { return size == 4 }

// riscvPlausible looks at the two bits that tell how long an instruction is.
func riscvPlausible(op, size uint64) bool { return size == 4 && op&3 == 3 || size == 2 && op&3 != 3 }

func riscv(bits int) func(bool) *tdesc.Target {
	return func(float bool) *tdesc.Target {
		m := machine.RISCV{Bits: bits}
		if float {
			m.Float = 64
		}
		return m.Target()
	}
}

// bare is a machine without the system that would run on it.
func bare(m machine.Machine) *tdesc.Target {
	t := m.Target()
	t.OSABI = ""
	for i, f := range t.Features {
		if strings.HasSuffix(f.Name, ".linux") {
			t.Features = append(t.Features[:i:i], t.Features[i+1:]...)
			break
		}
	}
	return t
}

// SetNames lists what ExecutionOptions.Arch may be.
func SetNames() []string {
	var names []string
	for _, s := range instructionSets {
		names = append(names, s.name)
	}
	return names
}

// setByName finds an instruction set.
func setByName(name string) (*instructionSet, error) {
	for _, s := range instructionSets {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%q is no architecture of execution traces: there are %s", name, strings.Join(SetNames(), ", "))
}

// setOf finds the instruction set of a program.
func setOf(f *elf.File) (*instructionSet, error) {
	bits := map[elf.Class]int{elf.ELFCLASS32: 32, elf.ELFCLASS64: 64}[f.Class]
	for _, s := range instructionSets {
		if s.elf == f.Machine && s.bits == bits {
			return s, nil
		}
	}
	return nil, fmt.Errorf("it is for %v of %d bits: execution traces are served of %s", f.Machine, bits, strings.Join(SetNames(), ", "))
}

// each adds names with consecutive numbers for a list of registers.
func each(names map[string]string, prefix string, registers []string) {
	for i, register := range registers {
		names[prefix+strconv.Itoa(i)] = register
	}
}

// numberedNames gives prefix0, prefix1 and so on.
func numberedNames(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i)
	}
	return names
}

var (
	mipsNames = strings.Fields(`zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7
		s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp s8 ra`)
	mipsWideNames = strings.Fields(`zero at v0 v1 a0 a1 a2 a3 a4 a5 a6 a7 t0 t1 t2 t3
		s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp s8 ra`)
)

// mipsRegisters are by number or by the names of the older convention; in a trace that has a4 those of the newer.
func mipsRegisters(names map[string]uint32) map[string]string {
	all := make(map[string]string)
	general := numberedNames("r", 32)
	assembler := mipsNames
	if _, ok := names["a4"]; ok {
		assembler = mipsWideNames
	}
	for i, name := range assembler {
		all[name], all["$"+name] = general[i], general[i]
	}
	all["fp"], all["$fp"] = "r30", "r30"
	each(all, "r", general)
	each(all, "$", general)
	each(all, "f", numberedNames("f", 32))
	each(all, "$f", numberedNames("f", 32))
	for _, name := range []string{"hi", "lo", "status", "cause", "badvaddr", "fcsr", "fir"} {
		all[name], all["c0_"+name], all["cp0_"+name] = name, name, name
	}
	return all
}

func riscvRegisters(map[string]uint32) map[string]string {
	all := make(map[string]string)
	general := strings.Fields(`zero ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7
		s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6`)
	float := strings.Fields(`ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7
		fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11`)
	for _, name := range append(append([]string{"fflags", "frm", "fcsr"}, general...), float...) {
		all[name] = name
	}
	each(all, "x", general)
	each(all, "f", float)
	all["s0"] = "fp"
	return all
}

func armRegisters(map[string]uint32) map[string]string {
	all := map[string]string{"r13": "sp", "r14": "lr", "sp": "sp", "lr": "lr", "cpsr": "cpsr", "sb": "r9", "sl": "r10", "fp": "r11",
		"ip": "r12", "fpscr": "fpscr"}
	each(all, "r", numberedNames("r", 13))
	each(all, "d", numberedNames("d", 32))
	return all
}

func aarch64Registers(map[string]uint32) map[string]string {
	all := map[string]string{"sp": "sp", "wsp": "sp", "lr": "x30", "fp": "x29", "cpsr": "cpsr", "pstate": "cpsr", "fpsr": "fpsr", "fpcr": "fpcr"}
	each(all, "x", numberedNames("x", 31))
	each(all, "w", numberedNames("x", 31))
	for _, prefix := range []string{"v", "q", "d", "s", "h", "b"} {
		each(all, prefix, numberedNames("v", 32))
	}
	return all
}

// part is a register of a description, or some of its bytes.
type part struct {
	slot     *tdesc.Slot
	from, to int // bytes from the least significant one on
}

// parts are what the names of a trace are of, by their numbers; those without a slot are nothing that GDB knows.
func (s *instructionSet) parts(names []string, layout *tdesc.Layout) (parts []part, registers map[string]string, known int) {
	numbers := make(map[string]uint32)
	for i, name := range names {
		numbers[name] = uint32(i)
	}
	registers = s.registers(numbers)
	for _, name := range names {
		base, high, low := cutRange(name)
		slot := layout.ByName(registers[base])
		if slot == nil {
			parts = append(parts, part{})
			continue
		}
		known++
		p := part{slot: slot, to: slot.Size}
		if high >= low && high >= 0 {
			p.from, p.to = min(low/8, slot.Size), min((high+1)/8, slot.Size)
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
