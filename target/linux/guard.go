//go:build amd64

package linux

import (
	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/guard"
	"tracewell/internal/linux"
)

// RunIfGuard is for main to call before anything else, and for TestMain of tests that attach: processes that were attached to
// survive a tracer that is killed (SIGKILL, the OOM killer) only if a second process of the same program stands by to put
// their code back. That process is this program started once more, which RunIfGuard recognises, and then it does not return. In a
// program that does not call it Attach works all the same, unguarded: whoever kills the tracer kills what is attached to with its
// next hit.
func RunIfGuard() { guard.Run() }

// Unguarded is the reason why processes that are attached to would not survive the end of this process by SIGKILL, though the
// program calls RunIfGuard: no guard could be started, or none once more after one was killed. Otherwise it is nil.
func (t *Target) Unguarded() error { return t.guard.Problem() }

// A stop that has been waited for resumes without its signal when the tracer dies, from wherever the kernel has the task's pc. Behind
// an int3 that is the middle of the instruction, or the next one. So where a process may outlive its tracer the kernel is to have
// the pc before the trap as soon as the stop is known of.

// putBack moves a task that has run into a trap before it.
func (k *task) putBack(at arch.Addr) {
	k.setPC(at)
	if k.proc.guard != nil {
		k.flush()
		k.proc.guard.Touch(at)
	}
}

// rewind is putBack for a stop that is to be looked at later. What looks at it then finds the pc behind the trap.
func (t *Target) rewind(tid int, s linux.Status) {
	k := t.tasks[tid]
	if sig, stopped := s.Stopped(); k == nil || k.proc.guard == nil || !stopped || sig != linux.SIGTRAP || s.Event() != 0 {
		return
	}
	pc, err := linux.GetReg(tid, amd64.RIP)
	if err != nil || k.proc.traps[arch.Addr(pc-1)] == nil || !k.byBreakpoint() {
		return
	}
	k.rewound = linux.SetReg(tid, amd64.RIP, pc-1) == nil
}
