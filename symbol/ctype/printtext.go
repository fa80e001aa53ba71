package ctype

import (
	"bytes"
	"math"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"tracewell/arch"
)

// prefixes tell wide characters from narrow ones, by the name of their type.
// GDB looks at names, also of typedefs: wchar_t is a typedef of int in C and a type of its own in C++.
func (t *Type) prefix() string {
	for {
		switch t.Name {
		case "wchar_t":
			return "L"
		case "char16_t":
			return "u"
		case "char32_t":
			return "U"
		}
		if t.Alias == nil {
			return ""
		}
		t = t.Alias
	}
}

// character writes what stands behind the number of a character: " 'a'".
func (p Printer) character(dst []byte, t *Type, code uint64) []byte {
	dst = append(append(dst, ' '), t.prefix()...)
	if p.Language == Rust {
		return append(appendRustCharacter(append(dst, '\''), code), '\'')
	}
	return append(appendEscaped(append(dst, '\''), code, '\''), '\'')
}

// textAt writes the text that a pointer points to, of a length or up to a zero.
func (p Printer) textAt(dst []byte, elem *Type, addr arch.Addr, length int) []byte {
	// GDB reads no further than it prints.
	limit := mostElements
	if length >= 0 {
		limit = min(limit, length)
	}
	b := make([]byte, limit*elem.Size)
	n := p.Memory(addr, b) / elem.Size * elem.Size
	if n == 0 && limit > 0 {
		if p.Brief {
			return bytes.TrimSuffix(dst, []byte{' '})
		}
		return p.unreadable(dst, addr)
	}
	ended := false
	for at := 0; at < n && length < 0; at += elem.Size {
		if arch.Uint(b[at:at+elem.Size], p.Order) == 0 {
			n, ended = at, true
		}
	}
	whole := n == len(b)
	dst = p.text(dst, elem, b[:n], !ended && whole && (length < 0 || length > limit))
	if !ended && !whole {
		dst = p.unreadable(dst, addr)
	}
	return dst
}

// text writes characters, without the zero that ends an array of them: "job-1", '\000' <repeats 14 times>, "x". What is cut is
// known to go on.
func (p Printer) text(dst []byte, elem *Type, b []byte, cut bool) []byte {
	count := len(b) / elem.Size
	code := func(i int) uint64 { return arch.Uint(b[i*elem.Size:(i+1)*elem.Size], p.Order) }
	if letters := p.letters(elem, b, cut); letters != nil {
		count, code = len(letters), func(i int) uint64 { return letters[i] }
	}
	if count > 0 && code(count-1) == 0 && !cut {
		count--
	}
	codes := make([]uint64, 0, min(count, mostElements))
	for i := 0; i < count && (i < mostElements || code(i) == codes[i-1]); i++ { // a run is never cut
		codes = append(codes, code(i))
	}
	// GDB omits the zero at the end of an array only where all of it is printed, and prints a run of equal characters
	// whole even if it passes the limit ("print elements").
	cut = cut || len(codes) < count
	prefix := elem.prefix()
	if len(codes) == 0 {
		return append(append(dst, prefix...), `""`...)
	}
	dst = appendRuns(dst, codes, prefix)
	if cut {
		dst = append(dst, "..."...)
	}
	return dst
}

// letter marks the code of a character that is written as it is, whatever its bytes.
const letter = 1 << 32

// letters are the characters of a text in UTF-8, UTF-16 or UTF-32, nil of any other. The last one may have been cut.
func (p Printer) letters(elem *Type, b []byte, cut bool) (codes []uint64) {
	if p.UTF8 && elem.Size > 1 {
		return p.wideLetters(elem, b)
	}
	if !p.UTF8 {
		return nil
	}
	codes = make([]uint64, 0, len(b))
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1 && cut && !utf8.FullRune(b):
			return codes
		case r == utf8.RuneError && size == 1:
			return nil
		case size > 1 && unicode.IsPrint(r):
			codes = append(codes, letter|uint64(r))
		default: // as bytes
			for _, c := range b[:size] {
				codes = append(codes, uint64(c))
			}
		}
		b = b[size:]
	}
	return codes
}

