package tdesc

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
)

// Unavailable stands in place of a value that the register block is too short to hold, as in GDB.
const Unavailable = "<unavailable>"

// columnWidth is the width of the first value column of GDB's info registers.
const columnWidth = 20

// Hex gives the register as one number, "0x4011b5". Of up to 8 bytes it has no leading zeros; a longer register, such as a
// vector, is written in its full width.
func (s *Slot) Hex(block []byte, order arch.ByteOrder) string {
	dst, ok := s.AppendHex(nil, block, order)
	if !ok {
		return Unavailable
	}
	return string(dst)
}

// AppendHex appends what Hex gives; false if the block ends before the register.
func (s *Slot) AppendHex(dst, block []byte, order arch.ByteOrder) ([]byte, bool) {
	b, ok := s.Bytes(block)
	switch {
	case !ok:
		return dst, false
	case s.Size <= 8:
		return appendHex(dst, b, order), true
	}
	dst = hex.AppendEncode(append(dst, "0x"...), b)
	if !isBig(order) {
		reversePairs(dst[len(dst)-2*len(b):])
	}
	return dst, true
}

// Format gives the register as GDB 13 does in info registers, from the first value column on:
//
//	0x404080            4210816               integers and enums: hexadecimal, then decimal or name
//	0x246               [ PF ZF IF ]         flags, and in place of the decimal the true or false of a bool
//	0x4011b5            0x4011b5             pointers; GDB adds the symbol, which no description knows
//	0.5                 (raw 0x3f000000)     floating point: the value, then its bytes
//	{v4_float = {0x3f800000, 0x0, …}, …}     vectors and unions with one in them: hexadecimal only
//	{a = 0xff, b = 0x1} {a = -1, b = 1}      other structures
//
// On a machine whose registers GDB shows in columns of their own (arch.Machine.Show), there is a tab between them. On MIPS it is
// not what GDB does, which prints tables of its own there.
func (s *Slot) Format(block []byte, order arch.ByteOrder) string {
	first, second := s.Columns(block, order)
	if second == "" {
		return first
	}
	if s.machine.Show != nil {
		return first + "\t" + second
	}
	return first + strings.Repeat(" ", max(1, columnWidth-len(first))) + second
}

// Columns gives the two value columns of Format apart. The second is empty for vectors.
func (s *Slot) Columns(block []byte, order arch.ByteOrder) (first, second string) {
	b, ok := s.Bytes(block)
	if !ok {
		return Unavailable, ""
	}
	if s.machine.Show != nil {
		if first, second, ok := s.ownColumns(b, order); ok {
			return first, second
		}
	}
	natural := formatter{order: order}
	if s.shape.kind == kindFloat {
		natural.value(s.shape, b)
		return string(natural.out), raw(b, order)
	}
	hexadecimal := formatter{order: order, hex: true}
	hexadecimal.value(s.shape, b)
	if !s.shape.vector {
		natural.value(s.shape, b)
	}
	return string(hexadecimal.out), string(natural.out)
}

// raw is the second column of floating-point numbers.
func raw(b []byte, order arch.ByteOrder) string {
	return "(raw 0x" + hex.EncodeToString(bigEndian(b, order)) + ")"
}

// formatter prints values into out, either each in its natural form or all scalars in hexadecimal.
type formatter struct {
	order arch.ByteOrder
	hex   bool
	out   []byte
}

func (f *formatter) text(s string) { f.out = append(f.out, s...) }

// value prints the value in b, whose length is the shape's.
func (f *formatter) value(s *shape, b []byte) {
	switch {
	case s.kind == kindVector:
		f.elements(s, b)
	case s.kind == kindStruct || s.kind == kindUnion:
		f.members(s, b)
	case f.hex || s.kind == kindPointer:
		f.out = appendHex(f.out, b, f.order)
	case s.kind == kindFlags:
		f.flags(s, b)
	default:
		f.text(scalar(s, b, f.order))
	}
}

// scalar gives the natural form of a single value.
func scalar(s *shape, b []byte, order arch.ByteOrder) string {
	switch s.kind {
	case kindSigned:
		return signed(b, order).String()
	case kindChar:
		return strconv.Itoa(int(int8(b[0]))) + " " + quoteChar(b[0])
	case kindUnsignedChar:
		return strconv.Itoa(int(b[0])) + " " + quoteChar(b[0])
	case kindBool:
		if v := lowWord(b, order); v <= 1 {
			return strconv.FormatBool(v == 1)
		}
	case kindFloat:
		return s.float.read(b, order).String()
	case kindEnum:
		if len(b) <= 8 {
			return s.enumName(lowWord(b, order))
		}
	}
	return unsigned(b, order).String()
}

