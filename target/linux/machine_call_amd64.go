//go:build linux

package linux

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/arch/amd64"
)

// callStubSize is the room that callStub takes at most.
const callStubSize = 160

// Results of an interrupted system call that only tracers see (linux/errno.h), and the call that goes on with one.
const (
	restartSys       = -512
	restartNoIntr    = -513
	restartNoHandler = -514
	restartBlock     = -516
	callRestart      = 219
)

// callStub implements machine. Nothing in it changes the flags, which a system call keeps.
func (m x86) callStub(r *registers, blocked uint64, at arch.Addr) []byte {
	back := *r
	m.restart(&back)
	code := append([]byte(nil), syscallInstruction...)
	code = append(code,
		0xb8, 14, 0, 0, 0, // mov $rt_sigprocmask, %eax
		0xbf, 2, 0, 0, 0, // mov $SIG_SETMASK, %edi
		0xba, 0, 0, 0, 0, // mov $0, %edx
		0x41, 0xba, 8, 0, 0, 0, // mov $8, %r10d
		0x48, 0xbe) // mov $blocked, %rsi
	mask := len(code)
	code = append(code, 0, 0, 0, 0, 0, 0, 0, 0)
	code = append(code, syscallInstruction...)
	for _, clobbered := range []struct {
		rex, opcode byte // of mov $constant, register
		from        int
	}{
		{0x48, 0xb8, amd64.RAX}, {0x48, 0xb9, amd64.RCX}, {0x48, 0xba, amd64.RDX}, {0x48, 0xbe, amd64.RSI}, {0x48, 0xbf, amd64.RDI},
		{0x49, 0xb8, amd64.R8}, {0x49, 0xb9, amd64.R9}, {0x49, 0xba, amd64.R10}, {0x49, 0xbb, amd64.R11},
	} {
		code = append(code, clobbered.rex, clobbered.opcode)
		code = binary.LittleEndian.AppendUint64(code, back[clobbered.from])
	}
	code = append(code, 0xff, 0x25, 0, 0, 0, 0) // jmp *0(%rip)
	code = binary.LittleEndian.AppendUint64(code, back[amd64.RIP])
	binary.LittleEndian.PutUint64(code[mask:], uint64(at)+uint64(len(code)))
	return binary.LittleEndian.AppendUint64(code, blocked)
}

// restart does to the registers of a thread that was interrupted in a system call what the kernel does before the thread goes on
// without a signal.
func (m x86) restart(r *registers) {
	if m.callNumber(0, r) == noSyscall {
		return
	}
	switch int64(r[amd64.RAX]) {
	case restartSys, restartNoIntr, restartNoHandler:
		m.rewindCall(r)
	case restartBlock:
		m.rewindCall(r)
		r[amd64.RAX] = callRestart
	}
}
