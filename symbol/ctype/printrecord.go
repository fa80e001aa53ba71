package ctype

import (
	"bytes"
	"strconv"

	"tracewell/arch"
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
	if v.object == nil {
		v.object = &object{v, map[string]bool{}}
	}
	for i, f := range fields {
		if f.Virtual && v.object.written[f.Name] {
			continue
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

// field writes a member of a record.
func (p Printer) field(dst []byte, f Field, v Value, depth int) []byte {
	switch {
	case f.Static:
		return p.static(dst, f, depth)
	case f.Virtual:
		return p.virtualBase(dst, f, v, depth)
	case f.Offset < 0 || f.Offset > len(v.Bytes):
		return append(dst, "..."...)
	case f.Base && v.object != nil:
		return p.append(dst, v.base(f.Type, v.at+f.Offset), depth)
	case f.Bits == 0:
		return p.append(dst, v.part(f.Type, f.Offset), depth)
	case f.Offset+f.Span() > len(v.Bytes):
		return append(dst, "..."...)
	}
	if holes := v.holes(f.Offset, f.Span()); len(holes) > 0 {
		return append(dst, holes[0].Why...)
	}
	return p.scalar(dst, Value{Type: f.Type, Bytes: f.Unpack(v.Bytes[f.Offset:], f.Type.Order(p.Order))})
}

// static writes a member of the class.
func (p Printer) static(dst []byte, f Field, depth int) []byte {
	switch {
	case f.Value != nil:
		return p.append(dst, Value{Type: f.Type, Bytes: f.Value}, depth)
	case f.Addr == 0:
		return append(dst, OptimizedOut...)
	}
	v, ok := p.read(f.Type, f.Addr)
	if !ok && f.Type.Kind == Record {
		return append(dst, Unavailable...)
	} else if !ok {
		return p.unreadable(dst, f.Addr)
	}
	return p.append(dst, v, depth+deepest/4)
}

// virtualBase writes a base class whose place only the virtual table knows.
func (p Printer) virtualBase(dst []byte, f Field, v Value, depth int) []byte {
	if len(v.Bytes) < 8 || len(v.Holes) > 0 {
		return append(dst, Unavailable...)
	}
	if v.object == nil {
		v.object = &object{v, map[string]bool{}}
	}
	v.object.written[f.Name] = true
	word, ok := p.read(Int(8, true), arch.Addr(arch.Uint(v.Bytes[:8], p.Order))+arch.Addr(f.VTable))
	if !ok || len(word.Holes) > 0 {
		return append(dst, "<invalid address>"...)
	}
	offset := int64(arch.Uint(word.Bytes, p.Order))
	if at := int64(v.at) + offset; offset < mostRead && at >= 0 && at < int64(len(v.object.whole.Bytes)) {
		return p.append(dst, v.base(f.Type, int(at)), depth)
	}
	if !v.InMemory {
		return append(dst, "<invalid address>"...)
	}
	base, ok := p.read(f.Type, v.Addr+arch.Addr(offset))
	if !ok {
		return append(dst, Unavailable...)
	}
	return p.append(dst, base, depth)
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
		dst = p.append(dst, v.part(t.Elem, i*size), depth+1)
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
	first := v.part(v.Type.Elem, i*size)
	n := 1
	for ; i+n < count; n++ {
		next := v.part(v.Type.Elem, (i+n)*size)
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