// enumName gives the name of a value, or else its decimal form, which GDB signs.
func (s *shape) enumName(v uint64) string {
	if name, ok := s.nameOf(v); ok {
		return name
	}
	return strconv.FormatInt(int64(v), 10)
}

// nameOf gives the name of a value of an enum, the first of several.
func (s *shape) nameOf(v uint64) (string, bool) {
	i := slices.IndexFunc(s.values, func(e EnumValue) bool { return uint64(e.Value) == v })
	if i < 0 {
		return "", false
	}
	return s.values[i].Name, true
}

// valueOf gives the value that has a name in an enum, the first of several.
func (s *shape) valueOf(name string) (*big.Int, bool) {
	i := slices.IndexFunc(s.values, func(e EnumValue) bool { return e.Name == name })
	if i < 0 {
		return nil, false
	}
	return big.NewInt(int64(s.values[i].Value)), true
}

// GDB's defaults for arrays: runs of more than 10 equal elements are shown once, and nothing after 200 elements, for which
// a run counts as 10.
const (
	repeatThreshold = 10
	elementLimit    = 200
)

func (f *formatter) elements(s *shape, b []byte) {
	f.text("{")
	size := s.elem.size
	i, printed := 0, 0
	for i < s.count && printed < elementLimit {
		if i > 0 {
			f.text(", ")
		}
		elem := b[i*size : (i+1)*size]
		run := 1
		for i+run < s.count && bytes.Equal(elem, b[(i+run)*size:(i+run+1)*size]) {
			run++
		}
		f.value(s.elem, elem)
		if run <= repeatThreshold {
			i++
			printed++
			continue
		}
		f.text(" <repeats " + strconv.Itoa(run) + " times>")
		i += run
		printed += repeatThreshold
	}
	if i < s.count {
		f.text("...")
	}
	f.text("}")
}

func (f *formatter) members(s *shape, b []byte) {
	f.text("{")
	for i, m := range s.members {
		if i > 0 {
			f.text(", ")
		}
		if m.name != "" {
			f.text(m.name + " = ")
		}
		f.value(m.shape, m.bytes(b, f.order))
	}
	f.text("}")
}

// flags prints the names of the bits that are set, and fields of other types than bool with their values.
func (f *formatter) flags(s *shape, b []byte) {
	f.text("[")
	for _, m := range s.members {
		v := m.field(b, f.order)
		switch {
		case m.name == "":
		case m.shape.kind == kindBool && m.start == m.end:
			if v != 0 {
				f.text(" " + m.name)
			}
		case m.shape.kind == kindEnum:
			f.text(" " + m.name + "=" + m.shape.enumName(v))
		default:
			f.text(" " + m.name + "=" + strconv.FormatInt(int64(v), 10))
		}
	}
	f.text(" ]")
}

// bytes is the member's value as its type lays it out. A bit field is widened, or cut, to the size of its type.
func (m *member) bytes(b []byte, order arch.ByteOrder) []byte {
	if !m.bits {
		return b[m.offset : m.offset+m.shape.size]
	}
	v := m.field(b, order)
	fill := byte(0)
	if m.shape.kind.extends() {
		unused := 63 - (m.end - m.start)
		v = uint64(int64(v<<unused) >> unused)
		fill = byte(int64(v) >> 63)
	}
	out := bytes.Repeat([]byte{fill}, max(8, m.shape.size))
	for i := range 8 {
		out[i] = byte(v >> (8 * i))
	}
	out = out[:m.shape.size]
	if isBig(order) {
		slices.Reverse(out)
	}
	return out
}

// extends tells whether a bit field of the type is widened with its sign. To GDB 13 whatever is not unsigned is signed,
// vectors included.
func (k kind) extends() bool {
	switch k {
	case kindUnsigned, kindBool, kindPointer, kindFlags, kindEnum:
		return false
	}
	return true
}

// field is the bits of a bit field, without sign.
func (m *member) field(b []byte, order arch.ByteOrder) uint64 {
	width := m.end - m.start + 1
	return lowWord(b, order) >> m.start & (1<<width - 1)
}
