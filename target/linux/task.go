//go:build linux

package linux

import (
	"os"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/target/linux/internal/patch"
)

// taskState is what the kernel is doing with a task.
type taskState uint8

const (
	stopped   taskState = iota // in a ptrace-stop: requests work
	running                    // will be heard of through wait
	listening                  // in a group-stop, waiting for SIGCONT
	zombie                     // a leader that has exited before its threads
)

// task is one thread under trace.
type task struct {
	tid   int
	tgid  int // its thread group: the process, or for a clone that shares no more than the memory one of its own
	proc  *process
	state taskState

	guest   bool // see the package comment
	leaving bool // a guest to be let go when it stops

	// What the session wants of it.
	resumed    bool // by the pending Resume; in non-stop mode, and not stopped with an event since
	stopping   bool // a stop was asked for, which is to be told as that of signal stopSignal
	stopSignal target.Signal
	verb       target.Verb
	rangeStart arch.Addr
	rangeEnd   arch.Addr

	// What the kernel was last told.
	stepping bool          // by single-step
	buffer   *patch.Buffer // that it was sent into, nil when it cannot be in one

	// What is known of it while it is stopped.
	status    sys.Status // of a stop not acted on yet, if waiting
	waiting   bool
	held      bool      // a hold waits for its stop
	atSignal  bool      // in a signal-delivery stop, where a signal can be passed on
	group     bool      // the last stop was a group-stop
	event     int       // the ptrace event of the last stop, inside a system call that had begun; 0 for none
	child     int       // the new task that the last event of a fork or clone told of
	vforked   int       // the child that it waits for, 0 for none
	entered   bool      // at the entry into a system call: whatever is done to the task would be done to the call
	returned  bool      // at the return from one, to which it was led from an event in the call (endCall)
	passed    arch.Addr // see the package comment; 0 for none
	counted   arch.Addr // a hit that is not to be counted once more, if it comes with this stack pointer
	countedSP arch.Addr
	signal    int // the kernel's number of the signal it is stopped with and the session has been told of

	diverted *registers // see divert; nil for none
	remade   bool       // the entry that it comes to next has been shown

	groupSignal int // that a group-stop is by

	deferred []deferred // signals that wait for the displaced instruction
	sent     signalSet  // signals sent by this package for the session, to be passed on unreported

	collecting bool // a while-stepping session wants its next step

	debugGeneration int         // of the debug registers that the kernel has been given
	triggers        []debugSlot // that it is stopped by, if triggersKnown
	triggersKnown   bool

	regs      registers
	haveRegs  bool
	rewound   bool // the kernel has the pc before the trap that it has run into; regs is to have that behind when it is fetched
	before    bool // the kernel has, and regs has that behind
	dirty     dirtiness
	haveState bool // the target's buffer holds this task's extended state

	hits      int      // of all tracepoints
	stat      *os.File // its stat file, opened when first needed
	rseq      uint64   // its restartable-sequence area, 0 for none
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
func (k *task) wantsStep() bool { return k.verb != target.Go || k.collecting }

// forget drops what is only known of a stopped task.
func (k *task) forget() {
	k.haveRegs, k.haveState, k.waiting, k.triggersKnown = false, false, false, false
	k.atSignal, k.group, k.entered, k.returned, k.before, k.signal = false, false, false, false, false, 0
}

// close releases what the task holds outside itself.
func (k *task) close() {
	if k.stat != nil {
		k.stat.Close()
		k.stat = nil
	}
}
