//go:build linux

package linux

import (
	"bytes"
	"encoding/binary"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/sys"
	"tracewell/internal/trial"
	"tracewell/target"
)

// x86 is x86-64 Linux.
type x86 struct{}

var host machine = x86{}

// The sizes of the machine.
const (
	numRegisters      = len(amd64.UserRegs{})
	numDebugRegisters = 4
	maxInstruction    = 15
	bufferSize        = amd64.SlotSize
	maxCopy           = amd64.MaxCopy
	canStep           = true

	// reach is how far a buffer may lie from its instruction, so that a jump and most operands relative to the pc still
	// reach, data of the same object a little farther off included.
	reach = 1<<31 - 1<<28

	// maxSequence is how far exclusive looks.
	maxSequence = 0

	// userEnd is where the addresses of programs end.
	userEnd arch.Addr = 1 << 47
)

func (x86) isa() *arch.ISA     { return amd64.ISA }
func (x86) breakpoint() []byte { return amd64.ISA.Machine.Breakpoint }

// x86Instruction is an instruction of arch/amd64.
type x86Instruction struct{ *amd64.Instruction }

func (x86) decode(code []byte, at arch.Addr) (instruction, error) {
	in, err := amd64.Decode(code, at)
	if err != nil {
		return nil, err
	}
	return x86Instruction{in}, nil
}

func (x86) relocated(code []byte, at arch.Addr) instruction {
	return x86Instruction{amd64.Foreign(code, at)}
}

func (in x86Instruction) emulate(r *registers, m *stack) bool {
	return in.Emulate((*amd64.UserRegs)(r), m)
}

func (in x86Instruction) isSyscall() bool { return in.Flow() == amd64.FlowSyscall }

var _ amd64.Memory = (*stack)(nil)

// exclusive implements machine: atomic instructions are single ones.
func (x86) exclusive([]byte, int, arch.Addr) (first, last arch.Addr, found bool) { return 0, 0, false }

// isCopy implements machine: a displacement has four bytes.
//
// It is not believed of an instruction with legacy prefixes. GDB (13.1 to 18) counts the place of the displacement with them and
// then starts behind them, so it changes bytes that follow the displacement.
func (x86) isCopy(original, moved []byte, away int64) bool {
	if bytes.Equal(original, moved) {
		return true
	}
	if bytes.IndexByte(legacyPrefixes, original[0]) >= 0 {
		return false
	}
	for i := 0; i+4 <= len(original); i++ {
		before, after := binary.LittleEndian.Uint32(original[i:]), binary.LittleEndian.Uint32(moved[i:])
		if int64(int32(after)) == int64(int32(before))+away &&
			bytes.Equal(original[:i], moved[:i]) && bytes.Equal(original[i+4:], moved[i+4:]) {
			return true
		}
	}
	return false
}

// legacyPrefixes are the prefixes of x86 but for REX.
var legacyPrefixes = []byte{0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3}

// General registers.

func (x86) fetch(tid int, r *registers) error { return sys.GetRegs(tid, (*[27]uint64)(r)) }
func (x86) flush(tid int, r *registers) error { return sys.SetRegs(tid, (*[27]uint64)(r)) }

func (x86) fetchPC(tid int) (arch.Addr, error) {
	pc, err := sys.GetReg(tid, amd64.RIP)
	return arch.Addr(pc), err
}

func (x86) flushPC(tid int, pc arch.Addr) error { return sys.SetReg(tid, amd64.RIP, uint64(pc)) }

func (x86) pc(r *registers) arch.Addr        { return arch.Addr(r[amd64.RIP]) }
func (x86) setPC(r *registers, pc arch.Addr) { r[amd64.RIP] = uint64(pc) }
func (x86) sp(r *registers) arch.Addr        { return arch.Addr(r[amd64.RSP]) }

