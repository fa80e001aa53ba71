package printing

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"tracewell/internal/cexpr"
	"tracewell/internal/text"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/trace"
	"tracewell/view"
)

// LineFormat is the template by which frames become lines, the value of record's --format:
//
//	{time} {location} n={n} {/x flags} {*q}: {values}
//
// In braces stands a field or an expression in C over what the tracepoint collects. "/x", "/o", "/t", "/d" and "/u" in front
// of one write an integer in hexadecimal, octal, binary, signed or unsigned, as with GDB's print. Braces of an expression's own
// are part of it; {{ and }} are braces of the line. \t and \n are a tabulator and a line feed.
//
// The template is parsed with the command line, so a mistake in it is reported before the program is started, with a mark below the
// place. Which expressions have a meaning only the definitions tell: NewLineWriter checks those.
type LineFormat struct {
	text  string
	parts []formatPart
}

// formatPart is a piece of a line: a text as it is, a field, or an expression. Exactly one of literal, field and expr is set.
type formatPart struct {
	literal string
	name    string // of the field
	field   field
	expr    string
	letter  byte // of print, 0 for none
	start   int  // of the expression in the template
}

// field appends what a template names by a word and not by an expression.
type field func(w *lineWriter, dst []byte, frame view.Frame) []byte

// fields are in the order in which messages list them. A variable of the program that has the name of a field is written in
// parentheses: {(line)}.
var fields = []struct {
	name   string
	append field
}{
	{"time", (*lineWriter).appendTime}, {"elapsed", (*lineWriter).appendElapsed}, {"frame", (*lineWriter).appendNumber},
	{"tracepoint", (*lineWriter).appendTracepoint}, {"location", (*lineWriter).appendLocation},
	{"function", (*lineWriter).appendFunction}, {"file", (*lineWriter).appendFile}, {"line", (*lineWriter).appendLine},
	{"pc", (*lineWriter).appendPC}, {"pid", (*lineWriter).appendPID}, {"tid", (*lineWriter).appendTID},
	{"comm", (*lineWriter).appendComm}, {"backtrace", (*lineWriter).appendBacktrace}, {"values", (*lineWriter).appendValues},
}

// FieldNames are the names of fields.
func FieldNames() []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// usualFormat is what lines look like if nobody says it: {time} comes first, as in a log.
const usualFormat = "{time} {location} {values}"

// Field returns the function that appends what a field stands for, by its name; nil if there is none of that name. It does not
// serve elapsed and values, which depend on the run.
func Field(v *view.View, name string) func(dst []byte, frame view.Frame) []byte {
	w := &lineWriter{view: v, reader: v.NewReader(), values: NewValuePrinter(v)}
	for _, f := range fields {
		if f.name == name {
			return func(dst []byte, frame view.Frame) []byte { return f.append(w, dst, frame) }
		}
	}
	return nil
}

// Names reports whether the template has a field.
func (f *LineFormat) Names(field string) bool {
	return slices.ContainsFunc(f.parts, func(p formatPart) bool { return p.name == field })
}

// Given reports whether there is a template.
func (f *LineFormat) Given() bool { return f.text != "" }

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *LineFormat) UnmarshalText(text []byte) error {
	*f = LineFormat{text: string(text)}
	for at := 0; at < len(f.text); {
		n, err := f.add(at)
		if err != nil {
			return err
		}
		at += n
	}
	if len(f.parts) == 0 {
		return fmt.Errorf("a template that is empty makes empty lines")
	}
	return nil
}

// wrong is an error about the bytes [start, end) of the template, with an advice if there is one.
func (f *LineFormat) wrong(start, end int, problem, hint string) error {
	return &expr.Error{Text: f.text, Start: start, End: end, Problem: problem, Hint: hint}
}

