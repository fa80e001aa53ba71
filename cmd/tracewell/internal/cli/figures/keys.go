package figures

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/cexpr"
	"tracewell/internal/jsontext"
	"tracewell/internal/text"
	"tracewell/record/plan"
	"tracewell/symbol/ctype"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/tally"
)

// fields are the fields of templates that can be keys. A variable of the program that has such a name is written in parentheses.
var fields = []string{"location", "function", "file", "line", "pc", "tracepoint", "pid", "tid", "comm"}

// ofPlace are the fields that are the same for all hits at one address.
var ofPlace = []string{"location", "function", "file", "line", "pc", "tracepoint"}

// made are the variables that fields about the maker of a frame are found by.
var made = map[string]string{
	// With the dollar no variable of the program is meant.
	"pid": "$" + trace.ProcessIDName, "tid": "$" + trace.ThreadIDName, "comm": "$" + trace.ThreadIDName,
}

// isField reports whether an expression of a key is a field.
func isField(text string) bool { return slices.Contains(fields, text) }

// Variables are what the help of the options refers to.
func Variables() kong.Vars { return kong.Vars{"figureFields": strings.Join(fields, ", ")} }

// label is a key as it is printed.
type label []part

// part is one of several expressions of a key.
type part struct {
	text string
	json json.RawMessage
}

// lacking is the key of hits that lack it, as GDB prints what a frame does not have.
var lacking = part{text: "<unavailable>", json: json.RawMessage("null")}

// key finds one expression of the key in a frame. Exactly one of field, computed and items is set.
type key struct {
	field    func(dst []byte, frame view.Frame) []byte
	known    map[place]string // texts of the field, nil if they depend on more
	computed *view.Expression
	items    []*view.Item // what is collected by the name and is no number, at any location
}

// place is what a field depends on.
type place struct {
	tracepoint trace.Number
	pc         arch.Addr
}

// mostPlaces is how many texts of a field are remembered: tracepoints have few locations, but steps have any.
const mostPlaces = 1 << 12

// compileKey finds out what an expression of the key means in the frames of a view.
func compileKey(v *view.View, e plan.Text) (key, error) {
	expression := e.Value
	switch variable := made[e.Value]; {
	// A thread may change its name, so this depends on no place.
	case e.Value == "comm":
		return key{field: printing.Field(v, e.Value)}, nil
	case variable != "":
		expression = variable
	case isField(e.Value):
		return key{field: printing.Field(v, e.Value), known: make(map[place]string)}, nil
	}
	computed, err := v.Expression(expression)
	if err == nil {
		return key{computed: computed}, nil
	}
	// A structure, or a string that is more than a pointer, counts by how it is printed, if it was collected by this name.
	var k key
	for _, item := range v.EveryItem() {
		if cexpr.Normal(item.Name) == cexpr.Normal(e.Value) {
			k.items = append(k.items, item)
		}
	}
	if k.items == nil {
		return k, e.Explain(fmt.Errorf("%w", err))
	}
	return k, nil
}

// The forms of a key. A text is followed by its end, so that the texts of two expressions cannot run into one another.
const (
	isLacking = iota
	isNumber
	isText
)

// append appends what is the same for two hits if their keys are.
func (k *key) append(dst []byte, w *Writer, frame view.Frame) []byte {
	switch {
	case k.field != nil:
		return appendText(dst, k.fieldOf(frame))
	case k.computed != nil:
		v, ok := k.computed.Value(w.reader)
		if !ok {
			return append(dst, isLacking)
		}
		// Equal texts lie at different addresses, and one address may have different texts.
		if text, ok := k.computed.Text(w.reader, v); ok {
			return appendText(dst, text)
		}
		return binary.LittleEndian.AppendUint64(append(dst, isNumber), v.Bits)
	}
	start := len(dst)
	dst = append(dst, isText)
	for _, item := range w.reader.Items() {
		if !slices.Contains(k.items, item) {
			continue
		}
		if dst, ok := w.printer.AppendItem(dst, w.reader, item); ok {
			return append(dst, 0)
		}
	}
	return append(dst[:start], isLacking)
}

// appendText appends the text of a field or of memory. It may contain a zero byte only if the other's end does, too.
func appendText(dst []byte, text string) []byte {
	return append(append(append(dst, isText), text...), 0)
}

// fieldOf is the text of a field, which is looked up once for each place.
func (k *key) fieldOf(frame view.Frame) string {
	if k.known == nil {
		return string(k.field(nil, frame))
	}
	at := place{frame.Tracepoint(), frame.PC}
	known, ok := k.known[at]
	if !ok {
		if len(k.known) >= mostPlaces {
			clear(k.known)
		}
		known = string(k.field(nil, frame))
		k.known[at] = known
	}
	return known
}

// part prints the expression of the key for the frame that append was called for.
func (k *key) part(w *Writer, frame view.Frame) part {
	switch {
	case k.field != nil:
		return textPart(k.fieldOf(frame))
	case k.computed != nil:
		v, ok := k.computed.Value(w.reader)
		if !ok {
			return lacking
		}
		if s, ok := k.computed.Text(w.reader, v); ok {
			return part{text.Quote(s), jsontext.AppendString(nil, s)}
		}
		return w.numberPart(v)
	}
	// The text is the key itself, between what it begins and ends with.
	raw := k.append(nil, w, frame)
	if raw[0] == isLacking {
		return lacking
	}
	return textPart(string(raw[1 : len(raw)-1]))
}

// textPart is a text that is printed as it is.
func textPart(s string) part { return part{s, jsontext.AppendString(nil, s)} }

// numberPart prints a number: an enumeration by its name, and a pointer with what it points to.
func (w *Writer) numberPart(v ctype.Number) part {
	// Names of enumerators and symbols come from the program, and the printer escapes them.
	shown := string(w.printer.AppendNumber(nil, v))
	switch {
	case len(v.Type.Values) > 0:
		return textPart(shown)
	case v.Type.Kind == ctype.Pointer:
		return part{shown, jsontext.AppendString(nil, v.String())}
	}
	return part{shown, json.RawMessage(v.String())}
}

// appendReadings appends the values of a frame.
func (w *Writer) appendReadings(dst []tally.Reading) []tally.Reading {
	for i, e := range w.exprs {
		v, ok := e.Value(w.reader)
		if !ok {
			w.lacking[i]++
		}
		dst = append(dst, tally.Reading{Number: v, OK: ok})
	}
	return dst
}

// nameOf is a value of an expression as figures have it: of an enumeration by its name. Names come from the debug information of a
// program that anybody may have built, so they pass through text.Visible like all that files contain.
func nameOf(v ctype.Number) string {
	for _, e := range v.Type.Values {
		if uint64(e.Value) == v.Bits {
			return text.Visible(e.Name)
		}
	}
	return v.String()
}

// mean, least and greatest are cells of a row.
func mean(m *tally.Measured) string { return printing.Short(m.Mean()) }

func least(m *tally.Measured) string { return nameIf(m, m.Min) }

func greatest(m *tally.Measured) string { return nameIf(m, m.Max) }

// nameIf is nameOf of a value if there is any.
func nameIf(m *tally.Measured, v ctype.Number) string {
	if m.Count == 0 {
		return ""
	}
	return nameOf(v)
}

// titles are what the keys are called.
func titles(keys []plan.Text) []string {
	names := []string{}
	for _, k := range keys {
		names = append(names, strings.TrimSpace(k.Value))
	}
	return names
}
