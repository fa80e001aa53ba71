package rsp

import (
	"fmt"
	"strings"
)

// Fields reads the fields of a packet, or writes them: which of the two, it was made for. A function that lists the fields of
// a packet in order is therefore its grammar in both directions, and what it writes it reads again.
//
//	func extent(f *rsp.Fields, e *Extent) {
//		rsp.Hex(f, &e.Addr, math.MaxUint64)
//		f.Literal(',')
//		rsp.Hex(f, &e.Length, math.MaxUint64)
//	}
//
// Reading is strict and its first error stays, as with Scanner: after it every field is zero and nothing is left, so that
// loops guarded by More end. Writing cannot fail.
type Fields struct {
	in  *Scanner // nil when writing
	out []byte
	err error // of a field that Parsed read
}

// ReadFields returns fields that are read from text. Offsets in errors count from its start.
func ReadFields(text string) *Fields { return &Fields{in: NewScanner(text)} }

// WriteFields returns fields that are appended to dst.
func WriteFields(dst []byte) *Fields { return &Fields{out: dst} }

// Reading reports whether fields are read.
func (f *Fields) Reading() bool { return f.in != nil }

// Written returns what was written, with what it was appended to.
func (f *Fields) Written() []byte { return f.out }

// End expects the end of the text, when reading, and returns the first error: a *SyntaxError, or the error of Parsed.
func (f *Fields) End() error {
	if f.err != nil || f.in == nil {
		return f.err
	}
	return f.in.End()
}

// Fail records that what is read does not fit. It does nothing when writing.
func (f *Fields) Fail(expected string) {
	if f.in != nil {
		f.in.Fail(expected)
	}
}

// Literal is a byte that is always there.
func (f *Fields) Literal(c byte) {
	if f.in != nil {
		f.in.Literal(c)
		return
	}
	f.out = append(f.out, c)
}

// Option is a text that may be there: when writing, if present. It reports whether it is.
func (f *Fields) Option(text string, present bool) bool {
	switch {
	case f.in != nil:
		return f.in.AcceptText(text)
	case present:
		f.out = append(f.out, text...)
	}
	return present
}

// More reports whether anything follows: when reading, up to the end of the text; when writing, if present.
func (f *Fields) More(present bool) bool {
	if f.in != nil {
		return !f.in.Done()
	}
	return present
}

// Next reports whether the byte c is next when reading; when writing, it returns present.
func (f *Fields) Next(c byte, present bool) bool {
	if f.in != nil {
		return f.in.Peek() == c
	}
	return present
}

