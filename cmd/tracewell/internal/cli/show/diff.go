package show

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/text"
	"tracewell/symbol/ctype"
	"tracewell/view"
	"tracewell/view/survey"
	"tracewell/view/wire"
)

// changePrinter prints how each frame differs from the previous one of its tracepoint, a line for each register, variable and
// member.
type changePrinter struct {
	out        *console.Output
	view       *view.View
	comparison *survey.Comparison
	values     printing.ValuePrinter
	some       bool // a frame has been printed
	lines      []changeLine
	text       []byte // of the lines of one frame, one after the other
}

// changeLine is what changed, and where its values stand in the text. Offsets stay valid when append moves the text; slices would
// not.
type changeLine struct {
	name       string
	start, end int
}

// newChangePrinter compares each frame with the previous frame of its tracepoint in the file, whether that one has been chosen or
// not. So "what changed" means the same with --where or --last as without. The previous frame is read again from the file; its
// number is in the index.
func newChangePrinter(out *console.Output, v *view.View) *changePrinter {
	return &changePrinter{out: out, view: v, comparison: survey.NewComparison(v), values: printing.NewValuePrinter(v)}
}

// Add implements printing.FrameWriter. The lines of a frame are gathered first, since the column of names is as wide as they need.
func (p *changePrinter) Add(frame view.Frame) error {
	since, changes, ok, err := p.comparison.Compare(frame)
	if err != nil {
		return err
	}
	if p.some {
		fmt.Fprintln(p.out)
	}
	p.some = true
	// A frame without changes has its title as well: a counter that stands still is an answer.
	title := frameTitle(p.view, frame)
	switch {
	case !ok:
		title += ": the first of the tracepoint"
	case len(changes) == 0:
		title += fmt.Sprintf(": nothing changed since frame %d", since)
	default:
		title += fmt.Sprintf(", since frame %d", since)
	}
	if _, err := fmt.Fprintln(p.out, p.out.Style.Heading(title)); err != nil {
		return err
	}
	p.lines, p.text = p.lines[:0], p.text[:0]
	for _, change := range changes {
		p.write(change)
	}
	return p.print()
}

// widestName limits the column of names: one path like a.b[3].c.d must not push the values of all lines out of sight.
const widestName = 40

// print prints the lines of a frame, with the names in a column.
func (p *changePrinter) print() error {
	width := registerNameWidth
	for _, l := range p.lines {
		if n := utf8.RuneCountInString(l.name); n <= widestName {
			width = max(width, n)
		}
	}
	for _, l := range p.lines {
		if _, err := fmt.Fprintf(p.out, "  %-*s  %s\n", width, l.name, p.text[l.start:l.end]); err != nil {
			return err
		}
	}
	return nil
}

// Flush implements printing.FrameWriter. Each frame has been written whole.
func (p *changePrinter) Flush() error { return nil }

// write prints a change. A value of a known type is compared member by member, memory without a type stretch by stretch, and only
// the parts that differ are printed; a block whose length has changed is printed whole, as nothing pairs its bytes.
func (p *changePrinter) write(change survey.Change) {
	name := text.Visible(change.Name)
	if change.Register != nil {
		p.writeLine(name, func(dst, side []byte) []byte {
			return p.appendRegister(dst, change, side)
		}, change.Old, change.New)
		return
	}
	t := ctype.Bytes(len(change.New))
	if change.Item != nil {
		t = change.Item.Type
		if number, ok := change.Item.Variable(); ok {
			p.writeLine(name, func(dst, side []byte) []byte { return p.appendVariable(dst, number, side) }, change.Old, change.New)
			return
		}
	}
	switch {
	case len(change.Old) != len(change.New) || printing.IsUntyped(t) && t.Scalar():
		p.writeLine(name, p.appendMemory, change.Old, change.New)
		return
	case printing.IsUntyped(t):
		p.writeStretches(name, change)
		return
	}
	for _, m := range survey.Members(change.Name, t, change.Old, change.New) {
		// Members are found by bytes, and bit-fields share bytes: only the printed values tell which of them has changed.
		appendTo := func(dst, side []byte) []byte { return p.values.AppendField(dst, m.Field, side) }
		if m.Field.Bits > 0 && bytes.Equal(appendTo(nil, m.Old), appendTo(nil, m.New)) {
			continue // a neighbour in the same byte has changed
		}
		p.writeLine(text.Visible(m.Name), appendTo, m.Old, m.New)
	}
}

// writeStretches prints the places in which memory of an unknown type is not the same.
func (p *changePrinter) writeStretches(name string, change survey.Change) {
	for _, s := range survey.Stretches(change.Old, change.New) {
		at := fmt.Sprintf("%s, byte %d", name, s.Start)
		p.writeLine(at, p.appendMemory, change.Old[s.Start:s.End], change.New[s.Start:s.End])
	}
}

// writeLine adds a line "OLD → NEW", both written by appendTo into the text of all lines, which is reused for each frame.
func (p *changePrinter) writeLine(name string, appendTo func(dst, side []byte) []byte, before, after []byte) {
	start := len(p.text)
	p.text = append(appendTo(p.text, before), " → "...)
	p.text = appendTo(p.text, after)
	p.lines = append(p.lines, changeLine{name, start, len(p.text)})
}

// appendVariable writes a trace state variable, which is a signed 64-bit number; $trace_timestamp is printed as a time.
func (p *changePrinter) appendVariable(dst []byte, number int32, side []byte) []byte {
	n, _ := p.view.Integer(side)
	if p.view.IsTimestamp(number) {
		return printing.AppendClock(dst, int64(n))
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// appendMemory writes bytes without a type: as an integer if they are as long as one, else in hexadecimal.
func (p *changePrinter) appendMemory(dst, b []byte) []byte {
	return printing.AppendValue(dst, p.view, b)
}

// appendRegister writes a register in hexadecimal, with the symbol that a pointer to code has: "0x4011b5 <push+95>" tells where a
// return address points to without a look at the program.
func (p *changePrinter) appendRegister(dst []byte, change survey.Change, side []byte) []byte {
	dst = wire.AppendAlone(dst, p.view, change.Register, side)
	if n, ok := p.view.Integer(side); ok && change.Register.Reg.Type == "code_ptr" {
		dst = append(dst, addressSymbol(p.view, n)...)
	}
	return dst
}
