package wire

import (
	"tracewell/symbol"
	"tracewell/trace"
)

// The object that "record --json" ends with. Programs rely on these names and their meaning; fields may be added.
type (
	// Run is how a run went.
	Run struct {
		File        string   `json:"file"` // empty for none
		End         RunEnd   `json:"end"`
		Frames      int64    `json:"frames"`  // in the file
		Bytes       int64    `json:"bytes"`   // of frames
		Seconds     float64  `json:"seconds"` // of real time
		Waits       int64    `json:"waits"`   // hits that had to wait for the file
		Lost        int64    `json:"lost"`    // frames that were dropped for want of room (--when-full=drop)
		Program     *Program `json:"program"` // what became of it, of several the first
		Tracepoints []Point  `json:"tracepoints"`
	}
	// Program is what became of the program.
	Program struct {
		PID    int    `json:"pid"`              // process ID
		Status *int   `json:"status"`           // null if it did not exit, or nobody knows
		Signal string `json:"signal,omitempty"` // that killed it, in words; absent otherwise
	}
	// Point is a tracepoint of the run with its counts.
	Point struct {
		Number    trace.Number `json:"number"`  // GDB's number of it
		At        string       `json:"at"`      // as its user set it
		Pending   bool         `json:"pending"` // no file of the program had it
		Locations []Location   `json:"locations"`
		Hits      uint64       `json:"hits"`                // of all locations
		Frames    uint64       `json:"frames"`              // that they made
		Bytes     uint64       `json:"bytes"`               // of these
		Errors    uint64       `json:"errors"`              // of collecting: hits that lack something
		LastError string       `json:"lastError,omitempty"` // absent without one
	}
)

// RunEnd is why a run ended.
type RunEnd string

// The ends of runs.
const (
	ProgramEnded RunEnd = "program-ended"
	Interrupted  RunEnd = "interrupted" // by the user
	TimeUp       RunEnd = "duration"    // as long as --duration
	EnoughFrames RunEnd = "frames"      // as many as --frames
	BufferFull   RunEnd = "buffer-full" // that of --buffer
	PassCount    RunEnd = "pass-count"  // of a tracepoint
	RunFailed    RunEnd = "failed"
)

// The object of "record --dry-run --json".
type (
	// Rehearsal is what a run would define.
	Rehearsal struct {
		RegisterBlockSize int              `json:"registerBlockSize"` // bytes
		Tracepoints       []RehearsedPoint `json:"tracepoints"`
		Variables         []Variable       `json:"variables"`
	}
	// RehearsedPoint is a tracepoint that the run would set.
	RehearsedPoint struct {
		Number    trace.Number `json:"number"`            // GDB's number of it
		At        string       `json:"at"`                // as its user set it
		Pending   string       `json:"pending,omitempty"` // why there are no locations yet; absent if there are
		Locations []Location   `json:"locations"`
		Defined   []Definition `json:"definitions"`
	}
	// Definition is its definition at one location.
	Definition struct {
		Tracepoint
		FrameSize *uint64 `json:"frameSize"` // bytes at most; null if that is not known
	}
)

// Location is a place that a tracepoint was set at.
type Location struct {
	Address  string `json:"address"`
	Function string `json:"function,omitempty"` // absent without a symbol
	Offset   uint64 `json:"offset,omitempty"`   // bytes from the start of the function; absent if 0
	File     string `json:"file,omitempty"`     // absent without debugging information
	Line     int    `json:"line,omitempty"`     // likewise
	Inlined  bool   `json:"inlined,omitempty"`  // in an inlined copy
	Resolver bool   `json:"resolver,omitempty"` // of an indirect function (IFUNC)
	Probe    string `json:"probe,omitempty"`    // PROVIDER:NAME; absent elsewhere
}

// DescribeLocation describes a location; addresses are those of the running program.
func DescribeLocation(l symbol.Location) Location {
	object := Location{l.Addr.String(), l.Function, l.Offset, l.File, l.Line, l.Inlined, l.Resolver, ""}
	if l.Probe != nil {
		object.Probe = l.Probe.Provider + ":" + l.Probe.Name
	}
	return object
}

// DescribeLocations describes several, and has an empty list for none.
func DescribeLocations(locations []symbol.Location) []Location {
	objects := []Location{}
	for _, l := range locations {
		objects = append(objects, DescribeLocation(l))
	}
	return objects
}