// integer is what numbers are kept in.
type integer interface {
	~int | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Hex is a number of at least one digit and up to most, without leading zeros. Negative numbers cannot be written.
func Hex[T integer](f *Fields, v *T, most uint64) { HexPadded(f, v, most, 1) }

// HexPadded is a number up to most that is written with at least width digits, and read with any.
func HexPadded[T integer](f *Fields, v *T, most uint64, width int) {
	if f.in != nil {
		*v = T(f.in.HexUpTo(most))
		return
	}
	f.out = AppendHexPadded(f.out, uint64(*v), width)
}

// HexDigits is a number of exactly width digits, for fields that nothing separates from the next.
func HexDigits[T integer](f *Fields, v *T, width int) {
	if f.in == nil {
		f.out = AppendHexPadded(f.out, uint64(*v), width)
		return
	}
	if f.in.digits(uint64(width)) < width {
		f.in.Fail(fmt.Sprintf("%d hexadecimal digits", width))
		return
	}
	digits := NewScanner(f.in.Take(width))
	*v = T(digits.Hex())
}

// HexBytes is bytes as pairs of digits, up to the first byte that is no digit. There may be none.
func HexBytes[T ~string | ~[]byte](f *Fields, v *T) {
	if f.in != nil {
		*v = T(f.in.HexBytes())
		return
	}
	f.out = AppendHexBytes(f.out, *v)
}

// HexRest is bytes as pairs of digits up to the end.
func HexRest[T ~string | ~[]byte](f *Fields, v *T) {
	f.Parsed(func(rest string) error {
		b, err := ParseHexBytes(rest)
		if err == nil {
			*v = T(b)
		}
		return err
	}, func(dst []byte) []byte { return AppendHexBytes(dst, *v) })
}

// Code is an expression's bytes in the form of agent expressions: X, the number of bytes, a comma, and the bytes as pairs of
// digits.
func (f *Fields) Code(v *[]byte) {
	f.Literal('X')
	n := uint64(len(*v))
	Hex(f, &n, 1<<64-1)
	f.Literal(',')
	if f.in != nil {
		*v = f.in.HexBytesN(n)
		return
	}
	f.out = AppendHexBytes(f.out, *v)
}

// Rest is all that follows, as it stands: text, or binary bytes without their escapes.
func Rest[T ~string | ~[]byte](f *Fields, v *T) {
	if f.in != nil {
		if !f.in.Done() { // nothing is nil, as in HexBytes
			*v = T(f.in.Rest())
		}
		return
	}
	f.out = append(f.out, *v...)
}

// Until is text up to the next sep, or to the end.
func (f *Fields) Until(sep byte, v *string) {
	if f.in != nil {
		*v = f.in.Until(sep)
		return
	}
	f.out = append(f.out, *v...)
}

// UntilLast is text up to the last sep that there is, and may so hold others. Without any it is empty.
func (f *Fields) UntilLast(sep byte, v *string) {
	if f.in != nil {
		*v = f.in.Take(max(strings.LastIndexByte(f.in.text[f.in.pos:], sep), 0))
		return
	}
	f.out = append(f.out, *v...)
}

// Flag is 1 or 0.
func (f *Fields) Flag(v *bool) {
	*v = f.Option("1", *v)
	if !*v && !f.Option("0", true) {
		f.Fail("0 or 1")
	}
}

// Thread is a thread-id, see Scanner.Thread.
func (f *Fields) Thread(v *Thread) {
	if f.in == nil {
		f.out = v.Append(f.out)
		return
	}
	*v = f.in.Thread()
}

// Parsed is the rest of the packet in a form that functions elsewhere read and write. An error of parse is that of the
// packet.
func (f *Fields) Parsed(parse func(rest string) error, appendTo func(dst []byte) []byte) {
	switch {
	case f.in == nil:
		f.out = appendTo(f.out)
	case f.in.Err() == nil:
		f.err = parse(f.in.Rest())
	}
}

// List is items with sep between them, and maybe one behind the last, up to the end. There may be none. item is one of them.
func List[T any](f *Fields, list *[]T, sep byte, item func(*Fields, *T)) {
	if f.in == nil {
		for i := range *list {
			if i > 0 {
				f.out = append(f.out, sep)
			}
			item(f, &(*list)[i])
		}
		return
	}
	for !f.in.Done() {
		var v T
		item(f, &v)
		if !f.in.Done() {
			f.in.Literal(sep)
		}
		if f.in.Err() == nil {
			*list = append(*list, v)
		}
	}
}

// Ended is List where each item that is written ends in sep, the last one, too.
func Ended[T any](f *Fields, list *[]T, sep byte, item func(*Fields, *T)) {
	if List(f, list, sep, item); f.in == nil && len(*list) > 0 {
		f.out = append(f.out, sep)
	}
}

// Some is one or more items with sep between them. item is one of them.
func Some[T any](f *Fields, list *[]T, sep byte, item func(*Fields, *T)) {
	for i := 0; f.in != nil || i < len(*list); i++ {
		if f.in != nil {
			var none T
			*list = append(*list, none)
		}
		item(f, &(*list)[i])
		if !f.More(i+1 < len(*list)) {
			return
		}
		f.Literal(sep)
	}
}
