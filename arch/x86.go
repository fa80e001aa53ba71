package arch

import (
	"bytes"
	"debug/elf"
	"slices"
	"strings"
)

// x86Status are the registers that all machines of the family have beside the general ones.
func x86Status() []Register {
	return slices.Concat(
		registers(Status, 4, words("eflags cs ss ds es fs gs")...),
		registers(Float, 10, numbered("st", 8)...),
		registers(Status, 4, words("fctrl fstat ftag fiseg fioff foseg fooff fop mxcsr")...))
}

// XMLRegisters is the value of GDB's feature of that name in qSupported. Stubs for x86 serve a target description only to a
// client that sends it, whatever is traced.
const XMLRegisters = "i386"

// amd64Names are the general registers in the order of DWARF's numbers.
var amd64Names = words("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15")

// AMD64 is x86-64 with pointers of 64 bits.
var AMD64 = &Machine{
	Name: "x86-64", Title: "x86-64", Family: "x86", GOARCH: "amd64", Architectures: []string{"i386:x86-64"}, ELF: elf.EM_X86_64,
	Multiarch: "x86_64-linux-gnu", AddrSize: 8, Order: little, OneOrder: true, LittleCode: true,
	Loaded: [2]Addr{0x550000000000, 0x7fffffffffff}, C: c64.with(LongDoubleX87),
	Breakpoint: []byte{0xcc}, TrapShift: 1, Prologue: x86Prologue,
	Registers: slices.Concat(
		registers(General, 8, amd64Names...), registers(Status, 8, words("rip orig_rax fs_base gs_base")...), x86Status(),
		registers(Vector, 16, numbered("xmm", 32)...)),
	Parts: amd64Parts(), DWARF: amd64DWARF,
	PC: "rip", SP: "rsp", FP: "rbp", ThreadPointer: "fs_base",
	Arguments: words("rdi rsi rdx rcx r8 r9"), CalleeSaved: words("rbx rbp r12 r13 r14 r15"),
	Results: &Results{
		General: words("rax rdx"), Vector: words("xmm0 xmm1"), Float: words("st0 st1"), Memory: "rax",
		GoGeneral: words("rax rbx rcx rdi rsi r8 r9 r10 r11"), GoVector: numbered("xmm", 15), Goroutine: "r14",
	},
	StubSlot: amd64Stub, Slots: []uint32{uint32(elf.R_X86_64_JMP_SLOT), uint32(elf.R_X86_64_GLOB_DAT)},
	Calls: amd64Calls, LastUsed: "gs_base", Extended: words("ymm zmm k pkru"), Variables: true, FrameChain: true,
	Mnemonics: x86Mnemonics, Flags: words("flags eflags rflags"),
}

// amd64Stub knows jmp *DISPLACEMENT(%rip), which endbr64 and a bnd prefix may stand in front of.
func amd64Stub(code []byte, at Addr) (slot Addr, ok bool) {
	rest := bytes.TrimPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfa})
	rest = bytes.TrimPrefix(rest, []byte{0xf2})
	const length = 6
	if len(rest) < length || rest[0] != 0xff || rest[1] != 0x25 {
		return 0, false
	}
	next := at + Addr(len(code)-len(rest)+length)
	return next + Addr(int32(little.Uint32(rest[2:]))), true
}

// amd64DWARF is by the System V ABI. Numbers 41 to 48 are mm0 to mm7, which are parts of st0 to st7 and have no names in
// target descriptions.
var amd64DWARF = dwarf(map[int][]string{
	0: amd64Names, 16: {"rip"}, 17: numbered("xmm", 16), 33: numbered("st", 8),
	49: words("eflags es cs ss ds fs gs"), 58: words("fs_base gs_base"), 64: words("mxcsr fctrl fstat"), 67: numbered("xmm", 32)[16:],
})

// amd64Parts are the narrower registers. The lowest byte of r8 to r15 is r8l in GDB's words and r8b in the assembler's.
func amd64Parts() []Part {
	parts := []Part{{Name: "eip", Of: "rip", Size: 4}, {Name: "ip", Of: "rip", Size: 2}}
	for _, whole := range amd64Names[:8] {
		short := whole[1:]
		low := short + "l"
		if letter, ok := strings.CutSuffix(short, "x"); ok {
			low = letter + "l"
			parts = append(parts, Part{Name: letter + "h", Of: whole, Offset: 1, Size: 1})
		}
		parts = append(parts, Part{Name: "e" + short, Of: whole, Size: 4}, Part{Name: short, Of: whole, Size: 2},
			Part{Name: low, Of: whole, Size: 1})
	}
	for _, whole := range amd64Names[8:] {
		parts = append(parts, Part{Name: whole + "d", Of: whole, Size: 4}, Part{Name: whole + "w", Of: whole, Size: 2},
			Part{Name: whole + "l", Assembler: whole + "b", Of: whole, Size: 1})
	}
	return parts
}

