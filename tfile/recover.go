package tfile

import (
	"bytes"
	"fmt"
	"math"

	"tracewell/internal/text"
)

// Lost is a stretch of a file in which no frame was found.
type Lost struct {
	Offset, Length int64
	Frame          int // number of the frame behind it, which there need not be: as many are before it
}

// A salvage finds frames in a damaged file.
//
// A frame is whole if its header has a number that is not 0, its end lies in the file, and its blocks end where it does. Going
// forward, a frame counts if at its end there is a header of a defined tracepoint, the end marker, or the end of the file: then
// its length is right, and damage is inside it if anywhere, which Frame.Check tells. It counts as well if it is whole, unless
// a whole frame begins in it that ends behind it: then bytes are missing, and it has swallowed others. Anything else is damage.
// Behind damage the next frame is where one begins that is of a defined tracepoint, whole, and not empty; where none is
// defined another such one, or the end of the file, must follow it. Empty frames do not count there: six bytes that look like
// one are in most memory.
//
// Rejected: to trust a number or a length alone, of which damage leaves enough; and to go by what a tracepoint collects, since
// frames may be of any length once memory could not be read.
type salvage struct {
	f       *File
	w       *window
	defined *numberSet
	scan    *window // of a search, which looks far ahead through the other one
	effort  int64   // blocks that may still be looked at in search of frames
	ended   bool    // there was an end marker, though more frames came behind it
}

func newSalvage(f *File, w *window) *salvage {
	w.reported = f.starts[0] // progress begins anew
	scan := &window{source: f.source, step: w.step}
	return &salvage{f: f, w: w, scan: scan, defined: newNumberSet(f.header.Tracepoints), effort: f.source.size + 1<<20}
}

// run goes through the file.
func (s *salvage) run() error {
	for offset := s.f.starts[0]; ; {
		next, err := s.frame(offset)
		if err != nil {
			return err
		}
		if next > 0 {
			offset = next
			continue
		}
		end, err := s.w.endsAt(offset)
		if err != nil {
			return err
		}
		if end {
			return s.f.endMarker(s.w, offset)
		}
		next, found, err := s.search(offset+1, s.f.source.size)
		if err != nil {
			return err
		}
		if !found {
			return s.finish(offset, next)
		}
		if err := s.passMarker(offset); err != nil {
			return err
		}
		s.lose(offset, next)
		s.f.starts[len(s.f.starts)-1] = next
		offset = next
	}
}

// finish ends a walk at an offset behind which no frame was found up to limit: at a marker with something else behind it, or
// in damage.
func (s *salvage) finish(offset, limit int64) error {
	h, err := s.w.at(offset, FrameHeader)
	if err != nil {
		return err
	}
	if markerLength(h) >= 2 {
		return s.f.endMarker(s.w, offset)
	}
	if offset < limit {
		s.lose(offset, limit)
	}
	s.f.end = limit
	if len(h) < FrameHeader {
		return truncatedHeader(offset, h)
	}
	return &FormatError{ErrTruncated, offset, text.Quote(string(h[:FrameHeader])), "a frame or the end marker, here or further on"}
}

// passMarker takes note of an end marker at an offset.
func (s *salvage) passMarker(offset int64) error {
	b, err := s.w.at(offset, markerLen)
	s.ended = s.ended || markerLength(b) >= 2
	return err
}

func (s *salvage) lose(offset, next int64) {
	f := s.f
	f.lost = append(f.lost, Lost{offset, next - offset, len(f.numbers)})
	text := fmt.Sprintf("%d bytes in which there is no whole frame, before frame %d", next-offset, len(f.numbers))
	if s.effort < 0 {
		text += "; too much in it looks like frames for all of it to be searched"
	}
	rule := RuleLost
	if s.ended {
		rule = RuleHidden
	}
	if len(f.findings) < maxFindings {
		f.findings = append(f.findings, Finding{offset, rule, text})
	}
}

