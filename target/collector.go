package target

import (
	"errors"

	"tracewell/arch"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// Collector is the ability to collect without calling the Handler: by jump pads, by code in the memory of a microcontroller, by
// a stub that has tracepoints of its own. It is handed compiled tracepoints and hands back whole frames, which go the way of
// any other: whoever takes them decides every condition for stopping the run, in the order of the frames. So a run stops
// exactly where it would have stopped if each hit had stopped a thread, however many hits the Collector is ahead: the frames
// behind the last one are dropped. Trace state variables are the exception: what those hits did to them stays done.
//
// One order holds for all frames. Before a target calls its Handler, and before it sends an Event, it deposits the frames of all
// hits until then.
//
// Changes come in batches, because each costs the program a stop of all its threads: Offload and Recall prepare them, location by
// location, and Apply puts all of them into force at once.
type Collector interface {
	// Begin begins a run. Nothing is in force of what was offloaded for an earlier one.
	Begin(run Run)
	// Offload prepares the collection of what a tracepoint says in a process. It has its turn behind the other tracepoints of the
	// address, or takes the place of the one with the same key. The error says in words why the tracepoint must be a trap; what
	// was prepared for the address, and what is in force there, stays as it was.
	Offload(pid int, t *compiled.Tracepoint) error
	// Recall prepares the end of the collection at an address and forgets what has been prepared for it. What Offload prepares
	// behind it begins anew. An address at which there is nothing is no error.
	Recall(pid int, at arch.Addr)
	// Apply puts into force what has been prepared since the last call, at once for all threads. When it returns, the frames that
	// were made before have been deposited. It reports the addresses at which it turns out only now that the tracepoints must
	// be traps: nothing is collected there any more. The error is about the others and says what could not be removed.
	Apply() ([]Refusal, error)
	// Explain says in a few words how the hits of an address are collected, such as the kind of patch that is in the code; "" for an
	// address at which nothing is in force.
	Explain(pid int, at arch.Addr) string
	// Tallies appends what the tracepoints have come to that were offloaded in this run, deposited or not. It does not wait for
	// anything: a Collector that would have to ask tells what it knows.
	Tallies(dst []Tally) []Tally
	// Variables holds the trace state variables from Begin to the end of the run.
	Variables() VariableStore
}

// Repeater is a Collector that can count hits in place of making a frame for each, of tracepoints with Repeats.
type Repeater interface {
	// Repeats appends what was repeated since the last call in this run, which may be over. Those hits are in no Deposit and no Tally.
	Repeats(dst []Repeat) []Repeat
}

// Repeat is a frame that was deposited, and how many hits have repeated it.
type Repeat struct {
	Key   trace.Key
	Frame []byte // which nobody changes any more
	Times uint64
}

// Refusal is an address at which a Collector cannot collect, and why.
type Refusal struct {
	PID  int
	Addr arch.Addr
	Err  error
}

// Run is what a Collector must know of a run.
type Run struct {
	RegisterBlock int // length in bytes of an R block: that of the g packet, or less for the registers it begins with
	MaxFrame      int // a frame of more bytes ends the run; the Collector may stop there
	Variables     []VariableValue
	// Locations are the addresses of the tracepoints that there are as the run begins, in order. What a Collector does for one need
	// not be in the way of another that way.
	Locations []arch.Addr
	// Builtins are the built-in variables, which are in no store: the number by which expressions call one, and that of trace
	// (trace.Timestamp and so on) which says what it is. A Collector that cannot compute one refuses tracepoints that use it.
	Builtins map[trace.VariableNumber]trace.VariableNumber
	WhenFull WhenFull
	// Prompt asks for a deposit within half a millisecond of a hit; otherwise frames may lie longer the fewer there are.
	Prompt bool
	// Deposit takes what has been collected, in order, one call after the other. The cost of a frame is mostly that of the call and
	// of its deposit, so both should have many; what is left is a copy, if the frames of all deposits lie one behind the other in
	// memory, within the capacity of the first. With Halt the run is over: the hits behind the one that has ended it are
	// dropped, and calls after that do nothing.
	Deposit func([]Deposit) Verdict
	// Kept, if not nil, tells how many bytes of frames the run has made, and how many of those are in a file, where they survive
	// this process. A Collector whose frames come from memory that survives it as well gives that back only when they are there.
	// The second is the larger one if nothing more will ever be written. It is called after Deposit, and by one goroutine at a time.
	Kept func() (made, kept int64)
}

// WhenFull says what a Collector does with a hit when there is no room for its frame, because nobody takes the frames before it.
type WhenFull uint8

// What can be done when there is no room.
const (
	// WaitWhileMoving has the thread wait as long as frames are taken. After a second in which none is, the run ends with the
	// reason, and the program goes on.
	WaitWhileMoving WhenFull = iota
	// AlwaysWait has the thread wait as long as it takes.
	AlwaysWait
	// StopRun ends the run.
	StopRun
	// DropFrame goes on without the frame, which is counted as lost.
	DropFrame
)

// ErrStoodStill ends a run with WaitWhileMoving whose frames nobody took: the Collector deposits it as the error of the last
// Deposit.
var ErrStoodStill = errors.New("the frames of the program were not taken from its buffer for too long, so that it went on without")

// Deposit is what one tracepoint has made of one hit, or of several in a row of which there is nothing to tell but their frames.
type Deposit struct {
	Key trace.Key
	// Frames are in the bytes of a trace file, headers included, one behind the other and of one length. They are not changed before
	// the call returns; nil if the condition failed.
	Frames []byte
	Hits   int // how many frames
	// Failures are the expressions that failed, in order. The frame holds what could be collected all the same.
	Failures []error
	// Printed is what the expressions have printed, in order.
	Printed []string
	// More says that the next deposit is of the same hit: if this one ends the run, it does so after that one. Both are of one hit.
	More bool
	Lost int64 // frames that the Collector had no room for since the deposit before
	// Err says that the Collector is lost, and ends the run. Nothing else in the deposit matters then, nor what comes behind it.
	Err error
}

// Tally is what a tracepoint has come to in a run.
type Tally struct {
	Key       trace.Key
	Hits      uint64 // times the condition held
	Frames    uint64 // made, those of steps included
	Usage     uint64 // bytes of frame data, headers not counted
	Errors    uint64 // expressions that failed
	LastError error  // of them, nil if there was none
	Lost      int64  // frames that a Collector had no room for
}

// VariableStore holds trace state variables. Reading one and setting one are atomic each; an expression that reads a variable
// and then sets it is not: a target with a Collector sees to it that none sets any during a Hit. Methods may be called by any
// goroutine.
type VariableStore interface {
	// Variable returns the present value, false for a variable that does not exist.
	Variable(n trace.VariableNumber) (int64, bool)
	// SetVariable makes the variable if it does not exist.
	SetVariable(n trace.VariableNumber, value int64)
	// AppendVariables appends all that exist, by number.
	AppendVariables(dst []VariableValue) []VariableValue
}

// VariableValue is a trace state variable with its value.
type VariableValue struct {
	Number trace.VariableNumber
	Value  int64
}
