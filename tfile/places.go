package tfile

import (
	"fmt"
	"strings"

	"tracewell/trace"
)

// A trace file of an Appender begins with the R line and the status line, and each of its lines that will be rewritten is as
// long as it will ever be.
const (
	// countDigits are the digits of tframes and tcreated, enough for four thousand million.
	countDigits = 8
	// statusRoom is how much longer than at first a status may become, as by an error's description.
	statusRoom = 300
)

// definitions composes the definitions of a new file, and remembers the places in them.
func (a *Appender) definitions(h *Header) (string, error) {
	registers := fmt.Sprintf("R %x", h.RegisterSize)
	a.line.place = place{int64(len(Magic) + len(registers) + 1), MaxLine}
	status, ok := a.line.compose(a.status)
	if length := len(status) - a.line.padding + statusRoom; ok && length < MaxLine {
		a.line.length = length
		status, ok = a.line.compose(a.status)
	}
	if !ok {
		return "", &LineError{status, fmt.Sprintf("%d bytes, of which GDB reads at most %d", len(status), MaxLine)}
	}
	lines := []string{registers, status}
	for _, v := range h.Variables {
		lines = append(lines, "tsv "+v.String())
	}
	offset := int64(len(Magic))
	for _, line := range lines {
		offset += int64(len(line)) + 1
	}
	for i := range h.Tracepoints {
		t := &h.Tracepoints[i]
		for _, piece := range t.Pieces() {
			lines = append(lines, "tp "+piece)
			offset += int64(len("tp ")+len(piece)) + 1
		}
		counts := fmt.Sprintf("tp V%x:%x:%016x:%016x", int(t.Number), uint64(t.Addr), t.Hits, t.Usage)
		a.counts[t.Key()] = place{offset, len(counts)}
		lines = append(lines, counts)
		offset += int64(len(counts)) + 1
	}
	lines = append(lines, h.descriptionLines()...)
	if a.keep.unknown {
		lines = append(lines, h.Other...)
	}
	return definitionText(lines)
}

// statusPlace is the place of the status line. In it the numbers of frames have a place of their own, zero without one.
type statusPlace struct {
	place
	padding int   // zeros ahead of the number of frames
	counts  int64 // offset of the digits of tframes that count, with ";tcreated:" and as many digits behind them
}

const createdKey = ";tcreated:"

// compose returns the line for a status, filled up with zeros ahead of the number of frames, which only a file that is appended
// to needs; ok is false if it is too long for the place. Where it must, it leaves out the room in the buffer and the end of the
// description.
func (p *statusPlace) compose(st trace.Status) (line string, ok bool) {
	before, after := splitStatus(st)
	digits := fmt.Sprintf("%0*x%s%0*x", countDigits, st.Frames, createdKey, countDigits, st.Created)
	fill := p.length - len(before) - len(digits) - len(after)
	if fill < 0 && (st.Free >= 0 || st.Size >= 0) {
		st.Free, st.Size = -1, -1
		return p.compose(st)
	}
	if keep := len(st.Description) + fill/2 - 1; fill < 0 && keep >= 0 {
		st.Description = st.Description[:keep]
		return p.compose(st)
	}
	if fill < 0 || p.length == 0 {
		p.counts = 0
		return before + digits + after, false
	}
	p.padding = fill
	p.counts = p.offset + int64(len(before)+fill)
	return before + strings.Repeat("0", fill) + digits + after, true
}

// splitStatus returns the status line up to the number of frames, and from what follows the number of those ever made.
func splitStatus(st trace.Status) (before, after string) {
	const key = ";tframes:"
	st.Frames, st.Created = 0, 0
	before, after, _ = strings.Cut("status "+st.String(), key+"0"+createdKey+"0")
	return before + key, after
}

// writeCounts writes the numbers of frames alone. It allocates nothing.
func (a *Appender) writeCounts() error {
	if a.line.counts == 0 {
		return nil
	}
	a.buf = appendCount(a.buf[:0], a.status.Frames)
	a.buf = append(a.buf, createdKey...)
	a.buf = appendCount(a.buf, a.status.Created)
	_, err := a.w.WriteAt(a.buf, a.line.counts)
	return err
}

// appendCount appends a number in countDigits digits.
func appendCount(dst []byte, n int64) []byte {
	for shift := 4 * (countDigits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[n>>shift&0xf])
	}
	return dst
}

// countsLine returns the tp V line of a tracepoint, filled up with zeros to a length; ok is false if it is longer.
func countsLine(t *trace.Tracepoint, length int) (line string, ok bool) {
	before := fmt.Sprintf("tp V%x:%x:%x:", int(t.Number), uint64(t.Addr), t.Hits)
	usage := fmt.Sprintf("%x", t.Usage)
	fill := length - len(before) - len(usage)
	return before + strings.Repeat("0", max(fill, 0)) + usage, fill >= 0
}

// statusOf returns the place of the status line that counts in a file, which is the last.
func statusOf(f *File) (p place) {
	for _, d := range f.definitions {
		if strings.HasPrefix(d.Text, "status ") {
			p = place{d.Offset, len(d.Text)}
		}
	}
	return p
}

// countsOf returns the places of the tp V lines of a file, except where the counts of one tracepoint are spread over several.
func countsOf(f *File) map[trace.Key]place {
	places := make(map[trace.Key]place)
	for _, d := range f.definitions {
		rest, isPiece := strings.CutPrefix(d.Text, "tp V")
		p, err := trace.ParsePiece("V" + rest)
		if !isPiece || err != nil {
			continue
		}
		at := place{d.Offset, len(d.Text)}
		if _, again := places[p.Key]; again {
			at = place{}
		}
		places[p.Key] = at
	}
	return places
}
