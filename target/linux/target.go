//go:build linux

package linux

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tracewell/arch"
	"tracewell/internal/guard"
	"tracewell/internal/routine"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/tdesc"
)

// Target is the processes under ptrace of one tracer. Its methods may be called from any goroutine.
type Target struct {
	target.Base

	// Shared.
	queue    queue
	events   *eventQueue
	groups   chan target.GroupStop
	warnings warnings
	done     chan struct{} // closed when the tracer has ended
	guard    guard.Guard   // of processes that outlive this one
	stay     func()        // has a panic leave the processes to what becomes of them

	// The tracer's own from here on.
	bell     sys.Bell
	alarm    *alarm
	procs    []*process // live, in order of arrival
	tasks    map[int]*task
	children int             // vfork children among tasks
	nonStop  bool            // see target.Runner
	reports  target.Reports  // what the session wants to hear of
	actions  []target.Action // of the last Resume
	active   bool            // it is pending; always, in non-stop mode

	// What is to be done, in this order: see settleDue and handleNext.
	lost    bool           // there is no tracee left
	ends    []end          // of tasks, which the engine and the session have to be told
	telling bool           // event ends the pending Resume of all-stop mode
	event   target.Event   //
	backlog []target.Event // what was not to be told when it happened; the first ends the Resume that is or will be pending
	ready   []*task        // that were stopped for another's sake, or are new
	fewer   bool           // a task has gone: maybe none is left that can have an event
	stops   []stop         // that have not been handled
	waits   int            // since the last look at everything that there is to hear

	passing [numSignals]bool  // kernel signals to pass on unreported
	parting *[numSignals]bool // kernel signals to let a task go with, nil for the usual ones
	handler target.Handler
	last    *lastState // how it was when it last went on in a trace run, nil if never
	regs    *registerFile
	streams Streams
	snap    snapshot
	follow  follower
	owner   *sys.Owner // of arenas; nil before the first
	kernel  otherKernel

	collector *collector  // nil for a target that makes no pads
	unfit     []unfitSite // that are to be demoted
	worthy    []unfitSite // breakpoints that are to have a pad
	clock     padClock
	ending    bool
}

// queue holds requests for the tracer.
type queue struct {
	mu      sync.Mutex
	waiting []request
	length  atomic.Int32
	deaf    atomic.Bool   // the tracer waits for its tracees, and hears nothing but the bell
	wake    chan struct{} // rouses it when it has none to wait for
}

type request struct {
	run  func()
	done chan struct{}
}

var (
	_ target.Target      = (*Target)(nil)
	_ target.Runner      = (*Target)(nil)
	_ target.Launcher    = (*Target)(nil)
	_ target.Breakpoints = (*Target)(nil)
	_ target.Syscalls    = (*Target)(nil)
	_ target.Tracer      = (*Target)(nil)
)

// newTarget starts the tracer goroutine.
func newTarget() (*Target, error) {
	sys.KeepSpare()
	t := &Target{
		queue:    queue{wake: make(chan struct{}, 1)},
		events:   newEventQueue(),
		groups:   make(chan target.GroupStop, 1),
		warnings: make(warnings, maxWarnings),
		done:     make(chan struct{}),
		tasks:    make(map[int]*task),
	}
	t.snap.t = t
	t.stay = routine.OnPanic(func() { t.Close() })
	started := make(chan error)
	routine.Go(func() { t.events.pump(t.done) })
	sys.OwnThread(func() { t.trace(started) })
	if err := <-started; err != nil {
		t.stay()
		return nil, err
	}
	return t, nil
}

// serve runs the oldest request, and reports whether there was one.
func (t *Target) serve() bool {
	if t.queue.length.Load() == 0 {
		return false
	}
	t.queue.mu.Lock()
	r := t.queue.waiting[0]
	t.queue.waiting = t.queue.waiting[1:]
	t.queue.length.Add(-1)
	t.queue.mu.Unlock()
	r.run()
	close(r.done)
	return true
}

// ringAgain is how long do waits before it takes its ring for lost: wait4 was entered just after it.
const ringAgain = 300 * time.Microsecond

// do runs f on the tracer goroutine, between stops, and returns when it has run. It reports false when the tracer is gone.
func (t *Target) do(f func()) bool {
	r := request{f, make(chan struct{})}
	t.queue.mu.Lock()
	t.queue.waiting = append(t.queue.waiting, r)
	t.queue.length.Add(1)
	t.queue.mu.Unlock()
	for {
		select {
		case t.queue.wake <- struct{}{}:
		default:
		}
		if t.queue.deaf.Load() {
			t.bell.Ring()
		}
		select {
		case <-r.done:
			return true
		case <-t.done:
			return false
		case <-time.After(ringAgain):
		}
	}
}

// patience is how long Close waits for what cannot be stopped.
const patience = time.Second

