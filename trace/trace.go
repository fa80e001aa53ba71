// Package trace holds the plain values that describe a trace run: tracepoints with their actions and source strings,
// trace state variables, and the status of the run; and the text by which GDB's packets and trace files both write them.
//
// The reply to qTfP and a "tp" line, the reply to qTfV and a "tsv" line, the reply to qTStatus and the "status" line are
// each one grammar, so there is one parser and one printer for each, here. Values are comparable by their text; nothing in
// this package is live, and nothing in it does I/O.
package trace

import "tracewell/arch"

// Number is a tracepoint number as the target knows it (GDB may show another). Frames carry 16 signed bits of it and 0
// ends a trace file, so only 1 to MaxNumber are recorded.
type Number int

// MaxNumber is the largest tracepoint number that a frame header can carry.
const MaxNumber = 0x7fff

// VariableNumber names a trace state variable; agent expressions carry 16 bits of it.
type VariableNumber uint16

// Tracepoint is one tracepoint at one address. A tracepoint that GDB shows with several locations is several of these
// with one Number.
type Tracepoint struct {
	Number  Number
	Addr    arch.Addr
	Enabled bool
	Step    uint64 // instructions that while-stepping follows; 0 without while-stepping
	Pass    uint64 // hits after which the run stops; 0 for no limit

	Fast       bool // GDB asked for a fast tracepoint (option F)
	FastLength int  // length in bytes of the instruction at Addr, from option F
	Static     bool // option S: a static tracepoint marker

	Condition   []byte   // agent expression bytecode, nil without a condition
	Actions     []Action // at the hit
	StepActions []Action // after each step

	// Repeats says that whoever collects may count hits that repeat an earlier one, in place of a frame for each: those for which the
	// expressions of Alike have the values that they had then. Neither is in packets and files.
	Repeats bool
	Alike   [][]byte // bytecode

	Source Source

	Hits  uint64 // times the condition held
	Usage uint64 // bytes of frame data recorded for it
}

// Key tells tracepoints apart: number and address together.
type Key struct {
	Number Number
	Addr   arch.Addr
}

// Key returns the pair that packets name the tracepoint by.
func (t *Tracepoint) Key() Key { return Key{t.Number, t.Addr} }

// Source is the text that the user typed, kept so that another GDB can be told.
type Source struct {
	At       string   // the location, "queue.c:88"
	Cond     string   // the condition
	Commands []string // the actions, one string a line, with "end" after a while-stepping body
}

// ActionKind says what an action collects.
type ActionKind byte

// The kinds of action, each the letter that begins it in a packet.
const (
	CollectRegisters  ActionKind = 'R'
	CollectMemory     ActionKind = 'M'
	CollectExpression ActionKind = 'X'
	CollectStatic     ActionKind = 'L'
)

// Action is one thing to collect.
type Action struct {
	Kind   ActionKind
	Mask   []byte   // R: register mask, most significant byte first; bit i of the number it forms is register i
	Base   arch.Reg // M: register whose value Offset is added to, or Absolute
	Offset uint64   // M: address, or offset from Base
	Length uint64   // M: bytes to collect
	Code   []byte   // X: agent expression bytecode
}

// Absolute is the Base of an M action whose Offset is an address.
const Absolute arch.Reg = -1

// Variable is a trace state variable's definition.
type Variable struct {
	Number  VariableNumber
	Initial int64
	Builtin bool   // computed by the target, such as trace_timestamp
	Name    string // without the $
}

// The built-in variables: they are computed where an expression reads or records them. Timestamp has the number that gdbserver and
// GDB agree on, and is always there. The others are there when somebody has defined them by their name, under whatever number,
// since GDB would read them in place of the user's own $tid and $pid otherwise; these numbers are those in recordings.
const (
	// Timestamp is the time of a hit, in microseconds of a clock that does not go back within a run; here since 1970 (UTC).
	Timestamp VariableNumber = 1
	// ProcessID and ThreadID are the numbers of the process and the thread that made the hit, as the tracer sees them: the kernel's,
	// in the tracer's PID namespace. Without a hit they have no value.
	ProcessID VariableNumber = 0x7ffe
	ThreadID  VariableNumber = 0x7fff
	// Nanoseconds is the time of a hit as Timestamp is, but in nanoseconds.
	Nanoseconds VariableNumber = 0x7ffd
)

// The names of the built-in variables.
const (
	TimestampName   = "trace_timestamp"
	NanosecondsName = "trace_nanoseconds"
	ProcessIDName   = "pid"
	ThreadIDName    = "tid"
)

// The names by which expressions refer to the call that is active where they are evaluated.
const (
	// ReturnName is the value that the function returns, where it does.
	ReturnName = "return"
	// TookName is how long the call took. It is known once the frames of its entry and its return are there, and not at a hit.
	TookName = "took"
	// CallName is the system call that is made, at tracepoints at system calls.
	CallName = "syscall"
	// ActivationName and GoroutineName tell one call from another that is active at the same time: how far out in the stack its
	// frame is, and in Go on whose stack. In other languages the thread tells that.
	ActivationName = "_activation"
	GoroutineName  = "_goroutine"
)

// Builtin returns the definition of a built-in variable in recordings, false for a name that none has.
func Builtin(name string) (v Variable, ok bool) {
	number, ok := map[string]VariableNumber{
		TimestampName: Timestamp, NanosecondsName: Nanoseconds, ProcessIDName: ProcessID, ThreadIDName: ThreadID,
	}[name]
	return Variable{Number: number, Builtin: ok, Name: name}, ok
}

// StopReason says why no run is on, in the words of qTStatus.
type StopReason string

// The reasons that GDB 13 knows.
const (
	ReasonUnknown      StopReason = "tunknown"
	ReasonNotRun       StopReason = "tnotrun"
	ReasonStop         StopReason = "tstop"
	ReasonFull         StopReason = "tfull"
	ReasonDisconnected StopReason = "tdisconnected"
	ReasonPassCount    StopReason = "tpasscount"
	ReasonError        StopReason = "terror"
)

// Status is the state of a trace run. A negative count means that the source did not tell it.
type Status struct {
	Running     bool
	Reason      StopReason
	Description string // tstop: the user's note; terror: the error
	Tracepoint  Number // tpasscount and terror: the tracepoint that stopped the run

	Frames, Created int64 // frames in the buffer now; ever made in this run
	Free, Size      int64 // bytes of the trace buffer

	Circular     bool
	Disconnected bool // tracing goes on when GDB leaves

	StartTime, StopTime uint64 // microseconds; Unix time when Tracewell wrote them, 0 for never
	User, Notes         string
}
