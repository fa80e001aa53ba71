//go:build linux

package linux

import (
	"tracewell/arch"
	"tracewell/internal/guard"
	"tracewell/internal/sys"
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

// A stop that has been waited for resumes without its signal when the tracer dies, from wherever the kernel has the task's pc.
// Behind an int3 that is the middle of the instruction, or the next one: the program would go on with garbage. A stop that has
// not been waited for keeps its SIGTRAP. So where a process may outlive its tracer the kernel is to have the pc before the
// breakpoint when the stop is waited for.

// reap waits for any tracee, or looks whether there is anything to wait for.
func (t *Target) reap(block bool) (int, sys.Status, error) {
	if !t.guard.Stands() {
		if block {
			return sys.Wait(-1)
		}
		return sys.Poll(-1)
	}
	for {
		tid, signal, err := sys.Peek(block)
		if err != nil || tid == 0 {
			return 0, 0, err
		}
		if k := t.tasks[tid]; k != nil && signal == sys.SIGTRAP {
			k.rewind()
		}
		if tid, s, err := sys.Poll(tid); tid != 0 || err != nil {
			return tid, s, err
		}
	}
}

// rewind moves the kernel's pc of a task that has run into an inserted breakpoint before it. What looks at the task then still
// finds it behind.
func (k *task) rewind() {
	if k.proc.guard == nil {
		return
	}
	pc, err := host.fetchPC(k.tid)
	at := pc - trapShift()
	bp := k.proc.trapAt(at)
	if err != nil || bp == nil || (bp.ambiguous || k.stepping) && !k.byBreakpoint() {
		return
	}
	k.rewound = host.flushPC(k.tid, at) == nil
}

// putBack moves a task that has run into an inserted breakpoint before it.
func (k *task) putBack(at arch.Addr) {
	k.setPC(at)
	if k.proc.guard == nil {
		return
	}
	if k.before {
		k.dirty = clean
	}
	k.flush()
	k.proc.guard.Touch(at)
}
