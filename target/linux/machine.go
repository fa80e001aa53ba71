//go:build linux

package linux

import (
	"tracewell/arch"
	"tracewell/internal/fast"
	"tracewell/target"
	"tracewell/target/linux/internal/patch"
)

// machine is what the processor and its Linux ABI decide. There is one per build (host); all else in this package is the same for
// every processor. The sizes that arrays have are constants beside it: numRegisters, numDebugRegisters, maxInstruction, bufferSize,
// maxCopy, callStubSize, maxSequence, reach, userEnd. So is canStep, whether the kernel can have a thread execute one instruction.
//
// Registers are those of PTRACE_GETREGS, or of NT_PRSTATUS on newer machines, in the kernel's order. Where the kernel keeps
// something elsewhere, a method has the number of the stopped thread besides.
type machine interface {
	isa() *arch.ISA
	// breakpoint is the breakpoint instruction that is inserted. It fits over any instruction.
	breakpoint() []byte

	// decode takes apart the instruction that code begins with. An error means that its length is not known for certain: it is
	// stepped in place.
	decode(code []byte, at arch.Addr) (instruction, error)
	// relocated makes an instruction of bytes that decode does not know and a client has copied. Only its length is known.
	relocated(code []byte, at arch.Addr) instruction
	// exclusive finds the sequence of instructions around an address from behind an exclusive load up to its store, in which a trap
	// would make every attempt of the store fail: first is the load, last the store. before is how much of code lies before the
	// address, up to maxSequence bytes on both sides.
	exclusive(code []byte, before int, at arch.Addr) (first, last arch.Addr, found bool)
	// isCopy reports whether moved is what original is that far away: the same bytes, or the same instruction with an operand
	// relative to the pc that makes up for the distance.
	isCopy(original, moved []byte, away int64) bool

	// fetch and flush read and write all registers of a stopped thread, fetchPC and flushPC one.
	fetch(tid int, r *registers) error
	flush(tid int, r *registers) error
	fetchPC(tid int) (arch.Addr, error)
	flushPC(tid int, pc arch.Addr) error
	pc(r *registers) arch.Addr
	setPC(r *registers, pc arch.Addr)
	sp(r *registers) arch.Addr
	threadPointer(tid int, r *registers) arch.Addr
	// newRegisterFile describes all registers, those of the extended state included, as a stopped tracee has them.
	newRegisterFile(tid int) (*registerFile, error)

	// syscallCode is the instruction that makes a system call.
	syscallCode() []byte
	// setCall has a thread that is about to execute syscallCode at from make a system call with up to six arguments.
	setCall(r *registers, from arch.Addr, number uint64, args []uint64)
	// callStub is the code at an address that makes a system call and then, for a thread with whose registers and set of blocked
	// signals it is made, puts those back and goes on where the thread was. It is no longer than callStubSize.
	callStub(r *registers, blocked uint64, at arch.Addr) []byte
	// callResult is what a call has returned: the kernel's errors are -4095 to -1.
	callResult(r *registers) uint64
	// callNumber is the number of the call that a thread is stopped at, at its entry or exit; noSyscall once cancelCall was called.
	callNumber(tid int, r *registers) int
	// hidesRestart reports whether a stopped thread, with code at its pc, may have been interrupted in a system call whose restart
	// the kernel has already prepared. Its registers do not tell then, and a call made for the tracer would make that one begin anew.
	hidesRestart(code []byte) bool
	// renumber has a thread that is before the instruction of a call make the one of a number there.
	renumber(r *registers, number int)
	// correct gives saved registers those that the kernel does not show at the stops of a system call, from a later stop.
	correct(saved, later *registers)
	// cancelCall has the kernel skip the call at whose entry a thread is stopped, and not restart it.
	cancelCall(r *registers)
	// rewindCall moves a thread that is at the entry of a call before the instruction that makes it, ready to execute that again.
	rewindCall(r *registers)

	// leavePad, faultInPad and padProcessor are what package fast has for this processor.
	leavePad(p *fast.Pad, r *registers, m fast.Memory) fast.Outcome
	faultInPad(p *fast.Pad, r *registers, m fast.Memory, reader *fast.Reader) bool
	padProcessor() fast.Processor
	// counter is what pads tell the time by, 0 where that does not run alike on all processors.
	counter() uint64
	// threadNumberAt is where, from the thread pointer on, the C library keeps a thread's number.
	threadNumberAt() uint64
	// addSP adds to the stack pointer.
	addSP(r *registers, n int)

	// breakpointCode is the si_code of the SIGTRAP that breakpoint raises.
	breakpointCode() int32

	// watches reports whether a debug register can watch for that kind of access.
	watches(kind target.BreakKind) bool
	// watchesInVain reports whether debug registers can be loaded here but never stop a program.
	watchesInVain() bool
	// loadDebug writes the debug registers of a stopped thread; slots without users are disabled.
	loadDebug(tid int, slots *[numDebugRegisters]debugSlot) error
	// debugTriggers are the debug registers that a thread has stopped by, bit n for number n, until clearTriggers.
	debugTriggers(tid int, slots *[numDebugRegisters]debugSlot) (uint64, error)
	clearTriggers(tid int) error
	// triggersAgain reports whether a thread that has stopped by a debug register of a kind would stop by it again when it goes
	// on, as it has not executed the instruction.
	triggersAgain(kind target.BreakKind) bool

	// noPads is why there are no pads on this processor, nil if there are.
	noPads() error
}

// instruction is one decoded instruction, which never changes.
type instruction interface {
	Len() int
	Code() []byte
	CanEmulate() bool
	CanRelocate() bool
	// WritesShadowStack reports whether a shadow stack makes Emulate wrong.
	WritesShadowStack() bool
	// Relocate makes a copy for the buffer at to, with a jump back; resume is the offset of the jump. It is not ok if an operand
	// is out of reach from there.
	Relocate(to arch.Addr) (code []byte, resume int, ok bool)
	// JumpBack is the jump from an address behind a copy to the next instruction.
	JumpBack(from arch.Addr) []byte
	// emulate executes the instruction on registers and stack, or reports false and changes nothing.
	emulate(r *registers, m *stack) bool
	// isSyscall reports whether the instruction makes a system call.
	isSyscall() bool
}

// copied is an instruction of which a copy may be left in more than one place.
type copied interface {
	// points is the pc map of a copy of the instruction at an address.
	points(at arch.Addr) []patch.Point
}

// steppable is an instruction of a machine whose kernel cannot step.
type steppable interface {
	// stepCode is the code for the room at to that has the effect of the instruction at an address and then executes breakpoint,
	// with its pc map.
	stepCode(to, at arch.Addr) (code []byte, points []patch.Point)
}

// callKeeper is a machine on which a system call changes registers that no call is about.
type callKeeper interface {
	// keep reads these of a stopped thread, and returns what puts them back.
	keep(tid int) func()
}

// registers are the general registers of a thread.
type registers [numRegisters]uint64

// trapShift is how far behind its breakpoint instruction a thread stops that has executed it.
func trapShift() arch.Addr { return arch.Addr(host.isa().Machine.TrapShift) }
