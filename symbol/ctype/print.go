package ctype

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"

	"tracewell/arch"
)

// Printer writes values as GDB's print command does with its settings as they are at first:
//
//	7   97 'a'   URGENT   0.25   0x404080 <q>   "job-1\000\000"   {head = 0x4052a0, count = 1}   {1, 2, 0 <repeats 14 times>}
//
// It differs where GDB reads more memory: what a char * points to is not there. Bytes of an unknown type are written in
// hexadecimal.
type Printer struct {
	Order  arch.ByteOrder
	Symbol func(arch.Addr) string // "q" or "push+95" of an address, "" if it has none
}

// The limits of GDB: "print elements", and "print repeats".
const (
	mostElements = 200
	fewestEqual  = 11
)

// deepest is how far types may contain one another; debugging information that is damaged knows no end.
const deepest = 32

// Append appends the value of a type that memory holds. What memory is too short for is "...".
func (p Printer) Append(dst []byte, t *Type, b []byte) []byte { return p.append(dst, t, b, 0) }

// AppendField appends the value of a member of a record that memory holds.
func (p Printer) AppendField(dst []byte, f Field, record []byte) []byte {
	return p.field(dst, f, record, 0)
}

func (p Printer) append(dst []byte, t *Type, b []byte, depth int) []byte {
	if t.Size == 0 || len(b) < t.Size || depth == deepest {
		return append(dst, "..."...)
	}
	b = b[:t.Size]
	switch {
	case t.Kind == Record:
		return p.record(dst, t, b, depth)
	case t.Kind == Array && t.Elem.Size > 0 && t.Elem.Char && t.Elem.Size == 1:
		return appendText(dst, b)
	case t.Kind == Array && t.Elem.Size > 0:
		return p.array(dst, t, b, depth)
	case t.Kind == Float && (t.Size == 4 || t.Size == 8):
		return appendFloat(dst, arch.Uint(b, p.Order), t.Size)
	case t.Scalar():
		return p.scalar(dst, t, t.Extend(arch.Uint(b, p.Order)))
	}
	return appendHex(dst, b)
}

func appendHex(dst, b []byte) []byte { return hex.AppendEncode(append(dst, "0x"...), b) }

// appendFloat has as many digits as tell each number from all others.
func appendFloat(dst []byte, bits uint64, size int) []byte {
	f, digits := math.Float64frombits(bits), 17
	if size == 4 {
		f, digits = float64(math.Float32frombits(uint32(bits))), 9
	}
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case math.IsNaN(f):
		return strconv.AppendUint(append(dst, "nan(0x"...), bits, 16)
	}
	text := strconv.AppendFloat(nil, f, 'g', digits, 64)
	// C's %g has no zeros at the end of a fraction.
	mantissa, exponent, scientific := bytes.Cut(text, []byte{'e'})
	if bytes.IndexByte(mantissa, '.') >= 0 {
		mantissa = bytes.TrimRight(bytes.TrimRight(mantissa, "0"), ".")
	}
	dst = append(dst, mantissa...)
	if scientific {
		dst = append(append(dst, 'e'), exponent...)
	}
	return dst
}

// scalar writes a value that was extended to 64 bits.
func (p Printer) scalar(dst []byte, t *Type, bits uint64) []byte {
	switch {
	case t.Kind == Pointer:
		return p.pointer(dst, arch.Addr(bits))
	case t.Kind == Bool:
		return strconv.AppendBool(dst, bits != 0)
	case t.Char && t.Size == 1:
		dst = t.appendInteger(dst, bits)
		return append(appendEscaped(append(dst, " '"...), []byte{byte(bits)}, '\''), '\'')
	}
	for _, v := range t.Values {
		if uint64(v.Value) == bits {
			return appendName(dst, v.Name)
		}
	}
	return t.appendInteger(dst, bits)
}

func (t *Type) appendInteger(dst []byte, bits uint64) []byte {
	if t.Signed {
		return strconv.AppendInt(dst, int64(bits), 10)
	}
	return strconv.AppendUint(dst, bits, 10)
}

