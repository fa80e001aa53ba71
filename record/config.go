package record

import (
	"time"

	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// Config says what is traced, and where it goes.
type Config struct {
	Plan   *plan.Plan
	Follow bool // also children, made by fork or vfork, and whatever they execute
	// NotPending has a location that the program and its libraries lack when the run begins be an error; otherwise libraries that
	// are loaded later are searched for it.
	NotPending bool

	// Changes says that Session.Change will be called: there is room in frames for all registers in which compilers keep
	// variables, whatever the plan takes, and the plan may be empty.
	Changes bool

	Output string // path of the trace file; "" for none, if there is no Buffer either
	// Buffer is the size in bytes of a buffer in memory, from which the file is made when the run has ended; 0 has frames
	// written as they come. Circular has a full buffer drop its oldest frames rather than end the run.
	Buffer   int64
	Circular bool

	MaxFrames int64         // frames after which the run ends; 0 for no limit
	Duration  time.Duration // time after which it ends; 0 for no limit

	TrapsOnly bool            // each hit stops the thread, also where a pad could collect
	WhenFull  target.WhenFull // what becomes of hits when nobody takes the frames

	User, Notes string // for the file's status
	Symbols     symbol.Options

	// Frames is called with each frame, in their order, from a goroutine of the Session's own and after the frame is in the
	// file or the buffer; nil for nobody. The view is valid until it returns. While it works frames queue up as they do for
	// the file.
	Frames func(Frame)
	// Shown is called, likewise, whenever Frames has been called with all that there are. Then each frame is there within a
	// millisecond of its hit, if the machine has a processor to spare; nil if nobody waits for them.
	Shown func()
	// Sync has the thread of a hit wait until Frames and Shown have returned. Every hit stops its thread.
	Sync bool
	// Events is called for what happens to processes and tracepoints, from a goroutine of the Session's own; nil for nobody.
	Events func(Event)
}

// Frame is one frame as it came.
type Frame struct {
	tfile.Frame
	Index int64 // from 0, among all of the run
}

// Repeat is a frame that was repeated: hits that were counted in place of a frame for each.
type Repeat struct {
	tfile.Frame
	Times uint64
}

// EventKind says what an Event is about.
type EventKind uint8

// The kinds of events.
const (
	Started   EventKind = iota // the program was launched: PID, Path
	Attached                   // PID, Path
	Forked                     // a child is traced, too: PID
	Execed                     // PID runs another program: Path
	Exited                     // PID: Code
	Killed                     // PID: Signal
	Armed                      // tracepoints of Point were set at Locations of a library, or of another program
	Suspended                  // PID, which was launched, has been stopped by Signal, with all its threads, until SIGCONT
	Waiting                    // no process called Path runs yet; the run begins with the first
	Warning                    // something could not be done as asked, and the run goes on without: Err
)

// Event is something that happened during a run.
type Event struct {
	Kind      EventKind
	PID       int
	Path      string
	Code      int
	Signal    int // the kernel's number
	Point     trace.Number
	Locations []symbol.Location
	Err       error
}

// End says why a run ended.
type End uint8

// The ends of runs.
const (
	ProgramEnded End = iota // all processes under trace have
	Cancelled               // the context of Run was
	TimeUp                  // Config.Duration
	EnoughFrames            // Config.MaxFrames
	BufferFull              // Config.Buffer
	PassCount               // a tracepoint's: Result.Status names it
	Left                    // Session.Leave was called
	Failed                  // the file cannot be written, or the like: the error of Run
)

// Result is how a run went.
type Result struct {
	End    End
	Status trace.Status
	Feed   Feed // the last one
	// Unread says that Config.Frames was called for a frame and has not returned: who takes them stands still.
	Unread bool

	// ProgramEnded is set if the program ended while it was under trace, or, if it was launched, while Run waited for it. A
	// signal killed it unless Signal is 0.
	ProgramEnded bool
	Code         int
	Signal       int // the kernel's number
}

// Feed is how things stand during a run.
type Feed struct {
	At        time.Time
	Running   bool
	Processes int   // under trace
	Frames    int64 // in the file, or the buffer
	Bytes     int64 // of them
	Queued    int64 // bytes that are still to be written
	Waits     int64 // hits that had to wait for the file
	Lost      int64 // frames that were dropped for want of room
	Points    []PointFeed
}

// PointFeed is how a tracepoint does, at all its locations.
type PointFeed struct {
	Number    trace.Number
	At        string // the location as the plan has it
	Locations []symbol.Location
	Pending   bool // not found yet
	Hits      uint64
	Frames    uint64
	Bytes     uint64
	Errors    uint64 // expressions that failed
	LastError string // of them
}

// Point is a tracepoint of the plan with what it came to.
type Point struct {
	Number    trace.Number
	At        string // the location as the plan has it
	Locations []symbol.Location
	Pending   error // why there are no locations yet, nil if there are
}
