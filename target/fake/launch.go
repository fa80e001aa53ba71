package fake

import (
	"fmt"
	"slices"

	"tracewell/target"
)

// Launcher returns the ability to take on processes when there are any to take.
func (t *Target) Launcher() target.Launcher {
	return having[target.Launcher](t.program.Programs != nil || t.program.Others != nil, t)
}

// Start makes a process of one thread, whose number is the next after the highest there is: an id is not used twice, so that a test
// notices a session that mixes up a process and the one after it.
func (t *Target) Start(p target.Program) (target.ThreadID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.program.Programs, p.Path) {
		return target.ThreadID{}, fmt.Errorf("there is no program %q", p.Path)
	}
	// Numbers of threads and of processes that could be attached to count, too: on Linux all of them are task IDs.
	pid := 1
	for _, th := range t.threads {
		pid = max(pid, th.ID.PID+1, th.ID.TID+1)
	}
	for _, th := range t.program.Others {
		pid = max(pid, th.ID.PID+1, th.ID.TID+1)
	}
	id := target.ThreadID{PID: pid, TID: pid}
	t.add(target.Thread{ID: id, Name: p.Path, Core: -1})
	t.started = p
	return id, nil
}

// Started is the program that was last given to Start.
func (t *Target) Started() target.Program {
	return locked(t, func() target.Program { return t.started })
}

// Attach takes on one of the other processes, with all its threads. The first of them is the leader, as in Program.Threads.
func (t *Target) Attach(pid int) (target.ThreadID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var leader target.ThreadID
	t.program.Others = slices.DeleteFunc(slices.Clone(t.program.Others), func(th target.Thread) bool {
		if th.ID.PID != pid {
			return false
		}
		if leader == (target.ThreadID{}) {
			leader = th.ID
		}
		t.add(th)
		return true
	})
	if leader == (target.ThreadID{}) {
		return leader, fmt.Errorf("there is no process %d to attach to", pid)
	}
	return leader, nil
}

// Syscalls returns the group when the program is to have it.
func (t *Target) Syscalls() target.Syscalls { return having[target.Syscalls](t.program.Syscalls, t) }

// CatchSyscalls remembers what is to be caught.
func (t *Target) CatchSyscalls(pid int, on bool, numbers []int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !on:
		delete(t.caught, pid)
	case len(numbers) == 0:
		t.caught[pid] = "all"
	default:
		t.caught[pid] = fmt.Sprint(numbers)
	}
	return nil
}

// Caught says which system calls of a process are caught: "all", a list such as "[1 60]", or "" for none.
func (t *Target) Caught(pid int) string { return locked(t, func() string { return t.caught[pid] }) }
