package check

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"tracewell/internal/text"
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
	// The order matters: the number of a tracepoint and the size of register blocks decide which frames are kept, the
	// count of those stands in the status line, and that line is written ahead of the frames. So frames are gone
	// through twice where any may be left out, without keeping one.
	x.renumber()
	x.chooseBlockSize()
	if err := x.readCut(); err != nil {
		return nil, err
	}
	frames, err := x.kept()
	if err != nil {
		return nil, err
	}
	header := x.fixHeader(int64(frames))
	out, err := tfile.NewWriter(w, header)
	if err != nil {
		return nil, err // no line of header is too long, so it is that of w
	}
	if err := x.eachFixed(progress, out.WriteFrame); err != nil {
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
	changes []Change // most at most
	untold  int      // others
	notes   map[note]*change

	cut       []byte      // what can be saved of a frame that the end of the file cuts off; nil without one
	frame     tfile.Frame // at hand
	registers bool        // what is written of it has an R block

	numbers map[trace.Number]trace.Number // new numbers, by those that the frames have; 0 for frames that are left out
	defined map[trace.Number]trace.Number // the same by those that the definitions have
	size    int                           // of register blocks in the fixed file
}

// note is a kind of change to the frames of one tracepoint.
// Of a million frames with the same flaw the user is told once, with the count.
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
	if len(x.changes) >= most {
		x.untold++
		return
	}
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
		text := fmt.Sprintf("%s of tracepoint %d: %s", text.Plural(c.frames, "frame"), n.of, n.text)
		changes = append(changes, Change{c.offset, text})
	}
	if x.untold > 0 {
		changes = append(changes, Change{x.file.DefinitionsEnd(), fmt.Sprintf("%d more changes to the definitions", x.untold)})
	}
	for _, f := range x.findings {
		if mend, ok := mended[f.Rule]; ok {
			changes = append(changes, Change{f.Offset, mend + f.Text})
		} else if f.Rule == tfile.RuleConcatenated {
			changes = append(changes, Change{f.Offset, fmt.Sprintf("left out, and to be had by tail -c +%d: %s", f.Offset+1, f.Text)})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Text, b.Text))
	})
	return changes
}

// mended says, ahead of the text of a finding, what becomes of it just because the file is written anew.
var mended = map[*tfile.Rule]string{
	tfile.RuleTrailing: "left out: ",
	tfile.RuleLost:     "left out: ",
	tfile.RuleHidden:   "left out: ",
	ruleTruncated:      "end marker added: ",
	ruleEndMarker:      "end marker of 4 bytes in place of ",
	ruleReturn:         "CR left out: ",
	ruleReturnRefused:  "CR left out: ",
	ruleRepeated:       "one line for both: ",
	ruleLate:           "T piece put first: ",
	ruleStart:          "strings joined where one goes on where the other ends: ",
	ruleLength:         "length corrected: ",
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
		// A frame has 16 bits for the number and GDB reads them as signed, so that tracepoint 40000 has frames of
		// tracepoint -25536.
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
		// Numbers are taken in ascending order, so that what was defined first keeps the lower number.
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

// chooseBlockSize chooses the size of register blocks: that of the R line if frames have it or the target description agrees, else
// the one that frames were found to have.
// GDB reads the whole file with one size, that of the R line. Where tracepoints disagree the size of most frames wins,
// and the registers of the others are cut or left out (fixRegisters).
func (x *fixer) chooseBlockSize() {
	told, layout, frames := x.header.RegisterSize, 0, 0
	if x.layout != nil && x.layout.Size < wildSize {
		layout = x.layout.Size
	}
	for _, n := range slices.Sorted(maps.Keys(x.broken)) {
		d := x.broken[n]
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
	// GDB and this project read the R line as hexadecimal, which is what GDB writes; a size that only makes sense in
	// decimal was written by someone else.
	if x.size != told || x.file.RegisterSizeSource() == tfile.SizeDecimal {
		x.tell(x.place("R"), "register blocks have %d bytes, written in hexadecimal", x.size)
	}
}

// place is the offset of the last line of a keyword, or where there is none that of the end of the definitions.
func (x *fixer) place(keyword string) int64 {
	if at, told := x.last[keyword]; told {
		return at
	}
	return x.file.DefinitionsEnd()
}

// eachFixed fixes all frames, the one that is cut off last, and passes on those that are not left out.
// The bytes that use is given are valid during the call.
func (x *fixer) eachFixed(progress func(done int64), use func(frame []byte) error) error {
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
		if err := use(fixed); err != nil {
			return err
		}
	}
	if x.cut != nil {
		return use(x.cut)
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
func (x *fixer) kept() (int, error) {
	kept := 0
	if x.choosy() {
		err := x.eachFixed(nil, func([]byte) error { kept++; return nil })
		clear(x.notes) // they are taken when the frames are written
		return kept, err
	}
	for i := range x.file.NumFrames() {
		if x.number(x.file.Tracepoint(i)) != 0 {
			kept++
		}
	}
	if x.cut != nil {
		kept++
	}
	return kept, nil
}
