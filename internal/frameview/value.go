package frameview

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"

	"tracewell/internal/ctype"
	"tracewell/internal/filter"
)

// Style is how values are written.
type Style uint8

// The styles. In all of them a register and a pointer is a hexadecimal number, any other integer a decimal one, a text is
// itself up to its first zero byte, and what is none of these is its bytes in hexadecimal.
const (
	StyleText Style = iota // for people: texts in quotes, only the first bytes, "{07 00 00 00 …40}"
	StyleCSV               // all bytes, with blanks between them, so that no program takes them for a number
	StyleJSON              // a JSON value: integers and floating-point numbers are numbers, all else strings
)

// AppendText appends what the frame has of an item, for people. It appends nothing, and false, for what the frame lacks.
func (r *Reader) AppendText(dst []byte, item *Item) ([]byte, bool) {
	return r.Append(dst, item, StyleText)
}

// Append appends what the frame has of an item. It appends nothing, and false, for what the frame lacks.
func (r *Reader) Append(dst []byte, item *Item, style Style) ([]byte, bool) {
	if item.Slot != nil {
		before := len(dst)
		dst, ok := r.view.AppendRegister(openQuote(dst, style), item.Slot, r.registers)
		if !ok {
			return dst[:before], false
		}
		return closeQuote(dst, style), true
	}
	d, ok := r.Read(item)
	if !ok {
		return dst, false
	}
	t := item.Type
	switch {
	case t.Scalar() && len(d.Bytes) <= 8:
		value := filter.Value{Bits: t.Extend(r.view.integer(d.Bytes)), Type: t}
		if t.Kind == ctype.Pointer {
			return closeQuote(value.Append(openQuote(dst, style)), style), true
		}
		return value.Append(dst), true
	case t.Kind == ctype.Float && (len(d.Bytes) == 4 || len(d.Bytes) == 8):
		return appendFloat(dst, r.view.integer(d.Bytes), 8*len(d.Bytes), style), true
	case item.sources[0].kind == sourceString || t.Kind == ctype.Array && t.Elem.Char:
		if text, ok := textOf(d.Bytes); ok {
			return appendString(dst, text, style), true
		}
	}
	return appendData(dst, d.Bytes, style), true
}

func openQuote(dst []byte, style Style) []byte {
	if style == StyleJSON {
		return append(dst, '"')
	}
	return dst
}

func closeQuote(dst []byte, style Style) []byte { return openQuote(dst, style) }

// appendFloat appends a floating-point number so that it can be read back exactly. JSON has none for infinity.
func appendFloat(dst []byte, n uint64, width int, style Style) []byte {
	f := math.Float64frombits(n)
	if width == 32 {
		f = float64(math.Float32frombits(uint32(n)))
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return closeQuote(strconv.AppendFloat(openQuote(dst, style), f, 'g', -1, width), style)
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
	switch style {
	case StyleCSV:
		return append(dst, text...)
	case StyleJSON:
		quoted, err := json.Marshal(string(text))
		if err != nil {
			panic(err) // strings can always be written
		}
		return append(dst, quoted...)
	}
	return strconv.AppendQuote(dst, string(text))
}

// shownBytes is how many bytes people are shown.
const shownBytes = 8

func appendData(dst, b []byte, style Style) []byte {
	switch style {
	case StyleJSON:
		return appendBytes(dst, b)
	case StyleCSV:
		return appendSpaced(dst, b)
	}
	dst = appendSpaced(append(dst, '{'), b[:min(len(b), shownBytes)])
	if len(b) > shownBytes {
		dst = strconv.AppendInt(append(dst, " …"...), int64(len(b)), 10)
	}
	return append(dst, '}')
}

func appendSpaced(dst, b []byte) []byte {
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
//	{"j->id":7,"q":"a052400000…","$hits":1}
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
