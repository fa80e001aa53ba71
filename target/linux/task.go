//go:build linux

package linux

import (
	"os"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/target/linux/internal/patch"
)

// taskState is what the kernel is doing with a task.
type taskState uint8

const (
	stopped   taskState = iota // in a ptrace-stop: requests work
	running                    // will be heard of through wait
	halting                    // runs, and stopThreads has told it to stop and waits for that
	listening                  // in a group-stop, waiting for SIGCONT
	zombie                     // a leader that has exited before its threads
)

// stopReason is why a stopped task is stopped, as the kernel says.
type stopReason uint8

const (
	noReason    stopReason = iota // it runs, or is in the stop that a new task begins with
	atInterrupt                   // it was told to stop, and nothing else
	atGroupStop                   // by job control
	atEvent                       // a ptrace event, inside a system call that has begun: task.event says which
	atEntry                       // the entry into a system call: whatever is done to the task would be done to the call
	atReturn                      // the return from one
	atCallEnd                     // the return from one to which finishCall has led it from an event
	atSignal                      // signal-delivery-stop, the only one where a signal can be handed to the kernel
)

// wanted is what the session wants of a task.
type wanted uint8

const (
	toStay wanted = iota // stopped for the session
	toRun                // resumed, and in non-stop mode not stopped with an event since
	toHalt               // resumed, and asked to stop, which is to be told with stopSignal
)

// role is what a task is to the session.
type role uint8

const (
	member       role = iota // a thread of a process that the session knows
	vforkChild               // see the package comment
	partingChild             // a vfork child to be detached when it stops
)

// debts are what this package still has to do about a task before it has run as the session believes it has. They come beside
// passed, deferred, sent and diverted, which say so by themselves.
type debts uint8

const (
	owesStop   debts = 1 << iota // its stop is in the queue and has not been handled
	owesResume                   // it was stopped for another's sake: it is among ready
	owesStep                     // the engine wants its next step (while-stepping)
	owesEntry                    // the entry into a system call that it comes to next has been shown already
)

// task is one thread under trace.
type task struct {
	tid   int
	tgid  int // its thread group: the process, or for a clone that shares no more than the memory one of its own
	proc  *process
	role  role
	state taskState
	why   stopReason
	wants wanted
	owes  debts

	// What the session wants of it.
	stopSignal target.Signal
	verb       target.Verb
	rangeStart arch.Addr
	rangeEnd   arch.Addr

	// What the kernel was last told.
	stepping bool          // by single-step
	buffer   *patch.Buffer // that it was sent into, nil when it cannot be in one
	soft     softStep      // how it makes a step that the kernel does not make
	softFrom arch.Addr     // where it was then
	room     arch.Addr     // of its own, in which it makes it; 0 for none

	// What is known of it while it is stopped.
	stop        ptraceStop // that it owes, or else was in last
	ended       bool       // the stop is the end of a step or of a buffer, by a breakpoint instruction there
	event       int        // the ptrace event that it is stopped at
	child       int        // the new task that the last event of a fork or clone told of
	vforked     int        // the child that it waits for, 0 for none
	groupSignal int        // that a group-stop is by
	signal      int        // the kernel's number of the signal it is stopped with and the session has been told of
	passed      arch.Addr  // see the package comment; 0 for none
	counted     arch.Addr  // a hit that is not to be counted once more, if it comes with this stack pointer
	countedSP   arch.Addr
	deferred    []deferred // signals that wait for the displaced instruction
	sent        signalSet  // signals sent by this package for the session, to be passed on unreported
	diverted    *registers // see divert; nil for none

	debugGeneration int         // of the debug registers that the kernel has been given
	triggers        []debugSlot // that it is stopped by, if triggersKnown
	triggersKnown   bool
	unwatched       []debugSlot // that it would stop by again at watchedAt
	watchedAt       arch.Addr   // 0 for nowhere

	regs      registers
	haveRegs  bool
	rewound   bool // the kernel has the pc before the breakpoint that it has run into; regs is to have that behind when it is fetched
	before    bool // the kernel has, and regs has that behind
	lodged    bool // the kernel has a pc in a pad, and regs has that of the program
	dirty     dirtiness
	haveState stateSets // those whose buffers hold this task's extended state

	hits      int       // of all tracepoints
	stat      *os.File  // its stat file, opened when first needed
	pointer   arch.Addr // its thread pointer when it was last asked for, 0 if it never was
	rseq      uint64    // its restartable-sequence area, 0 for none
	rseqKnown bool
}

// dirtiness says what of the cached registers the kernel does not know yet.
type dirtiness uint8

const (
	clean   dirtiness = iota
	dirtyPC           // only the pc
	dirtyAll
)

func (k *task) id() target.ThreadID { return target.ThreadID{PID: k.proc.pid, TID: k.tid} }

// fetch makes regs valid.
func (k *task) fetch() error {
	if k.haveRegs {
		return nil
	}
	if err := host.fetch(k.tid, &k.regs); err != nil {
		return err
	}
	k.haveRegs, k.dirty = true, clean
	if k.rewound {
		k.setPC(k.pc() + trapShift())
		k.rewound, k.before = false, true
	}
	return nil
}

// flush makes the kernel's registers those of regs.
func (k *task) flush() error {
	var err error
	switch k.dirty {
	case dirtyPC:
		err = host.flushPC(k.tid, k.pc())
	case dirtyAll:
		err = host.flush(k.tid, &k.regs)
	}
	k.dirty = clean
	return err
}

func (k *task) pc() arch.Addr { return host.pc(&k.regs) }

// trapPC is where the breakpoint instruction lies that k has stopped by.
func (k *task) trapPC() arch.Addr { return k.pc() - trapShift() }

// setPC moves the pc; fetch comes first.
func (k *task) setPC(pc arch.Addr) {
	host.setPC(&k.regs, pc)
	k.dirty = max(k.dirty, dirtyPC)
}

// wantsStep reports whether the task is to execute one instruction rather than run.
func (k *task) wantsStep() bool { return k.verb != target.Go || k.has(owesStep) }

// has reports whether a task owes something.
func (k *task) has(d debts) bool { return k.owes&d != 0 }

// resumed reports whether the session has resumed a task.
func (k *task) resumed() bool { return k.wants != toStay }

// runs reports whether a task has been let go and will be heard of.
func (k *task) runs() bool { return k.state == running || k.state == halting || k.state == listening }

// forget drops what is only known of a stopped task.
func (k *task) forget() {
	k.haveRegs, k.haveState, k.triggersKnown, k.before, k.lodged, k.ended = false, 0, false, false, false, false
	k.why, k.signal = noReason, 0
	k.owes &^= owesStop
}

// close releases what the task holds outside itself.
func (k *task) close() {
	if k.stat != nil {
		k.stat.Close()
		k.stat = nil
	}
}
