package view

import (
	"encoding/hex"
	"math"
	"strconv"

	"tracewell/arch"
	"tracewell/internal/jsontext"
	"tracewell/symbol/ctype"
)

// deepest is how far types may contain one another. The debugging information of no program comes near it.
const deepest = 32

// encoder writes a value for other programs.
// It is a value and not a pointer, so that a frame with many items allocates none.
type encoder struct {
	reader   *Reader
	language ctype.Language
	style    Style
	referred bool // a reference leads to the value; those within it are addresses
}

// append appends a value. Memory that is too short for its type is written as bytes.
func (e encoder) append(dst []byte, v ctype.Value, depth int) []byte {
	t := v.Type
	if len(v.Bytes) < t.Size || t.Size == 0 && len(v.Bytes) > 0 || depth == 0 {
		return appendUnknown(dst, v.Bytes, e.style)
	}
	v.Bytes = v.Bytes[:t.Size]
	if shape := e.reader.view.Shapes.Of(t, e.language); shape != nil && len(v.Holes) == 0 {
		return e.appendContents(dst, shape, v, depth-1)
	}
	switch {
	// Which variant is active, JSON could only say by an object of our own making; GDB's text says it in the words of
	// Rust.
	case t.Variants() != nil || isHole(v):
		return e.appendPrinted(dst, v)
	case t.Describe != nil && t.Kind != ctype.Integer: // what an argument of a system call points to
		return appendString(dst, plain(e.printer().AppendValue(nil, v)), e.style)
	case t.Kind == ctype.Record:
		return e.appendRecord(dst, v, depth-1)
	case t.Kind == ctype.Array:
		return e.appendArray(dst, v, depth-1)
	case len(v.Holes) > 0 || t.Swapped && t.Kind == ctype.Float:
		return e.appendPrinted(dst, v)
	case t.Swapped && t.Size <= 8:
		return appendScalar(dst, t, t.Extend(arch.Uint(v.Bytes, t.Order(e.reader.view.order))), e.style)
	case t.Reference:
		return e.appendReferent(dst, v, depth-1)
	case t.Scalar():
		return appendScalar(dst, t, t.Extend(e.reader.view.integer(v.Bytes)), e.style)
	case t.Kind == ctype.Float && (t.Size == 4 || t.Size == 8):
		return appendFloat(dst, e.reader.view.integer(v.Bytes), 8*t.Size, e.style)
	}
	return appendUnknown(dst, v.Bytes, e.style)
}

// isHole reports whether nothing of a value is known.
func isHole(v ctype.Value) bool {
	return len(v.Holes) == 1 && v.Holes[0].From == 0 && v.Holes[0].To >= len(v.Bytes)
}

// appendPrinted appends a value as GDB prints it.
func (e encoder) appendPrinted(dst []byte, v ctype.Value) []byte {
	return appendString(dst, e.printer().AppendValue(nil, v), e.style)
}

// plain leaves out the quotation marks around a text: a string of JSON has its own.
func plain(text []byte) []byte {
	if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}

func (e encoder) printer() ctype.Printer {
	view := e.reader.view
	return ctype.Printer{
		Order: view.order, Language: e.language, Symbol: view.Describe, Memory: e.reader.ReadMemory, Brief: true, UTF8: true,
		Unfold: view.Shapes.Unfold,
	}
}

// appendReferent appends what a reference refers to, or its address if the frame does not have that.
// What it refers to may contain references again, even to itself; one step is what GDB follows, too.
func (e encoder) appendReferent(dst []byte, v ctype.Value, depth int) []byte {
	elem, addr := v.Type.Elem, arch.Addr(e.reader.view.integer(v.Bytes))
	target := ctype.Value{Type: elem, InMemory: true, Addr: addr}
	if !e.referred && 0 < elem.Size && elem.Size <= mostRead {
		target.Bytes = make([]byte, elem.Size)
	}
	n := e.reader.ReadMemory(addr, target.Bytes)
	if n == 0 {
		return appendScalar(dst, v.Type, uint64(addr), e.style)
	}
	if n < elem.Size {
		target.Holes = []ctype.Hole{{From: n, To: elem.Size, Why: ctype.Unavailable}}
	}
	e.referred = true
	return e.append(dst, target, depth)
}