// threadPointer implements machine: the base of segment fs.
func (x86) threadPointer(_ int, r *registers) arch.Addr { return arch.Addr(r[amd64.FSBase]) }

// System calls. The number is passed in rax, which receives the result; orig_rax is the kernel's copy of the number, and -1 outside
// of calls, which also keeps it from restarting one.

// syscallInstruction is syscall.
var syscallInstruction = []byte{0x0f, 0x05}

func (x86) syscallCode() []byte { return syscallInstruction }

// syscallArguments are the registers of a call's arguments, in order.
var syscallArguments = [...]int{amd64.RDI, amd64.RSI, amd64.RDX, amd64.R10, amd64.R8, amd64.R9}

func (m x86) setCall(r *registers, from arch.Addr, number uint64, args []uint64) {
	r[amd64.RAX] = number
	m.cancelCall(r)
	m.setPC(r, from)
	for i, arg := range args {
		r[syscallArguments[i]] = arg
	}
}

func (x86) callResult(r *registers) uint64     { return r[amd64.RAX] }
func (x86) callNumber(_ int, r *registers) int { return int(int32(r[amd64.OrigRAX])) }
func (x86) hidesRestart([]byte) bool           { return false }
func (x86) renumber(r *registers, number int)  { r[amd64.RAX] = uint64(number) }
func (x86) correct(_, _ *registers)            {}

func (x86) cancelCall(r *registers) {
	number := int64(noSyscall)
	r[amd64.OrigRAX] = uint64(number)
}

func (m x86) rewindCall(r *registers) {
	r[amd64.RAX] = r[amd64.OrigRAX]
	m.setPC(r, m.pc(r)-arch.Addr(len(syscallInstruction)))
}

// breakpointCode implements machine: int3 has SI_KERNEL.
func (x86) breakpointCode() int32 { return 0x80 }

// Debug registers (Intel SDM volume 3, chapter 18): 0 to 3 hold addresses, DR6 says which has stopped a thread, DR7 what they are
// for, in two bits that enable each and, from bit 16, four bits of kind and length.

const dr6, dr7 = 6, 7

// Bits of DR7 for each kind and length.
var (
	debugKinds   = map[target.BreakKind]uint64{target.Hardware: 0, target.WriteWatch: 1, target.AccessWatch: 3}
	debugLengths = map[int]uint64{1: 0, 2: 1, 4: 3, 8: 2}
)

// watches implements machine. The processor cannot watch reads alone.
func (x86) watches(kind target.BreakKind) bool {
	_, ok := debugKinds[kind]
	return ok
}

// watchesInVain implements machine.
func (x86) watchesInVain() bool { r := trial.Machine(); return r.Err == nil && !r.DebugRegisters }

// loadDebug implements machine. DR7 comes last: the kernel refuses one that does not fit the addresses, and an address that
// does not fit DR7.
func (x86) loadDebug(tid int, slots *[numDebugRegisters]debugSlot) error {
	if err := sys.SetDebugReg(tid, dr7, 0); err != nil {
		return err
	}
	var control uint64
	for i, s := range slots {
		if s.users == 0 {
			continue
		}
		if err := sys.SetDebugReg(tid, i, uint64(s.addr)); err != nil {
			return err
		}
		control |= 1<<(2*i) | (debugKinds[s.kind]|debugLengths[s.length]<<2)<<(16+4*i)
	}
	if control == 0 {
		return nil
	}
	return sys.SetDebugReg(tid, dr7, control)
}

func (x86) debugTriggers(tid int, _ *[numDebugRegisters]debugSlot) (uint64, error) {
	return sys.DebugReg(tid, dr6)
}

func (x86) clearTriggers(tid int) error { return sys.SetDebugReg(tid, dr6, 0) }

// triggersAgain implements machine: the kernel has the processor ignore a breakpoint once (EFLAGS.RF), and watchpoints trap behind
// the access.
func (x86) triggersAgain(target.BreakKind) bool { return false }
