package tracepoint

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// Status tells how the run stands. While one is on there is no reason for a stop and no time of it, unlike gdbserver, which
// goes on to report those of the run before.
func (e *Engine) Status() trace.Status {
	ahead := e.ahead()
	e.state.Lock()
	defer e.state.Unlock()
	s := trace.Status{
		Running:      e.phase == running,
		Frames:       int64(e.buffer.count()),
		Created:      int64(e.buffer.next),
		Free:         int64(e.buffer.size - e.buffer.used),
		Size:         int64(e.buffer.size),
		Circular:     e.buffer.circular,
		Disconnected: e.disconnected,
		StartTime:    e.started,
		User:         e.user,
		Notes:        e.notes,
	}
	if e.layout.SinkOnly {
		s.Frames, s.Created, s.Free, s.Size = e.made, e.made, -1, -1
	}
	if s.Running {
		e.expect(&s, ahead)
		return s
	}
	s.Reason = e.ending.reason
	s.Tracepoint = e.ending.tracepoint
	s.Description = e.ending.text
	if s.Reason == trace.ReasonStop {
		s.Description = e.stopNote
	}
	s.StopTime = e.stopped
	return s
}

// expect counts the frames that are on their way from a Collector as made. How many of them a circular buffer will hold is not
// known before they are there.
func (e *Engine) expect(s *trace.Status, ahead map[trace.Key]target.Tally) {
	for _, t := range ahead {
		frames := int64(t.Frames)
		s.Created += frames
		if !e.buffer.circular {
			s.Frames += frames
		}
		if !e.buffer.circular && s.Free >= 0 {
			s.Free = max(s.Free-int64(t.Usage)-frames*tfile.FrameHeader, 0)
		}
	}
}

// SetUser keeps who runs the trace, as the user put it.
func (e *Engine) SetUser(user string) {
	e.state.Lock()
	defer e.state.Unlock()
	e.user = user
}

// SetNotes keeps the user's remarks on the run.
func (e *Engine) SetNotes(notes string) {
	e.state.Lock()
	defer e.state.Unlock()
	e.notes = notes
}

// SetStopNote keeps why the user stopped the run, which the status gives for a run that ended by Stop. GDB sends it after
// QTStop. The next Start forgets it.
func (e *Engine) SetStopNote(note string) {
	e.state.Lock()
	defer e.state.Unlock()
	e.stopNote = note
}

// SetDisconnected says whether a run is to go on when the session ends. The engine only keeps and reports it.
func (e *Engine) SetDisconnected(on bool) {
	e.state.Lock()
	defer e.state.Unlock()
	e.disconnected = on
}

// SetCircular says whether a full buffer drops its oldest frames. It takes effect at once, also during a run.
func (e *Engine) SetCircular(on bool) {
	e.state.Lock()
	defer e.state.Unlock()
	e.buffer.circular = on
}

// SetFrameLimit has a run end when it has made n frames, 0 for no limit.
func (e *Engine) SetFrameLimit(n int64) {
	e.state.Lock()
	defer e.state.Unlock()
	e.limit = n
}

// SetBufferSize gives the trace buffer another size in bytes, -1 for the default, and drops all frames.
func (e *Engine) SetBufferSize(size int64) error {
	e.control.Lock()
	defer e.control.Unlock()
	if size == -1 {
		size = DefaultBufferSize
	}
	if size < 0 || size > e.layout.MaxBuffer {
		return fmt.Errorf("trace buffer size %d is not from 0 to %d bytes", size, e.layout.MaxBuffer)
	}
	e.state.Lock()
	defer e.state.Unlock()
	if e.phase != idle {
		return errors.New("the size of the trace buffer cannot change during a trace run")
	}
	e.buffer.resize(int(size))
	e.runs++
	return nil
}

// Range is the addresses from Start up to but not including End.
type Range struct{ Start, End arch.Addr }

// SetReadOnly replaces the ranges of memory that never change, so that what they hold now is also what they held at any
// frame (QTro).
func (e *Engine) SetReadOnly(ranges []Range) {
	e.state.Lock()
	defer e.state.Unlock()
	e.readOnly = slices.Clone(ranges)
}

// ReadOnly reports whether the size bytes at addr lie in one read-only range. It is false for no bytes.
func (e *Engine) ReadOnly(addr arch.Addr, size uint64) bool {
	e.state.Lock()
	defer e.state.Unlock()
	for _, r := range e.readOnly {
		if r.Start <= addr && addr < r.End && size-1 < uint64(r.End-addr) {
			return true
		}
	}
	return false
}
