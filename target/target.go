// Package target says what a target is: a program, or a recording of one, whose threads, registers and memory a session
// can look at, and mostly also run.
//
// The core interface is small. Everything that not every target has is a group of its own, reached by an accessor method
// that returns nil where the target lacks it (see Base). A session asks the accessors and nothing else; it never asserts
// types, because a wrapper around a target would lose or fake what an assertion finds.
//
// A target has any number of processes, of which some may come and go. It has its own goroutine. Methods may be called from
// any one goroutine at a time; they return when their effect has happened, except for those of Runner whose outcome arrives
// as an Event.
//
// # Tracing: who calls what
//
// An engine (package tracepoint) stands between sessions and a target. It calls a Tracer and its Collector, and they call it:
//
//	call                                  | on which goroutine                      | what the callee may do in it
//	--------------------------------------|-----------------------------------------|-----------------------------------------
//	Tracer.SetHandler, Install, Uninstall | a session's; one call at a time, hits   | wait for the program to stop; call the
//	Collector.Begin, Offload, Recall,     | go on meanwhile                         | Handler; deposit
//	Apply                                 |                                         |
//	Collector.Explain, Tallies            | any; several at once, also during the   | take a lock of its own; neither wait for
//	Collector.Variables, VariableStore    | calls above, Hit and Deposit            | the program nor deposit
//	Handler.Hit, Stepped                  | the target's; one at a time             | read through the Snapshot; use the store
//	Handler.ThreadGone                    | the target's                            | use the store
//	Run.Deposit                           | any of the target's, or a session's in  | use the store; wait for a Sink
//	                                      | Apply; one at a time                    |
//
// The engine holds no lock of its own that hits or deposits take while it calls a target, nor while memory is read. A target may
// hold the lock of its Tallies while it calls the engine, but none that the store needs: a deposit that ends the run reads the
// variables before it returns. A verdict with Halt may come from a hit or deposit in the middle
// of Install or Apply: everything is removed then, and the engine calls Uninstall or Recall and Apply for what it has just
// installed once more, which is no error.
//
// Between Apply and Install, or Uninstall and Apply, the hits of an address go unseen. So it is when a tracepoint is added
// during a run to an address that a Collector has, and cannot be offloaded; and for the time that Install and Apply take at the
// start of a run, whose hits do not count. gdbserver stops all threads meanwhile. Here nobody
// does: in all-stop mode GDB defines tracepoints while everything is stopped anyway, and otherwise whoever needs every hit stops
// the program first.
//
// A dead link ends a run with terror and the reason. Where hits stop threads, Snapshot.Err returns the reason from then on; memory
// reads return 0 at once rather than wait. The frame in progress is dropped whole, and Hit returns Halt. A Collector deposits a
// Deposit with Err as the last one. Uninstall and Apply then forget the address and may return the reason as an error; the run is
// over all the same. Nothing else of the target need fail: other processes, and other sessions, go on.
package target

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/tdesc"
	"tracewell/trace/compiled"
)

// ThreadID names a thread of a process. Both numbers are the kernel's.
type ThreadID struct{ PID, TID int }

func (id ThreadID) String() string { return fmt.Sprintf("p%x.%x", id.PID, id.TID) }

// All in place of PID or TID stands for every process or thread.
const All = -1

// Covers reports whether id, which may hold All, stands for other.
func (id ThreadID) Covers(other ThreadID) bool {
	return (id.PID == All || id.PID == other.PID) && (id.TID == All || id.TID == other.TID)
}

// Thread is what there is to tell of one thread.
type Thread struct {
	ID   ThreadID
	Name string
	Core int // processor it last ran on, -1 if not known
}

// Errors that sessions answer in their own way.
var (
	ErrNoProcess = errors.New("no process")
	ErrNoThread  = errors.New("no such thread")
	ErrRunning   = errors.New("the program is running")
	// ErrUnsupported answers a request that this target can never serve; sessions then send the empty reply.
	ErrUnsupported = errors.New("not supported by this target")
)

// Target is the core that every target has.
type Target interface {
	// ISA and Description tell what registers there are. They stay the same until an Execed event.
	ISA() *arch.ISA
	Description() *tdesc.Target

	// Threads lists the live threads, leader first, then in order of creation. Empty when no process is left. Nothing has to
	// be found out for it: sessions ask for every packet.
	Threads() []ThreadID
	// Thread tells of one of them; ErrNoThread if it has ended meanwhile.
	Thread(id ThreadID) (Thread, error)

	// ReadRegisters fills block, laid out as the g packet of Description; WriteRegisters stores it. The thread must be
	// stopped.
	ReadRegisters(id ThreadID, block []byte) error
	WriteRegisters(id ThreadID, block []byte) error

	// ReadMemory reads the readable prefix of p at addr in the process of id and returns its length; the error says why it
	// is short. WriteMemory writes all of p or nothing it can help. Inserted breakpoints do not show in reads and survive
	// writes.
	ReadMemory(id ThreadID, addr arch.Addr, p []byte) (int, error)
	WriteMemory(id ThreadID, addr arch.Addr, p []byte) error

	Groups
}

// Groups are the accessors of the optional abilities.
type Groups interface {
	Runner() Runner
	Launcher() Launcher
	Breakpoints() Breakpoints
	Syscalls() Syscalls
	Tracer() Tracer
	TraceRun() TraceRun
	Relocator() Relocator
	Auxv() Auxv
	ExecFile() ExecFile
	Libraries() Libraries
	Siginfo() Siginfo
	ReadOnly() ReadOnly
	Mappings() Mappings
	Allocator() Allocator
	Files() Files
	Signals() Signals
	OS() OS
	ThreadLocals() ThreadLocals
	Availability() Availability
	Reverser() Reverser
	MonitorCommands() MonitorCommands
	SingleRegisters() SingleRegisters
	Passage() Passage
}

