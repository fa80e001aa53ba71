package amd64

import "tracewell/arch"

// UserRegs is the general state of a thread in the order of Linux's struct user_regs_struct, which is what PTRACE_GETREGS
// fills: 27 words, indexed by the constants below.
type UserRegs [27]uint64

// Indexes into UserRegs.
const (
	R15 = iota
	R14
	R13
	R12
	RBP
	RBX
	R11
	R10
	R9
	R8
	RAX
	RCX
	RDX
	RSI
	RDI
	OrigRAX
	RIP
	CS
	EFlags
	RSP
	SS
	FSBase
	GSBase
	DS
	ES
	FS
	GS
)

// hardware maps the number by which an instruction names a general register to its index in UserRegs.
var hardware = [16]uint8{RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15}

// remote maps a remote register number to its index in UserRegs. Every description that GDB and gdbserver give of a 64-bit
// Linux process begins with these; segment bases and orig_rax have numbers that depend on the description.
var remote = [...]uint8{
	RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15,
	RIP, EFlags, CS, SS, DS, ES, FS, GS,
}

// RemoteIndex gives the index in UserRegs of the register that GDB knows by remote number reg. It is false for registers
// behind gs, which UserRegs lacks or whose number is not fixed.
func RemoteIndex(reg arch.Reg) (int, bool) {
	if reg < 0 || int(reg) >= len(remote) {
		return 0, false
	}
	return int(remote[reg]), true
}

// Bits of the flags register.
const (
	flagCarry     = 1 << 0
	flagParity    = 1 << 2
	flagAdjust    = 1 << 4
	flagZero      = 1 << 6
	flagSign      = 1 << 7
	flagTrap      = 1 << 8
	flagOverflow  = 1 << 11
	flagResume    = 1 << 16
	flagVirtual   = 1 << 17
	flagAlignment = 1 << 18

	arithmeticFlags = flagCarry | flagParity | flagAdjust | flagZero | flagSign | flagOverflow
)
