package ctype

import (
	"math/big"
	"math/bits"
	"slices"
	"strconv"

	"tracewell/arch"
)

// scalar writes what is neither a record nor an array.
func (p Printer) scalar(dst []byte, v Value) []byte {
	t := v.Type
	p.Order = t.Order(p.Order)
	switch {
	case t.Kind == Float:
		return appendFloat(dst, v.Bytes, t, p.Order)
	case t.Kind == Complex:
		dst = p.append(dst, v.Part(t.Elem, 0), 0)
		return append(p.append(append(dst, " + "...), v.Part(t.Elem, t.Elem.Size), 0), 'i')
	case t.Kind == MemberPointer:
		return p.memberPointer(dst, v)
	case t.Kind == Integer && t.Size > 8:
		return p.wideInteger(dst, v.Bytes, t.Signed)
	case t.Scalar() || t.Swapped && t.Size <= 8:
		return p.word(dst, t, t.Extend(arch.Uint(v.Bytes, p.Order)), arch.Uint(v.Bytes, p.Order))
	}
	return appendHex(dst, v.Bytes)
}

// word writes a value that was extended to 64 bits; raw is how it was before.
func (p Printer) word(dst []byte, t *Type, word, raw uint64) []byte {
	switch {
	case t.Reference:
		return append(append(dst, '@'), arch.Addr(word).String()...)
	case t.Kind == Pointer:
		return p.pointed(dst, t, arch.Addr(word))
	case t.Kind == Bool && raw > 1:
		return strconv.AppendUint(dst, raw, 10)
	case t.Kind == Bool:
		return strconv.AppendBool(dst, word != 0)
	case t.Enum:
		return t.appendEnumerator(dst, word, raw)
	case t.Char:
		return p.character(t.appendInteger(dst, word), t, raw)
	}
	for _, v := range t.Values {
		if uint64(v.Value) == word {
			return appendName(dst, v.Name)
		}
	}
	return t.appendInteger(dst, word)
}

func (t *Type) appendInteger(dst []byte, bits uint64) []byte {
	if t.Signed {
		return strconv.AppendInt(dst, int64(bits), 10)
	}
	return strconv.AppendUint(dst, bits, 10)
}

// appendEnumerator writes the name of a value, or those of its bits: "(READ | WRITE)". The bits are those of raw: the copies of the
// sign in word are none of the value.
func (t *Type) appendEnumerator(dst []byte, word, raw uint64) []byte {
	for _, v := range t.Values {
		if uint64(v.Value) == word {
			return appendName(dst, v.Name)
		}
	}
	if !t.flags() {
		return t.appendInteger(dst, word)
	}
	if raw == 0 {
		return append(dst, '0')
	}
	separator := "("
	for _, v := range t.Values {
		if raw&uint64(v.Value) != 0 {
			dst = appendName(append(dst, separator...), v.Name)
			raw &^= uint64(v.Value)
			separator = " | "
		}
	}
	if raw != 0 {
		dst = strconv.AppendUint(append(append(dst, separator...), "unknown: 0x"...), raw, 16)
	}
	return append(dst, ')')
}

// flags reports whether each value of an enumeration is a bit of its own.
func (t *Type) flags() bool {
	return !slices.ContainsFunc(t.Values, func(v Enumerator) bool { return v.Value < 0 || bits.OnesCount64(uint64(v.Value)) > 1 })
}

// pointed writes a pointer, and the text if it points to characters.
func (p Printer) pointed(dst []byte, t *Type, addr arch.Addr) []byte {
	dst = p.pointer(dst, addr)
	if addr != 0 && p.Memory != nil && t.Elem.Char && t.Elem.Size > 0 && p.Language != Rust {
		return p.textAt(append(dst, ' '), t.Elem, addr, -1)
	}
	return dst
}

func (p Printer) pointer(dst []byte, addr arch.Addr) []byte {
	dst = strconv.AppendUint(append(dst, "0x"...), uint64(addr), 16)
	if p.Symbol == nil {
		return dst
	}
	if name := p.Symbol(addr); name != "" {
		dst = append(append(append(dst, " <"...), name...), '>')
	}
	return dst
}

// memberPointer writes a pointer to a member by the member's name.
func (p Printer) memberPointer(dst []byte, v Value) []byte {
	word := arch.Uint(v.Bytes[:min(len(v.Bytes), 8)], p.Order)
	switch {
	case v.Type.Elem.Kind == Function:
		return p.methodPointer(dst, v.Type, word)
	case int64(word) == -1:
		return append(dst, "NULL"...)
	}
	for _, f := range v.Type.Class.Fields() {
		if uint64(f.Offset) == word && !f.Base && !f.Static {
			return append(append(append(append(dst, '&'), v.Type.Class.Name...), "::"...), f.Name...)
		}
	}
	return strconv.AppendInt(dst, int64(word), 10)
}

// methodPointer writes a pointer to a method by the method's address, with its type wherever it stands; to a virtual one, of which
// it has the place in the virtual table, by the method's name.
func (p Printer) methodPointer(dst []byte, t *Type, word uint64) []byte {
	switch name := ""; {
	case word == 0:
		return append(dst, "NULL"...)
	case word&1 == 0:
		return p.pointer(append(append(append(dst, '('), t.String()...), ") "...), arch.Addr(word))
	default:
		if name = t.Class.method(int(word/8), 0); name == "" {
			return strconv.AppendUint(append(dst, "&virtual table offset "...), word-1, 10)
		}
		return appendName(append(dst, "&virtual "...), name)
	}
}

// method is the virtual method of a class, or of its first base class that has one, at a place of the virtual table.
func (t *Type) method(place, depth int) string {
	name := ""
	if t.Method != nil {
		name = t.Method(place)
	}
	for _, f := range t.Fields() {
		if name == "" && f.Base && depth < deepest {
			name = f.Type.method(place, depth+1)
		}
	}
	return name
}

// wideInteger writes an integer of more than 8 bytes.
func (p Printer) wideInteger(dst, b []byte, signed bool) []byte {
	n := bigInt(b, p.Order)
	if signed && n.Bit(8*len(b)-1) == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n.Append(dst, 10)
}

// bigInt reads an unsigned integer of any size.
func bigInt(b []byte, order arch.ByteOrder) *big.Int {
	b = slices.Clone(b)
	if littleEndian(order) {
		slices.Reverse(b)
	}
	return new(big.Int).SetBytes(b)
}

func littleEndian(order arch.ByteOrder) bool { return order.Uint16([]byte{1, 0}) == 1 }
