package rsp

import "bytes"

const (
	escape    = '}'
	escapeXor = 0x20
	run       = '*'
	runBias   = 29 // a count n is sent as the byte n+29, so that the least useful one, 3, is printable
)

// reserved marks the bytes that mean something inside a frame. GDB escapes * in packets to the stub too, where it would
// mean nothing, and both ends accept any byte escaped.
var reserved = [256]bool{'#': true, '$': true, escape: true, run: true}

// AppendEscaped appends b with the bytes that a frame reserves escaped.
func AppendEscaped(dst, b []byte) []byte {
	plain := 0 // b[plain:i] needs no escape and is not yet appended
	for i, c := range b {
		if reserved[c] {
			dst = append(dst, b[plain:i]...)
			dst = append(dst, escape, c^escapeXor)
			plain = i + 1
		}
	}
	return append(dst, b[plain:]...)
}

// Unescape appends b with its escapes undone. Since that never makes it longer, dst may be b[:0]. An escape with nothing
// behind it is a *SyntaxError.
func Unescape(dst, b []byte) ([]byte, error) {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], escape)
		if i < 0 {
			return append(dst, b[at:]...), nil
		}
		dst = append(dst, b[at:at+i]...)
		at += i + 1
		if at == len(b) {
			return dst, &SyntaxError{Text: string(b), Offset: at, Expected: "an escaped byte"}
		}
		dst = append(dst, b[at]^escapeXor)
		at++
	}
}

// ExpandRuns appends b with its runs written out: x*c becomes x repeated c-29 times more. Escapes stay, because a run
// repeats the byte before it as sent; Unescape comes after. Two bytes become at most 226. A run of nothing, without
// a count or with a count below one is a *SyntaxError. dst must not overlap b.
func ExpandRuns(dst, b []byte) ([]byte, error) {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], run)
		if i < 0 {
			return append(dst, b[at:]...), nil
		}
		dst = append(dst, b[at:at+i]...)
		at += i
		if at == 0 {
			return dst, &SyntaxError{Text: string(b), Offset: at, Expected: "a byte to repeat"}
		}
		if at+1 == len(b) || b[at+1] <= runBias {
			return dst, &SyntaxError{Text: string(b), Offset: at + 1, Expected: "a repeat count"}
		}
		last := dst[len(dst)-1]
		for range b[at+1] - runBias {
			dst = append(dst, last)
		}
		at += 2
	}
}
