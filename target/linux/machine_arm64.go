//go:build linux

package linux

import (
	"bytes"
	"encoding/binary"

	"tracewell/arch"
	"tracewell/arch/arm64"
	"tracewell/internal/sys"
	"tracewell/target"
)

// aarch64 is AArch64 Linux.
type aarch64 struct{}

var host machine = aarch64{}

// The sizes of the machine.
const (
	// numRegisters: behind those of NT_PRSTATUS is what this package asks the kernel to do about a system call (callAction).
	numRegisters = len(arm64.UserRegs{}) + 1
	// numDebugRegisters is of all kinds together. Processors have from two to sixteen for breakpoints, and as many for watchpoints.
	numDebugRegisters = 4
	maxInstruction    = arm64.Length
	bufferSize        = arm64.SlotSize
	maxCopy           = arm64.MaxCopy
	canStep           = true

	// reach is how far a buffer may lie from its instruction, so that a branch still reaches.
	reach = arm64.Reach - 1<<20

	maxSequence = arm64.MaxSequence

	// userEnd is where the addresses of programs end, with 52 bits where kernel and processor have those.
	userEnd arch.Addr = 1 << 52
)

// callAction is the index of what flush does besides: cancel in it has the kernel skip a system call.
const (
	callAction = len(arm64.UserRegs{})
	cancel     = 1
)

// general are the registers of NT_PRSTATUS. The kernel takes no single register, so whoever moves the pc writes all of them.
func (r *registers) general() *arm64.UserRegs { return (*arm64.UserRegs)(r[:]) }

func (aarch64) isa() *arch.ISA     { return arm64.ISA }
func (aarch64) breakpoint() []byte { return arm64.ISA.Machine.Breakpoint }

// a64Instruction is an instruction of arch/arm64.
type a64Instruction struct{ *arm64.Instruction }

func (aarch64) decode(code []byte, at arch.Addr) (instruction, error) {
	in, err := arm64.Decode(code, at)
	if err != nil {
		return nil, err
	}
	return a64Instruction{in}, nil
}

// relocated implements machine.
func (m aarch64) relocated(code []byte, at arch.Addr) instruction {
	in, err := m.decode(code, at)
	if err != nil {
		return nil
	}
	return in
}

// exclusive implements machine.
func (aarch64) exclusive(code []byte, before int, at arch.Addr) (first, last arch.Addr, found bool) {
	return arm64.Exclusive(code, before, at)
}

// emulate implements instruction.
func (in a64Instruction) emulate(r *registers, m *stack) bool {
	return in.Emulate(r.general(), m)
}

// isSyscall implements instruction.
func (in a64Instruction) isSyscall() bool { return in.Flow() == arm64.FlowSyscall }

var _ arm64.Memory = (*stack)(nil)

// isCopy implements machine. GDB copies instructions by itself on x86 only.
func (aarch64) isCopy(original, moved []byte, _ int64) bool { return bytes.Equal(original, moved) }

// General registers.

// fetch and flush implement machine.
func (aarch64) fetch(tid int, r *registers) error {
	r[callAction] = 0
	return sys.GetRegs(tid, (*[34]uint64)(r.general()))
}

func (aarch64) flush(tid int, r *registers) error {
	if err := sys.SetRegs(tid, (*[34]uint64)(r.general())); err != nil || r[callAction] != cancel {
		return err
	}
	r[callAction] = 0
	number := int32(noSyscall)
	return sys.SetRegSet(tid, sys.RegSetARMSystemCall, binary.LittleEndian.AppendUint32(nil, uint32(number)))
}

// fetchPC implements machine.
func (m aarch64) fetchPC(tid int) (arch.Addr, error) {
	var r registers
	err := m.fetch(tid, &r)
	return m.pc(&r), err
}

// flushPC implements machine: ptrace has no way to write a single register.
func (m aarch64) flushPC(tid int, pc arch.Addr) error {
	var r registers
	if err := m.fetch(tid, &r); err != nil {
		return err
	}
	m.setPC(&r, pc)
	return m.flush(tid, &r)
}

// pc, setPC and sp implement machine.
func (aarch64) pc(r *registers) arch.Addr        { return arch.Addr(r[arm64.PC]) }
func (aarch64) setPC(r *registers, pc arch.Addr) { r.general().SetPC(pc) }
func (aarch64) sp(r *registers) arch.Addr        { return arch.Addr(r[arm64.SP]) }

