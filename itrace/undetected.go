package itrace

import (
	"bytes"
	"fmt"
)

// Undetected says in words why Detect found nothing at the beginning of a trace, as the end of a sentence:
// "the trace " + Undetected(head).
func (r Registry) Undetected(head []byte) string {
	head = head[:min(len(head), DetectBytes)]
	text := bytes.TrimSpace(bytes.TrimPrefix(head, byteOrderMark))
	first, _, whole := bytes.Cut(text, []byte{'\n'})
	switch {
	case len(head) == 0:
		return "is empty"
	case len(text) == 0:
		return "holds nothing but blank lines"
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "is UTF-16, as some programs of Windows write it; make it UTF-8, as by iconv -f UTF-16 -t UTF-8"
	case bytes.IndexByte(head, 0) >= 0:
		return fmt.Sprintf("is no text: there is a zero byte at offset %d", bytes.IndexByte(head, 0))
	case isBinary(head):
		return fmt.Sprintf("is no text: it begins with the byte %#02x", head[0])
	case !whole && len(head) == DetectBytes:
		return fmt.Sprintf("has no line that ends in its first %d bytes", DetectBytes)
	}
	return fmt.Sprintf("is in no known dialect of execution traces (%s): it begins with %s",
		r.names(), quoted(trimEnd(first)))
}
