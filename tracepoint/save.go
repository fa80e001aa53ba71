package tracepoint

import (
	"cmp"
	"io"
	"slices"

	"tracewell/tfile"
	"tracewell/trace"
)

// Save writes all that the engine holds as a trace file: definitions with their counts, variables, status, and the frames
// that are in the buffer when it is called, without static trace data. The description is the target's, as XML with lines
// that a trace file can take (tdesc.Target.XML), or empty. A definition that no line of a trace file can carry is a
// *tfile.LineError; nothing has been written then. Hits go on meanwhile.
func (e *Engine) Save(w io.Writer, description string) error {
	file, err := tfile.NewWriter(w, e.header(description))
	if err != nil {
		return err
	}
	for frame := range e.Frames() {
		if err := file.WriteFrame(withoutStatic(frame.Frame, e.layout.Order)); err != nil {
			return err
		}
	}
	return file.Close()
}

// header is the definitions, variables and status of a trace file.
func (e *Engine) header(description string) tfile.Header {
	status := e.Status()
	tracepoints := e.Tracepoints()
	// In a file there are no markers, and so GDB cannot make a static tracepoint of one that it reads; its own files do not
	// tell.
	for i := range tracepoints {
		tracepoints[i].Static = false
	}
	// GDB 13.1 takes the definitions from the last to the first and numbers them anew.
	slices.SortStableFunc(tracepoints, func(a, b trace.Tracepoint) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(b.Addr, a.Addr))
	})
	return tfile.Header{
		Order:        e.layout.Order,
		RegisterSize: e.layout.RegisterBlock,
		Status:       &status,
		Variables:    e.Variables(),
		Tracepoints:  tracepoints,
		Description:  description,
	}
}
