package ctype

import (
	"math/big"
	"strconv"
	"strings"

	"tracewell/arch"
)

// rustRecord writes a structure, tuple or enumeration of Rust: "main::Point {x: 1, y: 2}", "(1, true)",
// "core::option::Option<i32>::Some(4)".
func (p Printer) rustRecord(dst []byte, v Value, depth int) []byte {
	if variants := v.Type.Variants(); variants != nil {
		return p.rustVariant(dst, v, variants, depth)
	}
	fields, name := v.Type.Fields(), v.Type.Name
	switch {
	case name == "&str":
		return p.rustText(dst, v)
	case strings.HasPrefix(name, "&[") || strings.HasPrefix(name, "&mut ["):
		return p.rustSlice(dst, v, depth)
	case depth >= mostDepth:
		return append(dst, "{...}"...)
	case name == "()":
		return append(dst, name...)
	case strings.HasPrefix(name, "("):
		return p.rustFields(dst, fields, v, depth)
	case len(fields) == 0:
		return appendName(dst, name)
	}
	return p.rustFields(append(appendName(dst, name), ' '), fields, v, depth)
}

// rustFields writes members, in parentheses if they have numbers for names.
func (p Printer) rustFields(dst []byte, fields []Field, v Value, depth int) []byte {
	tuple := len(fields) == 0 || strings.HasPrefix(fields[0].Name, "__")
	if tuple {
		dst = append(dst, '(')
	} else {
		dst = append(dst, '{')
	}
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if !tuple {
			dst = append(appendName(dst, f.Name), ": "...)
		}
		dst = p.field(dst, f, v, depth+1)
	}
	if tuple {
		return append(dst, ')')
	}
	return append(dst, '}')
}

// rustVariant writes the alternative that is there.
func (p Printer) rustVariant(dst []byte, v Value, variants *Variants, depth int) []byte {
	active := variants.active(v, p.Order)
	if active == nil {
		return append(append(appendName(dst, v.Type.Name), "::"...), "<unknown variant>"...)
	}
	inner := v.Part(active.Field.Type, active.Field.Offset)
	dst = appendName(dst, inner.Type.Name)
	if fields := inner.Type.Fields(); len(fields) > 0 && len(inner.Bytes) >= inner.Type.Size {
		return p.rustFields(dst, fields, inner, depth)
	}
	return dst
}

// active finds the alternative that a value is of, nil if none is.
func (variants *Variants) active(v Value, order arch.ByteOrder) *Variant {
	var otherwise *Variant
	discriminant, mask := new(big.Int), ^uint64(0)
	if d := variants.Discriminant; d != nil {
		if d.Offset < 0 || d.Type.Size < 1 || d.Offset+d.Type.Size > len(v.Bytes) {
			return nil
		}
		discriminant = bigInt(v.Bytes[d.Offset:d.Offset+d.Type.Size], order)
		mask >>= 64 - 8*min(d.Type.Size, 8)
	}
	for i := range variants.List {
		variant := &variants.List[i]
		if variant.Values == nil {
			otherwise = variant
		}
		for _, value := range variant.Values {
			if discriminant.IsUint64() && discriminant.Uint64() == value&mask {
				return variant
			}
		}
	}
	return otherwise
}

// wide takes the address and the length out of a pointer that has both.
func (p Printer) wide(v Value) (elem *Type, addr arch.Addr, length int, ok bool) {
	pointer, hasPointer := v.Type.Field("data_ptr")
	count, hasCount := v.Type.Field("length")
	if !hasPointer || !hasCount || len(v.Holes) > 0 || pointer.Type.Kind != Pointer ||
		max(pointer.Offset, count.Offset)+8 > len(v.Bytes) || pointer.Offset < 0 || count.Offset < 0 {
		return nil, 0, 0, false
	}
	n := arch.Uint(v.Bytes[count.Offset:count.Offset+8], p.Order)
	addr = arch.Addr(arch.Uint(v.Bytes[pointer.Offset:pointer.Offset+8], p.Order))
	return pointer.Type.Elem, addr, int(min(n, 1<<40)), true
}

// unreadable is what GDB says when it needs a part of a value that is not known.
var unreadable = map[string]string{
	OptimizedOut: "<error reading variable: value has been optimized out>", Unavailable: "<error reading variable: value is not available>",
}

func (p Printer) rustText(dst []byte, v Value) []byte {
	if len(v.Holes) > 0 {
		return append(dst, unreadable[v.Holes[0].Why]...)
	}
	_, addr, n, ok := p.wide(v)
	if !ok || p.Memory == nil {
		return p.rustFields(append(appendName(dst, v.Type.Name), ' '), v.Type.Fields(), v, 0)
	}
	return p.textAt(dst, &Type{Kind: Integer, Size: 1, Char: true}, addr, n)
}

func (p Printer) rustSlice(dst []byte, v Value, depth int) []byte {
	elem, addr, n, ok := p.wide(v)
	dst = append(appendName(dst, v.Type.Name), ' ')
	if len(v.Holes) > 0 {
		return append(dst, unreadable[v.Holes[0].Why]...)
	}
	if !ok || p.Memory == nil {
		return p.rustFields(dst, v.Type.Fields(), v, depth)
	}
	shown := min(n, mostElements+1)
	whole, ok := p.read(ArrayOf(elem, shown), addr)
	if !ok {
		return p.unreadable(dst, addr)
	}
	return p.append(dst, whole, depth)
}

// appendRustCharacter writes a character between quotes.
func appendRustCharacter(dst []byte, c uint64) []byte {
	letter, known := escapes[c]
	switch {
	case known && c != '\a' && c != '\b' && c != '\f' && c != '\v':
		return append(dst, '\\', letter)
	case c == '\'' || c == '\\':
		return append(dst, '\\', byte(c))
	case c >= ' ' && c <= '~':
		return append(dst, byte(c))
	case c <= 0xff:
		const digits = "0123456789abcdef"
		return append(dst, '\\', 'x', digits[c>>4], digits[c&15])
	}
	text := strconv.FormatUint(c, 16)
	return append(append(dst, `\u{`+strings.Repeat("0", max(6-len(text), 0))+text...), '}')
}

// rustType writes a type as GDB does for Rust.
func rustType(t *Type, depth int) string {
	switch {
	case depth == deepest:
		return "…"
	case t.Kind == Pointer:
		return "*mut " + rustType(t.Elem, depth+1)
	case t.Kind == Array:
		return "[" + rustType(t.Elem, depth+1) + "; " + strconv.Itoa(t.Count) + "]"
	case t.Kind == Function:
		texts := make([]string, 0, len(t.Params))
		for _, p := range t.Params {
			texts = append(texts, rustType(p, depth+1))
		}
		text := "fn (" + strings.Join(texts, ", ") + ")"
		if t.Elem != Void {
			text += " -> " + rustType(t.Elem, depth+1)
		}
		return text
	case t.Name != "":
		return t.Name
	}
	return t.String()
}
