//go:build amd64

package linux

import (
	"testing"

	"tracewell/internal/linux"
)

// TestStopKinds has every kind of stop that a task can be detached in, and the signal that it takes along: when the session has not
// chosen, when it has chosen every signal, and when it has chosen none.
func TestStopKinds(t *testing.T) {
	const alarm, group, realTime, sysGood = 14, 20, 37, linux.SIGTRAP | 0x80
	at := func(signal, event int) linux.Status { return linux.Status(event<<16 | signal<<8 | 0x7f) }
	none := new([numSignals]bool)
	for _, row := range []struct {
		stop         string
		status       linux.Status
		code         int32
		stepped      bool
		usual, every int
	}{
		{"interrupted", at(linux.SIGTRAP, linux.EventStop), 0, false, 0, 0},
		{"interrupted in a step", at(linux.SIGTRAP, linux.EventStop), 0, true, 0, 0},
		{"group-stop", at(group, linux.EventStop), 0, false, 0, 0},
		{"fork", at(linux.SIGTRAP, linux.EventFork), 0, false, 0, 0},
		{"vfork", at(linux.SIGTRAP, linux.EventVfork), 0, false, 0, 0},
		{"end of a vfork", at(linux.SIGTRAP, linux.EventVforkDone), 0, false, 0, 0},
		{"clone", at(linux.SIGTRAP, linux.EventClone), 0, false, 0, 0},
		{"exec", at(linux.SIGTRAP, linux.EventExec), 0, true, 0, 0},
		{"system call", at(sysGood, 0), 0, false, 0, 0},
		{"told without a signal", at(0, 0), 0, false, 0, 0},
		{"step", at(linux.SIGTRAP, 0), trapTrace, true, 0, 0},
		{"step over a system call", at(linux.SIGTRAP, 0), trapBreakpoint, true, 0, 0},
		{"step into an exec", at(linux.SIGTRAP, 0), trapBreakpoint, false, 0, 0},
		{"debug register", at(linux.SIGTRAP, 0), trapHardware, false, 0, 0},
		{"debug register in a step", at(linux.SIGTRAP, 0), trapHardware, true, 0, 0},
		{"the program's own trap flag", at(linux.SIGTRAP, 0), trapTrace, false, 0, linux.SIGTRAP},
		{"the program's own int3", at(linux.SIGTRAP, 0), siKernel, false, 0, linux.SIGTRAP},
		{"the program's own int3 in a step", at(linux.SIGTRAP, 0), siKernel, true, 0, linux.SIGTRAP},
		{"SIGTRAP by kill", at(linux.SIGTRAP, 0), 0, false, 0, linux.SIGTRAP},
		{"SIGTRAP by tgkill in a step", at(linux.SIGTRAP, 0), -6, true, 0, linux.SIGTRAP},
		{"SIGINT", at(linux.SIGINT, 0), 0, false, 0, linux.SIGINT},
		{"SIGALRM", at(alarm, 0), 0, false, alarm, alarm},
		{"SIGSEGV", at(linux.SIGSEGV, 0), 1, true, linux.SIGSEGV, linux.SIGSEGV},
		{"SIGRTMIN+3", at(realTime, 0), -1, true, realTime, realTime},
	} {
		kind := kindOfStop(row.status, row.code, row.stepped)
		signal, _ := row.status.Stopped()
		for _, c := range []struct {
			chosen *[numSignals]bool
			want   int
		}{{nil, row.usual}, {&everySignal, row.every}, {none, 0}} {
			got := 0
			if kind.passesOn(signal, c.chosen) {
				got = signal
			}
			if got != c.want {
				t.Errorf("%s: takes along %d, want %d", row.stop, got, c.want)
			}
		}
	}
}
