package dap

import (
	"context"

	protocol "github.com/google/go-dap"

	"tracewell/arch"
	"tracewell/symbol/expr"
)

// debuggee is what is debugged. Its methods are for the goroutine that serves requests.
type debuggee interface {
	reach() reach
	// names is what gives names to addresses, registers and values. It is another one when something has been loaded.
	names() *names
	threads() []protocol.Thread
	// at is where a thread stands. The error says why nothing can be looked at.
	at(thread int) (moment, error)
	// place says of each breakpoint where it is, or why it is not. It is called with all that there are whenever one has changed.
	place(all []*breakpoint) error
	// begin begins, when the client has set its first breakpoints.
	begin(ctx context.Context, stopAtEntry bool) (stop, error)
	move(ctx context.Context, m motion) (stop, error)
	// restart goes back to the beginning.
	restart(ctx context.Context) (stop, error)
	// list is the frames of a run, in their order.
	list() frameList
	commands() []command
	// close lets go; what becomes of a program that runs is for terminate to say.
	close(terminate bool) error
}

// moment is where a debuggee stands: a frame of a trace file, a position of an execution trace.
type moment interface {
	expr.Context
	// ReadMemory is that of unwind.Memory.
	ReadMemory(addr arch.Addr, p []byte) int
	pc() (arch.Addr, bool)
	// block is the registers, as in a g packet or the beginning of one, and which bytes of them are known; nil for all.
	block() (registers []byte, known []bool)
	// groups are scopes beside registers and variables, the most interesting first.
	groups() []group
	// named finds a value that was collected under a name, by the text that a user typed.
	named(text string) (node, bool)
}

// group is a scope that a debuggee has of its own.
type group struct {
	name string
	tree *tree
}

// frameList is the frames of a run.
type frameList interface {
	count() int
	// entry describes a frame.
	entry(i int) (frameEntry, error)
	// tree unfolds one; nil if that is not worth while.
	tree(i int) *tree
	// filter compiles an expression over frames, which the result decides for each.
	filter(where string) (func(i int) (bool, error), error)
}

// frameEntry is a frame as a list shows it, also to a client that asks by tracewell/frames.
type frameEntry struct {
	Frame      int    `json:"frame"`
	Tracepoint int    `json:"tracepoint,omitempty"`
	Place      string `json:"place"`          // "push (queue.c:13)"
	Time       string `json:"time,omitempty"` // RFC 3339 with microseconds
	Thread     int    `json:"thread,omitempty"`
	Values     string `json:"values,omitempty"`
}

// way is how a motion goes.
type way int

// The ways.
const (
	onward way = iota // to a breakpoint or the end
	stepOver
	stepInto
	stepOutOf
)

// motion is what the client wants to happen.
type motion struct {
	way       way
	backwards bool
	single    bool // by instructions, not lines
	thread    int
}

// stop is where a motion has ended. The zero value says that the debuggee runs.
type stop struct {
	reason      string // as in the event stopped; "" if it has not stopped
	description string
	thread      int
	hit         []int // breakpoints
}

// jumper is a debuggee that can go anywhere.
type jumper interface {
	// targets are the places that a line has: numbers of frames or instructions.
	targets(ctx context.Context, at sourceLine) ([]int, error)
	jump(to int) (stop, error)
}

// sourceLine is a line of a source file, as the client has it.
type sourceLine struct {
	path string
	line int
}

// command is a command of the console.
type command struct {
	name, arguments, about string
	do                     func(ctx context.Context, s *session, arguments string) (string, *stop, error)
}
