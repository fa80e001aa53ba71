package target

import (
	"io"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// TraceRun is a trace run that is over for good, such as one in a file: clients look at it as at a run of their own, and change
// nothing. A target that has one has no Tracer. The methods are those of an engine, but for the errors of reading
// frames from wherever they are.
type TraceRun interface {
	Status() trace.Status
	Tracepoints() []trace.Tracepoint
	// Hits returns the counts of a tracepoint, false if there is none.
	Hits(key trace.Key) (hits, usage uint64, ok bool)
	Variables() []trace.Variable
	// Frame returns frame n, counted from 0; false if there is none.
	Frame(n int) (f Traceframe, ok bool, err error)
	// Find returns the number of the first frame from number from on that a query describes; false if there is none.
	Find(q tfile.Query, from int) (n int, ok bool, err error)
	// ReadBuffer copies from the frames as one stream of bytes, as qTBuffer serves it. It returns how much of dst it filled, and
	// io.EOF if offset is the length of the stream.
	ReadBuffer(offset int64, dst []byte) (int, error)
	// Save writes the run as a trace file, with the description of the target's registers.
	Save(w io.Writer, description string) error
}

// Traceframe is a copy of one traceframe, with what is known of it besides.
type Traceframe struct {
	tfile.Frame
	Number int // among the frames that the run held when the copy was made
	// PC is where the thread was and Stepped whether a while-stepping made the frame. A trace file cannot say either for a
	// frame without registers; a trace buffer knows both for all, so that nothing has to be guessed from the tracepoint's
	// address.
	PC      arch.Addr
	Stepped bool
	// Unplaced says that nobody knows the pc, which happens to frames without registers that come from elsewhere.
	Unplaced bool
}

// Availability is a target that does not know the values of all registers, such as a recorded one. Those that it does not know
// are zero in ReadRegisters, and GDB shows them as <unavailable>.
type Availability interface {
	// AvailableRegisters fills available, which is as long as a register block, with whether each byte of the block is known.
	AvailableRegisters(id ThreadID, available []bool) error
}