// add reads what begins at a place, and returns how long it is. A backslash in front of anything but n, t and itself stands for
// itself, as in a shell's double quotes: the template has passed through a shell already.
func (f *LineFormat) add(at int) (int, error) {
	rest := f.text[at:]
	for _, escape := range []struct{ text, means string }{{"{{", "{"}, {"}}", "}"}, {`\n`, "\n"}, {`\t`, "\t"}, {`\\`, `\`}} {
		if strings.HasPrefix(rest, escape.text) {
			f.literal(escape.means)
			return len(escape.text), nil
		}
	}
	switch rest[0] {
	case '}':
		return 0, f.wrong(at, at+1, "nothing is open that this closes", "a brace itself is written }}")
	case '{':
		end := closingBrace(rest)
		if end < 0 {
			return 0, f.wrong(at, at+1, "this is not closed", "a brace itself is written {{")
		}
		return end + 1, f.brace(at+1, at+end)
	}
	n := strings.IndexAny(rest, `{}\`)
	switch {
	case n < 0:
		n = len(rest)
	case n == 0: // a backslash that stands for itself
		n = 1
	}
	f.literal(rest[:n])
	return n, nil
}

// closingBrace returns where the brace at the beginning of a text is closed, -1 if it is not. It counts braces without regard to
// quotation marks: a character constant '}' inside an expression closes it.
func closingBrace(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// literal appends a text as it is, to the one in front if there is one: "a{{b" is one part and not three.
func (f *LineFormat) literal(text string) {
	if last := len(f.parts) - 1; last >= 0 && f.parts[last].literal != "" {
		f.parts[last].literal += text
		return
	}
	f.parts = append(f.parts, formatPart{literal: text})
}

// brace reads what stands between braces.
func (f *LineFormat) brace(start, end int) error {
	inside := f.text[start:end]
	for _, known := range fields {
		if known.name == strings.TrimSpace(inside) {
			f.parts = append(f.parts, formatPart{name: known.name, field: known.append})
			return nil
		}
	}
	part := formatPart{start: start}
	if strings.HasPrefix(inside, "/") {
		if len(inside) < 2 || !strings.Contains("xotdu", inside[1:2]) || !strings.HasPrefix(inside[2:], " ") {
			return f.wrong(start, min(start+2, end), "a letter of print is one of x, o, t, d and u, with a blank behind it", "")
		}
		part.letter = inside[1]
		part.start += 2
		inside = inside[2:]
	}
	part.start += len(inside) - len(strings.TrimLeft(inside, " "))
	if part.expr = strings.TrimSpace(inside); part.expr == "" {
		return f.wrong(start-1, end+1, "there is neither a field nor an expression here", "fields are "+strings.Join(FieldNames(), ", "))
	}
	f.parts = append(f.parts, part)
	return nil
}

// lineWriter writes frames of a view as lines, while the program runs: record calls Add for each frame as it is collected, so a
// line is made without parsing anything again. The template and its expressions are compiled once for each set of definitions.
type lineWriter struct {
	out    io.Writer
	view   *view.View
	reader *view.Reader
	values ValuePrinter
	format LineFormat
	exprs  []lineExpression          // of the parts that are expressions, in their order
	named  map[trace.Number][]string // registers and variables that the plan names, by tracepoint
	calls  bool                      // the calls of a frame with a stack follow, each on a line
	start  time.Time

	ticking bool  // first is known
	first   int64 // the time of the first frame, in microseconds

	text      []byte
	collected []view.Variable
}

// lineExpression is an expression of a template.
type lineExpression struct {
	name     string           // in the form that items have
	computed *view.Expression // nil for what is only had as it was collected
	letter   byte
}

// NewLineWriter fits a template, or the one by default, to a view. The error is about an expression that means nothing at
// any tracepoint. One that has a meaning at some tracepoints is accepted, and "<unavailable>" in the lines of the others. What
// cannot be computed, such as a structure, is accepted if some tracepoint collects it by that name.
func NewLineWriter(
	out io.Writer, v *view.View, format LineFormat, named map[trace.Number][]string, start time.Time,
) (*lineWriter, error) {
	w := &lineWriter{
		out: out, view: v, reader: v.NewReader(), values: NewValuePrinter(v), format: format, named: named, start: start,
	}
	// The format by default is parsed like one of the user's, so that there is one way to print a line.
	if !format.Given() {
		_ = w.format.UnmarshalText([]byte(usualFormat)) // it is right
		w.calls = v.CollectsStacks()
	}
	known := make(map[string]bool)
	for _, name := range v.ItemNames() {
		known[cexpr.Normal(name)] = true
	}
	for _, part := range w.format.parts {
		if part.expr == "" {
			continue
		}
		e := lineExpression{name: cexpr.Normal(part.expr), letter: part.letter}
		computed, err := v.Expression(part.expr)
		switch {
		case err == nil:
			e.computed = computed
		case !known[e.name]:
			return nil, format.misplaced(part, err)
		}
		w.exprs = append(w.exprs, e)
	}
	return w, nil
}

// misplaced shows an error about an expression where it stands in the template.
func (f *LineFormat) misplaced(part formatPart, err error) error {
	if wrong, ok := err.(*expr.Error); ok && wrong.Text == part.expr {
		return fmt.Errorf("--format: %w", f.wrong(part.start+wrong.Start, part.start+wrong.End, wrong.Problem, wrong.Hint))
	}
	return fmt.Errorf("--format: %w", f.wrong(part.start, part.start+len(part.expr), err.Error(), ""))
}

// Add implements FrameWriter. The buffer of the line is reused for the next.
func (w *lineWriter) Add(frame view.Frame) error {
	w.text = w.append(w.text[:0], frame)
	_, err := w.out.Write(w.text)
	return err
}

// Flush implements FrameWriter; nothing is held back.
func (w *lineWriter) Flush() error { return nil }

// append writes the line of a frame.
func (w *lineWriter) append(dst []byte, frame view.Frame) []byte {
	w.reader.Set(frame)
	n := 0
	for i := range w.format.parts {
		switch part := &w.format.parts[i]; {
		case part.literal != "":
			dst = append(dst, part.literal...)
		case part.field != nil:
			dst = part.field(w, dst, frame)
		default:
			dst = w.appendExpression(dst, &w.exprs[n])
			n++
		}
	}
	dst = append(dst, '\n')
	if w.calls {
		dst = appendCalls(dst, w.reader.Backtrace())
	}
	return dst
}

// appendCalls appends the calls of a stack, each on a line, and why there are no more.
func appendCalls(dst []byte, b view.Backtrace) []byte {
	for _, line := range callLines(&b) {
		dst = append(append(append(dst, "    "...), line...), '\n')
	}
	return dst
}

// unavailable is what GDB prints for what a frame does not have.
const unavailable = "<unavailable>"

// appendExpression writes an expression of the template. What the tracepoint has collected by the same name is preferred to
// computing it: a collected structure or string can be printed, while expressions compute scalars. A letter asks for the number
// in any case.
func (w *lineWriter) appendExpression(dst []byte, e *lineExpression) []byte {
	if e.letter == 0 {
		for _, item := range w.reader.Items() {
			if cexpr.Normal(item.Name) != e.name {
				continue
			}
			appendTo := w.values.AppendItem
			if _, isVariable := item.Variable(); isVariable {
				appendTo = appendNumber
			}
			if s, ok := w.textOf(item); ok {
				return append(dst, text.Visible(s)...)
			}
			if dst, ok := appendTo(dst, w.reader, item); ok {
				return dst
			}
		}
	}
	if e.computed == nil {
		return append(dst, unavailable...)
	}
	value, ok := e.computed.Value(w.reader)
	switch {
	case !ok:
		return append(dst, unavailable...)
	case e.letter == 0:
		if s, ok := w.reader.Text(value); ok {
			return append(dst, text.Visible(withEllipsis(s))...)
		}
		return w.values.AppendNumber(dst, value)
	}
	return appendAs(dst, value, e.letter)
}

// textOf is the text that an item is or points to, false for any other, and if the frame does not have it. Collected by /s an item
// is the text itself; of $args and $locals it is the pointer, and the text lies elsewhere in the frame.
func (w *lineWriter) textOf(item *view.Item) (string, bool) {
	if item.IsText() {
		d, ok := w.reader.Read(item)
		s, _, _ := bytes.Cut(d.Bytes, []byte{0})
		return withEllipsis(string(s)), ok
	}
	pointer, ok := w.reader.Integer(item)
	if !ok {
		return "", false
	}
	s, ok := w.reader.Text(pointer)
	return withEllipsis(s), ok
}

// withEllipsis marks a text of which no more than its beginning is collected. One that is exactly as long is marked, too, since
// its zero byte was not collected, so that nobody knows that it ends there.
func withEllipsis(s string) string {
	if len(s) < ShownCharacters {
		return s
	}
	return s[:ShownCharacters] + "…"
}

// appendAs writes an integer as GDB's print/LETTER does. The bits are cut to the size of the type first: -1 of an int is
// 0xffffffff. /o has a leading 0 except for zero itself, /t has no prefix, and /d interprets unsigned types as signed.
func appendAs(dst []byte, value ctype.Number, letter byte) []byte {
	bits := value.Bits
	if size := value.Type.Size; size < 8 {
		bits &= 1<<(8*size) - 1
	}
	switch letter {
	case 'x':
		return strconv.AppendUint(append(dst, "0x"...), bits, 16)
	case 'o':
		if bits != 0 {
			dst = append(dst, '0')
		}
		return strconv.AppendUint(dst, bits, 8)
	case 't':
		return strconv.AppendUint(dst, bits, 2)
	case 'u':
		return strconv.AppendUint(dst, bits, 10)
	}
	shift := 64 - 8*min(value.Type.Size, 8)
	return strconv.AppendInt(dst, int64(bits<<shift)>>shift, 10)
}

// appendTime appends the time of the hit. A tracepoint that does not collect $trace_timestamp has none.
func (w *lineWriter) appendTime(dst []byte, frame view.Frame) []byte {
	if stamp, ok := w.stamp(frame); ok {
		return AppendClock(dst, stamp)
	}
	return append(dst, unavailable...)
}

// appendElapsed appends seconds with six decimals: the timestamps have microseconds.
func (w *lineWriter) appendElapsed(dst []byte, frame view.Frame) []byte {
	if stamp, ok := w.stamp(frame); ok {
		return strconv.AppendFloat(dst, w.elapsed(stamp).Seconds(), 'f', 6, 64)
	}
	return append(dst, unavailable...)
}

// appendNumber appends the number of the frame, from 0 in the order of the run.
func (w *lineWriter) appendNumber(dst []byte, frame view.Frame) []byte {
	return strconv.AppendInt(dst, int64(frame.Number), 10)
}

// appendTracepoint appends the number of the tracepoint, which all its locations share.
func (w *lineWriter) appendTracepoint(dst []byte, frame view.Frame) []byte {
	return strconv.AppendInt(dst, int64(frame.Tracepoint()), 10)
}

// appendLocation appends the location as the user set it, and marks frames of while-stepping, which were made elsewhere.
func (w *lineWriter) appendLocation(dst []byte, frame view.Frame) []byte {
	dst = append(dst, text.Visible(w.view.SourceOf(frame))...)
	if w.view.Stepped(frame) {
		dst = append(dst, " (step)"...)
	}
	return dst
}

// appendFunction appends the name of the function without the offset of the pc in it; nothing without symbols.
func (w *lineWriter) appendFunction(dst []byte, frame view.Frame) []byte {
	return append(dst, text.Visible(withoutOffset(w.view.Describe(frame.PC)))...)
}

// withoutOffset cuts the offset from the name of an address as in "push+95". The function may be "operator+" or "operator++", so an
// offset is digits behind the last plus.
func withoutOffset(name string) string {
	if at := strings.LastIndexByte(name, '+'); at > 0 && at+1 < len(name) && strings.Trim(name[at+1:], "0123456789") == "" {
		return name[:at]
	}
	return name
}

// appendFile appends the name of the source file, appendLine the number of the line; nothing without debug information.
func (w *lineWriter) appendFile(dst []byte, frame view.Frame) []byte {
	file, _ := w.line(frame)
	return append(dst, text.Visible(file)...)
}

func (w *lineWriter) appendLine(dst []byte, frame view.Frame) []byte {
	_, line := w.line(frame)
	return append(dst, line...)
}

// appendPC appends the address with its symbol and source line.
func (w *lineWriter) appendPC(dst []byte, frame view.Frame) []byte {
	return AppendCode(dst, w.view, frame.PC)
}

// appendBacktrace appends the calls on one line, the innermost first.
func (w *lineWriter) appendBacktrace(dst []byte, _ view.Frame) []byte {
	b := w.reader.Backtrace()
	if len(b.Calls) == 0 {
		return append(dst, unavailable...)
	}
	return append(dst, text.Visible(string(b.AppendText(nil)))...)
}

// stamp is when a frame was made, false if it does not tell.
func (w *lineWriter) stamp(frame view.Frame) (microseconds int64, ok bool) {
	w.collected = view.AppendVariables(w.collected[:0], frame)
	return stampOf(w.collected)
}

// elapsed is how long after the beginning of the run something was. On the clock of another server, which nobody has read then, the
// beginning is the first frame that is printed.
func (w *lineWriter) elapsed(stamp int64) time.Duration {
	if IsUnixTime(stamp) {
		return time.UnixMicro(stamp).Sub(w.start)
	}
	if !w.ticking {
		w.ticking, w.first = true, stamp
	}
	return time.Duration(stamp-w.first) * time.Microsecond
}

// line is the source line of a frame, taken apart at the last colon, as the name of a file may contain one.
func (w *lineWriter) line(frame view.Frame) (file, line string) {
	whole := w.view.Line(frame.PC)
	if i := strings.LastIndexByte(whole, ':'); i >= 0 {
		return whole[:i], whole[i+1:]
	}
	return whole, ""
}

// appendValues writes all that was collected by name: "n = 3, *q = {…}", without the time. Items that the frame lacks are left
// out: in a line with others "<unavailable>" would hide what is there.
func (w *lineWriter) appendValues(dst []byte, frame view.Frame) []byte {
	some := false
	for _, item := range w.reader.Items() {
		if !w.shows(item, frame.Tracepoint()) {
			continue
		}
		start := len(dst)
		if some {
			dst = append(dst, ", "...)
		}
		dst = append(append(dst, text.Visible(item.Name)...), " = "...)
		var ok bool
		if dst, ok = w.appendValue(dst, item, frame); !ok {
			dst = dst[:start]
			continue
		}
		some = true
	}
	return appendDamage(dst, frame)
}

// appendValue writes what a frame has of an item, which may be a register or a variable, in a line with others.
func (w *lineWriter) appendValue(dst []byte, item *view.Item, frame view.Frame) ([]byte, bool) {
	if item.Slot != nil {
		return w.view.AppendRegister(dst, item.Slot, frame.Registers())
	}
	if _, isVariable := item.Variable(); isVariable {
		return appendNumber(dst, w.reader, item)
	}
	// A pointer to characters is its text, as with printf, in quotation marks because other values stand beside it: a text may contain
	// what separates them. An argument of a system call has a notation of its own.
	if s, ok := w.textOf(item); ok && item.Type.Describe == nil {
		start := len(dst)
		return cutCharacters(strconv.AppendQuote(dst, s), start, ShownCharacters), true
	}
	return w.values.appendShort(dst, w.reader, item)
}

// appendNumber writes a trace state variable, which is a decimal number however large it is.
func appendNumber(dst []byte, reader *view.Reader, item *view.Item) ([]byte, bool) {
	return reader.Append(dst, item, view.StyleCSV)
}

// shows reports whether an item is one that its tracepoint was asked to collect: not the time and
// the system call, which have fields of their own, and no register and no other built-in variable but those that were named.
func (w *lineWriter) shows(item *view.Item, number trace.Number) bool {
	switch n, isVariable := item.Variable(); {
	case n == int32(trace.Timestamp):
		return false
	case item.IsCall():
	case isVariable && !w.view.IsBuiltin(n) || !isVariable && item.Slot == nil:
		return true
	}
	for _, name := range w.named[number] {
		if name == item.Name {
			return true
		}
	}
	return false
}
