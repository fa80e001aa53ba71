// Package jsontext writes JSON. All JSON that Tracewell writes goes through it.
//
// Much of it comes from a program that is traced, and ends on a terminal or in a page. So whatever commands a terminal, or turns
// the order of text around, is written as \u escapes: the control characters of C0 and C1, DEL, and the bidirectional controls of
// Unicode. RFC 8259 demands this of C0 only. The characters < > & stand for themselves: none of the output is put into HTML as it
// is.
package jsontext

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode"
	"unicode/utf8"
)

// Escaped reports whether a character that RFC 8259 allows to stand for itself in a string is written as an escape.
func Escaped(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Append appends a value as encoding/json encodes it, on one line and without a line feed. What of a string is not UTF-8 becomes
// U+FFFD. The error is that of a value that JSON has no form for.
func Append(dst []byte, value any) ([]byte, error) {
	var b bytes.Buffer
	if err := Write(&b, value, ""); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...), nil
}

// Write writes a value with a line feed behind it; on lines of its own for each member if there is an indent. Nothing is written
// of a value that has an error.
func Write(w io.Writer, value any, indent string) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(escape(b.Bytes()))
	return err
}

// AppendString appends a string with its quotation marks.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			dst, _ = Append(dst, string(s)) // strings can always be written
			return dst
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// escape escapes what encoding/json leaves as it is. Such characters stand nowhere but in strings.
func escape(encoded []byte) []byte {
	out := encoded[:0:0]
	done := 0
	for i := 0; i < len(encoded); {
		if c := encoded[i]; c < utf8.RuneSelf && c != 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(encoded[i:])
		if Escaped(r) {
			out = AppendEscape(append(out, encoded[done:i]...), r)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return encoded
	}
	return append(out, encoded[done:]...)
}

// AppendEscape appends a character of the Basic Multilingual Plane as \u and four digits.
func AppendEscape(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
