//go:build linux

package sys

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Launch describes a program to start under the calling thread's trace.
type Launch struct {
	Path  string   // of the executable
	Args  []string // the whole argument vector, the program's name first
	Env   []string
	Dir   string
	Files []*os.File // standard input, output and error
	// Terminal is the descriptor in Files whose foreground the program takes, -1 to leave the terminal alone. Where that is
	// not the terminal of this process's session, nothing is taken. This process must ignore SIGTTOU.
	Terminal int
	// FixedAddresses turns address space randomisation off in the program.
	FixedAddresses bool
}

// addrNoRandomize is ADDR_NO_RANDOMIZE of personality(2).
const addrNoRandomize = 0x0040000

// NoProgram reports whether Start has failed since the file is none that the kernel can run.
func NoProgram(err error) bool { return errors.Is(err, unix.ENOEXEC) }

// Start starts the program and returns its pid. It is seized, stopped before its first instruction.
//
// Go cannot run code between fork and exec, so the child asks to be traced the old way, and is then handed over: released
// into a group-stop, seized in it, and continued to the signal-delivery stop of the SIGCONT, which the caller must not
// pass on. No instruction of the program runs meanwhile. Siginfo of this stop is that of the SIGTRAP of the exec.
func (l *Launch) Start(options int) (int, error) {
	pid, err := l.fork()
	if err != nil {
		return 0, fmt.Errorf("starting %s: %w", l.Path, err)
	}
	if err := handOver(pid, options); err != nil {
		KillAndReap(pid)
		return 0, fmt.Errorf("taking %s under trace: %w", l.Path, err)
	}
	return pid, nil
}

func (l *Launch) fork() (int, error) {
	if l.FixedAddresses {
		old, err := setPersonality(addrNoRandomize)
		if err != nil {
			return 0, fmt.Errorf("turning address randomisation off: %w", err)
		}
		defer restorePersonality(old)
	}
	attr := &syscall.ProcAttr{Dir: l.Dir, Env: l.Env, Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true}}
	for _, f := range l.Files {
		attr.Files = append(attr.Files, f.Fd())
	}
	restore := notIgnored()
	pid, err := syscall.ForkExec(l.Path, l.Args, attr)
	restore()
	if err == nil && l.Terminal >= 0 {
		// The program, which has not run yet, could not do it: for that it would have to ignore SIGTTOU, too.
		_ = SetForegroundGroup(int(l.Files[l.Terminal].Fd()), pid)
	}
	return pid, err
}

// RunToEnd continues a program that Start has started, whenever it stops, without the signals that it stops by, and returns its
// exit status, -1 if it has none: stopped has it killed where it returns false.
func RunToEnd(pid int, stopped func(signal int) (goOn bool)) (code int, err error) {
	for {
		var status Status
		if err = Cont(pid, 0); err == nil {
			_, status, err = Wait(pid)
		}
		signal, isStopped := status.Stopped()
		if err != nil || isStopped && !stopped(signal) {
			KillAndReap(pid)
			return -1, err
		}
		if code, exited := status.Exited(); exited {
			return code, nil
		}
		if status.Ended() {
			return -1, nil
		}
	}
}

// setPersonality adds flags to the personality of the calling thread, which a child inherits.
func setPersonality(flags uintptr) (old uintptr, err error) {
	old, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, 0xffffffff, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if _, _, errno = unix.RawSyscall(unix.SYS_PERSONALITY, old|flags, 0, 0); errno != 0 {
		return 0, errno
	}
	return old, nil
}

func restorePersonality(old uintptr) { unix.RawSyscall(unix.SYS_PERSONALITY, old, 0, 0) }

// handOver turns a tracee by PTRACE_TRACEME, stopped after its exec, into a seized one.
func handOver(pid int, options int) error {
	if err := expectStop(pid, func(s Status) bool { sig, ok := s.Stopped(); return ok && sig == int(unix.SIGTRAP) }); err != nil {
		return err
	}
	var exec [SiginfoSize]byte
	if err := GetSiginfo(pid, &exec); err != nil {
		return fmt.Errorf("reading siginfo: %w", err)
	}
	if err := Detach(pid, int(unix.SIGSTOP)); err != nil {
		return fmt.Errorf("letting go: %w", err)
	}
	if err := Seize(pid, options); err != nil {
		return fmt.Errorf("seizing: %w", err)
	}
	if err := expectStop(pid, func(s Status) bool { return s.Event() == EventStop }); err != nil {
		return err
	}
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		return fmt.Errorf("continuing: %w", err)
	}
	for {
		if err := Cont(pid, 0); err != nil {
			return fmt.Errorf("continuing: %w", err)
		}
		var stop Status
		if err := expectStop(pid, func(s Status) bool { stop = s; return true }); err != nil {
			return err
		}
		if sig, ok := stop.Stopped(); ok && sig == int(unix.SIGCONT) && stop.Event() == 0 {
			return SetSiginfo(pid, &exec)
		}
	}
}

// PassExec lets a stopped tracee go on until it has executed another program, and gives it options then. Until then its
// children are not traced, and signals reach it as if it were not either.
func PassExec(pid, options int) error {
	if err := SetOptions(pid, ExitKill|TraceExec|TraceSysGood); err != nil {
		return err
	}
	signal := 0
	for {
		if err := Cont(pid, signal); err != nil {
			return err
		}
		_, s, err := Wait(pid)
		for err == ErrInterrupted {
			_, s, err = Wait(pid)
		}
		switch {
		case err != nil:
			return err
		case s.Ended():
			return fmt.Errorf("it ended without executing the program: %s", s)
		case s.Event() == EventExec:
			return SetOptions(pid, options)
		}
		if signal = 0; s.Event() == 0 {
			signal, _ = s.Stopped()
		}
	}
}

// expectStop waits for one stop of pid and checks it.
func expectStop(pid int, right func(Status) bool) error {
	for {
		_, s, err := Wait(pid)
		if err == ErrInterrupted {
			continue
		}
		if err != nil {
			return err
		}
		if _, ok := s.Stopped(); !ok || !right(s) {
			return fmt.Errorf("unexpected wait status: %s", s)
		}
		return nil
	}
}
