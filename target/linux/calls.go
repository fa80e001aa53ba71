//go:build linux

package linux

import (
	"errors"

	"tracewell/arch"
	"tracewell/trace"
)

// Tracepoints at system calls are no code in the program: the kernel stops its threads at the entry into every call and at the
// return from it, and those stops are the hits. A thread of a process with any such tracepoint makes two stops per call, whichever
// calls are wanted.

// errCall is why no pad collects there.
var errCall = errors.New("a system call is in the kernel: its hits stop the thread")

// seesCalls reports whether the threads of a process stop at system calls.
func (p *process) seesCalls() bool { return p.catch.on || len(p.calls) > 0 }

// installCall sets a tracepoint at a system call. Threads that run would not stop there before something else has stopped them.
func (t *Target) installCall(p *process, at arch.Addr) error {
	add := func() error {
		if p.calls == nil {
			p.calls = make(map[arch.Addr]bool)
		}
		p.calls[at] = true
		return nil
	}
	if p.seesCalls() {
		return add()
	}
	return t.whileHeld(p, add)
}

// hitCall has the engine collect what is wanted of the system call that k is stopped at.
func (t *Target) hitCall(k *task) {
	if len(k.proc.calls) == 0 || k.role != member || k.fetch() != nil {
		return
	}
	at := trace.CallAddr(host.callNumber(k.tid, &k.regs), k.why != atEntry)
	if k.proc.calls[at] {
		t.judge(k, t.hitHandler(k, at))
	}
}
