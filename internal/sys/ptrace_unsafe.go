//go:build linux

package sys

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Options of a seized tracee.
const (
	TraceSysGood   = unix.PTRACE_O_TRACESYSGOOD
	TraceFork      = unix.PTRACE_O_TRACEFORK
	TraceVfork     = unix.PTRACE_O_TRACEVFORK
	TraceClone     = unix.PTRACE_O_TRACECLONE
	TraceExec      = unix.PTRACE_O_TRACEEXEC
	TraceVforkDone = unix.PTRACE_O_TRACEVFORKDONE
	ExitKill       = unix.PTRACE_O_EXITKILL
	SuspendSeccomp = unix.PTRACE_O_SUSPEND_SECCOMP // takes CAP_SYS_ADMIN
)

// Register set numbers: the note types of core files (linux/elf.h).
const (
	RegSetGeneral = unix.NT_PRSTATUS
	RegSetFloat   = unix.NT_PRFPREG
	RegSetXState  = unix.NT_X86_XSTATE

	RegSetARMTLS         = unix.NT_ARM_TLS
	RegSetARMBreakpoints = unix.NT_ARM_HW_BREAK
	RegSetARMWatchpoints = unix.NT_ARM_HW_WATCH
	RegSetARMSystemCall  = unix.NT_ARM_SYSTEM_CALL
	RegSetARMSVE         = unix.NT_ARM_SVE
	RegSetARMPACMask     = unix.NT_ARM_PAC_MASK
	RegSetARMTagControl  = unix.NT_ARM_TAGGED_ADDR_CTRL
)

// ErrGone is what requests return for a tracee that has died or is not stopped.
var ErrGone = unix.ESRCH

// Gone reports whether err says that the tracee no longer answers.
func Gone(err error) bool { return errors.Is(err, unix.ESRCH) }

// request makes a ptrace request that returns at once. RawSyscall is right because none of them blocks.
func request(req, tid int, addr, data uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(req), uintptr(tid), addr, data, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Seize makes the calling thread the tracer of tid without stopping it.
func Seize(tid int, options int) error {
	return request(unix.PTRACE_SEIZE, tid, 0, uintptr(options))
}

// SetOptions changes the options of a stopped tracee.
func SetOptions(tid int, options int) error {
	return request(unix.PTRACE_SETOPTIONS, tid, 0, uintptr(options))
}

// Interrupt stops a running tracee with EventStop, or with whatever stop comes first: any stop uses the request up.
func Interrupt(tid int) error { return request(unix.PTRACE_INTERRUPT, tid, 0, 0) }

// Cont lets a stopped tracee run. A signal counts only at a signal-delivery stop.
func Cont(tid, signal int) error { return request(unix.PTRACE_CONT, tid, 0, uintptr(signal)) }

// Step lets a stopped tracee execute one instruction.
func Step(tid, signal int) error { return request(unix.PTRACE_SINGLESTEP, tid, 0, uintptr(signal)) }

// ContToSyscall is Cont up to the next entry into or exit from a system call.
func ContToSyscall(tid, signal int) error {
	return request(unix.PTRACE_SYSCALL, tid, 0, uintptr(signal))
}

// EntersSyscall reports whether a tracee that has stopped at a system call is about to make it.
func EntersSyscall(tid int) bool {
	var op uint8 // the first byte of struct ptrace_syscall_info; the kernel writes as much as there is room for
	err := request(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(op), uintptr(unsafe.Pointer(&op)))
	return err == nil && op == unix.PTRACE_SYSCALL_INFO_ENTRY
}

// Listen leaves a tracee in its group-stop, from where SIGCONT can wake it.
func Listen(tid int) error { return request(unix.PTRACE_LISTEN, tid, 0, 0) }

// Detach lets a stopped tracee go, with a signal as for Cont.
func Detach(tid, signal int) error { return request(unix.PTRACE_DETACH, tid, 0, uintptr(signal)) }

// EventMessage is the datum of the last event: the new thread's id, or the former id at an exec.
func EventMessage(tid int) (int, error) {
	var msg uint64
	err := request(unix.PTRACE_GETEVENTMSG, tid, 0, uintptr(unsafe.Pointer(&msg)))
	return int(msg), err
}

// SiginfoSize is the size of the kernel's siginfo_t.
const SiginfoSize = 128

// GetSiginfo reads the siginfo of the signal that tid is stopped with.
func GetSiginfo(tid int, info *[SiginfoSize]byte) error {
	return request(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(info)))
}

