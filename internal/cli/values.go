package cli

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/internal/ctype"
	"tracewell/internal/filter"
	"tracewell/internal/frameview"
	"tracewell/internal/text"
)

// appendAddress writes an address as GDB does: "0x4011b5 <push+95>".
func appendAddress(dst []byte, view *frameview.View, addr arch.Addr) []byte {
	dst = strconv.AppendUint(append(dst, "0x"...), uint64(addr), 16)
	if name := view.Describe(addr); name != "" {
		dst = append(dst, " <"...)
		dst = append(append(dst, text.Visible(name)...), '>')
	}
	return dst
}

// appendCode writes the address of an instruction, with its place in the source: "0x4011b5 <push+95 at queue.c:23>".
func appendCode(dst []byte, view *frameview.View, addr arch.Addr) []byte {
	dst = appendAddress(dst, view, addr)
	line := view.Line(addr)
	if line == "" {
		return dst
	}
	if before, ok := bytes.CutSuffix(dst, []byte{'>'}); ok {
		dst = append(before, ' ')
	} else {
		dst = append(dst, " <"...)
	}
	dst = append(append(dst, "at "...), text.Visible(line)...)
	return append(dst, '>')
}

// appendPlace writes where memory was: the name of the object if it has one, else the address.
func appendPlace(dst []byte, view *frameview.View, addr arch.Addr) []byte {
	if name := view.Describe(addr); name != "" {
		return append(dst, text.Visible(name)...)
	}
	return strconv.AppendUint(append(dst, "0x"...), uint64(addr), 16)
}

// appendValue writes memory: of the length of an integer as one, else as bytes.
func appendValue(dst []byte, view *frameview.View, b []byte) []byte {
	n, ok := view.Integer(b)
	if !ok {
		return appendBytes(dst, b)
	}
	return appendInteger(dst, view, n, len(b))
}

// appendInteger writes an integer whose type nobody knows: what may be an address in hexadecimal, with its symbol, and so
// what would be negative in decimal; the rest in decimal.
func appendInteger(dst []byte, view *frameview.View, n uint64, size int) []byte {
	if size == 8 && n > math.MaxUint16 {
		return appendAddress(dst, view, arch.Addr(n))
	}
	if n > math.MaxInt32 {
		return strconv.AppendUint(append(dst, "0x"...), n, 16)
	}
	return strconv.AppendUint(dst, n, 10)
}

// appendItem writes what a frame has of an item, false if it has nothing.
func appendItem(dst []byte, view *frameview.View, reader *frameview.Reader, item *frameview.Item) ([]byte, bool) {
	if !isMemory(item) || !isPlain(item.Type) {
		return reader.AppendText(dst, item)
	}
	d, ok := reader.Read(item)
	if !ok {
		return dst, false
	}
	return appendTyped(dst, view, item.Type, d.Bytes), true
}

// appendTyped writes memory by its type: a pointer with its symbol, an integer in decimal, other things as bytes. That of a
// type that nobody knows is written as appendValue has it.
func appendTyped(dst []byte, view *frameview.View, t *ctype.Type, b []byte) []byte {
	n, ok := view.Integer(b)
	switch {
	case !ok || !t.Scalar() || t == ctype.Bytes(len(b)):
		return appendValue(dst, view, b)
	case t.Kind == ctype.Pointer:
		return appendAddress(dst, view, arch.Addr(n))
	}
	return filter.Value{Bits: t.Extend(n), Type: t}.Append(dst)
}

// isPlain reports whether appendTyped does a type justice.
func isPlain(t *ctype.Type) bool {
	return t.Scalar() || t.Kind == ctype.Array && !t.Elem.Char
}

// isMemory reports whether an item is neither a register nor a trace state variable.
func isMemory(item *frameview.Item) bool {
	return item.Slot == nil && !strings.HasPrefix(item.Name, "$")
}

// shownBytes is how many bytes of a block stand in a line.
const shownBytes = 8

// appendBytes writes bytes as "{01 02 03}", and of more than a few only the first, with the number of all.
func appendBytes(dst, b []byte) []byte {
	dst = append(dst, '{')
	for i, c := range b[:min(shownBytes, len(b))] {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	if len(b) > shownBytes {
		dst = strconv.AppendInt(append(dst, " …"...), int64(len(b)), 10)
	}
	return append(dst, '}')
}

const hexDigits = "0123456789abcdef"
