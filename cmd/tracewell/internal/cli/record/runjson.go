package record

import (
	"syscall"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/jsontext"
	"tracewell/record"
	"tracewell/view/wire"
)

// runEnds are the ends of runs in JSON.
var runEnds = map[record.End]wire.RunEnd{
	record.ProgramEnded: wire.ProgramEnded, record.Cancelled: wire.Interrupted, record.TimeUp: wire.TimeUp,
	record.EnoughFrames: wire.EnoughFrames, record.BufferFull: wire.BufferFull, record.PassCount: wire.PassCount,
	record.Failed: wire.RunFailed,
}

// writeRunJSON prints the result of a run (wire.Run) as one line. The program has either a signal or an exit status, or neither
// while it continues; the name of the signal is Go's, as in "segmentation fault".
func writeRunJSON(out *console.Output, r *recordRun, result record.Result, took time.Duration) error {
	feed := result.Feed
	object := wire.Run{
		File: r.config.Output, End: runEnds[result.End], Frames: feed.Frames, Bytes: feed.Bytes, Seconds: took.Seconds(),
		Waits: feed.Waits, Lost: feed.Lost, Program: &wire.Program{PID: r.pid}, Tracepoints: []wire.Point{},
	}
	// A program that goes on when the run ends has neither; then the status is null, rather than 0, which would be success.
	switch {
	case result.Signal != 0:
		object.Program.Signal = syscall.Signal(result.Signal).String()
	case result.ProgramEnded:
		object.Program.Status = &result.Code
	}
	for _, p := range feed.Points {
		object.Tracepoints = append(object.Tracepoints, wire.Point{
			Number: p.Number, At: p.At, Pending: p.Pending, Locations: wire.DescribeLocations(p.Locations),
			Hits: p.Hits, Frames: p.Frames, Bytes: p.Bytes, Errors: p.Errors, LastError: p.LastError,
		})
	}
	return jsontext.Write(out, object, "")
}
