//go:build linux && amd64

package linux

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"tracewell/arch"
	"tracewell/internal/guard"
	"tracewell/internal/sys"
)

// process is one process under trace.
type process struct {
	pid       int
	*space             // of its memory; a vfork child has its parent's until it executes another program
	order     []*task  // live tasks, leader first, then by creation
	parent    *process // whose fork made it, while the session has not decided about either; nil otherwise
	stack     stack
	launched  bool // by us, so it dies with us
	groupStop bool // all its tasks are in a group-stop, which has been told
	traced    bool // the engine's sites in its memory are meant for it
	debug     debugRegisters
	catch     syscallCatch
}

// space is an address space with what was put into it.
type space struct {
	mem   *os.File     // /proc/PID/mem of the process that it was made for, good for as long as the memory lives
	users int          // processes
	guard *guard.Space // nil for memory that does not outlive this process

	traps       map[arch.Addr]*trap
	lifted      map[arch.Addr]byte // what was put back where a trap was and is none
	places      []arch.Addr        // of the traps, in order
	scratch     []*scratch
	noScratch   bool // slots are refused: the program's seccomp filter might kill it for an mmap
	shadowStack bool // calls and returns must not be emulated
	foreign     map[arch.Addr]foreignCopy
}

// newProcess makes a process without tasks.
func newProcess(pid int, launched bool) (*process, error) {
	s, err := openSpace(pid)
	if err != nil {
		return nil, err
	}
	return &process{pid: pid, space: s, launched: launched}, nil
}

// fork makes the process that a child of p is: in p's memory, or with a copy of it, the traps of breakpoints included. Those
// of tracepoints are taken out of the copy.
func (p *process) fork(pid int, shares bool) (*process, error) {
	child := &process{pid: pid, parent: p, launched: p.launched, debug: p.debug}
	child.debug.watched = slices.Clone(p.debug.watched)
	if shares {
		child.space = p.space
		child.users++
		return child, nil
	}
	s, err := openSpace(pid)
	if err != nil {
		return nil, err
	}
	child.space = s
	s.guard = p.guard.Open(pid, s.mem)
	s.noScratch, s.shadowStack, s.foreign = p.noScratch, p.shadowStack, maps.Clone(p.foreign)
	for _, old := range p.scratch {
		s.scratch = append(s.scratch, &scratch{old.base, old.used, maps.Clone(old.slots)})
	}
	p.cleanCopy(s.mem)
	for _, tr := range p.traps {
		if tr.site != nil {
			lower(s.mem, tr.site.Semaphores)
		}
		if tr.users > 0 {
			inherited := *tr
			inherited.site = nil
			s.set(&inherited)
			inherited.place(s)
		}
	}
	return child, nil
}

func openSpace(pid int) (*space, error) {
	mem, err := sys.OpenMemory(pid)
	if err != nil {
		return nil, fmt.Errorf("opening the memory of process %d: %w", pid, err)
	}
	return &space{mem: mem, users: 1, traps: make(map[arch.Addr]*trap), lifted: make(map[arch.Addr]byte), foreign: make(map[arch.Addr]foreignCopy)}, nil
}

// renew gives a process that has executed another program its new memory.
func (p *process) renew() error {
	s, err := openSpace(p.pid)
	if err != nil {
		return err
	}
	s.guard = p.guard.Open(p.pid, s.mem)
	p.space.leave()
	p.space = s
	p.debug = debugRegisters{generation: p.debug.generation}
	return nil
}

// leave is for a process that has gone elsewhere. The last takes the traps along, for the memory may be that of a program
// that is not traced any more, the parent of a vfork.
func (s *space) leave() {
	if s.users--; s.users > 0 {
		return
	}
	for _, tr := range s.traps {
		tr.lift(s)
	}
	s.guard.Close()
	s.mem.Close()
}
