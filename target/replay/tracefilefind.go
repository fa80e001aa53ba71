package replay

import (
	"tracewell/arch"
	"tracewell/tfile"
)

// noPlace stands for the pc of a frame of which nobody knows it.
const noPlace = ^arch.Addr(0)

// Find implements target.TraceRun. What has been read for one search is not read again for another.
func (f *TraceFile) Find(q tfile.Query, from int) (n int, ok bool, err error) {
	from = max(from, 0)
	if q.Kind == tfile.ByTracepoint {
		return f.findTracepoint(q, from)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := from; n < len(f.pcs); n++ {
		if f.pcs[n] != noPlace && q.Match(f.content.Tracepoint(n), f.pcs[n]) {
			return n, true, nil
		}
	}
	if f.file != nil {
		return f.file.Find(q, len(f.pcs), func(raw tfile.Frame) (arch.Addr, bool) { return f.learn(raw, from) })
	}
	return f.readOn(q, from)
}

// findTracepoint reads no frame.
func (f *TraceFile) findTracepoint(q tfile.Query, from int) (n int, ok bool, err error) {
	for n := from; n < f.content.NumFrames(); n++ {
		if q.Match(f.content.Tracepoint(n), 0) {
			return n, true, nil
		}
	}
	return 0, false, nil
}

// readOn reads further frames up to one that a query describes.
func (f *TraceFile) readOn(q tfile.Query, from int) (n int, ok bool, err error) {
	for len(f.pcs) < f.content.NumFrames() {
		n := len(f.pcs)
		raw, err := f.content.ReadFrame(n, f.scratch)
		if err != nil {
			return 0, false, err
		}
		f.scratch = raw.Bytes()
		if pc, known := f.learn(raw, from); known && q.Match(raw.Tracepoint(), pc) {
			return n, true, nil
		}
	}
	return 0, false, nil
}

// learn keeps the pc of the next frame, and returns it if that is frame from or one behind it.
func (f *TraceFile) learn(raw tfile.Frame, from int) (arch.Addr, bool) {
	n := len(f.pcs)
	frame := f.view.Of(n, raw)
	if !frame.HasPC || frame.PC == noPlace {
		f.pcs = append(f.pcs, noPlace)
		return 0, false
	}
	f.pcs = append(f.pcs, frame.PC)
	return frame.PC, n >= from
}