// frame adds the frame at offset, if there is one, and returns its end; else 0.
func (s *salvage) frame(offset int64) (int64, error) {
	h, fits, err := s.header(offset)
	if err != nil || !fits {
		return 0, err
	}
	in, err := s.look(h)
	if err != nil {
		return 0, err
	}
	follows, err := s.follows(h.end)
	if err != nil {
		return 0, err
	}
	if !follows {
		if swallows, err := s.swallows(h); err != nil || swallows || !in.whole {
			return 0, err
		}
	}
	s.f.add(int16(h.number), h.end)
	return h.end, nil
}

// swallows says whether a whole frame begins in the one of h, and ends behind it.
func (s *salvage) swallows(h header) (bool, error) {
	for offset := h.start + 1; ; offset++ {
		next, found, err := s.search(offset, h.end)
		if err != nil || !found {
			return false, err
		}
		inner, _, err := s.header(next)
		if err != nil || inner.end > h.end {
			return err == nil, err
		}
		offset = next
	}
}

// header reads the header at offset; fits says that a frame of it may be there.
func (s *salvage) header(offset int64) (h header, fits bool, err error) {
	h, ok, err := s.w.headerAt(s.f.header.Order, offset)
	return h, ok && h.number != 0 && h.end <= s.f.source.size, err
}

func (s *salvage) look(h header) (inside, error) {
	return s.w.look(s.f.frame(nil, 0), h.start+FrameHeader, h.end, math.MaxInt)
}

// follows says whether what is at offset may follow a frame.
func (s *salvage) follows(offset int64) (bool, error) {
	if offset == s.f.source.size {
		return true, nil
	}
	h, fits, err := s.header(offset)
	if err != nil {
		return false, err
	}
	if fits && s.defined.has(h.number) && !s.defined.any {
		return true, nil
	}
	return s.w.endsAt(offset)
}

// search looks for the next frame that begins from offset on and before limit. Without one it returns where it gave up: at
// limit, or at another trace file.
func (s *salvage) search(offset, limit int64) (next int64, found bool, err error) {
	for s.effort >= 0 && offset < limit {
		b, err := s.scan.at(offset, len(Magic))
		if err != nil {
			return 0, false, err
		}
		b = b[:min(int64(len(b)), progressStep, limit-offset+FrameHeader-1)]
		other := bytes.Index(b, []byte(Magic))
		if other >= 0 {
			b = b[:other]
		}
		if i, err := s.candidate(b, offset); i >= 0 || err != nil {
			return offset + int64(i), true, err
		}
		if other >= 0 {
			return offset + int64(other), false, nil
		}
		offset += int64(max(len(b)-len(Magic)+1, 1)) // b may end within the magic, or within a header
	}
	return limit, false, nil
}

// candidate returns where in b, which is at offset in the file, the first frame begins, -1 if none does.
func (s *salvage) candidate(b []byte, offset int64) (int, error) {
	order, left := s.f.header.Order, s.f.source.size-offset-FrameHeader
	for i := 0; i+FrameHeader <= len(b) && s.effort >= 0; i++ {
		number, length := order.Uint16(b[i:]), int64(order.Uint32(b[i+2:]))
		if number == 0 || length == 0 || length > left-int64(i) || !s.defined.has(number) {
			continue
		}
		if begins, err := s.begins(offset + int64(i)); begins || err != nil {
			return i, err
		}
	}
	return -1, nil
}

// begins says whether a frame that is whole, and followed as it should be, is at offset.
func (s *salvage) begins(offset int64) (bool, error) {
	h, whole, err := s.wholeAt(offset)
	if err != nil || !whole || !s.defined.any {
		return whole, err
	}
	if h.end == s.f.source.size {
		return true, nil
	}
	if _, whole, err = s.wholeAt(h.end); err != nil || whole {
		return whole, err
	}
	return s.w.endsAt(h.end)
}

// wholeAt says whether a frame that is whole and not empty is at offset.
func (s *salvage) wholeAt(offset int64) (header, bool, error) {
	h, fits, err := s.header(offset)
	if err != nil || !fits {
		return h, false, err
	}
	in, err := s.look(h)
	s.effort -= int64(in.blocks) + 1
	return h, in.whole && in.blocks > 0, err
}
