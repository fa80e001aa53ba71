package target

import (
	"tracewell/arch"
)

// Runner is a target whose threads can run.
//
// It is in one of two modes. In all-stop mode, in which it begins, exactly one Event follows each Resume that returned nil,
// and all threads of all processes are stopped when it arrives (or their process is gone). In non-stop mode a thread that
// has an Event stops alone, and Resume may be called while others run: every thread that it sets going brings one Event in
// the end, of its own or of its process.
type Runner interface {
	// Resume lets threads go on. For each stopped thread the first action that covers it applies; a thread that none
	// covers stays as it is. In all-stop mode it is ErrRunning while another Resume is pending; in non-stop mode threads that
	// run already are left alone.
	Resume(actions []Action) error
	// Events delivers what happens. It never makes the program wait. What happened before a method returned can be received
	// then.
	Events() <-chan Event
	// Interrupt asks for a stop, as Ctrl-C does: an Event of SignalInt. It does nothing when nothing runs.
	Interrupt() error
	// Stop asks the running threads that id covers to stop, each with an Event of SignalNone of its own unless another one
	// comes first. It is for non-stop mode.
	Stop(id ThreadID) error
	// SetNonStop chooses the mode. To return to all-stop mode it stops what runs. Of the Events that nobody has received
	// only beginnings and ends of processes remain.
	SetNonStop(on bool) error
	// SetReports says which happenings have Events. Without one, the thing happens unseen; forked children are let go.
	SetReports(r Reports)
	// Kill ends the process of pid and every thread in it and reaps it. No Event tells of it.
	Kill(pid int) error
	// Detach removes all breakpoints and tracepoints and lets the process go its way. No Event tells of it. Detaching a
	// vfork child that shares its parent's memory leaves the breakpoints to the parent.
	Detach(pid int) error
}

// Reports is a choice of happenings.
type Reports struct {
	Fork, Vfork bool // a child is held, as a process of its own, until the client says what becomes of it
	Threads     bool // a new thread is held until resumed; the end of one is told
	NoneResumed bool // the last of the resumed threads ended while others are stopped
}

// Verb is what a thread is told to do.
type Verb uint8

// The verbs of vCont.
const (
	Go Verb = iota
	StepOne
	StepRange // step while the pc is in [Start, End)
)

// Action is one resumption.
type Action struct {
	Thread     ThreadID // may hold All
	Verb       Verb
	Signal     Signal // delivered on the way, 0 for none
	Start, End arch.Addr
	// Anew has a thread meet the breakpoint that it stands at, even if it has stopped there already; one with a Check only if it
	// has not. Otherwise the thread goes on past it. GDB takes breakpoints out where it wants to go on from, and expects those
	// that it leaves to be met.
	Anew bool
}

// Signal is a signal by GDB's number, which differs from the kernel's for most.
type Signal int

// The signals that sessions speak of themselves.
const (
	SignalNone Signal = 0
	SignalInt  Signal = 2
	SignalTrap Signal = 5
	SignalKill Signal = 9
	SignalStop Signal = 17
)

// EventKind says what happened.
type EventKind uint8

// The kinds of event. Only those of NoneResumed and ThreadExited have no stopped Thread.
const (
	Stopped       EventKind = iota // a thread stopped: Signal, Reason, Addr
	Exited                         // the process exited: Code
	Terminated                     // the process was killed: Signal
	Execed                         // the process runs another program: Path
	Forked                         // by fork or clone: Child is its copy, stopped
	Vforked                        // the same; until its exec or end the child runs in the memory of its parent
	VforkDone                      // that is over
	ThreadCreated                  // Thread is the new one, stopped before its first instruction
	ThreadExited                   // Thread has ended, and its process has not: Code
	SyscallEntry                   // a system call is about to be made: Syscall
	SyscallReturn                  // it has been made
	NoneResumed                    // no thread is left that could have an Event
	Requesting                     // the program waits for the client to do something with a file: Request; see Passage.Answer
)

// Reason says more about a stop with SignalTrap.
type Reason uint8

// The reasons a stop reply can give.
const (
	ReasonNone Reason = iota
	ReasonSwBreak
	ReasonHwBreak
	ReasonWatch
	ReasonReadWatch
	ReasonAccessWatch
	ReasonLibrary // the list of libraries changed
	ReasonBegin   // there is nothing known in front of this
	ReasonEnd     // nor behind this
)

// Event is what happened to a thread or process.
type Event struct {
	Kind    EventKind
	Thread  ThreadID
	Signal  Signal
	Reason  Reason
	Addr    arch.Addr // of the data, for watchpoints
	Code    int
	Path    string
	Child   ThreadID
	Syscall int
	Request string // as File-I/O has it, such as "write,1,80000400,c"
}

// GroupStop is the stop of a whole process by job control, which no Resume ends, only SIGCONT. Signal is the kernel's number.
type GroupStop struct{ PID, Signal int }

// Launcher is a target that can take on processes besides those that it has.
type Launcher interface {
	// Start starts a program, stopped before its first instruction, and returns its only thread.
	Start(p Program) (ThreadID, error)
	// Attach takes a running process and all its threads under trace and stops them. It returns the leader.
	Attach(pid int) (ThreadID, error)
}

// Program is a program to start.
type Program struct {
	Path string   // a name without a slash is that of a file in the working folder, otherwise looked up as the shell does
	Args []string // behind the program's name
	Env  []string // nil for the server's own
	Dir  string   // "" for the server's own; a leading ~ is the server's home
	// Wrapper is a command in front of the program that executes it in the end; nil for none.
	Wrapper []string
	// Files are what standard input, output and error are opened from; "" is a stream of the target's.
	Files [3]string
	// RandomAddresses leaves address space randomisation on.
	RandomAddresses bool
}
