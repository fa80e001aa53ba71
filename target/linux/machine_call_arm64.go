//go:build linux

package linux

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/arch/arm64"
	"tracewell/internal/sys"
)

// System calls. The number is passed in x8, the arguments in x0 to x5, and x0 receives the result. The kernel's copy of the number
// is a register set of its own; its copy of x0, which it restarts a call with, is nowhere to be seen.

// svc is svc #0.
var svc = []byte{0x01, 0x00, 0x00, 0xd4}

// callRegister is the register with a call's number.
const callRegister = 8

func (aarch64) syscallCode() []byte { return svc }

// setCall implements machine. x6, x7 and what is behind x8 stay as they are.
func (m aarch64) setCall(r *registers, from arch.Addr, number uint64, args []uint64) {
	r[callRegister] = number
	copy(r[:], args)
	m.setPC(r, from)
}

func (aarch64) callResult(r *registers) uint64 { return r[0] }

// callNumber implements machine. x8 does not tell for certain: a tracer may have changed the number, rt_sigreturn has restored all
// registers at its return, and execve has cleared them.
func (aarch64) callNumber(tid int, r *registers) int {
	var b [4]byte
	if r[callAction] == cancel {
		return noSyscall
	}
	if n, err := sys.GetRegSet(tid, sys.RegSetARMSystemCall, b[:]); err != nil || n < len(b) {
		return noSyscall
	}
	return int(int32(binary.LittleEndian.Uint32(b[:])))
}

// cancelCall implements machine, with the next flush.
func (aarch64) cancelCall(r *registers) { r[callAction] = cancel }

// rewindCall implements machine. x0 is still the first argument.
func (m aarch64) rewindCall(r *registers) { m.setPC(r, m.pc(r)-arm64.Length) }

// hidesRestart implements machine: a thread that was interrupted in a call is shown before the instruction that makes it, as one
// is that has not come to the call yet. It goes on with restart_syscall if the call has to know how long it has slept, unless its
// registers say meanwhile that it is elsewhere.
func (aarch64) hidesRestart(code []byte) bool { return string(code) == string(svc) }

// renumber implements machine.
func (aarch64) renumber(r *registers, number int) { r[callRegister] = uint64(number) }

// correct implements machine: at the stops of a call x7 tells which of both it is.
func (aarch64) correct(saved, later *registers) { saved[7] = later[7] }

// callStubSize is the room that callStub takes at most.
const callStubSize = 144

// Encodings of instructions in the stub.
func movz(register, value int) uint32 { return 0xd2800000 | uint32(value)<<5 | uint32(register) }
func adr(register, from, to int) uint32 {
	return 0x10000000 | uint32(to-from)>>2<<5 | uint32(register)
}
func ldrLiteral(register, from, to int) uint32 {
	return 0x58000000 | uint32(to-from)>>2<<5 | uint32(register)
}

// callStub implements machine. No instruction leads anywhere without a register, so that x17, which linkers put code between
// functions that uses it, is lost if a tracer is killed while a thread is here.
func (aarch64) callStub(r *registers, blocked uint64, _ arch.Addr) []byte {
	const (
		setMask, callSigprocmask = 2, 135
		scratch                  = 17
		literals                 = 16 * arm64.Length // behind the code
		br                       = 0xd61f0000 | scratch<<5
	)
	lost := []int{0, 1, 2, 3, 4, 5, callRegister, arm64.PC} // by a call
	mask := literals + 8*len(lost)
	var code []byte
	add := func(word uint32) { code = binary.LittleEndian.AppendUint32(code, word) }
	code = append(code, svc...)
	add(movz(callRegister, callSigprocmask))
	add(movz(0, setMask))
	add(movz(2, 0))
	add(movz(3, 8))
	add(adr(1, len(code), mask))
	code = append(code, svc...)
	for i, register := range lost {
		if register == arm64.PC {
			register = scratch
		}
		add(ldrLiteral(register, len(code), literals+8*i))
	}
	add(br)
	for _, register := range lost {
		code = binary.LittleEndian.AppendUint64(code, r[register])
	}
	return binary.LittleEndian.AppendUint64(code, blocked)
}
