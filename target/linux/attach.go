//go:build linux

package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"tracewell/internal/sys"
	"tracewell/target"
)

// Attach implements target.Launcher. Threads that start meanwhile are found, for their creators are under trace by then or
// they are in the next list of threads.
func (t *Target) Attach(pid int) (target.ThreadID, error) { return t.attachGuarded(pid, false) }

// AttachAsIs is Attach, but a process that job control has stopped stays stopped until it is continued by SIGCONT.
func (t *Target) AttachAsIs(pid int) (target.ThreadID, error) { return t.attachGuarded(pid, true) }

// Join is AttachAsIs for one more process, which goes on as the others do: at once if they run, else with them.
func (t *Target) Join(pid int) error {
	_, err := t.AttachAsIs(pid)
	t.do(func() {
		p := t.process(pid)
		if err != nil || p == nil || !t.active {
			return
		}
		for _, k := range p.order {
			if t.wanted(k) {
				k.wants = toRun
				t.resumeLater(k)
			}
		}
	})
	return err
}

// attachGuarded has a guard stand by before it attaches, since the process stands still from then on.
func (t *Target) attachGuarded(pid int, asIs bool) (id target.ThreadID, err error) {
	t.guard.Start()
	defer t.guard.Rest()
	if !t.do(func() { id, err = t.attach(pid, asIs) }) {
		err = target.ErrNoProcess
	}
	return id, err
}

func (t *Target) attach(pid int, asIs bool) (target.ThreadID, error) {
	if err := t.attachable(pid); err != nil {
		return target.ThreadID{}, fmt.Errorf("cannot attach to process %d: %w", pid, err)
	}
	p, err := t.newProcess(pid, false)
	if err != nil {
		return target.ThreadID{}, fmt.Errorf("cannot attach to process %d: %w", pid, refused(pid, err))
	}
	t.procs = append(t.procs, p)
	if err := t.seizeAll(p); err != nil {
		t.detach(p)
		return target.ThreadID{}, fmt.Errorf("cannot attach to process %d: %w", pid, err)
	}
	for _, k := range p.order {
		k.wants = toStay
		if k.why == atGroupStop && !asIs {
			k.why = atInterrupt
		}
	}
	return target.ThreadID{PID: pid, TID: pid}, nil
}

// attachable finds out why a process may not be one to attach to, for the kernel only says that it is not permitted.
func (t *Target) attachable(pid int) error {
	if t.process(pid) != nil {
		return errors.New("it is under trace already")
	}
	group, err := sys.ThreadGroup(pid)
	if err != nil {
		return errors.New("no such process")
	}
	if group == os.Getpid() {
		return errors.New("it is this server")
	}
	if group != pid {
		return fmt.Errorf("%d is a thread of process %d", pid, group)
	}
	if state, err := sys.StatusField(pid, "State"); err == nil && strings.HasPrefix(state, "Z") {
		return errors.New("it has ended already, and its parent has not taken note of that")
	}
	if size, err := sys.StatusField(pid, "VmSize"); err == nil && size == "" {
		return errors.New("it is a thread of the kernel")
	}
	// Of a process that was let go a thread may still be traced by this server, until the vfork child that it waits for is free.
	tids, _ := sys.Threads(pid)
	for _, tid := range append([]int{pid}, tids...) {
		if tracer, err := sys.StatusField(tid, "TracerPid"); err == nil && tracer != "" && tracer != "0" {
			return fmt.Errorf("process %s traces it already", tracer)
		}
	}
	return nil
}

// scopeFile holds what the kernel lets a process trace that is no superuser's.
const scopeFile = "/proc/sys/kernel/yama/ptrace_scope"

// refused says what can be done about a process that the kernel does not let this one trace.
func refused(pid int, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	owner, _ := sys.StatusField(pid, "Uid")
	if own := strconv.Itoa(os.Geteuid()); len(strings.Fields(owner)) > 1 && strings.Fields(owner)[1] != own && own != "0" {
		return fmt.Errorf("%w: it is another user's; only root may trace it", err)
	}
	scope, _ := os.ReadFile(scopeFile)
	switch strings.TrimSpace(string(scope)) {
	case "1":
		return fmt.Errorf("%w: this system lets users trace only what they start under the tracer; start the program by tracewell, "+
			"be root, or have root write 0 to %s", err, scopeFile)
	case "2":
		return fmt.Errorf("%w: this system lets only root trace processes; be root, or have root write 0 to %s", err, scopeFile)
	case "3":
		return fmt.Errorf("%w: this system lets nobody trace processes until it is started anew (%s is 3)", err, scopeFile)
	}
	return fmt.Errorf("%w (a container or a security module may forbid it; root may do it where CAP_SYS_PTRACE is not taken away)",
		err)
}

// seizeAll takes every thread of a process under trace and stops it, until there are no more than these. The list of threads
// leaves some out while others come and go, but the kernel knows how many there are.
func (t *Target) seizeAll(p *process) error {
	for {
		tids, err := sys.Threads(p.pid)
		if err != nil {
			return err
		}
		// The leader comes first: a process whose last task has ended is gone.
		for _, tid := range append([]int{p.pid}, tids...) {
			if t.tasks[tid] != nil {
				continue
			}
			err := sys.Seize(tid, options)
			if err == nil {
				t.stopSeized(t.adopt(tid, p))
			} else if tid == p.pid || !sys.HasEnded(tid) { // one that has ended may be refused as not permitted
				return refused(p.pid, err)
			}
		}
		if n, err := sys.CountThreads(p.pid); err != nil || n <= len(p.order) {
			return err
		}
	}
}

// stopSeized stops a task that runs. It keeps what it stops with until it is resumed: a session is told of no stop in a process
// that it has just had attached to, and would take a signal from a task if it resumed that without knowing of its stop.
func (t *Target) stopSeized(k *task) {
	k.state = running
	sys.Interrupt(k.tid)
	if t.awaitStop(k) && t.mustHandle(k) {
		t.queueStop(k)
		t.stops[len(t.stops)-1].stood = true
	}
	if k.state == stopped {
		_ = k.fetch() // see onPointer
	}
}
