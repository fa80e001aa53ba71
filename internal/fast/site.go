package fast

import (
	"tracewell/arch"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// Site is what a pad is made of.
type Site struct {
	Arena       *Arena
	Index       int       // of the site in the reader's table, below MaxTracepoints
	Addr        arch.Addr // in the program
	Pad         arch.Addr // where the pad will run, within 2 GiB of Arena.Control
	Tracepoints []Tracepoint
	Registers   *Registers // what an R block consists of
	// Trap has the first true condition stop the thread at the site with Trapped, and nothing is collected: for tracepoints that
	// only a stop can serve, and breakpoints with conditions.
	Trap bool
	// Strict has the thread stop likewise where a hit has an expression that fails, and then nothing is collected.
	Strict bool
	// NoRedZone says that the code keeps nothing below its stack pointer, as Go's does not.
	NoRedZone bool
	// Builtins are the trace state variables that are computed.
	Builtins map[trace.VariableNumber]Builtin
	// Tag is what the pad finds its entries in the table of Repeats by, from 1 on, another one for each pad that is built; 0 has it
	// make a frame for each hit.
	Tag int32
	// Displace makes the displaced instructions as they run from an address on. Behind them the pad has a jump to Next.
	Displace func(at arch.Addr) ([]byte, error)
	Next     arch.Addr
	// Onward is where that jump goes instead if Next is a site whose instruction is displaced as well: to the pad there. 0 is none.
	Onward arch.Addr
}

// Tracepoint is one of those at a site. They have their turns in order.
type Tracepoint struct {
	*compiled.Tracepoint
	Index int // of the byte that enables it, below MaxTracepoints
}

// Builtin is what a computed trace state variable is computed of.
type Builtin uint8

const (
	// Timestamp is microseconds since 1970, by the Clock of the control area.
	Timestamp Builtin = iota + 1
	// Nanoseconds is the same in nanoseconds.
	Nanoseconds
	// Thread is the thread's id. Pads record the base of its thread-local storage, which Reader.Thread translates.
	Thread
	// Process is the number that Control.SetProcess was told.
	Process
)
