package tfiletest

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/tfile"
	"tracewell/trace"
)

// TestRecorded opens the files that tfile keeps of earlier sessions. GDB has no program to go with them, so it shows nothing
// but what the frames hold.
func TestRecorded(t *testing.T) {
	for name, frames := range map[string]int{"queue-basic.tf": 85, "queue-pie.tf": 85} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, filepath.Join(testdata, name))
			if f.NumFrames() != frames {
				t.Fatalf("%d frames, not %d", f.NumFrames(), frames)
			}
			var out bytes.Buffer
			if err := tfile.Write(&out, sourceless{f}); err != nil {
				t.Fatal(err)
			}
			const every = 12 // frames; GDB takes its time
			path := save(t, out.Bytes())
			output := gdbtest.Run(t, "", openScript(path, frames, every))
			compareFile(t, f, output, every)
			compareShown(t, path, output, every)
		})
	}
}

// sourceless is a file whose tracepoints are at their addresses and not at lines of a source: without the program GDB cannot
// place those, and then knows no tracepoint to go with a frame.
type sourceless struct{ *tfile.File }

// Header is the file's but for the tracepoints.
func (s sourceless) Header() tfile.Header {
	h := s.File.Header()
	h.Tracepoints = slices.Clone(h.Tracepoints)
	for i := range h.Tracepoints {
		h.Tracepoints[i].Source = trace.Source{}
		h.Tracepoints[i].Source.At = "*" + h.Tracepoints[i].Addr.String()
	}
	return h
}
