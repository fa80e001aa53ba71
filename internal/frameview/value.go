package frameview

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"

	"tracewell/symbol/ctype"
)

// Style is how values are written for other programs. In both a pointer and a register is a hexadecimal number after 0x, any
// other integer a decimal one, and a text is itself up to its first zero byte.
type Style uint8

// The styles.
const (
	// StyleCSV writes the elements of an array with blanks between them: numbers as numbers, and bytes of which nothing is
	// known in hexadecimal, as a reader would take 0102 for a number.
	StyleCSV Style = iota
	// StyleJSON writes a JSON value: integers and floating-point numbers are numbers, arrays are arrays, structures are
	// objects, all else is a string; bytes of which nothing is known are a string as in "bytes" of a block of memory.
	StyleJSON
)

// deepest is how far types may contain one another. The debugging information of no program comes near it.
const deepest = 32

// Append appends what the frame has of an item. It appends nothing, and false, for what the frame lacks.
func (r *Reader) Append(dst []byte, item *Item, style Style) ([]byte, bool) {
	if item.Slot != nil {
		before := len(dst)
		dst, ok := r.view.AppendRegister(openQuote(dst, style), item.Slot, r.registers)
		if !ok {
			return dst[:before], false
		}
		return openQuote(dst, style), true
	}
	d, ok := r.Read(item)
	if !ok {
		return dst, false
	}
	return r.appendDatum(dst, item, d, style), true
}

func (r *Reader) appendDatum(dst []byte, item *Item, d Datum, style Style) []byte {
	if !item.IsText() {
		return r.view.appendTyped(dst, item.Type, d.Bytes, style, deepest)
	}
	if text, ok := textOf(d.Bytes); ok {
		return appendString(dst, text, style)
	}
	return appendUnknown(dst, d.Bytes, style)
}

// IsText reports whether an item is a text that ends at the first zero byte, as collect/s asks for.
func (i *Item) IsText() bool { return i.sources[0].kind == sourceString }

// openQuote begins a string, or ends one.
func openQuote(dst []byte, style Style) []byte {
	if style == StyleJSON {
		return append(dst, '"')
	}
	return dst
}

// appendTyped appends the value of a type that memory holds. Memory that is too short for the type is written as bytes.
func (v *View) appendTyped(dst []byte, t *ctype.Type, b []byte, style Style, depth int) []byte {
	if t.Size == 0 || len(b) < t.Size || depth == 0 {
		return appendUnknown(dst, b, style)
	}
	b = b[:t.Size]
	switch {
	case t.Scalar():
		return appendScalar(dst, t, t.Extend(v.integer(b)), style)
	case t.Kind == ctype.Float && (t.Size == 4 || t.Size == 8):
		return appendFloat(dst, v.integer(b), 8*t.Size, style)
	case t.Kind == ctype.Record && style == StyleJSON:
		return v.appendRecord(dst, t, b, depth-1)
	case t.Kind == ctype.Array && t.Elem.Char && t.Elem.Size == 1:
		if text, ok := textOf(b); ok {
			return appendString(dst, text, style)
		}
	case t.Kind == ctype.Array && !isBytes(t) && (style == StyleJSON || t.Elem.Scalar() || t.Elem.Kind == ctype.Float):
		return v.appendArray(dst, t, b, style, depth-1)
	}
	return appendUnknown(dst, b, style)
}

// isBytes reports whether a type says no more than how many bytes there are.
func isBytes(t *ctype.Type) bool { return t.Kind == ctype.Array && t.Elem == ctype.Int(1, false) }

func appendScalar(dst []byte, t *ctype.Type, n uint64, style Style) []byte {
	switch {
	case t.Kind == ctype.Pointer:
		return openQuote(appendHex(openQuote(dst, style), n), style)
	case t.Signed:
		return strconv.AppendInt(dst, int64(n), 10)
	}
	return strconv.AppendUint(dst, n, 10)
}

func (v *View) appendRecord(dst []byte, t *ctype.Type, b []byte, depth int) []byte {
	dst = append(dst, '{')
	empty := len(dst)
	for _, f := range t.Fields() {
		if f.Name == "" || f.Offset < 0 || f.Offset+f.Type.Size > len(b) {
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, f.Name), ':')
		dst = v.appendField(dst, f, b[f.Offset:], StyleJSON, depth)
	}
	return append(dst, '}')
}

// appendField appends a member, which may be a part of an integer.
func (v *View) appendField(dst []byte, f ctype.Field, b []byte, style Style, depth int) []byte {
	if f.Bits == 0 || len(b) < f.Type.Size {
		return v.appendTyped(dst, f.Type, b, style, depth)
	}
	return appendScalar(dst, f.Type, f.Extract(v.integer(b[:f.Type.Size])), style)
}

