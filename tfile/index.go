package tfile

import (
	"fmt"
	"slices"

	"tracewell/internal/text"
)

// FrameHeader is the length in bytes of a frame's header: tracepoint number i16, length of the data u32.
const FrameHeader = 6

// walk finds the frames, from f.starts[0] on. Headers that lead to an end marker with nothing, or another file, behind it are
// right; with recovery all others are put to the test.
func (f *File) walk(w *window, recovery bool) error {
	before := *f
	err := f.index(w)
	whole := err == nil && (f.end == f.source.size || f.joined())
	if !recovery || whole || (err != nil && !isPartial(err)) {
		return err
	}
	before.starts = before.starts[:1:1]
	*f = before
	return newSalvage(f, w).run()
}

// joined says whether another trace file begins behind the end marker.
func (f *File) joined() bool {
	return slices.ContainsFunc(f.findings, func(found Finding) bool { return found.Rule == RuleConcatenated })
}

// index finds the frames up to the end marker by their headers alone.
func (f *File) index(w *window) error {
	order, size := f.header.Order, f.source.size
	for offset := f.starts[0]; ; {
		h, err := w.at(offset, FrameHeader)
		if err != nil {
			return err
		}
		if len(h) >= 2 && order.Uint16(h) == 0 {
			return f.endMarker(w, offset)
		}
		if len(h) < FrameHeader {
			return truncatedHeader(offset, h)
		}
		number, length := order.Uint16(h), int64(order.Uint32(h[2:]))
		if left := size - offset - FrameHeader; length > left {
			return &FormatError{ErrTruncated, offset, fmt.Sprintf("%d bytes to the end of the file", left),
				fmt.Sprintf("%d bytes of frame %d, of tracepoint %d", length, len(f.numbers), int16(number))}
		}
		offset += FrameHeader + length
		f.add(int16(number), offset)
	}
}

// add adds a frame that begins where the last one ended.
func (f *File) add(number int16, end int64) {
	if len(f.numbers) == cap(f.numbers) {
		f.grow(end)
	}
	f.numbers = append(f.numbers, number)
	f.starts = append(f.starts, end)
	f.end = end
}

// grow makes room in the index for as many frames as there will be if the others are as long as those so far: to double it
// instead costs more than all the rest of the work on a file of small frames. The first few tell
// too little for that.
func (f *File) grow(end int64) {
	n := len(f.numbers)
	density := float64(n+1) / float64(end-f.starts[0])
	expected := int(1.05 * density * float64(f.source.size-end))
	if n < telling {
		expected = min(expected, telling)
	}
	want := n + max(n/4, 64) + expected
	f.numbers = append(make([]int16, 0, want), f.numbers...)
	f.starts = append(make([]int64, 0, want+1), f.starts...)
}

// telling is how many frames tell how long the others are.
const telling = 1 << 12

func truncatedHeader(offset int64, h []byte) error {
	if len(h) == 0 {
		return &FormatError{ErrTruncated, offset, "the end of the file", "a frame or the end marker"}
	}
	return &FormatError{ErrTruncated, offset, text.Quote(string(h)) + " and the end of the file", "a frame header of 6 bytes"}
}

// endMarker looks at the marker at offset and at what is behind it. GDB reads two bytes of it and writes four, so further
// zeros up to the fourth belong to it.
func (f *File) endMarker(w *window, offset int64) error {
	b, err := w.at(offset, markerLen+len(Magic))
	if err != nil {
		return err
	}
	n := markerLength(b)
	f.end, f.marker = offset+int64(n), n
	extra := f.source.size - f.end
	switch {
	case hasMagic(b[n:]):
		f.findings = append(f.findings, Finding{f.end, RuleConcatenated,
			fmt.Sprintf("another trace file begins here, %d bytes from the end", extra)})
	case extra > 0:
		f.findings = append(f.findings, Finding{f.end, RuleTrailing, fmt.Sprintf("%d bytes behind the end marker", extra)})
	}
	return nil
}

// markerLen is the length of an end marker as GDB and Writer write it.
const markerLen = 4

// markerLength returns how many zeros b begins with, at most the four of an end marker.
func markerLength(b []byte) int {
	n := 0
	for n < min(markerLen, len(b)) && b[n] == 0 {
		n++
	}
	return n
}

func hasMagic(b []byte) bool { return len(b) >= len(Magic) && string(b[:len(Magic)]) == Magic }

// endsAt says whether an end marker is at offset and the end of the file or another trace file behind it.
func (w *window) endsAt(offset int64) (bool, error) {
	b, err := w.at(offset, markerLen+len(Magic))
	if err != nil {
		return false, err
	}
	n := markerLength(b)
	return n >= 2 && (offset+int64(n) == w.size || hasMagic(b[n:])), nil
}
