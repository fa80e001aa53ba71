package printing

import (
	"fmt"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/trace"
	"tracewell/view"
)

// WriteStatus prints how a run stands, nil being a file that does not tell. The source is the status line of a trace file or the
// reply to qTStatus, in which every item is optional: a count that is not told is -1, a time 0, a text empty, and its line is
// left out. A file that was saved during a run says "running" for ever.
func WriteStatus(out *console.Output, status *trace.Status) {
	fmt.Fprintln(out, "\n"+out.Style.Heading("Trace run"))
	if status == nil {
		fmt.Fprintln(out, "not told")
		return
	}
	console.Entry(out, "state", "%s", view.StateText(status))
	// Counts that are not told are negative; 0 is a count.
	if status.Frames >= 0 {
		console.Entry(out, "frames", "%s", framesText(status))
	}
	if status.Free >= 0 && status.Size >= 0 {
		console.Entry(out, "trace buffer", "%s", bufferText(status))
	}
	// GDB's "set disconnected-tracing on". Otherwise the target stops the run when its connection ends.
	if status.Disconnected {
		console.Entry(out, "disconnected", "the run goes on when GDB leaves")
	}
	if status.StartTime != 0 {
		console.Entry(out, "started", "%s", timeText(status.StartTime))
	}
	if status.StopTime != 0 {
		console.Entry(out, "stopped", "%s%s", timeText(status.StopTime), afterText(status))
	}
	if status.User != "" {
		console.Entry(out, "user", "%s", text.Visible(status.User))
	}
	if status.Notes != "" {
		console.Entry(out, "notes", "%s", text.Visible(status.Notes))
	}
}

// framesText gives the frames that are in the buffer, and how many were made if that is not the same: a circular buffer drops the
// oldest.
func framesText(s *trace.Status) string {
	words := fmt.Sprint(s.Frames)
	if s.Created >= 0 && s.Created != s.Frames {
		words += fmt.Sprintf(" of %d made", s.Created)
	}
	return words
}

// bufferText gives the size of the trace buffer in bytes; of an empty one no share can be computed.
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

// timeText gives a time in microseconds: a date, or seconds as GDB prints them. The date is in UTC, unlike the times of frames:
// it says when a file was made, to people who may be elsewhere.
func timeText(microseconds uint64) string {
	if IsUnixTime(int64(microseconds)) {
		return time.UnixMicro(int64(microseconds)).UTC().Format("2006-01-02 15:04:05.000000 UTC")
	}
	return Seconds(microseconds)
}

// Seconds are a time in microseconds as GDB prints it.
func Seconds(microseconds uint64) string {
	return fmt.Sprintf("%d.%06d secs", microseconds/1e6, microseconds%1e6)
}

// afterText says how long a run took, in the words of GDB's tstatus. Nothing is said if one of the times is missing, or if they
// are in the wrong order, as after the clock was set.
func afterText(s *trace.Status) string {
	if s.StartTime == 0 || s.StopTime < s.StartTime {
		return ""
	}
	return ", " + Seconds(s.StopTime-s.StartTime) + " later"
}
