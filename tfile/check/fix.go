package check

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"tracewell/tfile"
	"tracewell/trace"
)

// Change is something that is other in the fixed file than in the one that was checked.
type Change struct {
	Offset int64 // in the file that was checked, of the first place that the change is about
	Text   string
}

// Fix writes a trace file of what can be saved, which GDB opens: the definitions in canonical form, of each frame the blocks
// that can be read, the end marker. The changes are all that makes a difference to what the file says, in the order of the
// file. What is wrong and cannot be put right without inventing something stays; checking the outcome tells it. The error is
// that of reading the one file or writing the other. progress is as in Options and may be nil.
func (r *Report) Fix(w io.Writer, progress func(done int64)) ([]Change, error) {
	x := &fixer{checker: r.checker, notes: make(map[note]*change)}
	x.renumber()
	x.settleSize()
	header := x.fixHeader()
	out, err := tfile.NewWriter(w, header)
	if err != nil {
		return nil, err // no line of header is too long, so it is that of w
	}
	if err := x.fixFrames(out, header.RegisterSize, progress); err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return x.all(), nil
}

// fixer is the state of Fix.
type fixer struct {
	*checker
	changes []Change
	notes   map[note]*change
	frame   tfile.Frame // at hand

	numbers map[trace.Number]trace.Number // new numbers, by those that the frames have; 0 for frames that are left out
	defined map[trace.Number]trace.Number // the same by those that the definitions have
	size    int                           // of register blocks in the fixed file
}

// note is a kind of change to the frames of one tracepoint.
type note struct {
	text string
	of   trace.Number
}

// change is where a note first applies, and to how many frames.
type change struct {
	offset int64
	frames int
	last   int64 // offset of the last of them
}

// tell notes a change at a place outside the frames.
func (x *fixer) tell(offset int64, format string, args ...any) {
	x.changes = append(x.changes, Change{offset, fmt.Sprintf(format, args...)})
}

// tellFrame notes a change to the frame at hand, which is told once for all frames of its tracepoint.
func (x *fixer) tellFrame(text string) {
	key := note{text, x.frame.Tracepoint()}
	c := x.notes[key]
	if c == nil {
		c = &change{offset: x.frame.Offset(), last: -1}
		x.notes[key] = c
	}
	if c.last != x.frame.Offset() {
		c.last = x.frame.Offset()
		c.frames++
	}
}

// all returns the changes in the order of the file.
func (x *fixer) all() []Change {
	changes := x.changes
	for n, c := range x.notes {
		text := fmt.Sprintf("%s of tracepoint %d: %s", plural(c.frames, "frame"), n.of, n.text)
		changes = append(changes, Change{c.offset, text})
	}
	for _, f := range x.file.Findings() {
		switch f.Rule {
		case tfile.RuleConcatenated:
			changes = append(changes, Change{f.Offset, fmt.Sprintf(
				"the trace file that begins here is left out: tail -c +%d gives it as a file of its own", f.Offset+1)})
		case tfile.RuleTrailing, tfile.RuleLost:
			changes = append(changes, Change{f.Offset, "left out: " + f.Text})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Text, b.Text))
	})
	return changes
}

// renumber gives tracepoints and frames that have a number out of range one that is free.
func (x *fixer) renumber() {
	x.numbers, x.defined = make(map[trace.Number]trace.Number), make(map[trace.Number]trace.Number)
	used := make(map[trace.Number]bool)
	var outside []trace.Number // as the definitions have them
	for n := range x.tracepoints {
		used[n] = true
		if n > trace.MaxNumber {
			outside = append(outside, n)
		}
	}
	for i := range x.file.NumFrames() {
		n := x.file.Tracepoint(i)
		if asDefined := trace.Number(uint16(n)); n < 0 && !used[asDefined] {
			outside = append(outside, asDefined)
		}
		used[trace.Number(uint16(n))] = true
	}
	slices.Sort(outside)
	free := trace.Number(1)
	for _, n := range outside {
		for free <= trace.MaxNumber && used[free] {
			free++
		}
		to := free
		if to > trace.MaxNumber {
			to = 0
		}
		x.defined[n] = to
		if n <= 0xffff {
			x.numbers[trace.Number(int16(n))] = to
		}
		free++
	}
}

// wildSize is a register block of a size that no target has.
const wildSize = 1 << 20

// settleSize chooses the size of register blocks: that of the R line if frames have it or the target description agrees, else
// the one that frames were found to have.
func (x *fixer) settleSize() {
	told, layout, frames := x.header.RegisterSize, 0, 0
	if x.layout != nil && x.layout.Size < wildSize {
		layout = x.layout.Size
	}
	for n, d := range x.broken {
		if size := x.inferred(n, d); d.first.Count > frames && size > 0 {
			x.size, frames = size, d.first.Count
		}
	}
	switch {
	case len(x.regular) > 0, told > 0 && told == layout, frames == 0 && told > 0 && told < wildSize:
		x.size = told
	case frames == 0:
		x.size = max(layout, 1) // there are no registers; GDB wants a size nevertheless
	}
	if x.size != told || x.file.RegisterSizeSource() == tfile.SizeDecimal {
		x.tell(x.place("R"), "register blocks have %d bytes, written in hexadecimal", x.size)
	}
}

// place is the offset of the last line of a keyword, or where there is none that of the end of the definitions.
func (x *fixer) place(keyword string) int64 {
	if at, told := x.last[keyword]; told {
		return at
	}
	return x.end()
}

// fixFrames writes the frames.
func (x *fixer) fixFrames(out *tfile.Writer, size int, progress func(done int64)) error {
	var frame tfile.Frame
	var fixed []byte
	var err error
	for i := range x.file.NumFrames() {
		if progress != nil && i%progressFrames == 0 {
			progress(int64(i))
		}
		if frame, err = x.file.ReadFrame(i, frame.Bytes()); err != nil {
			return err
		}
		if fixed = x.fixFrame(fixed[:0], frame); len(fixed) == 0 {
			continue
		}
		if err := out.WriteFrame(fixed); err != nil {
			return err
		}
	}
	return nil
}

// number is that of a frame in the fixed file, 0 for a frame that is left out.
func (x *fixer) number(n trace.Number) trace.Number {
	if to, changed := x.numbers[n]; changed {
		return to
	}
	return n
}

// kept is how many frames the fixed file has.
func (x *fixer) kept() int {
	n := x.file.NumFrames()
	for i := range n {
		if x.number(x.file.Tracepoint(i)) == 0 {
			n--
		}
	}
	return n
}