// SetSiginfo replaces it.
func SetSiginfo(tid int, info *[SiginfoSize]byte) error {
	return request(unix.PTRACE_SETSIGINFO, tid, 0, uintptr(unsafe.Pointer(info)))
}

// Peek is Wait, or Poll if block is false, that leaves what it finds to be waited for. signal is that of a stop which is no ptrace
// event, and 0 for everything else.
//
// A thread that is killed while it waits still takes a status, which then nobody sees; and a stop whose status was taken
// resumes without its signal when the tracer has ended.
func Peek(block bool) (tid, signal int, err error) {
	var info struct {
		_        [2]int32
		code     int32
		_        int32
		pid, uid int32
		status   int32
		_        [SiginfoSize - 28]byte
	}
	options := unix.WNOWAIT | unix.WEXITED | unix.WSTOPPED | unix.WALL | unix.WNOTHREAD
	if !block {
		options |= unix.WNOHANG
	}
	_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&info)), uintptr(options), 0, 0)
	switch errno {
	case 0:
	case unix.EINTR:
		return 0, 0, ErrInterrupted
	case unix.ECHILD:
		return 0, 0, ErrNoChildren
	default:
		return 0, 0, errno
	}
	const trapped, stopped = 4, 5 // CLD_TRAPPED, CLD_STOPPED
	if (info.code == trapped || info.code == stopped) && info.status < 1<<8 {
		signal = int(info.status)
	}
	return int(info.pid), signal, nil
}

// SignalMask reads the set of blocked signals, bit n-1 for signal n.
func SignalMask(tid int) (uint64, error) {
	var mask uint64
	err := request(unix.PTRACE_GETSIGMASK, tid, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	return mask, err
}

// SetSignalMask replaces the set of blocked signals.
func SetSignalMask(tid int, mask uint64) error {
	return request(unix.PTRACE_SETSIGMASK, tid, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
}

// GetRegSet reads a register set into buf and returns the length the kernel gave. A buffer too small is cut without a word,
// so offer more than enough: the length of the extended state is a fact of the processor.
func GetRegSet(tid, set int, buf []byte) (int, error) {
	iov := unix.Iovec{Base: unsafe.SliceData(buf), Len: uint64(len(buf))}
	err := request(unix.PTRACE_GETREGSET, tid, uintptr(set), uintptr(unsafe.Pointer(&iov)))
	return int(iov.Len), err
}

// SetRegSet writes a register set. The extended state wants exactly the length that GetRegSet returned.
func SetRegSet(tid, set int, buf []byte) error {
	iov := unix.Iovec{Base: unsafe.SliceData(buf), Len: uint64(len(buf))}
	return request(unix.PTRACE_SETREGSET, tid, uintptr(set), uintptr(unsafe.Pointer(&iov)))
}

// PendingSiginfo looks for a signal that is queued for a stopped tracee alone, and not yet delivered, whose siginfo match
// accepts.
func PendingSiginfo(tid int, match func(*[SiginfoSize]byte) bool) bool {
	args := struct {
		offset uint64
		flags  uint32
		count  int32
	}{count: 1}
	for {
		var info [SiginfoSize]byte
		n, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_PEEKSIGINFO, uintptr(tid),
			uintptr(unsafe.Pointer(&args)), uintptr(unsafe.Pointer(&info)), 0, 0)
		if errno != 0 || n == 0 {
			return false
		}
		if match(&info) {
			return true
		}
		args.offset++
	}
}

// Rseq is the address of the restartable-sequence area that a stopped tracee has registered with the kernel, 0 for none. The
// kernel keeps the number of the processor that the thread runs on in it, at RseqCPU. The C library registers one for every
// thread (glibc 2.35).
func Rseq(tid int) uint64 {
	var configuration struct {
		address                uint64
		size, signature, flags uint32
		_                      uint32
	}
	if request(unix.PTRACE_GET_RSEQ_CONFIGURATION, tid, unsafe.Sizeof(configuration),
		uintptr(unsafe.Pointer(&configuration))) != nil {
		return 0
	}
	return configuration.address
}

// RseqCPU is where the area has the processor's number, four bytes.
const RseqCPU = 4
