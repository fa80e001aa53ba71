package ctype

import (
	"bytes"
	"strconv"
)

func (p Printer) record(dst []byte, v Value, depth int) []byte {
	switch {
	case p.Language == Rust:
		return p.rustRecord(dst, v, depth)
	case p.Language == Go && v.Type.Name == "string":
		return p.goString(dst, v)
	case depth >= mostDepth:
		return append(dst, "{...}"...)
	}
	fields := v.Type.Fields()
	if len(fields) == 0 {
		return append(dst, "{<No data fields>}"...)
	}
	dst = append(dst, '{')
	if v.whole == nil || p.written == nil {
		p.written = make(map[string]bool)
	}
	if v.whole == nil {
		v.whole = new(v)
	}
	for i, f := range fields {
		if f.Virtual && p.written[f.Name] {
			continue
		}
		if f.Virtual && v.followsTable() {
			p.written[f.Name] = true
		}
		if i > 0 && dst[len(dst)-1] != '{' {
			dst = append(dst, ", "...)
		}
		switch {
		case f.Base:
			dst = append(appendName(append(dst, '<'), f.Name), "> = "...)
		case f.Static:
			dst = append(appendName(append(dst, "static "...), f.Name), " = "...)
		case f.Name != "":
			dst = append(appendName(dst, f.Name), " = "...)
		}
		dst = p.field(dst, f, v, depth+1)
	}
	if fields[len(fields)-1].Base {
		dst = append(dst, ", <No data fields>"...)
	}
	return append(dst, '}')
}

// field writes a member of a record. A static member may be of the class itself: the depth grows by more then, as GDB's stops at the
// same object, which here is not looked for.
func (p Printer) field(dst []byte, f Field, v Value, depth int) []byte {
	c := p.child(f, v)
	switch {
	case c.Missing != "":
		return append(dst, c.Missing...)
	case f.Static && f.Value == nil:
		depth += deepest / 4
	case c.Bits > 0:
		return p.scalar(dst, c.Value)
	}
	return p.append(dst, c.Value, depth)
}

// array writes equal elements once, if they are many.
func (p Printer) array(dst []byte, v Value, depth int) []byte {
	t := v.Type
	left, right := byte('{'), byte('}')
	if p.Language == Rust {
		left, right = '[', ']'
	}
	switch {
	case t.Size == 0 && v.InMemory && p.Language != Rust:
		p.Brief = true
		return p.pointed(dst, t, v.Addr)
	case t.Elem.Size == 0 || t.Size == 0:
		return append(dst, left, right)
	case t.Elem.Char && len(v.Holes) == 0 && p.Language != Rust:
		return p.text(dst, t.Elem, v.Bytes, false)
	case depth >= mostDepth:
		return append(append(append(dst, left), "..."...), right)
	}
	size := t.Elem.Size
	count := t.Size / size
	dst = append(dst, left)
	for i, printed := 0, 0; i < count; {
		if printed >= mostElements {
			dst = append(dst, "..."...)
			break
		}
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = p.append(dst, v.Part(t.Elem, i*size), depth+1)
		equal := v.equal(i, count)
		if equal > fewestEqual {
			dst = append(strconv.AppendInt(append(dst, " <repeats "...), int64(equal), 10), " times>"...)
			printed += fewestEqual
		} else {
			equal = 1
			printed++
		}
		i += equal
	}
	return append(dst, right)
}

// equal counts the elements of an array from the i-th on that are equal to it.
func (v Value) equal(i, count int) int {
	size := v.Type.Elem.Size
	first := v.Part(v.Type.Elem, i*size)
	n := 1
	for ; i+n < count; n++ {
		next := v.Part(v.Type.Elem, (i+n)*size)
		if len(v.Holes) > 0 {
			if a, b := first.missing(1), next.missing(1); a != b {
				break
			} else if a != "" {
				continue
			}
		}
		if !bytes.Equal(first.Bytes[:size], next.Bytes[:size]) {
			break
		}
	}
	return n
}
