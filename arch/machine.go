package arch

import (
	"debug/elf"
	"slices"
	"strings"
)

// Machine is a processor as a debugger knows it: a row of the table. Rows are shared and read-only.
//
// Names of registers are those of target descriptions, which are GDB's, unless a field says otherwise. A field that is zero
// says that the machine has no such thing, or that nothing is known of it.
type Machine struct {
	Name   string // as users write it: "riscv64"
	Title  string // for people: "RISC-V of 64 bits"
	Family string // of rows whose registers have the same names in execution traces: "riscv"
	GOARCH string // of a build of this program that traces such processes

	// Architectures are beginnings of the names that <architecture> has for the machine (BFD's printable names). The longest
	// beginning in the table decides.
	Architectures []string
	// Features are beginnings of names of standard features that belong to this row and no other.
	Features  []string
	ELF       elf.Machine
	Multiarch string // GNU triplet in the folders of libraries: /usr/lib/TRIPLET

	AddrSize   int       // bytes in a pointer, by which rows of one ELF machine differ; 0 for a row that covers several
	Order      ByteOrder // the usual one
	OneOrder   bool      // there is no other
	LittleCode bool      // instructions are little endian whatever the order of data
	Halfwords  bool      // some instructions are two halfwords, each in the order of code
	SignedAddr bool      // GDB has the sign of a 32-bit address above it, in the upper half of 64 bits
	Loaded     [2]Addr   // first and last address at which Linux puts position-independent programs and libraries

	C     C // the types of C without a system
	Linux C // on Linux, where that differs

	// Breakpoint is the software breakpoint instruction as it lies in memory in the usual order.
	Breakpoint []byte
	// TrapShift is how many bytes the reported pc lies behind the start of a breakpoint that was hit; 1 on x86.
	TrapShift int
	// BreakKind is what the packets Z0 and Z1 have for a breakpoint at an instruction, of which code is the first two bytes; nil for
	// machines on which it is always the length of Breakpoint (GDB manual, Breakpoint Kinds). register reads a register of the
	// processor as it stands, if it has one of that name: on some machines that says how instructions are encoded.
	BreakKind func(code []byte, register func(name string) (uint64, bool)) int
	// ShortBreakpoint is the breakpoint instruction where instructions may be short (a BreakKind of 2 or 3), in the usual order.
	ShortBreakpoint []byte
	// Prologue returns how many bytes the instructions take that make a stack frame, where code is the first PrologueBytes
	// of a function; 0 if there are none. It is GDB's rule, which tracepoints on functions have to follow. nil: GDB goes by
	// the lines of the source alone.
	Prologue func(code []byte) int

	Registers []Register
	Parts     []Part
	DWARF     []string // registers by DWARF's numbers, "" for none

	PC, SP, FP    string
	Zero          string   // the register that always reads as 0
	ThreadPointer string   // the register that addresses of thread-local variables count from
	Arguments     []string // registers of a call's first arguments, of integers and pointers
	CalleeSaved   []string // general registers that a function gives back as it got them
	Results       *Results // where functions return their values; nil where that is not known
	// StubSlot returns the address of the word through which code jumps at its beginning, as the stubs do by which a file calls the
	// functions of others; false if it does not. nil where that is not known.
	StubSlot func(code []byte, at Addr) (slot Addr, ok bool)
	Slots    []uint32 // the types of relocations that have the dynamic linker fill such a word
	Calls    *Calls   // system calls of Linux; nil where they are not known
	// LastUsed is the register with the highest number that compilers keep variables in, so that the registers up to it
	// give all variables a value, and Extended has the beginnings of names of those that a user asks for explicitly.
	LastUsed string
	Extended []string
	// Variables says that variables are found by DWARF on this machine: its description, its DWARF numbers and its frames
	// are known and held against GDB.
	Variables bool
	// CallerSP is how far the caller's stack pointer lies below the CFA; 0 where that is the CFA.
	CallerSP int
	// FrameChain says that the frame pointer, where there is one, points to that of the caller, and that the return address follows.
	FrameChain bool
	// ReturnAddress is the address that a return address stands for, which may have been signed; nil where it is the same.
	ReturnAddress func(saved Addr, signed bool) Addr
	// BlocksAbove says that the blocks of a thread's own variables lie above the thread pointer, behind a header of so many bytes
	// (variant I of the TLS ABI); 0 where they end at the pointer (variant II).
	BlocksAbove int
	// Wider has, by the beginning of the names of registers, that of those which some descriptions have in their place: their
	// lowest bytes are the same.
	Wider map[string]string
	// Unwinding is what GDB 13.1 needs for a stack frame.
	Unwinding Unwinding
	// Show has registers for which "info registers" of GDB 13 shows fields in place of a decimal number, by what it shows
	// for a value in a register of so many bytes. It is not nil for machines whose registers GDB prints in columns of
	// their own.
	Show map[string]func(value uint64, size int) string

	// Convention is a second set of names for the registers of the same machine: those of a newer calling convention.
	Convention *Convention
	// Plausible reports whether a number can be an instruction of size bytes; nil for machines of which no execution traces
	// are read. AnyWord says that it accepts nearly every number, so it is no evidence beside another machine's; WideValues
	// that registers may be wider than an address, so the width of values does not tell the machine.
	Plausible           func(instruction, size uint64) bool
	AnyWord, WideValues bool
	Mnemonics           Mnemonics
	Flags               []string // registers that comparisons write, by all names that execution traces have for them
}

