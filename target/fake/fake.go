// Package fake is a target in memory: a program that is nothing but registers, mappings and a script of what happens to it.
// Sessions, tracepoints and examples run on it whole, without a process.
//
// The script is a queue of steps. A Resume takes steps off it until one ends with an event; while the queue is empty the
// program counts as running, and steps that are added then happen at once. So a test can script the program beforehand, or
// play the program while a client waits for it.
//
// It keeps to what package target promises: a goroutine of its own runs the program, one event answers each Resume in
// all-stop mode and one each resumed thread in non-stop mode, and calls of the trace handler and calls of the session are
// serialised by one mutex. It never touches anything outside itself. It executes no instructions: a step says where a
// thread arrives, and a single-step moves the pc on by one.
//
// There may be several processes, which the script makes by events: they share one memory, and each has threads, breakpoints
// and tracepoints of its own.
//
// # Locks and goroutines
//
// A Resume starts a goroutine, the player, which ends with the event that answers the Resume. In non-stop mode there is one as long
// as any thread runs. A player that was overtaken, because the program was killed and another Resume came, notices by its turn and
// plays no more. A player lets go of the mutex in four places only. Three stand for something that takes real targets time:
//
//   - while the script is empty and the program just runs (untilEvent, runThreads);
//   - between two steps of while-stepping, of which there may be any number (letIn);
//   - while a silent program is read in a hit (snapshot.ReadMemory).
//
// The fourth is where a player waits for the handler, which an overtaken one is still in (handle).
//
// So a session can do in these moments what it can do while a real program runs, and a test can have it happen at exactly that
// moment. A deposit is made with the mutex held: the engine calls back no more than the variables, which have a lock of their own.
//
// # What it leaves out
//
// Nothing is executed, so there are no displaced instructions, no faults that the script does not name and no debug registers
// that run out; no thread is scheduled, so hits come in the order of the script. What a real kernel adds to that is tested at
// target/linux.
package fake

import (
	"maps"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/trace/compiled"
)

// Program is what a fake target starts with. The optional abilities are there when their value is.
type Program struct {
	ISA         *arch.ISA
	Description *tdesc.Target
	Threads     []target.Thread // of the processes that are there to begin with, each one's leader first
	Memory      []Region

	CoreOnly    bool // no Runner, Breakpoints and Tracer: a target that can only be looked at
	AllStopOnly bool // a Runner that refuses non-stop mode

	Auxv      []byte
	Exec      string
	Libraries *inferior.LinkMap
	Siginfo   []byte           // of whichever thread is asked
	Files     map[string]*File // by absolute path
	Passing   bool             // Signals
	Tables    []target.OSTable // of the system it runs on
	Syscalls  bool             // Syscalls: what is caught is remembered, and the script says what happens
	Heap      arch.Addr        // where memory for debuggers is allocated; with any the target has an Allocator

	// Locals are the thread-local variables. The toy has one object with some, whose entry in the linker's list is at LM; a
	// thread that is not among the blocks has not got them yet.
	Locals *Locals

	TraceRun target.TraceRun // of a trace run of long ago, in place of the Tracer
	Unknown  []string        // registers of which nobody knows what they hold; with any the target has Availability

	Reversible bool                    // Reverser
	Commands   []target.MonitorCommand // of the user's

	// Programs are the paths that can be started, and Others the threads of processes that can be attached to. With either
	// the target is a Launcher.
	Programs []string
	Others   []target.Thread

	// Batch is how many hits of offloaded tracepoints pile up before they are deposited; with any the target has a Collector.
	// Refused are the addresses where it takes no tracepoint, with the reasons, and RefusedLate those where this turns out only
	// when the tracepoints are put into force.
	Batch                int
	Refused, RefusedLate map[arch.Addr]string

	// Unmovable are the addresses of instructions that the target cannot copy, with the places for a client to do so. With any
	// the target has a Relocator.
	Unmovable map[arch.Addr]arch.Addr
}

