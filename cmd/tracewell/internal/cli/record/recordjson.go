package record

import (
	"syscall"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/jsontext"
	"tracewell/record"
	"tracewell/trace"
)

// The object that "record --json" ends with. Programs rely on these names and their meaning; fields may be added.
type (
	runObject struct {
		File        string         `json:"file"`
		End         string         `json:"end"`
		Frames      int64          `json:"frames"`
		Bytes       int64          `json:"bytes"`
		Seconds     float64        `json:"seconds"`
		Waits       int64          `json:"waits"` // hits that had to wait for the file
		Program     *programObject `json:"program"`
		Tracepoints []pointObject  `json:"tracepoints"`
	}
	programObject struct {
		PID    int    `json:"pid"`
		Status *int   `json:"status"` // null if it did not exit, or nobody knows
		Signal string `json:"signal,omitempty"`
	}
	pointObject struct {
		Number    trace.Number     `json:"number"`
		At        string           `json:"at"`
		Pending   bool             `json:"pending"`
		Locations []locationObject `json:"locations"`
		Hits      uint64           `json:"hits"`
		Frames    uint64           `json:"frames"`
		Bytes     uint64           `json:"bytes"`
		Errors    uint64           `json:"errors"`
		LastError string           `json:"lastError,omitempty"`
	}
)

// endNames are the ends of runs in JSON.
var endNames = map[record.End]string{
	record.ProgramEnded: "program-ended", record.Cancelled: "interrupted", record.TimeUp: "duration", record.EnoughFrames: "frames",
	record.BufferFull: "buffer-full", record.PassCount: "pass-count", record.Failed: "failed",
}

func writeRunJSON(out *console.Output, r *recordRun, result record.Result, took time.Duration) error {
	feed := result.Feed
	object := runObject{
		File: r.config.Output, End: endNames[result.End], Frames: feed.Frames, Bytes: feed.Bytes, Seconds: took.Seconds(),
		Waits: feed.Waits, Program: &programObject{PID: r.pid}, Tracepoints: []pointObject{},
	}
	switch {
	case result.Signal != 0:
		object.Program.Signal = syscall.Signal(result.Signal).String()
	case result.ProgramEnded:
		object.Program.Status = &result.Code
	}
	for _, p := range feed.Points {
		object.Tracepoints = append(object.Tracepoints, pointObject{
			p.Number, p.At, p.Pending, describeLocations(p.Locations), p.Hits, p.Frames, p.Bytes, p.Errors, p.LastError,
		})
	}
	return jsontext.Write(out, object, "")
}
