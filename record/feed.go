package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tracewell/symbol"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// Feed tells how things stand. It may be called by any goroutine, and costs the run next to nothing.
func (s *Session) Feed() Feed {
	f := Feed{At: time.Now()}
	s.mu.Lock()
	f.Running, f.Processes = s.running, len(s.processes)
	index := make(map[trace.Number]int)
	for _, t := range s.points {
		index[t.Number] = len(f.Points)
		f.Points = append(f.Points, PointFeed{
			Number: t.Number, At: t.Location.Value, Locations: slices.Clone(t.locations), Pending: t.pending != nil,
		})
	}
	s.mu.Unlock()
	for _, tally := range s.engine.Tallies(nil) {
		if i, ok := index[tally.Key.Number]; ok {
			f.Points[i].add(tally)
		}
	}
	if s.stream != nil {
		f.Frames, f.Bytes, f.Queued, f.Waits = s.stream.counts()
	}
	if s.config.Buffer > 0 {
		st := s.engine.Status()
		f.Frames, f.Bytes = st.Frames, st.Size-st.Free
	}
	return f
}

func (f *PointFeed) add(t tracepoint.Tally) {
	f.Hits += t.Hits
	f.Frames += t.Frames
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
	status, tracepoints := s.fileStatus(), s.engine.Tracepoints()
	s.stream.later(func() error { return s.stream.file.update(status, tracepoints) })
}

// fileStatus is what a file says whose writer is killed: nobody knows why the run has ended.
func (s *Session) fileStatus() trace.Status {
	st := s.engine.Status()
	if st.Running {
		st.Running, st.Reason = false, trace.ReasonUnknown
	}
	return st
}

// Header is what the file begins with, by what has been found so far. Config.Events may call it, too.
func (s *Session) Header() tfile.Header {
	status, tracepoints := s.fileStatus(), s.engine.Tracepoints()
	for i := range tracepoints {
		tracepoints[i].Static = false // GDB makes none of what it reads in a file
	}
	// GDB takes the definitions from the last to the first and numbers them anew.
	slices.SortStableFunc(tracepoints, func(a, b trace.Tracepoint) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(b.Addr, a.Addr))
	})
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
func (s *Session) description() string { return describe(s.target.Description(), s.objects) }

// describe prints a description with comments behind it that say where the files of the traced processes were: nothing else in a
// trace file can tell, and what can be loaded anywhere has no names without.
func describe(t *tdesc.Target, objects []string) string {
	lines := []string{strings.TrimSuffix(string(t.XML()), "\n")}
	for _, o := range objects {
		if o != "" {
			lines = append(lines, o)
		}
	}
	return strings.Join(lines, "\n")
}

// noteObject keeps where a file was loaded.
func (s *Session) noteObject(o *symbol.Object) {
	if line := objectComment(o); !slices.Contains(s.objects, line) {
		s.objects = append(s.objects, line)
	}
}

// objectComment says where a file was loaded; empty if a comment cannot say it.
func objectComment(o *symbol.Object) string {
	line := fmt.Sprintf("<!-- object %s %s -->", o.Bias(), o.Path())
	if len(line) > tfile.MaxLine-len("tdesc ") || strings.Contains(o.Path(), "--") || strings.ContainsAny(o.Path(), "\n\x00") {
		return ""
	}
	return line
}

// same reports whether two definitions trace the same.
func same(a, b *trace.Tracepoint) bool { return slices.Equal(a.Pieces(), b.Pieces()) }
