package printing

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/symbol/ctype"
	"tracewell/view"
)

// Short gives a number with as many digits as tell something: four significant ones, but never fewer than are in front of the
// point.
func Short(f float64) string {
	if f == math.Trunc(f) || math.Abs(f) >= 1e4 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// AppendAddress writes an address as GDB does: "0x4011b5 <push+95>". Addresses in frames are those of the run; the view has moved
// the symbols of a position-independent program to where it was loaded, or has none.
func AppendAddress(dst []byte, v *view.View, addr arch.Addr) []byte {
	dst = strconv.AppendUint(append(dst, "0x"...), uint64(addr), 16)
	if name := v.Describe(addr); name != "" {
		dst = append(dst, " <"...)
		dst = append(append(dst, text.Visible(name)...), '>')
	}
	return dst
}

// AppendCode writes the address of an instruction, with its place in the source: "0x4011b5 <push+95 at queue.c:23>".
func AppendCode(dst []byte, v *view.View, addr arch.Addr) []byte {
	dst = AppendAddress(dst, v, addr)
	line := v.Line(addr)
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

// appendPlace writes where memory was: the name of the object if it has one, else the address. In a cell both would take too much
// room.
func appendPlace(dst []byte, v *view.View, addr arch.Addr) []byte {
	if name := v.Describe(addr); name != "" {
		return append(dst, text.Visible(name)...)
	}
	return strconv.AppendUint(append(dst, "0x"...), uint64(addr), 16)
}

// AppendValue writes memory whose type is not known: of 1, 2, 4 or 8 bytes as an integer in the byte order of the file, else as
// bytes.
func AppendValue(dst []byte, v *view.View, b []byte) []byte {
	n, ok := v.Integer(b)
	if !ok {
		return appendBytes(dst, b)
	}
	return appendInteger(dst, v, n, len(b))
}

// appendInteger writes an integer whose type nobody knows: what may be an address in hexadecimal, with its symbol, and so
// what would be negative in decimal; the rest in decimal.
func appendInteger(dst []byte, v *view.View, n uint64, size int) []byte {
	// Linux distributions keep the first 64 KiB unmapped (vm.mmap_min_addr), so a smaller number is hardly a pointer.
	if size == 8 && n > math.MaxUint16 {
		return AppendAddress(dst, v, arch.Addr(n))
	}
	if n > math.MaxInt32 {
		return strconv.AppendUint(append(dst, "0x"...), n, 16)
	}
	return strconv.AppendUint(dst, n, 10)
}

// ValuePrinter writes values of the frames of a view by their types.
type ValuePrinter struct {
	ctype.Printer
	view *view.View
}

// NewValuePrinter prints values of the frames of a view.
func NewValuePrinter(v *view.View) ValuePrinter {
	return ValuePrinter{view: v, Printer: ctype.Printer{
		Order:  v.Content.Header().Order,
		Unfold: v.Shapes.Unfold,
		UTF8:   true,
		Symbol: func(addr arch.Addr) string { return text.Visible(v.Describe(addr)) },
	}}
}

// AppendItem writes what a frame has of an item, false if it has nothing. With debug information the value unfolds as by GDB's
// print, in the language of its source. Text without debug information, from a string that was collected up to its zero byte, is
// an array of char.
func (p ValuePrinter) AppendItem(dst []byte, reader *view.Reader, item *view.Item) ([]byte, bool) {
	if item.Absent != "" {
		return append(dst, text.Visible(item.Reason())...), true
	}
	// For people a time has a unit; programs get nanoseconds.
	if item.IsDuration() {
		n, ok := reader.Integer(item)
		return append(dst, time.Duration(n.Bits).String()...), ok
	}
	d, found := view.Datum{}, false
	if item.IsText() || !item.Explained {
		d, found = reader.Read(item)
	}
	switch {
	case item.Explained && !found: // a text that is not there leaves the pointer to it
		v, ok := reader.Value(item)
		if !ok {
			return dst, false
		}
		p.Language, p.Memory, p.Brief = item.Language, reader.Of(item).ReadMemory, true
		return p.AppendValue(dst, v), true
	case !found:
		return dst, false
	case item.IsText():
		return p.appendTyped(dst, ctype.ArrayOf(character, len(d.Bytes)), d.Bytes), true
	}
	p.Language = item.Language
	return p.appendTyped(dst, item.Type, d.Bytes), true
}

// ShownCharacters is how much of a value stands in a line with others. GDB's own limit is 200 elements ("set print elements"),
// which for structures comes to many more characters.
const ShownCharacters = 200

// appendShort is AppendItem for a line that has other values as well: what is long is cut.
func (p ValuePrinter) appendShort(dst []byte, reader *view.Reader, item *view.Item) ([]byte, bool) {
	start := len(dst)
	dst, ok := p.AppendItem(dst, reader, item)
	return cutCharacters(dst, start, ShownCharacters), ok
}

// cutCharacters ends a text that begins at start with an ellipsis if it has more than so many characters. It cuts between code
// points, so that the result is valid UTF-8 if the text is.
func cutCharacters(dst []byte, start, most int) []byte {
	end := start
	for n := 1; end < len(dst); n++ {
		_, size := utf8.DecodeRune(dst[end:])
		if n == most && end+size < len(dst) {
			return append(dst[:end], "…"...)
		}
		end += size
	}
	return dst
}

// AppendWhole is AppendItem for a value that stands alone: pointers have their type, and strings that they lead to follow.
func (p ValuePrinter) AppendWhole(dst []byte, reader *view.Reader, item *view.Item) ([]byte, bool) {
	if item.Absent != "" || !item.Explained && (item.IsText() || item.IsDuration() || IsUntyped(item.Type)) {
		return p.AppendItem(dst, reader, item)
	}
	v, ok := reader.Value(item)
	if !ok {
		return dst, false
	}
	if item.Reference != nil && v.InMemory {
		if !item.Listed {
			dst = fmt.Appendf(dst, "(%s) ", item.Reference)
		}
		dst = fmt.Appendf(dst, "@%v: ", v.Addr)
	}
	p.Language, p.Memory = item.Language, reader.Of(item).ReadMemory
	if item.Listed {
		return p.AppendValue(dst, v), true
	}
	return p.Print(dst, v), true
}

// AppendNumber writes a computed number as one that was collected, so that an enumeration has its names and a pointer its symbol.
// The number becomes memory in the order of the target; of 8 bytes the low ones are the last in big endian, and the first
// otherwise.
func (p ValuePrinter) AppendNumber(dst []byte, n ctype.Number) []byte {
	var b [8]byte
	p.Order.PutUint64(b[:], n.Bits)
	if p.Order == binary.BigEndian {
		return p.Append(dst, n.Type, b[8-n.Type.Size:])
	}
	return p.Append(dst, n.Type, b[:n.Type.Size])
}

// character is the element of a text: a char, which ctype prints as GDB does, in quotation marks and with escapes.
var character = &ctype.Type{Kind: ctype.Integer, Name: "char", Size: 1, Signed: true, Char: true}

// appendTyped writes memory as GDB's print does, and that of a type that nobody knows as appendValue has it.
func (p ValuePrinter) appendTyped(dst []byte, t *ctype.Type, b []byte) []byte {
	if IsUntyped(t) {
		return AppendValue(dst, p.view, b)
	}
	return p.Append(dst, t, b)
}

// IsUntyped reports whether a type is but a number of bytes. ctype.Int returns the same pointer for 1, 2, 4 or 8 bytes of one
// sign, which no type of debug information is.
func IsUntyped(t *ctype.Type) bool {
	return t.Scalar() && t == ctype.Int(t.Size, true) || t.Kind == ctype.Array && t.Elem == ctype.Int(1, false)
}

// shownBytes is how many bytes of a block without a type stand in a line; --full and --hex dump all of them.
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