// C is what the types of C are, as far as registers and variables depend on it. The zero C says that nothing is known.
type C struct {
	Pointer      int // bytes
	Long         int // bytes
	LongDouble   LongDouble
	UnsignedChar bool // a plain char has no sign
}

// LongDouble is a format of the type long double.
type LongDouble uint8

// The formats that there are.
const (
	LongDoubleQuad     LongDouble = iota // 16 bytes, IEEE 754 binary128
	LongDoublePlain                      // 8 bytes, a double
	LongDoublePadded                     // 16 bytes with a double in them
	LongDoublePair                       // 16 bytes, two doubles whose sum it is
	LongDoubleX87                        // 16 bytes, the extended format of x87
	LongDoubleX87Short                   // the same in 12 bytes
	LongDoubleM68k                       // 12 bytes, the extended format of the 68881
)

// Unwinding is what GDB 13.1 does about the stack frame of a traceframe without registers.
type Unwinding uint8

// In the order of how much GDB needs.
const (
	UnwindsByPC   Unwinding = iota // it makes a frame of the pc that it infers
	UnwindsFrames                  // it complains in such a traceframe
	UnwindsAlways                  // it looks for a frame even before a traceframe is selected, and fails
	UnwindsOrDies                  // the same, but it crashes
)

// PrologueBytes is how many bytes of a function Machine.Prologue looks at: the longest sequence that it knows, with endbr64 in
// front, and room to spare.
const PrologueBytes = 48

// RegisterKind is what a register is for.
type RegisterKind uint8

// The kinds. Vector is for registers that hold vectors, Float for those that hold floating-point numbers only.
const (
	General RegisterKind = iota
	Float
	Vector
	Status
)

// Register is a register of a machine.
type Register struct {
	Name    string
	Size    int // bytes, 0 if processors differ
	Kind    RegisterKind
	ABI     string   // the name by which the calling convention has it, which execution traces are compared by; "" for Name
	Aliases []string // more names for the whole register
}

// Results are the registers in which functions return values, in the order in which they are used.
type Results struct {
	General, Vector, Float []string // by the ABI of C; Float are those of x87
	Memory                 string   // holds the address of a value that is returned in memory
	GoGeneral, GoVector    []string // by Go's ABIInternal
	Goroutine              string   // points to the runtime.g of the goroutine that runs
	// Homogeneous is how many numbers in floating point, or vectors, of one type each have a register of their own, where they are
	// all that is in a value (AAPCS64); 0 where eightbytes of values have classes (System V).
	Homogeneous int
}

// Part is a register that is a part of another.
type Part struct {
	Name      string
	Assembler string // the assembler's name if it is another
	Of        string
	Offset    int  // bytes above the least significant one
	Size      int  // bytes
	Whole     bool // in execution traces its name stands for the whole register, as writing it clears the rest
}

// Convention is another set of names for registers.
type Convention struct {
	Mark      string // an execution trace that has this name follows the convention
	Registers []Register
}

// Mnemonics are names of instructions by which execution traces are judged, as disassemblers write them.
type Mnemonics struct {
	Moves     []string // beginnings: of two operands the first is written only
	Injective []string // of three operands: different results for different values of one
	Compares  []string // beginnings: flags are the result
	Jumps     []string // those that end interrupt handlers
	Returns   []string // of Jumps, those that end nothing else
	Waits     []string // they do nothing but wait, for as long as they like
	Stores    []string // they store unless another has, and say whether they did
}

