// Package tracepoint is the engine of a trace run: it holds the definitions, decides at each hit what to collect, and keeps
// the frames until they are asked for.
//
// An Engine is driven from two sides. A session (QT packets, or a command of Tracewell's own) defines, starts, stops and
// looks at frames. A target that reaches a tracepoint calls a Handler of the engine with a Snapshot of the thread; at
// a breakpoint it calls BreakpointAgent.Hit. A target that collects by itself is handed compiled tracepoints and deposits
// frames. The engine never touches a process: it learns of one through the Snapshot, and acts on one through the Tracer.
//
// # Invariants
//
//   - A definition is compiled when it is made: agent expressions that cannot be decoded are refused there and then.
//   - A frame enters the buffer whole or not at all, in the bytes of the trace file.
//   - What could not be read is not in a frame. Nothing is made up, and no stale byte is shown.
//   - In the steady state a hit allocates nothing.
//
// # Locks
//
// There are two, control before state. Control is held by a session for the whole of a call that changes definitions or the
// run, so that these calls do not overlap; the target may be called while it is held. State guards what hits and sessions
// share: frames, counts, variables. It is held for bounded copies only, never across a call of the target or anything else
// that may wait, but for the Sink. A hit takes it once for each frame, to count the hit and keep the frame. What it goes through
// before, the run and the tracepoints of an address as they were when it began, is read-only and published by atomic pointers
// (view, location.armed), so a hit whose condition is false takes no lock. None is held while memory is read, however long the
// program's end of a connection takes to answer: sessions go on, and a hit whose run has ended meanwhile comes to nothing.
//
// The target's goroutines take state alone, so hits can go on while a session waits for one of them. It follows that they must
// not call what takes control: of the methods here they call those of target.Handler and BreakpointAgent.Hit only, and
// Run.Deposit.
//
// # Trace state variables
//
// Reading one and setting one are atomic. An expression that sets variables is so as a whole with respect to other hits that
// the engine handles, so that none of $n = $n + 1 is lost if several threads are handled at once; a session may see what is
// between two of its instructions. Elsewhere, as at a Collector, only the single accesses are atomic.
package tracepoint

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// DefaultBufferSize is the size of the trace buffer in bytes unless one is set; gdbserver has the same.
const DefaultBufferSize = 5 << 20

// DefaultMaxBuffer is the largest size that SetBufferSize accepts unless Layout says otherwise.
const DefaultMaxBuffer = 1 << 30

// Layout is what an engine must know of its target and its surroundings. It stays the same for the life of the engine.
type Layout struct {
	Order         arch.ByteOrder // of memory, registers and frames
	RegisterBlock int            // length in bytes of an R block: that of the g packet, or less for the registers it begins with
	PCOffset      int            // offset of the pc in the register block
	PCSize        int            // its length in bytes: 4, or 8, or 0 to leave the pc as the snapshot gives it

	MaxBuffer int64 // largest trace buffer in bytes; 0 for DefaultMaxBuffer
	// Memory returns zeroed memory for a trace buffer and what gives it back, which a change of size calls. Nil for Go's, of which
	// large sizes are a burden even where there are few frames: if the system does not promise that much the process ends, and the
	// garbage collector lets as much garbage come together.
	Memory func(size int) (memory []byte, release func(), err error)
	Now    func() time.Time // the clock; nil for time.Now
	// Print receives what printf in an agent expression prints; nil to drop it. It is called in the middle of a hit, by whichever
	// goroutine handles that, and while it waits, so does the program.
	Print func(string)

	// Sink is given each frame, nil for none. SinkOnly keeps frames out of the trace buffer, whose size is then only that of the
	// largest frame that there can be.
	Sink     Sink
	SinkOnly bool
	// Kept tells how many bytes of frames the Sink was given, and how many of those are in a file; nil where there is none. The
	// Collector of the target calls it.
	Kept func() (made, kept int64)
	// Ended is called when a run has ended, in the middle of the hit that ended it or of Stop, so it must neither wait nor call
	// the engine; nil for nobody.
	Ended func()
	// Cancelled is asked while locations are installed, of which there may be tens of thousands, and true once the user wants no run
	// any more: the rest are left out, and whoever has started the run stops it. It is nil for never.
	Cancelled func() bool
	// TrapsOnly has every hit stop a thread, even if the target has a Collector.
	TrapsOnly bool
	// WhenFull says what becomes of hits for whose frames a Collector has no room.
	WhenFull target.WhenFull
	// Prompt has a Collector deposit frames within half a millisecond (target.Run).
	Prompt bool
	// Tolerant has an expression that fails count as an error of its tracepoint (Tally), rather than end the run.
	Tolerant bool
}

