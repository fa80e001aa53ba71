package cli

import (
	"fmt"
	"time"

	"tracewell/internal/text"
	"tracewell/trace"
)

// reasons says why a run is not on.
var reasons = map[trace.StopReason]string{
	trace.ReasonUnknown:      "stopped for an unknown reason",
	trace.ReasonNotRun:       "no run yet",
	trace.ReasonStop:         "stopped by tstop",
	trace.ReasonFull:         "stopped because the trace buffer was full",
	trace.ReasonDisconnected: "stopped because GDB left",
	trace.ReasonPassCount:    "stopped by the pass count of tracepoint %d",
	trace.ReasonError:        "stopped by an error at tracepoint %d",
}

// stateText says how a run stands and what ended it.
func stateText(s *trace.Status) string {
	if s.Running {
		return "running"
	}
	words := reasons[s.Reason]
	switch s.Reason {
	case "":
		words = "not running"
	case trace.ReasonPassCount, trace.ReasonError:
		words = fmt.Sprintf(words, s.Tracepoint)
	}
	if s.Description != "" {
		words += ": " + text.Visible(s.Description)
	}
	return words
}

func framesText(s *trace.Status) string {
	words := fmt.Sprint(s.Frames)
	if s.Created >= 0 && s.Created != s.Frames {
		words += fmt.Sprintf(" of %d made", s.Created)
	}
	return words
}

func bufferText(s *trace.Status) string {
	words := fmt.Sprintf("%d of %d bytes free", s.Free, s.Size)
	if s.Size > 0 {
		words += fmt.Sprintf(" (%d%% full)", (s.Size-s.Free)*100/s.Size)
	}
	if s.Circular {
		words += ", circular"
	}
	return words
}

// timeText gives a time in microseconds: a date, or seconds as GDB prints them.
func timeText(microseconds uint64) string {
	if isUnixTime(int64(microseconds)) {
		return time.UnixMicro(int64(microseconds)).UTC().Format("2006-01-02 15:04:05.000000 UTC")
	}
	return seconds(microseconds)
}

func seconds(microseconds uint64) string {
	return fmt.Sprintf("%d.%06d secs", microseconds/1e6, microseconds%1e6)
}

// afterText says how long a run took.
func afterText(s *trace.Status) string {
	if s.StartTime == 0 || s.StopTime < s.StartTime {
		return ""
	}
	return ", " + seconds(s.StopTime-s.StartTime) + " later"
}
