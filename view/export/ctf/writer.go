package ctf

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/export"
)

// magic begins a packet.
const magic = 0xc1fc1fc1

// Writer writes frames of a view, whose registers Select may have chosen. One goroutine may use it.
type Writer struct {
	metadata, stream io.Writer
	table            *export.Table
	view             *view.View
	names            []string // of fields, by column; "" for what is no field

	classes map[string]uint32
	events  []byte // their declarations
	last    uint64 // the time of the event before, in nanoseconds
	key     []byte
	event   []byte
}

// NewWriter begins a trace. Events go to the stream; the metadata are written by Flush, when all classes of events are known.
func NewWriter(metadata, stream io.Writer, v *view.View) (*Writer, error) {
	table, err := export.New(v)
	if err != nil {
		return nil, err
	}
	w := &Writer{metadata: metadata, stream: stream, table: table, view: v, classes: make(map[string]uint32)}
	for _, c := range table.Columns {
		name := ""
		if c.Kind != export.Time && c.Name != "source" { // the clock, and the name of the event
			name = w.fieldName(c.Name)
		}
		w.names = append(w.names, name)
	}
	_, err = stream.Write(binary.LittleEndian.AppendUint32(nil, magic))
	return w, err
}

// fieldName makes a name for a field that no other has.
func (w *Writer) fieldName(column string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(column, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		b.WriteString("_" + word)
	}
	base := b.String()
	if base == "" {
		base = "_"
	}
	name := base
	for n := 2; slices.Contains(w.names, name); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	return name
}

// Add writes a frame. Readers want events in the order of their times: one that is earlier than the event before is an error. A
// frame that does not tell its time has that of the one before.
func (w *Writer) Add(frame view.Frame) error {
	cells := w.table.Read(frame)
	if at, ok := export.TimeOf(frame); ok {
		at = min(max(at, 0), math.MaxInt64/1000) * 1000 // no clock goes further, but a file may hold any 64 bits
		if uint64(at) < w.last {
			return fmt.Errorf("frame %d is earlier than the one before: --by-time sorts the frames", frame.Number)
		}
		w.last = uint64(at)
	}
	w.event = binary.LittleEndian.AppendUint32(w.event[:0], w.classOf(frame.Tracepoint(), cells))
	w.event = binary.LittleEndian.AppendUint64(w.event, w.last)
	for i, cell := range cells {
		if cell.Known && w.names[i] != "" {
			w.event = appendField(w.event, w.table.Columns[i], cell)
		}
	}
	_, err := w.stream.Write(w.event)
	return err
}

// classOf is the class of events that have these values, which is declared if there was none yet.
func (w *Writer) classOf(n trace.Number, cells []export.Cell) uint32 {
	w.key = fmt.Appendf(w.key[:0], "%d ", n)
	for _, cell := range cells {
		known := byte('0')
		if cell.Known {
			known = '1'
		}
		w.key = append(w.key, known)
	}
	id, declared := w.classes[string(w.key)]
	if declared {
		return id
	}
	id = uint32(len(w.classes))
	w.classes[string(w.key)] = id
	name := w.view.Source(n)
	if name == "" {
		name = fmt.Sprintf("tracepoint %d", n)
	}
	w.events = fmt.Appendf(w.events, "\nevent {\n\tname = %s;\n\tid = %d;\n\tfields := struct {\n", quote(name), id)
	for i, cell := range cells {
		if cell.Known && w.names[i] != "" {
			w.events = fmt.Appendf(w.events, "\t\t%s %s;\n", typeOf(w.table.Columns[i]), w.names[i])
		}
	}
	w.events = append(w.events, "\t};\n};\n"...)
	return id
}

// typeOf is the declared type of a column's values.
func typeOf(c export.Column) string {
	switch c.Kind {
	case export.Text:
		return "text"
	case export.Truth:
		return "uint8"
	case export.Float:
		return fmt.Sprintf("float%d", 8*c.Size)
	case export.Address:
		return fmt.Sprintf("hex%d", 8*c.Size)
	case export.Unsigned:
		return fmt.Sprintf("uint%d", 8*c.Size)
	}
	return fmt.Sprintf("int%d", 8*c.Size)
}

// appendField writes a value as its type is declared.
func appendField(dst []byte, c export.Column, cell export.Cell) []byte {
	bits, size := cell.Bits, c.Size
	switch {
	case c.Kind == export.Text: // a zero byte would end it
		return append(append(dst, strings.ReplaceAll(string(cell.Text), "\x00", `\0`)...), 0)
	case c.Kind == export.Truth:
		size = 1
	case c.Kind == export.Float && size == 4:
		bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
	}
	return append(dst, binary.LittleEndian.AppendUint64(nil, bits)[:size]...)
}

// Flush writes the metadata. Nothing can be added after that.
func (w *Writer) Flush() error {
	text := []byte(beginning)
	for _, size := range []int{8, 16, 32, 64} {
		for _, t := range []struct{ name, signed, base string }{
			{"int", "true", "decimal"}, {"uint", "false", "decimal"}, {"hex", "false", "hexadecimal"},
		} {
			text = fmt.Appendf(text, "typealias integer { size = %d; align = 8; signed = %s; base = %s; } := %s%d;\n",
				size, t.signed, t.base, t.name, size)
		}
	}
	_, err := w.metadata.Write(append(append(text, declarations...), w.events...))
	return err
}

// beginning is what the metadata begin with, the first line as the format asks.
const beginning = `/* CTF 1.8 */
typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := float32;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := float64;
typealias string { encoding = UTF8; } := text;
`

// declarations are what the stream consists of.
const declarations = `
trace {
	major = 1;
	minor = 8;
	byte_order = le;
	packet.header := struct {
		uint32 magic;
	};
};

env {
	tracer_name = "tracewell";
};

clock {
	name = trace_timestamp;
	description = "nanoseconds since 1970, or on the clock of the stub that made the frames";
	freq = 1000000000;
};

stream {
	event.header := struct {
		uint32 id;
		integer { size = 64; align = 8; signed = false; map = clock.trace_timestamp.value; } timestamp;
	};
};
`

// quote gives a text as a string literal: printable ASCII as it is, every other byte by its three octal digits.
func quote(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}