// Sink takes frames as they are made.
type Sink interface {
	// Take is given n whole frames, one behind the other and valid until it returns: the one of a hit, or those of a call of
	// Run.Deposit. It is called in the middle of a hit, so it must not call the engine, and while it waits, so do the program and
	// whoever asks the engine. Its error ends the run, and counts hold the frames nevertheless.
	Take(frames []byte, n int) error
}

// Engine is one set of tracepoints and the trace run over them.
type Engine struct {
	layout Layout
	check  tfile.Checker // of deposits

	control sync.Mutex
	open    *definition            // its last packet announced more; guarded by control
	tracer  target.Tracer          // of the present run; guarded by control, as is the next
	pid     int                    // its process
	markers func(arch.Addr) Marker // nil for none; guarded by control
	offered builtins               // those that the Collector was told of; guarded by control
	changes []*location            // prepared at the Collector and not applied; guarded by control

	// alone is held by a hit for what must not be done twice at once: running an expression that sets variables, asking a marker.
	// It comes before state, and nobody but hits waits for it.
	alone sync.Mutex

	view     atomic.Pointer[view] // of the run that is on; nil if there is none, or it has to be made anew
	builtins atomic.Pointer[builtins]
	stepping atomic.Bool            // there are sessions
	spare    atomic.Pointer[worker] // for breakpoints, unless it is at work

	state sync.Mutex // guards all that follows, and changing the view, builtins and stepping

	definitions []*definition // by address, then in order of arrival
	locations   map[arch.Addr]*location
	variables   map[trace.VariableNumber]*variable
	readOnly    []Range

	collector target.Collector     // of the present or last run, nil for none; changed with control held
	store     target.VariableStore // where variables live while a run is on, nil for here
	deposits  hit                  // the one that is being deposited
	printed   []string             // by the hits of the call of Run.Deposit that is on
	deposited []byte               // frames of the call of Run.Deposit that is on, for the Sink; views of what is deposited
	inHand    int                  // how many those are
	phase     phase
	runs      uint64 // runs begun, to tell a frame's run from the present one
	ending    ending // why the last run ended; while running, why this one is about to
	ender     *hit   // the hit that is about to end the run, nil for none
	sessions  []session
	steppings uint64 // begun, to number sessions
	started   uint64 // microseconds of Unix time, 0 for never
	stopped   uint64
	latest    uint64 // last time told in this run
	made      int64  // frames of this run
	limit     int64  // of them, 0 for none

	disconnected          bool
	user, notes, stopNote string

	buffer buffer
}

// A phase is where a run stands.
type phase uint8

const (
	idle     phase = iota
	starting       // locations are being installed; hits do not count yet
	running
)

// New returns an engine without tracepoints, with the default buffer and the built-in variables. It panics if the pc of the
// layout is not within the register block.
func New(layout Layout) *Engine {
	if layout.PCSize > 0 && (layout.PCOffset < 0 || layout.PCOffset+layout.PCSize > layout.RegisterBlock) {
		panic(fmt.Sprintf("tracepoint: pc of %d bytes at %d of a register block of %d",
			layout.PCSize, layout.PCOffset, layout.RegisterBlock))
	}
	if layout.MaxBuffer == 0 {
		layout.MaxBuffer = DefaultMaxBuffer
	}
	if layout.Now == nil {
		layout.Now = time.Now
	}
	e := &Engine{
		layout:    layout,
		check:     tfile.NewChecker(layout.Order, layout.RegisterBlock),
		locations: make(map[arch.Addr]*location),
		ending:    ending{reason: trace.ReasonNotRun},
		buffer:    buffer{order: layout.Order, registers: layout.RegisterBlock, size: DefaultBufferSize},
	}
	e.resetVariables()
	return e
}

// Init is QTinit: it stops a run and forgets the tracepoints, the variables that are not built in, the read-only ranges
// and the frames. Notes and the settings of the buffer stay, and so does the reason of the last stop. The error is the
// target's, about what it could not remove; the engine has forgotten it all the same.
func (e *Engine) Init() error {
	e.control.Lock()
	defer e.control.Unlock()
	err := e.stop(ending{reason: trace.ReasonStop})
	e.open = nil

	e.state.Lock()
	defer e.state.Unlock()
	clear(e.locations)
	e.definitions = nil
	e.readOnly = nil
	e.resetVariables()
	e.buffer.reset()
	e.runs++
	return err
}

// now is the time in microseconds of Unix time. Within a run it does not go back even if the clock does.
func (e *Engine) now() uint64 { return e.nanoseconds() / 1000 }

// nanoseconds is the same in nanoseconds.
func (e *Engine) nanoseconds() uint64 {
	e.latest = max(e.latest, uint64(e.layout.Now().UnixNano()))
	return e.latest
}
