package view

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"tracewell/arch"
	"tracewell/internal/jsontext"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
)

// appendContents appends what a container has. In JSON a text is a string, a map with texts or numbers for keys an object, any
// other an array of arrays of two, an optional value that is not there and what is nil in Go null, and all else an array; a smart
// pointer is what it points to. Behind the elements stands a string that says why there are no more. In CSV it is what GDB prints
// but for a text and a time.
func (e encoder) appendContents(dst []byte, shape *container.Shape, v ctype.Value, depth int) []byte {
	c := shape.Read(v, e.reader.view.order, e.reader.ReadMemory)
	if shape.Form == container.Text && shape.Elem != nil {
		return e.appendText(dst, shape, c)
	}
	if at, ok := shape.Time(c, e.printer()); ok {
		return appendString(dst, at.AppendFormat(nil, time.RFC3339Nano), e.style)
	}
	if e.style == StyleCSV {
		return e.appendPrinted(dst, v)
	}
	if c.Nil {
		return append(dst, "null"...)
	}
	switch shape.Form {
	case container.Func:
		return e.appendPrinted(dst, v)
	case container.Map:
		return e.appendMap(dst, c, depth)
	case container.Members:
		return e.appendNamed(dst, c, depth)
	case container.Path, container.Wrapping, container.Pointer, container.Shared, container.Optional, container.Variant,
		container.Interface, container.Dyn:
		switch {
		case len(c.Elements) == 1:
			return e.append(dst, c.Elements[0].Value, depth)
		case c.Rest != "":
			return jsontext.AppendString(dst, strings.TrimSpace(c.Rest))
		case shape.Form == container.Pointer && shape.Elem == nil: // of nothing that is known
			return e.append(dst, c.Target, depth)
		}
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, element := range c.Elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.append(dst, element.Value, depth)
	}
	return append(appendRest(dst, c), ']')
}

// appendText appends a string, and behind it why there is no more of it. One that is no text is bytes.
func (e encoder) appendText(dst []byte, shape *container.Shape, c container.Contents) []byte {
	size := shape.Elem.Size
	b := make([]byte, 0, len(c.Elements)*size+len(c.Rest))
	for _, element := range c.Elements {
		b = append(b, element.Value.Bytes...)
	}
	text := inUTF8(b, size, e.reader.view.order)
	if c.Rest != "" {
		text = container.WholeRunes(text)
	}
	if !utf8.Valid(text) || size > 1 && bytes.ContainsRune(text, utf8.RuneError) {
		return appendUnknown(dst, b, e.style)
	}
	return appendString(dst, append(text, shape.Rest(c)...), e.style)
}

// inUTF8 is a text of characters of a size in bytes, which are in UTF-8, UTF-16 or UTF-32.
func inUTF8(b []byte, size int, order arch.ByteOrder) []byte {
	switch size {
	case 2:
		var units []uint16
		for ; len(b) >= size; b = b[size:] {
			units = append(units, uint16(arch.Uint(b[:size], order)))
		}
		return []byte(string(utf16.Decode(units)))
	case 4:
		var text []byte
		for ; len(b) >= size; b = b[size:] {
			text = utf8.AppendRune(text, rune(arch.Uint(b[:size], order)))
		}
		return text
	}
	return b
}

// appendRest appends why there are no more elements.
func appendRest(dst []byte, c container.Contents) []byte {
	if c.Rest == "" {
		return dst
	}
	if len(c.Elements) > 0 {
		dst = append(dst, ',')
	}
	return jsontext.AppendString(dst, c.Rest)
}

// appendNamed appends an object with a member for each element.
func (e encoder) appendNamed(dst []byte, c container.Contents, depth int) []byte {
	dst = append(dst, '{')
	for i, element := range c.Elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendString(dst, element.Name), ':')
		dst = e.append(dst, element.Value, depth)
	}
	return append(dst, '}')
}

// appendMap appends an object if each key can be the key of a member, once, and there is nothing else to say.
func (e encoder) appendMap(dst []byte, c container.Contents, depth int) []byte {
	start, seen := len(dst), map[string]bool{}
	dst = append(dst, '{')
	for i, element := range c.Elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		key, value := container.Pair(element.Value)
		text := string(e.append(nil, key, depth))
		if key.Type.Scalar() && !strings.HasPrefix(text, `"`) {
			text = `"` + text + `"`
		}
		if !strings.HasPrefix(text, `"`) || seen[text] || c.Rest != "" {
			return e.appendPairs(dst[:start], c, depth)
		}
		seen[text] = true
		dst = e.append(append(append(dst, text...), ':'), value, depth)
	}
	if c.Rest != "" {
		return e.appendPairs(dst[:start], c, depth)
	}
	return append(dst, '}')
}

// appendPairs appends the elements of a map as arrays of two.
func (e encoder) appendPairs(dst []byte, c container.Contents, depth int) []byte {
	dst = append(dst, '[')
	for i, element := range c.Elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		key, value := container.Pair(element.Value)
		dst = append(e.append(append(dst, '['), key, depth), ',')
		dst = append(e.append(dst, value, depth), ']')
	}
	return append(appendRest(dst, c), ']')
}