// Locals are the places of thread-local variables: LM is the address of the object's entry in the linker's list, by which GDB asks
// (qGetTLSAddr), and Blocks has the address of the object's variables for each thread that has used one of them.
type Locals struct {
	LM     arch.Addr
	Blocks map[target.ThreadID]arch.Addr
}

// Region is one mapping. Regions do not overlap; two that touch are read and written across, as a real program's are. A session may
// write to a read-only one, as ptrace lets a debugger.
type Region struct {
	Start    arch.Addr
	Bytes    []byte
	ReadOnly bool
}

// Target is a program in memory. Its methods may be called from several goroutines.
type Target struct {
	target.Base
	isa    *arch.ISA
	desc   *tdesc.Target
	layout *tdesc.Layout

	// events has room enough that sending one never waits, which it would with the mutex held. A test that forgets to receive
	// hundreds of events comes to a standstill, and finds the goroutine here.
	events chan target.Event

	// mu guards what follows. The run goroutine holds it while the handler works on a hit, which is how Install and
	// Uninstall come to be serialised with hits; it waits without it while the program is silent.
	mu        sync.Mutex
	changed   *sync.Cond // of script, running and interrupt
	program   Program
	threads   []*thread
	breaks    map[breakpoint]target.Breakpoint
	sites     map[place][]arch.Addr // semaphores, by where tracepoints are installed
	parents   map[int]int           // of forked children that have been held ever since, by pid of the child
	handler   target.Handler
	collector collector
	silent    bool  // snapshots read no memory until the program answers again
	reading   bool  // one waits for that
	lost      error // the connection of snapshots to the program
	script    []Step
	handling  bool // the handler is at work on a hit or step, and may have let go of the mutex
	within    bool // a step of the script has begun, and others have the target for a moment
	running   bool // a Resume is pending, or in non-stop mode the script is played
	turn      int  // counts the goroutines that have played the script, of which only the last may go on
	interrupt bool
	deaf      bool // to interrupts
	nonStop   bool
	back      bool // the pending Resume goes backwards
	reports   target.Reports
	passing   map[target.Signal]bool
	taken     []target.Signal
	caught    map[int]string
	started   target.Program
	copies    map[arch.Addr]int
}

// thread is a live thread and its register block, laid out as a g packet of the description. In all-stop mode nothing of it says
// whether it runs: all do while a Resume is pending.
type thread struct {
	target.Thread
	block  []byte
	runs   bool          // in non-stop mode
	action target.Action // if it is to step, until it has
}

// locked is what get returns while the mutex is held.
func locked[T any](t *Target, get func() T) T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return get()
}

// place is an address in a process.
type place struct {
	pid  int
	addr arch.Addr
}

// breakpoint is the key of an inserted breakpoint. Its length is no part of it, unlike what target.Breakpoints says: no script
// tells watchpoints of several lengths at one address apart.
type breakpoint struct {
	kind target.BreakKind
	place
}

// eventRoom is how many events can wait for a session.
const eventRoom = 256

// New makes a target of p, which it keeps. All registers are zero. The error is that of an unusable Description.
func New(p Program) (*Target, error) {
	layout, err := p.Description.Layout()
	if err != nil {
		return nil, err
	}
	t := &Target{
		isa: p.ISA, desc: p.Description, layout: layout, program: p,
		events:  make(chan target.Event, eventRoom),
		breaks:  make(map[breakpoint]target.Breakpoint),
		sites:   make(map[place][]arch.Addr),
		parents: make(map[int]int),
		caught:  make(map[int]string),
	}
	t.changed = sync.NewCond(&t.mu)
	t.collector.t, t.collector.offloaded = t, make(map[place][]*compiled.Tracepoint)
	for _, th := range p.Threads {
		t.add(th)
	}
	return t, nil
}

// ISA returns the instruction set of the program.
func (t *Target) ISA() *arch.ISA { return t.isa }

// Description returns the description of the program's registers.
func (t *Target) Description() *tdesc.Target { return t.desc }