// Close ends the target: launched processes are killed, attached ones set free. It is safe to call more than once.
func (t *Target) Close() error {
	t.do(t.leaveAll)
	// A thread that waits for its vfork child can only be let go when it has ended that, and would be killed if it was left.
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		left := 0
		if !t.do(func() { left = t.children }) || left == 0 {
			break
		}
	}
	t.do(func() { t.ending = true })
	<-t.done
	t.stay()
	return t.guard.Close()
}

// leaveAll kills launched processes and detaches from the others.
func (t *Target) leaveAll() {
	t.allStop()
	for len(t.procs) > 0 {
		if p := t.procs[0]; p.launched {
			t.kill(p)
		} else {
			t.detach(p)
		}
	}
}

// escape is for a panic of the tracer's own, wherever that was: it detaches from attached processes. Launched ones die with this
// process. The handler is not told of ends of threads, for whoever has panicked may hold its lock.
func (t *Target) escape() {
	t.stay()
	fmt.Fprint(os.Stderr, t.dump())
	t.handler = nil
	t.allStop()
	for _, p := range slices.Clone(t.procs) {
		if !p.launched {
			t.detach(p)
		}
	}
	for t.resumeNext(true) { // nobody else will let vfork children go on
	}
}

// ISA implements target.Target.
func (t *Target) ISA() *arch.ISA { return host.isa() }

// Description implements target.Target.
func (t *Target) Description() *tdesc.Target { return t.regs.description }

// The groups this target has.

// Runner implements target.Groups.
func (t *Target) Runner() target.Runner { return t }

// Launcher implements target.Groups.
func (t *Target) Launcher() target.Launcher { return t }

// Breakpoints implements target.Groups.
func (t *Target) Breakpoints() target.Breakpoints { return t }

// Tracer implements target.Groups.
func (t *Target) Tracer() target.Tracer { return t }

// Relocator implements target.Groups.
func (t *Target) Relocator() target.Relocator { return t }

// Auxv implements target.Groups.
func (t *Target) Auxv() target.Auxv { return t }

// ExecFile implements target.Groups.
func (t *Target) ExecFile() target.ExecFile { return t }

// Libraries implements target.Groups.
func (t *Target) Libraries() target.Libraries { return t }

// Siginfo implements target.Groups.
func (t *Target) Siginfo() target.Siginfo { return t }

// ReadOnly implements target.Groups.
func (t *Target) ReadOnly() target.ReadOnly { return mappings{t} }

// Mappings implements target.Groups.
func (t *Target) Mappings() target.Mappings { return t }

// Allocator implements target.Groups.
func (t *Target) Allocator() target.Allocator { return t }

// Files implements target.Groups.
func (t *Target) Files() target.Files { return files{} }

// Syscalls implements target.Groups.
func (t *Target) Syscalls() target.Syscalls { return t }

// Signals implements target.Groups.
func (t *Target) Signals() target.Signals { return t }

// Threads implements target.Target.
func (t *Target) Threads() []target.ThreadID {
	var threads []target.ThreadID
	t.do(func() {
		t.findZombies()
		threads = make([]target.ThreadID, 0, len(t.tasks))
		for k := range t.all() {
			if k.state == zombie && k.mayLinger() {
				continue
			}
			threads = append(threads, k.id())
		}
	})
	return threads
}

// Thread implements target.Target.
func (t *Target) Thread(id target.ThreadID) (target.Thread, error) {
	cpu, err := sys.ThreadCPU(id.TID)
	if err != nil {
		return target.Thread{}, fmt.Errorf("%w: %w", target.ErrNoThread, err)
	}
	return target.Thread{ID: id, Name: sys.ThreadName(id.TID), Core: cpu}, nil
}

// onTask runs f on the tracer goroutine with the stopped task of id.
func (t *Target) onTask(id target.ThreadID, f func(k *task) error) error {
	err := target.ErrNoProcess
	t.do(func() {
		k, found := t.tasks[id.TID]
		switch {
		case len(t.procs) == 0:
		case !found || k.role != member || k.proc.pid != id.PID || k.state == zombie:
			err = fmt.Errorf("%w: %s", target.ErrNoThread, id)
		case k.state != stopped || t.active && k.resumed():
			err = target.ErrRunning
		default:
			err = f(k)
		}
	})
	return err
}

// onProcess runs f on the tracer goroutine if there is a process of that id.
func (t *Target) onProcess(pid int, f func(p *process) error) error {
	err := target.ErrNoProcess
	t.do(func() {
		if p := t.process(pid); p != nil {
			err = f(p)
		}
	})
	return err
}

// process finds a live process, nil if there is none of that id.
func (t *Target) process(pid int) *process {
	for _, p := range t.procs {
		if p.pid == pid {
			return p
		}
	}
	return nil
}

// all goes through the live tasks of all processes.
func (t *Target) all() iter.Seq[*task] {
	return func(yield func(*task) bool) {
		for _, p := range t.procs {
			for _, k := range p.order {
				if !yield(k) {
					return
				}
			}
		}
	}
}
