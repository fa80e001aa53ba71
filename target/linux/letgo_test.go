//go:build linux

package linux

import (
	"testing"

	"tracewell/internal/sys"
)

// TestStopKinds has every kind of stop that a task can be detached in, and the signal that it takes along: when the session has not
// chosen, when it has chosen every signal, and when it has chosen none.
func TestStopKinds(t *testing.T) {
	const alarm, group, realTime, sysGood = 14, 20, 37, sys.SIGTRAP | 0x80
	at := func(signal, event int) ptraceStop { return ptraceStop{signal, event} }
	none := new([numSignals]bool)
	for _, row := range []struct {
		stop         string
		by           ptraceStop
		code         int32
		stepped      bool
		usual, every int
	}{
		{"interrupted", at(sys.SIGTRAP, sys.EventStop), 0, false, 0, 0},
		{"interrupted in a step", at(sys.SIGTRAP, sys.EventStop), 0, true, 0, 0},
		{"group-stop", at(group, sys.EventStop), 0, false, 0, 0},
		{"fork", at(sys.SIGTRAP, sys.EventFork), 0, false, 0, 0},
		{"vfork", at(sys.SIGTRAP, sys.EventVfork), 0, false, 0, 0},
		{"end of a vfork", at(sys.SIGTRAP, sys.EventVforkDone), 0, false, 0, 0},
		{"clone", at(sys.SIGTRAP, sys.EventClone), 0, false, 0, 0},
		{"exec", at(sys.SIGTRAP, sys.EventExec), 0, true, 0, 0},
		{"system call", at(sysGood, 0), 0, false, 0, 0},
		{"told without a signal", at(0, 0), 0, false, 0, 0},
		{"step", at(sys.SIGTRAP, 0), trapTrace, true, 0, 0},
		{"step over a system call", at(sys.SIGTRAP, 0), trapBreakpoint, true, 0, 0},
		{"step into an exec", at(sys.SIGTRAP, 0), trapBreakpoint, false, 0, 0},
		{"debug register", at(sys.SIGTRAP, 0), trapHardware, false, 0, 0},
		{"debug register in a step", at(sys.SIGTRAP, 0), trapHardware, true, 0, 0},
		{"the program's own trap flag", at(sys.SIGTRAP, 0), trapTrace, false, 0, sys.SIGTRAP},
		{"the program's own int3", at(sys.SIGTRAP, 0), host.breakpointCode(), false, 0, sys.SIGTRAP},
		{"the program's own int3 in a step", at(sys.SIGTRAP, 0), host.breakpointCode(), true, 0, sys.SIGTRAP},
		{"SIGTRAP by kill", at(sys.SIGTRAP, 0), 0, false, 0, sys.SIGTRAP},
		{"SIGTRAP by tgkill in a step", at(sys.SIGTRAP, 0), -6, true, 0, sys.SIGTRAP},
		{"SIGINT", at(sys.SIGINT, 0), 0, false, 0, sys.SIGINT},
		{"SIGALRM", at(alarm, 0), 0, false, alarm, alarm},
		{"SIGSEGV", at(sys.SIGSEGV, 0), 1, true, sys.SIGSEGV, sys.SIGSEGV},
		{"SIGRTMIN+3", at(realTime, 0), -1, true, realTime, realTime},
	} {
		if row.code == trapBreakpoint && host.breakpointCode() == trapBreakpoint && row.usual == 0 && row.every == 0 {
			continue // where breakpoint instructions have that code nothing else has
		}
		kind := kindOfStop(row.by, row.code, row.stepped)
		signal := row.by.signal
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