// mostRead bounds what is read for one value that another leads to.
const mostRead = 1 << 20

func (e encoder) appendRecord(dst []byte, v ctype.Value, depth int) []byte {
	members, isText := textMembers(v.Type, e.language)
	if isText {
		if text, ok := e.reader.text(members, v); ok {
			return appendString(dst, text, e.style)
		}
	}
	switch {
	case e.style == StyleJSON:
		return append(e.appendMembers(append(dst, '{'), v, depth), '}')
	case isText && len(v.Holes) == 0:
		return e.appendField(dst, v, members.address, depth)
	case e.referred || len(v.Holes) > 0:
		return e.appendPrinted(dst, v)
	}
	return appendUnknown(dst, v.Bytes, e.style)
}

// appendMembers appends the members of an object that has begun, those of a member without a name as its own.
func (e encoder) appendMembers(dst []byte, v ctype.Value, depth int) []byte {
	for _, f := range v.Type.Fields() {
		switch {
		case f.Static || !f.Virtual && !f.Base && !holds(f, v.Bytes):
			continue
		// C has members of an anonymous structure or union in the scope of the outer one, so the names do not collide.
		case f.Name == "" && f.Type.Kind == ctype.Record && depth > 0:
			dst = e.appendMembers(dst, v.Part(f.Type, f.Offset), depth-1)
			continue
		case f.Name == "":
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendString(dst, f.Name), ':')
		dst = e.appendField(dst, v, f, depth)
	}
	return dst
}

// holds reports whether memory has all of a member.
func holds(f ctype.Field, b []byte) bool { return f.Offset >= 0 && f.Offset+f.Span() <= len(b) }

// appendField appends a member, which may be a part of an integer, or lie where only the object itself tells.
func (e encoder) appendField(dst []byte, v ctype.Value, f ctype.Field, depth int) []byte {
	if f.Virtual {
		return appendString(dst, e.printer().AppendField(nil, f, v.Bytes), e.style)
	}
	switch {
	case f.Base && !holds(f, v.Bytes): // its virtual base classes lie elsewhere
		return appendString(dst, e.printer().AppendField(nil, f, v.Bytes), e.style)
	case f.Bits == 0:
		return e.append(dst, v.Part(f.Type, f.Offset), depth)
	}
	bits := v.Part(ctype.ArrayOf(ctype.Int(1, false), f.Span()), f.Offset)
	if len(bits.Holes) > 0 {
		return appendString(dst, []byte(bits.Holes[0].Why), e.style)
	}
	return e.append(dst, ctype.Value{Type: f.Type, Bytes: f.Unpack(bits.Bytes, f.Type.Order(e.reader.view.order))}, depth)
}

// appendArray appends characters as a text, other elements as a JSON array or with blanks between them.
func (e encoder) appendArray(dst []byte, v ctype.Value, depth int) []byte {
	t := v.Type
	switch {
	// Characters wider than a byte are numbers for JSON: their encoding is the program's business.
	case t.Elem.Char && t.Elem.Size == 1 && len(v.Holes) == 0:
		if text, ok := textOf(v.Bytes); ok {
			return appendString(dst, text, e.style)
		}
		return appendUnknown(dst, v.Bytes, e.style)
	case t.Elem.Char && t.Elem.Size == 1 || isBytes(t) && len(v.Holes) > 0:
		return e.appendPrinted(dst, v)
	case isBytes(t) || e.style == StyleCSV && !t.Elem.Scalar() && t.Elem.Kind != ctype.Float:
		return appendUnknown(dst, v.Bytes, e.style)
	}
	open, separator, closing := "", " ", ""
	if e.style == StyleJSON {
		open, separator, closing = "[", ",", "]"
	}
	dst = append(dst, open...)
	for at := 0; at < t.Size && t.Elem.Size > 0 && at+t.Elem.Size <= t.Size; at += t.Elem.Size {
		if at > 0 {
			dst = append(dst, separator...)
		}
		dst = e.append(dst, v.Part(t.Elem, at), depth)
	}
	return append(dst, closing...)
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

// appendFloat appends a floating-point number so that it can be read back exactly. JSON has none for infinity.
// The shortest digits that give the same value back; 32 bits have fewer of them.
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