// Threads lists the live threads.
func (t *Target) Threads() []target.ThreadID {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]target.ThreadID, len(t.threads))
	for i, th := range t.threads {
		list[i] = th.ID
	}
	return list
}

// Thread tells of a live thread.
func (t *Target) Thread(id target.ThreadID) (target.Thread, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, th := range t.threads {
		if th.ID == id {
			return th.Thread, nil
		}
	}
	return target.Thread{}, target.ErrNoThread
}

// AddThread starts a thread whose registers are zero. No event tells of it; a script has ThreadCreated for one that does.
func (t *Target) AddThread(th target.Thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(th)
}

// add adds a thread, behind the others of its process: Threads promises the leader first, then the order of creation.
func (t *Target) add(th target.Thread) *thread {
	fresh := &thread{Thread: th, block: make([]byte, t.layout.Size)}
	at := len(t.threads)
	for i, other := range t.threads {
		if other.ID.PID == th.ID.PID {
			at = i + 1
		}
	}
	t.threads = slices.Insert(t.threads, at, fresh)
	return fresh
}

// EndThread ends a thread, and tells the handler.
func (t *Target) EndThread(id target.ThreadID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(func(other target.ThreadID) bool { return other == id })
}

// remove ends threads. The list is replaced rather than changed in place, since the handler may look at what a session was given.
func (t *Target) remove(which func(target.ThreadID) bool) {
	t.threads = slices.DeleteFunc(slices.Clone(t.threads), func(th *thread) bool {
		gone := which(th.ID)
		if gone {
			t.threadGone(th.ID)
		}
		return gone
	})
}

// SetLibraries replaces the link map.
func (t *Target) SetLibraries(m *inferior.LinkMap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.program.Libraries = m
}

// Inserted reports whether a breakpoint is inserted in a process now. Tests of sessions ask it: none may be left behind by one that
// detaches.
func (t *Target) Inserted(pid int, kind target.BreakKind, addr arch.Addr) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, inserted := t.breaks[breakpoint{kind, place{pid, addr}}]
	return inserted
}

// Installed counts the addresses with tracepoints in a process now, installed or offloaded; the process may be target.All.
func (t *Target) Installed(pid int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for at := range t.sites {
		if pid == target.All || at.pid == pid {
			n++
		}
	}
	return n + t.collector.count(pid)
}

// find returns the live thread of id, or the first one for the zero id and for All. That there is no process at all is an error of
// its own, because GDB takes the answers to mean different things: the connection has nothing left, or the thread has exited.
func (t *Target) find(id target.ThreadID) (*thread, error) {
	if len(t.threads) == 0 {
		return nil, target.ErrNoProcess
	}
	for _, th := range t.threads {
		if id == (target.ThreadID{}) || id.Covers(th.ID) {
			return th, nil
		}
	}
	return nil, target.ErrNoThread
}

// threadGone tells the handler of the end of a thread.
func (t *Target) threadGone(id target.ThreadID) {
	t.collector.drain()
	if t.handler != nil && t.handler.ThreadGone(int64(id.TID))&target.Halt != 0 {
		t.removeSites()
	}
}

// clear forgets a process, its breakpoints and sites, once its frames have been deposited: they come before the event of its end
// (target.Collector).
func (t *Target) clear(pid int) {
	t.collector.drain()
	t.remove(func(id target.ThreadID) bool { return id.PID == pid })
	t.clearTraps(pid)
	delete(t.parents, pid)
	delete(t.caught, pid)
}

// clearTraps forgets the breakpoints and sites of a process.
func (t *Target) clearTraps(pid int) {
	maps.DeleteFunc(t.breaks, func(at breakpoint, _ target.Breakpoint) bool { return at.pid == pid })
	maps.DeleteFunc(t.sites, func(at place, _ []arch.Addr) bool { return at.pid == pid })
	maps.DeleteFunc(t.collector.offloaded, func(at place, _ []*compiled.Tracepoint) bool { return at.pid == pid })
}
