package record

import (
	"slices"
	"time"

	"tracewell/record/output"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// Feed tells how things stand. It may be called by any goroutine, and costs the run next to nothing.
func (s *Session) Feed() Feed {
	f := Feed{At: time.Now()}
	s.mu.Lock()
	f.Running, f.Processes = s.running, len(s.processes)
	// A tracepoint of the plan may have several locations, each of which the engine counts by itself.
	index := make(map[trace.Number]int)
	for _, t := range s.finder.Points {
		index[t.Number] = len(f.Points)
		f.Points = append(f.Points, PointFeed{
			Number: t.Number, At: t.Location.Value, Locations: slices.Clone(t.Locations), Pending: t.Pending != nil,
		})
	}
	for number, times := range s.repeated {
		f.Points[index[number]].Hits += times
	}
	s.mu.Unlock()
	for _, tally := range s.engine.Tallies(nil) {
		f.Lost += tally.Lost
		if i, ok := index[tally.Key.Number]; ok {
			f.Points[i].add(tally)
		}
	}
	if s.stream != nil {
		var lost int64
		f.Frames, f.Bytes, f.Queued, f.Waits, lost = s.stream.counts()
		f.Lost += lost
	}
	if s.config.Buffer > 0 {
		st := s.engine.Status()
		f.Frames, f.Bytes = st.Frames, st.Size-st.Free
	}
	return f
}

// Repeats returns the frames that were repeated since the last call, of tracepoints whose plan has Repeats. The last of them are
// there when Run has returned. Config.Frames must not wait for it, as it waits for hits that wait for Frames.
func (s *Session) Repeats() []Repeat {
	s.gatherRepeats()
	s.mu.Lock()
	defer s.mu.Unlock()
	repeats := s.repeats
	s.repeats = nil
	return repeats
}

// gatherRepeats takes over what the Collector has counted.
func (s *Session) gatherRepeats() {
	counter, ok := s.tracer.Collector().(target.Repeater)
	if !ok {
		return
	}
	counted := counter.Repeats(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range counted {
		if f, err := tfile.ParseFrame(r.Frame, s.target.ISA().Order, s.registers); err == nil {
			s.repeats = append(s.repeats, Repeat{f, r.Times})
			s.repeated[r.Key.Number] += r.Times
		}
	}
}

func (f *PointFeed) add(t tracepoint.Tally) {
	f.Hits += t.Hits
	f.Frames += t.Frames
	// Usage is the data of frames; a file has a header of six bytes in front of each.
	f.Bytes += t.Usage + t.Frames*tfile.FrameHeader
	f.Errors += t.Errors
	if t.LastError != nil {
		f.LastError = t.LastError.Error()
	}
}

// refresh has the counts in the file brought up to date.
func (s *Session) refresh() {
	if s.stream == nil || s.stream.file == nil {
		return
	}
	status, tracepoints := s.fileStatus(), s.tracepoints()
	// The stream's goroutine alone writes the file.
	s.stream.later(func() error { return s.stream.file.Update(status, tracepoints) })
}

// fileStatus is what a file says whose writer is killed: nobody knows why the run has ended.
func (s *Session) fileStatus() trace.Status {
	st := s.engine.Status()
	if st.Running {
		// GDB shows no frames of a file whose run is still on.
		st.Running, st.Reason = false, trace.ReasonUnknown
	}
	return st
}

// tracepoints are the engine's, of which those whose code is not there at the moment are not disabled for whoever reads the file.
func (s *Session) tracepoints() []trace.Tracepoint {
	list := s.engine.Tracepoints()
	for i := range list {
		list[i].Enabled = list[i].Enabled || s.away[list[i].Key()]
	}
	return list
}

// Header is what the file begins with, by what has been found so far. Config.Events may call it, too.
func (s *Session) Header() tfile.Header {
	status, tracepoints := s.fileStatus(), s.tracepoints()
	for i := range tracepoints {
		tracepoints[i].Static = false // GDB makes none of what it reads in a file
	}
	output.Arrange(tracepoints)
	return tfile.Header{
		Order:        s.target.ISA().Order,
		RegisterSize: s.registers,
		Status:       &status,
		Variables:    s.engine.Variables(),
		Tracepoints:  tracepoints,
		Description:  s.description(),
	}
}

// description is the target's, with what is known of files.
func (s *Session) description() string {
	var lines []string
	for _, o := range s.objects {
		loaded := tfile.Object{Path: s.host.Origin(o.Path()), Bias: o.Bias()}
		if _, any := o.File().ThreadLocal(); any {
			// Where the object's thread-local variables lie below the thread pointer is not in the file of the object.
			loaded.Below, _ = s.threadLocals(o)
		}
		if line := loaded.Comment(); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return output.Describe(s.target.Description(), lines)
}

// same reports whether two definitions trace the same.
func same(a, b *trace.Tracepoint) bool { return slices.Equal(a.Pieces(), b.Pieces()) }
