package view

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"tracewell/arch"
	"tracewell/internal/jsontext"
	"tracewell/symbol/ctype"
)

// openQuote begins a string, or ends one.
func openQuote(dst []byte, style Style) []byte {
	if style == StyleJSON {
		return append(dst, '"')
	}
	return dst
}

// textOf returns the bytes up to the first zero byte, and false if they are no text that can be printed.
// What has no text of its own is written as bytes: replacing characters would hide what was collected.
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
	return jsontext.AppendString(dst, text)
}

// extent is where a string of Go or Rust says what its text is.
// The text itself is elsewhere in memory, and only there if it was collected, too.
type extent struct{ address, length ctype.Field }

// textMembers finds the members that say where the text of a string is, false for what is no string.
func textMembers(t *ctype.Type, language ctype.Language) (extent, bool) {
	switch {
	case language == ctype.Go && len(t.Fields()) == 2:
		return members(t, "str", "len")
	case language == ctype.Rust && (t.Name == "&str" || t.Name == "&mut str"):
		return members(t, "data_ptr", "length")
	case language == ctype.Rust && strings.HasSuffix(t.Name, "string::String"):
		return ownedText(t)
	}
	return extent{}, false
}

func members(t *ctype.Type, address, length string) (extent, bool) {
	a, hasAddress := t.Field(address)
	n, hasLength := t.Field(length)
	found := extent{a, n}
	return found, hasAddress && hasLength && found.fits(t)
}

// fits reports whether the members are of a kind, and where, they can be.
func (x extent) fits(t *ctype.Type) bool {
	a, n := x.address, x.length
	return a.Type.Kind == ctype.Pointer && a.Type.Elem.Size == 1 && n.Type.Kind == ctype.Integer && n.Type.Scalar() &&
		0 <= a.Offset && a.Offset+a.Type.Size <= t.Size && 0 <= n.Offset && n.Offset+n.Type.Size <= t.Size
}

// ownedText finds the members within a String of Rust, which is a vector of bytes:
//
//	{vec: {buf: {inner: {ptr: {pointer: {pointer}}}}, len}}
func ownedText(t *ctype.Type) (extent, bool) {
	vec, ok := t.Field("vec")
	if !ok {
		return extent{}, false
	}
	buf, hasBuffer := vec.Type.Field("buf")
	length, hasLength := vec.Type.Field("len")
	if !hasBuffer || !hasLength {
		return extent{}, false
	}
	address, ok := firstPointer(buf, deepest)
	address.Offset += vec.Offset
	length.Offset += vec.Offset
	found := extent{address, length}
	return found, ok && found.fits(t)
}

// firstPointer finds the first pointer within a member, its Offset counted from where that of the member is.
func firstPointer(f ctype.Field, depth int) (ctype.Field, bool) {
	if f.Type.Kind == ctype.Pointer {
		return f, true
	}
	if depth == 0 {
		return f, false
	}
	for _, inner := range f.Type.Fields() {
		inner.Offset += f.Offset
		if found, ok := firstPointer(inner, depth-1); ok {
			return found, true
		}
	}
	return f, false
}

// longestText is how much of a text counts that ends at its first zero byte.
const longestText = 200

// Text reads the text that a pointer to characters points to. It is false for any other value, and if the frame lacks the text.
// Of a text that is long, or of which the frame has only the beginning, it returns that beginning.
func (r *Reader) Text(v ctype.Number) (string, bool) {
	elem := v.Type.Elem
	collected := elem == ctype.Int(1, true) // as a string
	if v.Type.Kind != ctype.Pointer || elem == nil || elem.Size != 1 || !elem.Char && !collected || v.Bits == 0 {
		return "", false
	}
	room := make([]byte, longestText)
	n := r.ReadMemory(arch.Addr(v.Bits), room)
	if end := bytes.IndexByte(room[:n], 0); end >= 0 {
		return string(room[:end]), true
	}
	return string(room[:n]), n > 0
}

// text reads the text of a string, false if the frame does not have all of it.
func (r *Reader) text(x extent, v ctype.Value) ([]byte, bool) {
	if len(v.Holes) > 0 || len(v.Bytes) < v.Type.Size {
		return nil, false
	}
	word := func(f ctype.Field) uint64 { return r.view.integer(v.Bytes[f.Offset : f.Offset+f.Type.Size]) }
	n := word(x.length)
	// A length of that size is that of a string that is not initialised.
	if n > mostRead {
		return nil, false
	}
	b := make([]byte, n)
	if n > 0 && r.ReadMemory(arch.Addr(word(x.address)), b) < len(b) {
		return nil, false
	}
	return b, utf8.Valid(b)
}