func (p Printer) pointer(dst []byte, addr arch.Addr) []byte {
	dst = strconv.AppendUint(append(dst, "0x"...), uint64(addr), 16)
	if p.Symbol == nil {
		return dst
	}
	if name := p.Symbol(addr); name != "" {
		dst = append(append(append(dst, " <"...), name...), '>')
	}
	return dst
}

func (p Printer) record(dst []byte, t *Type, b []byte, depth int) []byte {
	dst = append(dst, '{')
	for i, f := range t.Fields() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if f.Name != "" {
			dst = append(appendName(dst, f.Name), " = "...)
		}
		dst = p.field(dst, f, b, depth+1)
	}
	return append(dst, '}')
}

// appendName writes a name of the program, which can be anything, so that it does nothing to a terminal.
func appendName(dst []byte, name string) []byte {
	for _, c := range []byte(name) {
		if c < ' ' || c == 0x7f {
			c = '?'
		}
		dst = append(dst, c)
	}
	return dst
}

func (p Printer) field(dst []byte, f Field, b []byte, depth int) []byte {
	if f.Offset < 0 || f.Offset > len(b) {
		return append(dst, "..."...)
	}
	b = b[f.Offset:]
	if f.Bits == 0 {
		return p.append(dst, f.Type, b, depth)
	}
	if len(b) < f.Type.Size || !f.Type.Scalar() || f.Shift < 0 || f.Shift+f.Bits > 8*f.Type.Size {
		return append(dst, "..."...)
	}
	return p.scalar(dst, f.Type, f.Extract(arch.Uint(b[:f.Type.Size], p.Order)))
}

// array writes equal elements once, if they are many.
func (p Printer) array(dst []byte, t *Type, b []byte, depth int) []byte {
	size := t.Elem.Size
	element := func(i int) []byte { return b[i*size : (i+1)*size] }
	count := len(b) / size
	dst = append(dst, '{')
	for i, printed := 0, 0; i < count; printed++ {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if printed == mostElements {
			dst = append(dst[:len(dst)-len(", ")], "..."...)
			break
		}
		dst = p.append(dst, t.Elem, element(i), depth+1)
		equal := 1
		for i+equal < count && bytes.Equal(element(i), element(i+equal)) {
			equal++
		}
		if equal < fewestEqual {
			equal = 1
		} else {
			dst = append(strconv.AppendInt(append(dst, " <repeats "...), int64(equal), 10), " times>"...)
		}
		i += equal
	}
	return append(dst, '}')
}

// appendText writes an array of characters, without the zero byte that ends it: "job-1", '\000' <repeats 14 times>, "x".
func appendText(dst, b []byte) []byte {
	if n := len(b); n > 0 && n <= mostElements+1 && b[n-1] == 0 {
		b = b[:n-1]
	}
	more := len(b) > mostElements
	b = b[:min(len(b), mostElements)]
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	for first := true; len(b) > 0; first = false {
		if !first {
			dst = append(dst, ", "...)
		}
		if n := equals(b); n >= fewestEqual {
			dst = append(appendEscaped(append(dst, '\''), b[:1], '"'), '\'') // GDB escapes the other quote here
			dst = append(strconv.AppendInt(append(dst, " <repeats "...), int64(n), 10), " times>"...)
			b = b[n:]
			continue
		}
		end := 0
		for n := 0; end < len(b) && n < fewestEqual; n = equals(b[end:]) {
			end += max(n, 1)
		}
		dst = append(appendEscaped(append(dst, '"'), b[:end], '"'), '"')
		b = b[end:]
	}
	if more {
		dst = append(dst, "..."...)
	}
	return dst
}

// equals counts the bytes at the beginning that are equal.
func equals(b []byte) int {
	n := 0
	for n < len(b) && b[n] == b[0] {
		n++
	}
	return n
}

// escapes are the letters of characters that C writes with one.
var escapes = map[byte]byte{'\a': 'a', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '\v': 'v'}

// appendEscaped writes characters that stand between quotes.
func appendEscaped(dst, b []byte, quote byte) []byte {
	for _, c := range b {
		letter, known := escapes[c]
		switch {
		case known:
			dst = append(dst, '\\', letter)
		case c < ' ' || c > '~':
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		case c == quote || c == '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
