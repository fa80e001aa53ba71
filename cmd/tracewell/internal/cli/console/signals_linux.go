package console

import (
	"os"
	"os/signal"
	"syscall"

	"tracewell/internal/sys"
)

// deadly are the other signals whose default action ends a process, as far as they can be caught. From outside also those come that
// otherwise an instruction raises, from a watchdog for instance. SIGPIPE is not among them (ignoreBrokenPipes), nor is SIGXFSZ,
// since the write that it comes with fails, nor are SIGPROF and most real-time signals, which the Go runtime takes without an
// effect.
var deadly = []os.Signal{
	syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGUSR1,
	syscall.SIGSEGV, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGSTKFLT, syscall.SIGXCPU, syscall.SIGVTALRM,
	syscall.SIGIO, syscall.SIGPWR, syscall.SIGSYS,
}

// withoutEffect keeps signals from ending the process that are no reason to: those that the Go runtime leaves to C libraries, and
// SIGXFSZ, whose write fails.
func withoutEffect() (restore func()) {
	sys.IgnoreReserved()
	tooLarge := make(chan os.Signal, 1)
	signal.Notify(tooLarge, syscall.SIGXFSZ)
	return func() { signal.Stop(tooLarge) }
}

// brokenPipes are the errors of writing what nobody reads any more.
var brokenPipes = []error{syscall.EPIPE}