// Base has none of the optional abilities. Targets embed it and override what they have.
type Base struct{}

func (Base) Runner() Runner                   { return nil }
func (Base) Launcher() Launcher               { return nil }
func (Base) Breakpoints() Breakpoints         { return nil }
func (Base) Syscalls() Syscalls               { return nil }
func (Base) Tracer() Tracer                   { return nil }
func (Base) TraceRun() TraceRun               { return nil }
func (Base) Relocator() Relocator             { return nil }
func (Base) Auxv() Auxv                       { return nil }
func (Base) ExecFile() ExecFile               { return nil }
func (Base) Libraries() Libraries             { return nil }
func (Base) Siginfo() Siginfo                 { return nil }
func (Base) ReadOnly() ReadOnly               { return nil }
func (Base) Mappings() Mappings               { return nil }
func (Base) Allocator() Allocator             { return nil }
func (Base) Files() Files                     { return nil }
func (Base) Signals() Signals                 { return nil }
func (Base) OS() OS                           { return nil }
func (Base) ThreadLocals() ThreadLocals       { return nil }
func (Base) Availability() Availability       { return nil }
func (Base) Reverser() Reverser               { return nil }
func (Base) MonitorCommands() MonitorCommands { return nil }
func (Base) SingleRegisters() SingleRegisters { return nil }
func (Base) Passage() Passage                 { return nil }

// Breakpoints is a target that can stop where it is told. Removing what is not there is no error.
type Breakpoints interface {
	// InsertBreakpoint inserts b in the process of id. One of the same kind, address and length there is replaced.
	InsertBreakpoint(id ThreadID, b Breakpoint) error
	// RemoveBreakpoint removes it; Check plays no part.
	RemoveBreakpoint(id ThreadID, b Breakpoint) error
}

// Breakpoint is one breakpoint or watchpoint.
type Breakpoint struct {
	Kind   BreakKind
	Addr   arch.Addr
	Length int // of what is watched, in bytes; of a breakpoint the kind of instruction, 0 for the one that is there

	// Check is asked at every hit, on the target's own goroutine, whether the thread is to stop; nil stops always. A thread
	// that is not to stop goes on as if nothing had been there.
	Check func(Snapshot) bool
	// Agent is what Check evaluates, nil if that is not to be known. A target that can evaluate conditions without a stop may ask
	// Check only at the hits for which one of them holds or fails.
	Agent *compiled.Breakpoint
	// Print takes what the commands of Agent print where the target has carried them out without Check: in the order of the hits,
	// before Check is called and before any Event. It may be called by any goroutine, one at a time; nil for nobody.
	Print func(text string)
}

// BreakKind is the number after Z.
type BreakKind uint8

// The kinds of breakpoint and watchpoint.
const (
	Software BreakKind = iota
	Hardware
	WriteWatch
	ReadWatch
	AccessWatch
)

// Syscalls is a target that can stop at system calls.
type Syscalls interface {
	// CatchSyscalls makes the threads of a process stop at the entry to and the return from the system calls of these
	// numbers, all if there are none, in place of those set before; off ends it. It may be called while the program runs.
	CatchSyscalls(pid int, on bool, numbers []int) error
}

// Relocator is a Tracer that runs copies of the instructions under tracepoints, and does not know all instructions. A client
// that knows more may make copies in its stead, before the tracepoints are installed. Where it makes none, tracepoints work
// as well, only slower.
type Relocator interface {
	// Relocations finds those of the addresses in a process whose instructions the target cannot copy but a client may, and
	// for each a place for the copy.
	Relocations(pid int, addrs []arch.Addr) []Relocation
	// Relocated says that there is a copy now, in a number of bytes. The error is that it is none that could be used.
	Relocated(pid int, r Relocation, size int) error
}

// Relocation is an instruction and the place for a copy of it.
type Relocation struct{ From, To arch.Addr }

// Auxv gives the auxiliary vector as it lies in the process.
type Auxv interface {
	ReadAuxv(pid int) ([]byte, error)
}

// ExecFile gives the absolute path of the program.
type ExecFile interface {
	ReadExecFile(pid int) (string, error)
}

// Libraries gives the dynamic linker's list of loaded objects (SVR4 link map).
type Libraries interface {
	ReadLibraries(pid int) (inferior.LinkMap, error)
}

// Siginfo gives the kernel's siginfo_t of the signal that a thread stopped with.
type Siginfo interface {
	ReadSiginfo(id ThreadID) ([]byte, error)
	WriteSiginfo(id ThreadID, b []byte) error
}

// ReadOnly tells which memory the program itself cannot change. What it holds now it held when a frame was collected, so
// sessions serve it while a frame is selected.
type ReadOnly interface {
	// ReadOnly reports whether all n bytes from addr on lie in mappings without write permission.
	ReadOnly(id ThreadID, addr arch.Addr, n int) bool
}

// Signals is a target that can keep signals to itself, which spares a stop of all threads for each.
type Signals interface {
	// PassSignals sets the signals that threads get without an Event, in place of those set before. It may be called
	// while the program runs.
	PassSignals(signals []Signal)
	// ProgramSignals sets the signals that a thread may take with it when it is let go stopped with one (QProgramSignals);
	// nil lets it take any but those meant for debuggers.
	ProgramSignals(signals []Signal)
}
