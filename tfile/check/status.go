package check

import (
	"errors"
	"regexp"

	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/trace"
)

// withoutText finds a reason that has to have a text and has none, as in "terror:2".
var withoutText = regexp.MustCompile(`;(tstop|terror):[^:;]*(;|$)`)

// GDB 13.1 expects tstop and terror to have two fields, the text and a number, since these are the reasons that a stub
// may explain. It looks for the colon between them, and with terror uses what it has not found.
func (c *checker) statusLine(l line) {
	c.repeated(l)
	switch m := withoutText.FindStringSubmatch(l.rest); {
	case m == nil:
	case m[1] == string(trace.ReasonError):
		c.add(ruleErrorText, l.Offset, "the reason terror comes without its text")
	default:
		c.add(ruleStopText, l.Offset, "the reason tstop comes without its text")
	}
}

// status compares the status with what there is, once the frames are known.
func (c *checker) status() {
	st, frames := c.header.Status, int64(c.file.NumFrames())
	at, told := c.last["status"]
	switch {
	case !told:
		if frames > 0 {
			c.add(ruleNoStatus, c.file.DefinitionsEnd(), "no status line, but %s", text.Plural(frames, "frame"))
		}
		return
	case st == nil:
		return // it cannot be read, which has been told
	// -1 is a status without tframes.
	case st.Frames <= 0 && frames > 0:
		c.add(ruleNoFramesTold, at, "the status tells of no frames, but there are %d", frames)
	case st.Frames >= 0 && st.Frames != frames:
		c.add(ruleFrameCount, at, "the status tells of %s, but there are %d", text.Plural(st.Frames, "frame"), frames)
	}
	switch {
	case st.Created >= 0 && st.Created < st.Frames:
		c.add(ruleContradiction, at, "%s of %d ever created", text.Plural(st.Frames, "frame"), st.Created)
	case st.Free >= 0 && st.Size >= 0 && st.Free > st.Size:
		c.add(ruleContradiction, at, "%d bytes are free in a trace buffer of %d", st.Free, st.Size)
	// Times are microseconds since 1970 by gdbserver and GDB; a stub may leave them out, which is 0.
	case st.StopTime != 0 && st.StopTime < st.StartTime:
		c.add(ruleContradiction, at, "the run has stopped before it was started")
	}
	if st.Running {
		c.add(ruleRunning, at, "the status says that the run is still on")
	}
	// Only tpasscount and terror have a tracepoint.
	if st.Tracepoint > 0 && c.tracepoints[st.Tracepoint] == nil {
		c.add(ruleStopper, at, "tracepoint %d, which has stopped the run, is not defined", st.Tracepoint)
	}
}

// ending checks how the frames end. What kept the file from being read to its end becomes a finding.
func (c *checker) ending(opened error) {
	var format *tfile.FormatError
	if errors.As(opened, &format) {
		// What is wrong ahead of the frames leaves no place from which they could be read.
		rule := ruleTruncated
		if format.Kind == tfile.ErrTooLong || format.Offset <= c.file.DefinitionsEnd() {
			rule = ruleDefinitionsEnd
		}
		c.truncated = rule == ruleTruncated
		c.outside(rule, format.Offset, "%v: found %s, expected %s", format.Kind, format.Found, format.Expected)
		return
	}
	// The marker is a tracepoint number 0 in two bytes; GDB writes two more.
	if marker := c.file.EndMarker(); marker > 0 && marker < 4 {
		c.outside(ruleEndMarker, c.file.End()-int64(marker), "an end marker of %d bytes", marker)
	}
}

// framesEnd is the offset behind the last frame, or behind what was lost there.
func (c *checker) framesEnd() int64 {
	end := c.file.DefinitionsEnd() + 1 // the empty line
	if n := c.file.NumFrames(); n > 0 {
		if last, err := c.file.Frame(n - 1); err == nil {
			end = last.Offset() + int64(len(last.Bytes()))
		}
	}
	// Recovery skips bytes between frames; what it skipped last may reach to the end.
	if lost := c.file.Lost(); len(lost) > 0 {
		end = max(end, lost[len(lost)-1].Offset+lost[len(lost)-1].Length)
	}
	return end
}