// appendArray appends elements: as a JSON array, or with blanks between them.
func (v *View) appendArray(dst []byte, t *ctype.Type, b []byte, style Style, depth int) []byte {
	open, separator, closing := "", " ", ""
	if style == StyleJSON {
		open, separator, closing = "[", ",", "]"
	}
	dst = append(dst, open...)
	for i := range t.Count {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = v.appendTyped(dst, t.Elem, b[i*t.Elem.Size:], style, depth)
	}
	return append(dst, closing...)
}

// appendFloat appends a floating-point number so that it can be read back exactly. JSON has none for infinity.
func appendFloat(dst []byte, n uint64, width int, style Style) []byte {
	f := math.Float64frombits(n)
	if width == 32 {
		f = float64(math.Float32frombits(uint32(n)))
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return openQuote(strconv.AppendFloat(openQuote(dst, style), f, 'g', -1, width), style)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, width)
}

// textOf returns the bytes up to the first zero byte, and false if they are no text that can be printed.
func textOf(b []byte) ([]byte, bool) {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) && r != '\t' && r != '\n' {
			return nil, false
		}
		rest = rest[size:]
	}
	return b, true
}

func appendString(dst, text []byte, style Style) []byte {
	if style == StyleCSV {
		return append(dst, text...)
	}
	return appendQuoted(dst, text)
}

// appendQuoted appends a text as JSON. Hardly any has something in it that needs an escape.
func appendQuoted[T string | []byte](dst []byte, text T) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return append(dst, jsonString(string(text))...)
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}

func appendUnknown(dst, b []byte, style Style) []byte {
	if style == StyleJSON {
		return appendBytes(dst, b)
	}
	for i := range b {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = hex.AppendEncode(dst, b[i:i+1])
	}
	return dst
}

// AppendCollected appends, as one JSON object, what the frame has of the items of its tracepoint but for registers:
//
//	{"j->id":7,"*j":{"id":7,"name":"job-1"},"q":"a052400000…","$hits":1}
func (r *Reader) AppendCollected(dst []byte) []byte {
	dst = append(dst, '{')
	empty := len(dst)
	for _, item := range r.Items() {
		if item.Slot != nil {
			continue
		}
		before := len(dst)
		if before > empty {
			dst = append(dst, ',')
		}
		dst = append(append(dst, item.key...), ':')
		var ok bool
		if dst, ok = r.Append(dst, item, StyleJSON); !ok {
			dst = dst[:before]
		}
	}
	return append(dst, '}')
}

// Part is a value within an item: a member of a structure, or the whole of what is no structure.
type Part struct {
	Name  string // "q.head", "j->id", or the name of the item
	field ctype.Field
	whole bool
}

// mostParts bounds how many parts a structure is taken apart into; one with more is left whole.
const mostParts = 64

// Parts takes an item apart into what has a value of its own.
func (i *Item) Parts() []Part {
	whole := []Part{{Name: i.Name, whole: true}}
	if i.Type.Kind != ctype.Record || i.IsText() {
		return whole
	}
	parts := appendParts(nil, memberPrefix(i.Name), i.Type, 0, deepest)
	if len(parts) == 0 || len(parts) > mostParts {
		return whole
	}
	return parts
}

// memberPrefix is what the name of a member follows: "q." of q, and "j->" of *j.
func memberPrefix(name string) string {
	pointer, found := bytes.CutPrefix([]byte(name), []byte("*"))
	switch {
	case !found:
		return name + "."
	case len(pointer) > 0 && (isName(string(pointer[:1])) || pointer[0] == '('):
		return string(pointer) + "->"
	}
	return "(" + name + ")."
}

func appendParts(parts []Part, prefix string, t *ctype.Type, offset, depth int) []Part {
	for _, f := range t.Fields() {
		f.Offset += offset
		if f.Type.Kind != ctype.Record {
			parts = append(parts, Part{Name: prefix + f.Name, field: f})
			continue
		}
		inner := prefix + f.Name + "."
		if f.Name == "" {
			inner = prefix
		}
		if depth > 0 && len(parts) <= mostParts {
			parts = appendParts(parts, inner, f.Type, f.Offset, depth-1)
		}
	}
	return parts
}

// AppendPart appends a part of an item that the frame has. A part that is beyond what was collected is nothing.
func (r *Reader) AppendPart(dst []byte, item *Item, d Datum, part Part, style Style) []byte {
	f := part.field
	switch {
	case part.whole:
		return r.appendDatum(dst, item, d, style)
	case f.Offset < 0 || f.Offset+f.Type.Size > len(d.Bytes):
		return dst
	}
	return r.view.appendField(dst, f, d.Bytes[f.Offset:], style, deepest)
}