// threadPointer implements machine: tpidr_el0, 0 if it cannot be read.
func (aarch64) threadPointer(tid int, _ *registers) arch.Addr {
	var b [16]byte
	if n, err := sys.GetRegSet(tid, sys.RegSetARMTLS, b[:]); err != nil || n < 8 {
		return 0
	}
	return arch.Addr(binary.LittleEndian.Uint64(b[:]))
}

// breakpointCode implements machine: TRAP_BRKPT.
func (aarch64) breakpointCode() int32 { return 1 }

// Debug registers (Documentation/arch/arm64/ptrace.rst, and the Arm manual on DBGBCR_EL1 and DBGWCR_EL1): NT_ARM_HW_BREAK and
// NT_ARM_HW_WATCH have 8 bytes of which the first is the number of registers, and for each of them an address, a control word and
// four bytes of padding. The control word has a bit that enables it, two for the exception level, two for the kind of access, and
// from bit 5 on one for each byte that is watched, counted from an address with 8 bytes' alignment.
const (
	debugHeader   = 8
	debugRegister = 16
	debugEnabled  = 1 | 2<<1 // at EL0
	debugKind     = 3
	debugBytes    = 5
)

// debugKinds are the kinds of access.
var debugKinds = map[target.BreakKind]uint32{target.Hardware: 0, target.ReadWatch: 1, target.WriteWatch: 2, target.AccessWatch: 3}

// watches implements machine.
func (aarch64) watches(kind target.BreakKind) bool {
	_, ok := debugKinds[kind]
	return ok
}

// watchesInVain implements machine.
func (aarch64) watchesInVain() bool { return false }

// words are the address and the control word of a slot.
func (s *debugSlot) words() (addr arch.Addr, control uint32) {
	addr, which := s.addr&^7, uint32(1<<s.length-1)<<(s.addr&7)
	if s.kind == target.Hardware {
		addr, which = s.addr, 1<<arm64.Length-1
	}
	return addr, debugEnabled | debugKinds[s.kind]<<debugKind | which<<debugBytes
}

// loadDebug implements machine.
func (aarch64) loadDebug(tid int, slots *[numDebugRegisters]debugSlot) error {
	for _, set := range []int{sys.RegSetARMBreakpoints, sys.RegSetARMWatchpoints} {
		var b [debugHeader + 16*debugRegister]byte
		if n, err := sys.GetRegSet(tid, set, b[:]); err != nil || n < debugHeader {
			return err
		}
		has, next := min(int(b[0]), numDebugRegisters), 0
		clear(b[debugHeader:])
		for i := range slots {
			s := &slots[i]
			if s.users == 0 || (s.kind == target.Hardware) != (set == sys.RegSetARMBreakpoints) {
				continue
			}
			if next == has {
				return errNoDebugRegister
			}
			addr, control := s.words()
			r := b[debugHeader+next*debugRegister:]
			binary.LittleEndian.PutUint64(r, uint64(addr))
			binary.LittleEndian.PutUint32(r[8:], control)
			next++
		}
		if err := sys.SetRegSet(tid, set, b[:debugHeader+has*debugRegister]); err != nil {
			return err
		}
	}
	return nil
}

// debugCode is TRAP_HWBKPT, the si_code of a SIGTRAP by a debug register.
const debugCode = 4

// debugTriggers implements machine. There is no register that says which: the kernel tells an address. That of an access may lie
// before what is watched of it, by up to the size of a vector, so the nearest one behind it counts if none has it.
func (aarch64) debugTriggers(tid int, slots *[numDebugRegisters]debugSlot) (uint64, error) {
	var info [sys.SiginfoSize]byte
	if err := sys.GetSiginfo(tid, &info); err != nil || siCode(&info) != debugCode {
		return 0, err
	}
	const siAddr, widest = 16, 256
	at := arch.Addr(binary.LittleEndian.Uint64(info[siAddr:]))
	nearest, distance := -1, arch.Addr(widest)
	for i := range slots {
		s := &slots[i]
		switch {
		case s.users == 0:
		case s.addr <= at && at < s.addr+arch.Addr(s.length):
			return 1 << i, nil
		case s.kind != target.Hardware && s.addr > at && s.addr-at < distance:
			nearest, distance = i, s.addr-at
		}
	}
	if nearest < 0 {
		return 0, nil
	}
	return 1 << nearest, nil
}

// clearTriggers implements machine: nothing is kept.
func (aarch64) clearTriggers(int) error { return nil }

// triggersAgain implements machine: all trap before the instruction, and the kernel does not step over it for a debugger.
func (aarch64) triggersAgain(target.BreakKind) bool { return true }
