//go:build linux

package linux

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"tracewell/arch"
	"tracewell/internal/guard"
	"tracewell/internal/sys"
	"tracewell/target/linux/internal/patch"
)

// process is one process under trace.
type process struct {
	pid        int
	*addrSpace          // of its memory; a vfork child has its parent's until it executes another program
	order      []*task  // live tasks, leader first, then by creation
	parent     *process // whose fork made it, while the session has not decided about either; nil otherwise
	stack      stack
	launched   bool // by us, so it dies with us
	groupStop  bool // all its tasks are in a group-stop, which has been told
	traced     bool // the engine's locations in its memory are meant for it
	debug      debugRegisters
	catch      syscallCatch
	calls      map[arch.Addr]bool // tracepoints at system calls, by the addresses that stand for these
}

// space is an address space with what was put into it.
type addrSpace struct {
	pid      int          // of the process that it was made for
	mem      *os.File     // its /proc/PID/mem, good for as long as the memory lives
	guard    *guard.Space // nil for memory that does not outlive this process
	code     *patch.Space // patches and displaced-stepping buffers
	pads     *pads        // nil without any
	padless  refusedPads  // that the kernel lets the program have none
	legacy   *legacy      // that a forked child may go on with, nil for none
	warnings warnings

	inserted    map[arch.Addr]*insertedBreakpoint
	judged      map[arch.Addr]*judged
	filtered    bool // the program filters its system calls, and might be killed for one that the tracer has it make
	shadowStack bool // calls and returns must not be emulated
	relocated   map[arch.Addr]relocatedInsn
	lent        map[arch.Addr]int   // sizes of what was allocated for the debugger, by address
	rooms       []arch.Addr         // for steps that the kernel does not make, which no task is in
	vdsoEnd     *[callStubSize]byte // what is in the vdso where system calls are made from; nil for zeros
}

// newProcess makes a process without tasks.
func (t *Target) newProcess(pid int, launched bool) (*process, error) {
	open := t.guard.Open
	if launched {
		open = func(int, *os.File) *guard.Space { return nil }
	}
	s, err := openAddrSpace(pid, open, t.warnings)
	if err != nil {
		return nil, err
	}
	return &process{pid: pid, addrSpace: s, launched: launched}, nil
}

// fork makes the process that a child of p is: in p's memory, or with a copy of it, the inserted breakpoints included. Those
// of tracepoints are taken out of the copy.
func (p *process) fork(pid int, shares bool) (*process, error) {
	child := &process{pid: pid, parent: p, launched: p.launched, debug: p.debug}
	child.debug.watched = slices.Clone(p.debug.watched)
	if shares {
		child.addrSpace = p.addrSpace
		child.code.Share()
		return child, nil
	}
	s, err := openAddrSpace(pid, p.guard.Open, p.warnings)
	if err != nil {
		return nil, err
	}
	child.addrSpace = s
	s.filtered, s.shadowStack, s.relocated = p.filtered, p.shadowStack, maps.Clone(p.relocated)
	s.code, err = p.code.Fork(s.mem, s.guard)
	s.warn(err)
	for _, bp := range p.inserted {
		if bp.location != nil {
			lower(s.mem, bp.location.Semaphores)
		}
		if bp.users > 0 {
			s.inherit(bp)
		}
	}
	return child, nil
}

// inherit inserts a breakpoint of the parent in the memory of a forked child.
func (s *addrSpace) inherit(bp *insertedBreakpoint) {
	inherited := *bp
	inherited.location, inherited.pad = nil, nil
	if bp.judged != nil {
		inherited.judged = s.judgedBy(bp.addr, bp.judged.agent)
	}
	var err error
	if inherited.patch, err = s.code.Insert(bp.addr, host.breakpoint()); err == nil {
		s.inserted[bp.addr] = &inherited
	} else if s.readable(bp.addr) {
		s.warn(fmt.Errorf("the breakpoint at %s is lost: %w", bp.addr, err))
	}
}

// openAddrSpace opens the memory of a process. open has it guarded.
func openAddrSpace(pid int, open func(int, *os.File) *guard.Space, w warnings) (*addrSpace, error) {
	mem, err := sys.OpenMemory(pid)
	if err != nil {
		return nil, fmt.Errorf("opening the memory of process %d: %w", pid, err)
	}
	s := &addrSpace{pid: pid, mem: mem, guard: open(pid, mem), warnings: w,
		inserted: make(map[arch.Addr]*insertedBreakpoint), judged: make(map[arch.Addr]*judged),
		relocated: make(map[arch.Addr]relocatedInsn), lent: make(map[arch.Addr]int)}
	s.code = patch.New(mem, s.guard)
	return s, nil
}

// renew gives a process that has executed another program its new memory.
func (p *process) renew() error {
	s, err := openAddrSpace(p.pid, p.guard.Open, p.warnings)
	if err != nil {
		return err
	}
	p.addrSpace.leave()
	p.addrSpace = s
	p.debug = debugRegisters{generation: p.debug.generation}
	return nil
}

// leave is for a process that leaves its memory. The last removes the patches, for the memory may be that of a program that is not
// traced any more, the parent of a vfork.
func (s *addrSpace) leave() {
	last, err := s.code.Leave()
	s.warn(err)
	if last {
		s.guard.Close()
		s.mem.Close()
	}
}
