package tfile

import (
	"fmt"

	"tracewell/arch"
	"tracewell/trace"
)

// frameHeader is the length of a frame's header: tracepoint number i16, length of the data u32.
const frameHeader = 6

// index finds the frames, from f.starts[0] to the end marker.
func (f *File) index(w *window) error {
	order := f.header.Order
	for offset := f.starts[0]; ; {
		h, err := w.at(offset, frameHeader)
		if err != nil {
			return err
		}
		if len(h) >= 2 && order.Uint16(h) == 0 {
			return f.endMarker(offset, h)
		}
		if len(h) < frameHeader {
			return truncatedHeader(offset, h)
		}
		length := int64(order.Uint32(h[2:]))
		if left := f.source.size - offset - frameHeader; length > left {
			return &FormatError{ErrTruncated, offset, fmt.Sprintf("%d bytes to the end of the file", left),
				fmt.Sprintf("%d bytes of frame %d, of tracepoint %d", length, len(f.numbers), int16(order.Uint16(h)))}
		}
		offset += frameHeader + length
		f.numbers = append(f.numbers, int16(order.Uint16(h)))
		f.starts = append(f.starts, offset)
	}
}

func truncatedHeader(offset int64, h []byte) error {
	if len(h) == 0 {
		return &FormatError{ErrTruncated, offset, "the end of the file", "a frame or the end marker"}
	}
	return &FormatError{ErrTruncated, offset, quote(string(h)) + " and the end of the file", "a frame header of 6 bytes"}
}

// endMarker looks at the marker at offset, of which h begins, and at what is behind it. GDB reads two bytes of it and writes
// four, so further zeros up to the fourth belong to it.
func (f *File) endMarker(offset int64, h []byte) error {
	n := 2
	for n < min(4, len(h)) && h[n] == 0 {
		n++
	}
	end := offset + int64(n)
	if extra := f.source.size - end; extra > 0 {
		f.findings = append(f.findings, Finding{end, RuleTrailing, fmt.Sprintf("%d bytes behind the end marker", extra)})
	}
	return nil
}

// Header returns what the file says ahead of its frames. It is the File's own and must not be changed.
func (f *File) Header() Header { return f.header }

// Definitions returns the definition lines as they stand in the file, unknown and malformed ones included.
func (f *File) Definitions() []Definition { return f.definitions }

// Findings returns what was not as it should be, in the order in which it was noticed. What is inside frames is not looked
// at when a file is opened; Frame.Check does.
func (f *File) Findings() []Finding { return f.findings }

// OrderSource says how the byte order in the Header was found.
func (f *File) OrderSource() OrderSource { return f.orderFrom }

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
	start, end := f.starts[i], f.starts[i+1]
	b, err := f.source.read(buf, start, int(end-start))
	if err != nil {
		return Frame{}, fmt.Errorf("frame %d: %w", i, err)
	}
	return Frame{bytes: b, order: f.header.Order, registerSize: f.header.RegisterSize, offset: start}, nil
}

// Find returns the number of the first frame from number from on that q describes, and false if there is none. pcOf gives
// the pc of a frame; a frame without one is passed over in searches that go by pc. It is not called in others, for which no
// frame is read.
func (f *File) Find(q Query, from int, pcOf func(Frame) (arch.Addr, bool)) (n int, ok bool, err error) {
	var frame Frame
	for i := max(from, 0); i < f.NumFrames(); i++ {
		var pc arch.Addr
		if q.Kind != ByTracepoint {
			if frame, err = f.ReadFrame(i, frame.bytes); err != nil {
				return 0, false, err
			}
			var known bool
			if pc, known = pcOf(frame); !known {
				continue
			}
		}
		if q.Match(f.Tracepoint(i), pc) {
			return i, true, nil
		}
	}
	return 0, false, nil
}
