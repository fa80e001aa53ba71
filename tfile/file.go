package tfile

import (
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/trace"
)

// Header returns what the file says ahead of its frames. It is the File's own and must not be changed.
func (f *File) Header() Header { return f.header }

// Definitions returns the definition lines as they stand in the file, unknown and malformed ones included.
func (f *File) Definitions() []Definition { return f.definitions }

// Findings returns what was not as it should be, in the order in which it was noticed. What is inside frames is not looked
// at when a file is opened; Frame.Check does.
func (f *File) Findings() []Finding { return f.findings }

// OrderSource says how the byte order in the Header was found.
func (f *File) OrderSource() OrderSource { return f.orderFrom }

// RegisterSizeSource says how the RegisterSize in the Header was found.
func (f *File) RegisterSizeSource() SizeSource { return f.sizeFrom }

// DefinitionsEnd returns the offset behind the last definition line, where the empty line should be that ends them.
func (f *File) DefinitionsEnd() int64 { return f.definitionsEnd }

// End returns the offset behind the end marker, where another trace file may begin. Of a file without one it is the offset
// behind the last whole frame, or behind the last whole line if the definitions are not whole.
func (f *File) End() int64 { return f.end }

// EndMarker returns how many bytes the end marker ahead of End has: 4 as GDB writes it, 2 or 3 where GDB takes it for one, 0 if
// there is none.
func (f *File) EndMarker() int { return f.marker }

// Lost returns what WithRecovery made Open pass over, in the order of the file.
func (f *File) Lost() []Lost { return f.lost }

// NumFrames returns how many whole frames there are.
func (f *File) NumFrames() int { return len(f.numbers) }

// Tracepoint returns the number of the tracepoint that made frame i, without reading the frame. It panics if there is no
// such frame. Negative numbers are possible: they are what GDB makes of one above trace.MaxNumber.
func (f *File) Tracepoint(i int) trace.Number { return trace.Number(f.numbers[i]) }

// Frame returns frame i, counted from 0, with bytes of its own unless the file is in memory. The error is that of the
// io.ReaderAt, or that there is no such frame.
func (f *File) Frame(i int) (Frame, error) { return f.ReadFrame(i, nil) }

// ReadFrame is Frame with the bytes in buf, if it has the capacity. The Frame's Bytes are what to pass the next time.
func (f *File) ReadFrame(i int, buf []byte) (Frame, error) {
	if i < 0 || i >= len(f.numbers) {
		return Frame{}, fmt.Errorf("trace file: no frame %d, there are %d", i, len(f.numbers))
	}
	start, end := f.span(i)
	b, err := f.ahead.read(&f.source, buf, start, int(end-start))
	if err != nil {
		return Frame{}, fmt.Errorf("frame %d: %w", i, err)
	}
	return f.frame(b, start), nil
}

func (f *File) frame(b []byte, offset int64) Frame {
	return Frame{bytes: b, order: f.header.Order, registerSize: f.header.RegisterSize, offset: offset}
}

// span returns where frame i begins and ends.
func (f *File) span(i int) (start, end int64) {
	start, end = f.starts[i], f.starts[i+1]
	if len(f.lost) > 0 {
		at, found := slices.BinarySearchFunc(f.lost, i+1, func(l Lost, frame int) int { return l.Frame - frame })
		if found {
			end = f.lost[at].Offset
		}
	}
	return start, end
}

// Find returns the number of the first frame from number from on that q describes, and false if there is none. As GDB
// searches, it goes forward only and does not begin anew at the end: the next match behind frame n is Find(q, n+1, …), the
// first one Find(q, 0, …). pcOf gives the pc of a frame, which it must not keep; a frame without one is passed over in
// searches that go by pc. It is not called in others, for which no frame is read.
func (f *File) Find(q Query, from int, pcOf func(Frame) (arch.Addr, bool)) (n int, ok bool, err error) {
	from = max(from, 0)
	if q.Kind == ByTracepoint {
		return f.findTracepoint(q.Tracepoint, from)
	}
	// The next match may be the next frame, or far away.
	w := &window{source: f.source, step: 1 << 12, most: defaultWindow}
	for i := from; i < f.NumFrames(); i++ {
		start, end := f.span(i)
		b, err := w.at(start, int(end-start))
		if err != nil {
			return 0, false, fmt.Errorf("frame %d: %w", i, err)
		}
		pc, known := pcOf(f.frame(b[:end-start:end-start], start))
		if known && q.Match(f.Tracepoint(i), pc) {
			return i, true, nil
		}
	}
	return 0, false, nil
}

func (f *File) findTracepoint(want trace.Number, from int) (n int, ok bool, err error) {
	if from >= len(f.numbers) || want != trace.Number(int16(want)) {
		return 0, false, nil
	}
	i := slices.Index(f.numbers[from:], int16(want))
	if i < 0 {
		return 0, false, nil
	}
	return from + i, true, nil
}
