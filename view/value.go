package view

import (
	"tracewell/internal/jsontext"
	"tracewell/symbol/ctype"
)

// Style is how values are written for other programs. In both a pointer and a register is a hexadecimal number after 0x, any
// other integer a decimal one, and a text is itself: an array of characters up to its first zero byte, and a string of Go or Rust
// whose text the frame has. Containers are written as their contents. What has no such form, as the alternatives of an enumeration
// of Rust and what the program does not know itself, is the text that GDB prints.
type Style uint8

// The styles.
const (
	// StyleCSV writes the elements of an array with blanks between them: numbers as numbers, and bytes of which nothing is
	// known in hexadecimal, as a reader would take 0102 for a number. Of a string whose text the frame lacks it has the address.
	StyleCSV Style = iota
	// StyleJSON writes a JSON value: integers and floating-point numbers are numbers, arrays are arrays, structures are
	// objects, all else is a string; bytes of which nothing is known are a string as in "bytes" of a block of memory. A vector, a
	// list or a set is an array; a map is an object if its keys are texts or numbers and each occurs once, and otherwise an array of
	// pairs. An optional value, a variant, a smart pointer or an interface of Go is what it contains or points to, and null without
	// that, as is a slice, map or channel of Go that is nil. If elements are missing, the last element of the array is a string that
	// says why: "<not collected: 997 elements>".
	// The value that a call returns is such a string if the frame cannot have it: "<tail call: …>".
	StyleJSON
)

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
	if item.Absent != "" && style == StyleJSON {
		return jsontext.AppendString(dst, item.Reason()), true
	}
	v, ok := r.Find(item)
	if !ok {
		return dst, false
	}
	return r.appendWhole(dst, item, v, style), true
}

func (r *Reader) appendWhole(dst []byte, item *Item, v ctype.Value, style Style) []byte {
	if !item.IsText() {
		return encoder{reader: r.Of(item), language: item.Language, style: style}.append(dst, v, deepest)
	}
	if text, ok := textOf(v.Bytes); ok {
		return appendString(dst, text, style)
	}
	return appendUnknown(dst, v.Bytes, style)
}

// Reason is what stands in place of an item that no frame has.
func (i *Item) Reason() string { return "<" + i.Absent + ">" }

// IsText reports whether an item is a text that ends at the first zero byte, as collect/s asks for.
func (i *Item) IsText() bool { return i.sources[0].kind == sourceString }

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