// x32 is x86-64 with pointers of 32 bits.
var x32 = &Machine{
	Name: "x32", Title: "x86-64 with pointers of 32 bits", Family: "x86", Architectures: []string{"i386:x64-32"}, ELF: elf.EM_X86_64,
	Multiarch: "x86_64-linux-gnux32", AddrSize: 4, Order: little, OneOrder: true, LittleCode: true,
	C:          C{Pointer: 4, Long: 4, LongDouble: LongDoubleX87},
	Breakpoint: AMD64.Breakpoint, TrapShift: AMD64.TrapShift, Registers: AMD64.Registers, Parts: AMD64.Parts, DWARF: AMD64.DWARF,
	PC: "rip", SP: "rsp", FP: "rbp", ThreadPointer: "fs_base", Arguments: AMD64.Arguments, CalleeSaved: AMD64.CalleeSaved,
	LastUsed: AMD64.LastUsed, Extended: AMD64.Extended, FrameChain: true,
}

var i386Names = words("eax ecx edx ebx esp ebp esi edi")

// i386 is x86 of 32 bits; by register its calls pass what the regparm attribute asks for.
var i386 = &Machine{
	Name: "i386", Title: "x86 of 32 bits", Family: "x86", Architectures: words("i386 i8086"), ELF: elf.EM_386,
	Multiarch: "i386-linux-gnu", AddrSize: 4, Order: little, OneOrder: true, LittleCode: true,
	C:          C{Pointer: 4, Long: 4, LongDouble: LongDoubleX87Short},
	Breakpoint: AMD64.Breakpoint, TrapShift: AMD64.TrapShift,
	Registers: slices.Concat(registers(General, 4, i386Names...), registers(Status, 4, "eip", "orig_eax"), x86Status(),
		registers(Vector, 16, numbered("xmm", 8)...)),
	Parts: i386Parts(),
	DWARF: dwarf(map[int][]string{0: i386Names, 8: words("eip eflags"), 11: numbered("st", 8), 21: numbered("xmm", 8),
		37: words("fctrl fstat mxcsr es cs ss ds fs gs")}),
	PC: "eip", SP: "esp", FP: "ebp", Arguments: words("eax edx ecx"), CalleeSaved: words("ebx ebp esi edi"),
	Extended: words("ymm zmm k pkru"), FrameChain: true,
}

// i386Parts are those of AMD64 that its narrower sister has: no low bytes of the pointers, nothing of r8 and up.
func i386Parts() []Part {
	var parts []Part
	for _, p := range AMD64.Parts {
		of := "e" + p.Of[1:]
		if p.Size < 4 && slices.Contains(append(i386Names[:8:8], "eip"), of) && (p.Size > 1 || len(p.Name) == 2) {
			parts = append(parts, Part{Name: p.Name, Of: of, Offset: p.Offset, Size: p.Size})
		}
	}
	return parts
}

var x86Mnemonics = Mnemonics{
	Moves: words("mov pop"), Injective: words("add sub xor"), Compares: words("cmp test ucomis comis"),
	Jumps: words("ret iret iretd iretq sysret jmp jmpq"), Returns: words("iret iretd iretq"), Waits: words("hlt pause"),
}

var (
	endbr64  = []byte{0xf3, 0x0f, 0x1e, 0xfa}
	movFrame = [][]byte{{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}} // mov %rsp,%rbp
)

const pushFrame = 0x55 // push %rbp

// x86Prologue implements Machine.Prologue: an alignment of the stack, endbr64, then push %rbp and mov %rsp,%rbp. Without
// these two there is no frame that GDB would recognise, whatever came before.
func x86Prologue(code []byte) int {
	at := x86Alignment(code)
	if bytes.HasPrefix(code[at:], endbr64) {
		at += len(endbr64)
	}
	if at < len(code) && code[at] == pushFrame {
		for _, mov := range movFrame {
			if bytes.HasPrefix(code[at+1:], mov) {
				return at + 1 + len(mov)
			}
		}
	}
	return 0
}

// x86Alignment returns the length of the instructions by which a function aligns its stack:
//
//	[push %reg]  lea N(%rsp),%reg  and $-M,%rsp  push -8(%reg)
func x86Alignment(code []byte) int {
	// push has one byte, or two with a REX prefix for r8 to r15.
	for _, lead := range []int{0, 1, 2} {
		at := lead
		if lead > 0 && (len(code) <= lead || code[lead-1]&0xf8 != 0x50 || lead == 2 && code[0] != 0x41) {
			continue
		}
		lea := code[min(at, len(code)):]
		if len(lea) < 16 || lea[0]&0xfb != 0x48 || lea[1] != 0x8d || lea[2]&0xc7 != 0x44 || lea[3] != 0x24 {
			continue
		}
		at += 5
		switch {
		case bytes.HasPrefix(code[at:], []byte{0x48, 0x83, 0xe4}):
			at += 4
		case bytes.HasPrefix(code[at:], []byte{0x48, 0x81, 0xe4}):
			at += 7
		default:
			continue
		}
		if code[at] == 0x41 {
			at++
		}
		if code[at] == 0xff && code[at+1]&0xf8 == 0x70 && code[at+2] == 0xf8 {
			return at + 3
		}
	}
	return 0
}