// wideLetters are the characters of a text of units of 16 or 32 bits.
func (p Printer) wideLetters(elem *Type, b []byte) (codes []uint64) {
	codes = make([]uint64, 0, len(b)/elem.Size)
	unit := func(at int) rune { return rune(min(arch.Uint(b[at:at+elem.Size], p.Order), math.MaxInt32)) }
	for at := 0; at+elem.Size <= len(b); at += elem.Size {
		r := unit(at)
		if next := at + elem.Size; elem.Size == 2 && next+elem.Size <= len(b) {
			if pair := utf16.DecodeRune(r, unit(next)); pair != utf8.RuneError {
				r, at = pair, next
			}
		}
		code := uint64(r)
		if r >= utf8.RuneSelf && unicode.IsPrint(r) {
			code |= letter
		}
		codes = append(codes, code)
	}
	return codes
}

// mostAlike is how many equal characters are written one by one.
const mostAlike = 10

// appendRuns writes characters; many equal ones are written once.
func appendRuns(dst []byte, codes []uint64, prefix string) []byte {
	for first := true; len(codes) > 0; first = false {
		if !first {
			dst = append(dst, ", "...)
		}
		dst = append(dst, prefix...)
		if n := equals(codes); n > mostAlike {
			dst = append(appendEscaped(append(dst, '\''), codes[0], '"'), '\'') // GDB escapes the other quote here
			dst = append(strconv.AppendInt(append(dst, " <repeats "...), int64(n), 10), " times>"...)
			codes = codes[n:]
			continue
		}
		// Up to the next run that is long enough to be written once; shorter ones stay in the text.
		end := 0
		for n := 0; end < len(codes) && n <= mostAlike; n = equals(codes[end:]) {
			end += max(n, 1)
		}
		dst = append(dst, '"')
		for _, c := range codes[:end] {
			dst = appendEscaped(dst, c, '"')
		}
		dst = append(dst, '"')
		codes = codes[end:]
	}
	return dst
}

// equals counts the characters at the beginning that are equal.
func equals(codes []uint64) int {
	n := 0
	for n < len(codes) && codes[n] == codes[0] {
		n++
	}
	return n
}

// escapes are the letters of characters that C writes with one.
var escapes = map[uint64]byte{'\a': 'a', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '\v': 'v'}

// appendEscaped writes a character that stands between quotes, as GDB does in a locale that only has ASCII.
func appendEscaped(dst []byte, c uint64, quote byte) []byte {
	short, known := escapes[c]
	switch {
	case c&letter != 0:
		return utf8.AppendRune(dst, rune(c&^letter))
	case known:
		return append(dst, '\\', short)
	case c == uint64(quote) || c == '\\':
		return append(dst, '\\', byte(c))
	case c >= ' ' && c <= '~':
		return append(dst, byte(c))
	// Three octal digits, so that a digit behind them is not taken for a part of the escape.
	case c <= 0777:
		return append(dst, '\\', '0'+byte(c>>6&7), '0'+byte(c)>>3&7, '0'+byte(c)&7)
	}
	return strconv.AppendUint(append(dst, "\\x"...), c, 16)
}

// goString writes a string of Go: its address and the text.
func (p Printer) goString(dst []byte, v Value) []byte {
	text, hasText := v.Type.Field("str")
	length, hasLength := v.Type.Field("len")
	if !hasText || !hasLength || len(v.Holes) > 0 || v.Type.Size < 16 || text.Type.Kind != Pointer {
		return append(dst, Unavailable...)
	}
	word := func(f Field) uint64 { return arch.Uint(v.Bytes[f.Offset:f.Offset+8], p.Order) }
	addr, n := arch.Addr(word(text)), word(length)
	dst = append(append(dst, addr.String()...), ' ')
	if p.Memory == nil || n > 1<<40 {
		return append(dst, "..."...)
	}
	return p.textAt(dst, text.Type.Elem, addr, int(n))
}
