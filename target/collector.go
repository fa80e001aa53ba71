package target

import (
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
type Collector interface {
	// Begin begins a run. What was offloaded for an earlier one has been recalled.
	Begin(run Run)
	// Offload has a process collect what a tracepoint says. It has its turn behind the other tracepoints of the address, or takes
	// the place of the one with the same key, at once for all threads; frames that were made before are deposited before it
	// returns. The error says in words why the tracepoint must be a trap, and leaves everything as it was.
	Offload(pid int, t *compiled.Tracepoint) error
	// Recall undoes Offload for all tracepoints of an address. When it returns no thread collects there and all frames have
	// been deposited. An address at which there is nothing is no error.
	Recall(pid int, at arch.Addr) error
	// Tallies appends what the tracepoints have come to that were offloaded in this run, deposited or not. It does not wait for
	// anything: a Collector that would have to ask tells what it knows.
	Tallies(dst []Tally) []Tally
	// Variables holds the trace state variables from Begin to the end of the run.
	Variables() VariableStore
}

// Run is what a Collector must know of a run.
type Run struct {
	RegisterBlock int // length in bytes of an R block: that of the g packet, or less for the registers it begins with
	MaxFrame      int // a frame of more bytes ends the run; the Collector may stop there
	Variables     []VariableValue
	// Deposit takes the frames, one call after the other. With Halt the run is over; calls after that do nothing.
	Deposit func(Deposit) Verdict
}

// Deposit is what one tracepoint has made of one hit.
type Deposit struct {
	Key   trace.Key
	Frame []byte // in the bytes of a trace file, header included; valid until the call returns; nil if the condition failed
	// Failures are the expressions that failed, in order. The frame holds what could be collected all the same.
	Failures []error
	// More says that the next deposit is of the same hit: if this one ends the run, it does so after that one.
	More bool
	Lost int64 // frames that the Collector had no room for since the deposit before
	// Err says that the Collector is lost, and ends the run. Nothing else in the deposit matters then.
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
// and then sets it is not. Methods may be called by any goroutine.
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