// Unknown is the row of a machine that the table has not.
var Unknown = &Machine{Title: "an unknown machine", Order: little, PC: "pc"}

// Machines are all rows. Those whose registers have the most telling names come first.
func Machines() []*Machine { return slices.Clone(table) }

// ByName finds a row by its name, nil if there is none.
func ByName(name string) *Machine {
	return find(func(m *Machine) bool { return m.Name == name })
}

// ByELF finds the row of an ELF file's machine with addresses of so many bytes, nil if there is none.
func ByELF(machine elf.Machine, addrSize int) *Machine {
	return find(func(m *Machine) bool { return m.ELF == machine && m.AddrSize == addrSize && addrSize != 0 })
}

// ByArchitecture finds the row of a target description's architecture, nil if there is none. Case does not matter.
func ByArchitecture(name string) (found *Machine) {
	longest := 0
	for _, m := range table {
		for _, prefix := range m.Architectures {
			if len(prefix) > longest && len(prefix) <= len(name) && strings.EqualFold(name[:len(prefix)], prefix) {
				found, longest = m, len(prefix)
			}
		}
	}
	return found
}

// ByFeature finds the row that a standard feature of target descriptions belongs to, nil if there is none or several.
func ByFeature(name string) *Machine {
	return find(func(m *Machine) bool {
		return slices.ContainsFunc(m.Features, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}

// ByRegisters finds the row of a description that names no architecture: of those whose registers with a role are all there,
// the first of which most registers are. It is Unknown if there is none.
func ByRegisters(has func(name string) bool) *Machine {
	best, most := Unknown, 0
	for _, m := range table {
		lacks := func(name string) bool { return !has(name) }
		if m.SP == "" || lacks(m.PC) || lacks(m.SP) || slices.ContainsFunc(m.Arguments, lacks) {
			continue
		}
		n := 0
		for _, r := range m.Registers {
			if has(r.Name) {
				n++
			}
		}
		if n > most {
			best, most = m, n
		}
	}
	return best
}

// ByGOARCH finds the row of the machines whose processes a build of this program traces, nil if there is none.
func ByGOARCH(goarch string) *Machine {
	return find(func(m *Machine) bool { return m.GOARCH != "" && m.GOARCH == goarch })
}

func find(is func(*Machine) bool) *Machine {
	if i := slices.IndexFunc(table, is); i >= 0 {
		return table[i]
	}
	return nil
}

// Counters are the names that the program counter has in target descriptions, each once.
func Counters() []string {
	var names []string
	for _, m := range table {
		if m.PC != "" && !slices.Contains(names, m.PC) {
			names = append(names, m.PC)
		}
	}
	return names
}

// Register finds a register by its name, nil if there is none.
func (m *Machine) Register(name string) *Register {
	if i := slices.IndexFunc(m.Registers, func(r Register) bool { return r.Name == name }); i >= 0 {
		return &m.Registers[i]
	}
	return nil
}

// WiderName is the name of the register that descriptions may have in the place of one, "" if there is none.
func (m *Machine) WiderName(name string) string {
	n := strings.TrimRight(name, "0123456789")
	if wider := m.Wider[n]; wider != "" {
		return wider + name[len(n):]
	}
	return ""
}

// Part finds a part of a register by its name, false if there is none.
func (m *Machine) Part(name string) (Part, bool) {
	i := slices.IndexFunc(m.Parts, func(p Part) bool { return p.Name == name })
	if i < 0 {
		return Part{}, false
	}
	return m.Parts[i], true
}

// DWARFName is the register of a number of DWARF's, "" if there is none.
func (m *Machine) DWARFName(n uint64) string {
	if n < uint64(len(m.DWARF)) {
		return m.DWARF[n]
	}
	return ""
}

// CTypes are the types of C on the machine, on Linux or without a system.
func (m *Machine) CTypes(linux bool) C {
	if linux && m.Linux != (C{}) {
		return m.Linux
	}
	return m.C
}

// FillsSlot reports whether a relocation of a type has the dynamic linker write the address of a function into a word.
func (m *Machine) FillsSlot(relocation uint32) bool { return slices.Contains(m.Slots, relocation) }
