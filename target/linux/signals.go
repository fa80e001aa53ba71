//go:build linux

package linux

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/target/linux/internal/patch"
)

// numSignals is one more than the highest signal of the kernel.
const numSignals = 65

// signalSet is a set of kernel signals, bit n-1 for signal n as in the kernel's own masks.
type signalSet uint64

func setOf(signals ...int) (s signalSet) {
	for _, sig := range signals {
		s |= 1 << (sig - 1)
	}
	return s
}

func (s signalSet) has(sig int) bool { return s&(1<<(sig-1)) != 0 }

// take removes a signal and reports whether it was there.
func (s *signalSet) take(sig int) bool {
	had := s.has(sig)
	*s &^= 1 << (sig - 1)
	return had
}

// faultSignals are those that an instruction can raise itself. They cannot be blocked: the kernel would kill.
var faultSignals = setOf(sys.SIGILL, sys.SIGTRAP, sys.SIGBUS, sys.SIGFPE, sys.SIGSEGV, sys.SIGSYS)

// isTrap reports whether a siginfo is that of a SIGTRAP which the processor caused rather than somebody sent.
func isTrap(info *[sys.SiginfoSize]byte) bool {
	return int(binary.LittleEndian.Uint32(info[:])) == sys.SIGTRAP && siCode(info) > 0
}

// isFault reports whether a signal is of an instruction that the processor has refused.
func isFault(info *[sys.SiginfoSize]byte) bool {
	signal := int(binary.LittleEndian.Uint32(info[:]))
	return (signal == sys.SIGILL || signal == sys.SIGSEGV || signal == sys.SIGBUS) && siCode(info) > 0
}

// siCode takes the code out of a siginfo.
func siCode(info *[sys.SiginfoSize]byte) int32 { return int32(binary.LittleEndian.Uint32(info[8:])) }

// deferred is a signal that waits until a displaced instruction has happened.
type deferred struct {
	signal int
	info   [sys.SiginfoSize]byte
}

// deferSignal keeps the signal that k is stopped with.
func (k *task) deferSignal(signal int) {
	d := deferred{signal: signal}
	if k.why != atSignal || sys.GetSiginfo(k.tid, &d.info) != nil {
		d.info = [sys.SiginfoSize]byte{}
	}
	k.deferred = append(k.deferred, d)
}

// deliverable turns what is to be delivered to k into the signal to hand to the kernel now. Only a signal-delivery stop
// takes one; elsewhere it is sent, and passed on when it arrives.
func (k *task) deliverable(signal int) int {
	if signal == 0 && len(k.deferred) == 0 {
		return 0
	}
	takes := k.takesSignal()
	for _, d := range k.deferred {
		if signal == 0 && takes {
			signal = d.signal
			sys.SetSiginfo(k.tid, &d.info)
		} else {
			k.send(d.signal)
		}
	}
	k.deferred = k.deferred[:0]
	if signal != 0 && !takes {
		k.send(signal)
		return 0
	}
	return signal
}

// takesSignal reports whether a stopped task can be resumed with a signal. The stop of a task that was stepped into a handler looks
// like the signal-delivery stop of a step, but for its si_code, and the kernel drops a signal that it is given there.
func (k *task) takesSignal() bool {
	const intoHandler = 5 // SIGTRAP
	if k.why != atSignal {
		return false
	}
	if k.stop.signal != sys.SIGTRAP || !k.stepping {
		return true
	}
	cause, err := k.cause()
	return err != nil || cause != intoHandler
}

func (k *task) send(signal int) {
	k.sent |= setOf(signal)
	sys.KillThread(k.tgid, k.tid, signal)
}

// faulted reports whether the signal that k is stopped with was raised by the instruction at its pc.
func (k *task) faulted(signal int) bool {
	var info [sys.SiginfoSize]byte
	return faultSignals.has(signal) && sys.GetSiginfo(k.tid, &info) == nil && siCode(&info) > 0
}

func gdbSignal(sig int) target.Signal { return target.SignalOfLinux(sig) }

func kernelSignal(s target.Signal) int { return target.LinuxSignal(s) }

// atBreakpoint reports whether the session has a breakpoint at the pc of k.
func (k *task) atBreakpoint() bool {
	if k.fetch() != nil {
		return false
	}
	bp := k.proc.inserted[k.pc()]
	return bp != nil && bp.users > 0
}

// meetAgain has a task with a hit behind it run into the breakpoint again. To a tracepoint that is the same execution of the
// instruction, also if the handler of a signal comes first, in which there may be others.
func (k *task) meetAgain() {
	if k.passed != 0 && k.fetch() == nil {
		k.counted, k.countedSP = k.passed, host.sp(&k.regs)
	}
	k.passed = 0
}

// again reports whether k has met an inserted breakpoint by meetAgain.
func (k *task) again(addr arch.Addr) bool {
	met := k.counted == addr && k.countedSP == host.sp(&k.regs)
	if met {
		k.counted = 0
	}
	return met
}

// moveFault makes the siginfo of a fault in a buffer name the program's address where it names one in the buffer, as for SIGFPE and
// SIGILL.
func (k *task) moveFault(b *patch.Buffer) {
	const siAddr = 16
	var info [sys.SiginfoSize]byte
	if k.why != atSignal || sys.GetSiginfo(k.tid, &info) != nil || siCode(&info) <= 0 {
		return
	}
	if at, ok := b.Original(arch.Addr(binary.LittleEndian.Uint64(info[siAddr:]))); ok {
		binary.LittleEndian.PutUint64(info[siAddr:], uint64(at))
		sys.SetSiginfo(k.tid, &info)
	}
}
