package ctype

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
)

// unfold lists a value and what it is made of, a line each: name, role, offset, type and value.
func unfold(p Printer, v Value, indent string, depth int) string {
	var out strings.Builder
	for c := range p.Children(v) {
		text := c.Missing
		if text == "" {
			text = string(p.AppendValue(nil, c.Value))
		}
		at := fmt.Sprint(c.Offset)
		if c.Bits > 0 {
			at += fmt.Sprintf(":%d+%d", c.Shift, c.Bits)
		}
		fmt.Fprintf(&out, "%s%s %s %s (%v) %s\n", indent, []string{"member", "base", "static", "element", "target"}[c.Role], c.Name, at, c.Value.Type, text)
		if depth > 0 && c.Missing == "" {
			out.WriteString(unfold(p, c.Value, indent+"  ", depth-1))
		}
	}
	return out.String()
}

// TestChildren: what values of each kind are made of, with what is not known of them.
func TestChildren(t *testing.T) {
	memory := map[arch.Addr]string{0x1000: "text\x00\x00\x00\x00", 0x2000: "\x01\x00\x00\x00\x02\x00\x00\x00", 0x3000: "\x07\x00"}
	read := func(addr arch.Addr, b []byte) int { return copy(b, memory[addr]) }
	p := Printer{Order: binary.LittleEndian, Memory: read}
	rust, golang := p, p
	rust.Language, golang.Language = Rust, Go
	integer := Int(4, true)
	pair := RecordOf("struct pair", 8, Field{Name: "a", Type: integer}, Field{Name: "b", Type: integer, Offset: 4})
	flags := RecordOf("struct flags", 8, Field{Name: "low", Type: integer, Bits: 3},
		Field{Name: "high", Type: Int(4, false), Bits: 5, Shift: 3}, Field{Type: pair, Offset: 0})
	base := RecordOf("Base", 4, Field{Name: "n", Type: integer}, Field{Name: "gone", Type: integer, Static: true},
		Field{Name: "there", Type: integer, Static: true, Addr: 0x2000}, Field{Name: "unreadable", Type: integer, Static: true, Addr: 0x10},
		Field{Name: "fixed", Type: integer, Static: true, Value: []byte{5, 0, 0, 0}},
		Field{Name: "whole", Type: pair, Static: true, Addr: 0x20})
	derived := RecordOf("Derived", 8, Field{Name: "Base", Type: base, Base: true}, Field{Name: "d", Type: integer, Offset: 4})
	tuple := RecordOf("(i32, i32)", 8, Field{Name: "__0", Type: integer}, Field{Name: "__1", Type: integer, Offset: 4})
	some := RecordOf("Option::Some", 8, Field{Name: "__0", Type: integer, Offset: 4})
	option := LateRecord("Option", 8, func() ([]Field, *Variants) {
		return nil, &Variants{Discriminant: &Field{Type: integer}, List: []Variant{
			{Values: []uint64{0}, Field: Field{Name: "None", Type: RecordOf("Option::None", 8)}},
			{Values: []uint64{1}, Field: Field{Name: "Some", Type: some}}}}
	})
	slice := RecordOf("&[i32]", 16, Field{Name: "data_ptr", Type: PointerTo(integer, 8)}, Field{Name: "length", Type: Int(8, false), Offset: 8})
	text := RecordOf("string", 16, Field{Name: "str", Type: PointerTo(char, 8)}, Field{Name: "len", Type: Int(8, true), Offset: 8})
	goSlice := RecordOf("[]int32", 24, Field{Name: "array", Type: PointerTo(integer, 8)}, Field{Name: "len", Type: Int(8, true), Offset: 8},
		Field{Name: "cap", Type: Int(8, true), Offset: 16})
	reference := &Type{Kind: Pointer, Size: 8, Elem: pair, Reference: true}
	word := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	for _, test := range []struct {
		name   string
		p      Printer
		typ    *Type
		memory string
		holes  []Hole
		want   string
	}{
		{"a scalar", p, integer, "\x01\x00\x00\x00", nil, ""},
		{"a structure with a hole", p, pair, "\x01\x00\x00\x00\x02\x00\x00\x00", []Hole{{4, 6, Unavailable}},
			"member a 0 (int) 1\nmember b 4 (int) <unavailable>\n"},
		{"nothing known", p, pair, "\x01\x00\x00\x00\x02\x00\x00\x00", []Hole{{0, 8, Unavailable}}, ""},
		{"too short", p, pair, "\x01\x00\x00\x00", nil, ""},
		{"bit-fields and a nameless member", p, flags, "\x2f\x00\x00\x00\x02\x00\x00\x00", nil, `member low 0:0+3 (int) -1
member high 0:3+5 (unsigned int) 5
member  0 (struct pair) {a = 47, b = 2}
  member a 0 (int) 47
  member b 4 (int) 2
`},
		{"a bit-field that is not known", p, flags, "\x2f\x00\x00\x00\x02\x00\x00\x00", []Hole{{0, 1, OptimizedOut}}, `member low 0:0+3 (int) <optimized out>
member high 0:3+5 (unsigned int) <optimized out>
member  0 (struct pair) {a = <optimized out>, b = 2}
  member a 0 (int) <optimized out>
  member b 4 (int) 2
`},
		{"a union", p, &Type{Kind: Record, Union: true, Name: "union u", Size: 4, members: &members{fields: []Field{
			{Name: "n", Type: integer}, {Name: "c", Type: char}}}}, "\x41\x00\x00\x00", nil, "member n 0 (int) 65\nmember c 0 (char) 65 'A'\n"},
		{"a member beyond the end", p, RecordOf("", 4, Field{Name: "x", Type: integer, Offset: 2}, Field{Name: "y", Type: integer, Offset: -1},
			Field{Name: "z", Type: integer, Bits: 40}), "\x01\x02\x03\x04", nil, "member x 2 (int) ...\nmember y -1 (int) ...\nmember z 0:0+40 (int) ...\n"},
		{"a class", p, derived, "\x01\x00\x00\x00\x02\x00\x00\x00", nil, `base Base 0 (Base) {n = 1, static gone = <optimized out>, static there = 1, static unreadable = <error: Cannot access memory at address 0x10>, static fixed = 5, static whole = <unavailable>}
  member n 0 (int) 1
  static gone -1 (int) <optimized out>
  static there -1 (int) 1
  static unreadable -1 (int) <error: Cannot access memory at address 0x10>
  static fixed -1 (int) 5
  static whole -1 (struct pair) <unavailable>
member d 4 (int) 2
`},
		{"an array", p, ArrayOf(Int(2, true), 3), "\x01\x00\x02\x00\x03\x00", []Hole{{2, 4, Unavailable}},
			"element [0] 0 (short) 1\nelement [1] 2 (short) <unavailable>\nelement [2] 4 (short) 3\n"},
		{"characters", p, ArrayOf(char, 2), "ab", nil, "element [0] 0 (char) 97 'a'\nelement [1] 1 (char) 98 'b'\n"},
		{"elements without a size", p, ArrayOf(RecordOf("struct none", 0), 3), "", nil, ""},
		{"a pointer", p, PointerTo(pair, 8), word(0x2000), nil, "target * -1 (struct pair) {a = 1, b = 2}\n  member a 0 (int) 1\n  member b 4 (int) 2\n"},
		{"a pointer to half", p, PointerTo(integer, 8), word(0x3000), nil, "target * -1 (int) <unavailable>\n"},
		{"a pointer to nothing", p, PointerTo(pair, 8), word(0x10), nil, "target * -1 (struct pair) <error: Cannot access memory at address 0x10>\n"},
		{"a null pointer", p, PointerTo(pair, 8), word(0), nil, ""},
		{"a pointer to const void", p, PointerTo(Void.Qualify(true, false), 8), word(0x2000), nil, ""},
		{"a pointer to a function", p, PointerTo(&Type{Kind: Function, Size: 1, Elem: Void}, 8), word(0x2000), nil, ""},
		{"a pointer without memory", Printer{Order: binary.LittleEndian}, PointerTo(pair, 8), word(0x2000), nil, ""},
		{"a reference", p, reference, word(0x2000), nil, "member a 0 (int) 1\nmember b 4 (int) 2\n"},
		{"a dangling reference", p, reference, word(0x10), nil, ""},
		{"a tuple of Rust", rust, tuple, "\x01\x00\x00\x00\x02\x00\x00\x00", nil, "member 0 0 (int) 1\nmember 1 4 (int) 2\n"},
		{"an active variant", rust, option, "\x01\x00\x00\x00\x02\x00\x00\x00", nil, "member 0 4 (int) 2\n"},
		{"one without members", rust, option, "\x00\x00\x00\x00\x02\x00\x00\x00", nil, ""},
		{"no variant", rust, option, "\x07\x00\x00\x00\x02\x00\x00\x00", nil, ""},
		{"a slice of Rust", rust, slice, word(0x2000) + word(2), nil, "element [0] -1 (int) 1\nelement [1] -1 (int) 2\n"},
		{"a slice beyond memory", rust, slice, word(0x2000) + word(3), nil,
			"element [0] -1 (int) 1\nelement [1] -1 (int) 2\nelement [2] -1 (int) <unavailable>\n"},
		{"a record without a size", p, RecordOf("E", 0, Field{Name: "n", Type: integer, Static: true, Value: []byte{5, 0, 0, 0}}), "", nil,
			"static n -1 (int) 5\n"},
		{"a string of Go", golang, text, word(0x1000) + word(4), nil, ""},
		{"a slice of Go", golang, goSlice, word(0x2000) + word(2) + word(4), nil, `member array 0 (int *) 0x2000
  target * -1 (int) 1
member len 8 (long) 2
member cap 16 (long) 4
`},
	} {
		got := unfold(test.p, Value{Type: test.typ, Bytes: []byte(test.memory), Holes: test.holes}, "", 3)
		if got != test.want {
			t.Errorf("%s:\n%swant\n%s", test.name, got, test.want)
		}
	}
}

// TestEndlessSlice has a slice whose length is not one: no more is read than a value may have.
func TestEndlessSlice(t *testing.T) {
	slice := RecordOf("&[i32]", 16, Field{Name: "data_ptr", Type: PointerTo(Int(4, true), 8)}, Field{Name: "length", Type: Int(8, false), Offset: 8})
	bytes := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0x1000), 1<<63)
	p := Printer{Order: binary.LittleEndian, Language: Rust, Memory: func(_ arch.Addr, b []byte) int { return copy(b, "\x07\x00\x00\x00") }}
	children := slices.Collect(p.Children(Value{Type: slice, Bytes: bytes}))
	if len(children) != mostRead/4 || children[0].Missing != "" || children[0].Value.Bytes[0] != 7 || children[1].Missing != Unavailable {
		t.Errorf("%d children, the first %+v", len(children), children[0])
	}
}

// TestVirtualBases: a virtual base class is a child of all that name it, however often and in whatever order they are unfolded,
// while the value is printed with it once.
func TestVirtualBases(t *testing.T) {
	// At 0x8000 and 0x8100 are virtual tables, which have 24 bytes before them how far the base is from the object.
	words := map[arch.Addr]uint64{0x8000 - 24: 32, 0x8100 - 24: 16}
	p := Printer{Order: binary.LittleEndian, Memory: func(addr arch.Addr, b []byte) int {
		return copy(b, binary.LittleEndian.AppendUint64(nil, words[addr]))
	}}
	root := RecordOf("V", 8, Field{Name: "v", Type: Int(8, true)})
	virtual := Field{Name: "V", Type: root, Base: true, Virtual: true, VTable: -24}
	left := RecordOf("L", 16, virtual, Field{Name: "l", Type: Int(8, true), Offset: 8})
	right := RecordOf("R", 16, virtual, Field{Name: "r", Type: Int(8, true), Offset: 8})
	both := RecordOf("D", 40, Field{Name: "L", Type: left, Base: true}, Field{Name: "R", Type: right, Base: true, Offset: 16})
	var object []byte
	for _, n := range []uint64{0x8000, 1, 0x8100, 2, 3} {
		object = binary.LittleEndian.AppendUint64(object, n)
	}
	v := Value{Type: both, Bytes: object}
	const printed = "{<L> = {<V> = {v = 3}, l = 1}, <R> = {r = 2}, <No data fields>}"
	const unfolded = `base L 0 (L) {<V> = {v = 3}, l = 1}
  base V 32 (V) {v = 3}
    member v 0 (long) 3
  member l 8 (long) 1
base R 16 (R) {<V> = {v = 3}, r = 2}
  base V 16 (V) {v = 3}
    member v 0 (long) 3
  member r 8 (long) 2
`
	for range 2 {
		if got := string(p.AppendValue(nil, v)); got != printed {
			t.Errorf("%s, want %s", got, printed)
		}
		if got := unfold(p, v, "", 3); got != unfolded {
			t.Errorf("\n%swant\n%s", got, unfolded)
		}
	}
	v.Holes = []Hole{{32, 40, Unavailable}}
	for c := range p.Children(v) {
		if c.Name != "L" || c.Missing != "" {
			t.Errorf("%+v", c)
		}
		break // an iteration ends when its caller has enough
	}
	children := slices.Collect(p.Children(Value{Type: left, Bytes: object[:16], Holes: []Hole{{8, 16, Unavailable}}}))
	if len(children) != 2 || children[0].Missing != Unavailable || children[0].Offset != Elsewhere || children[1].Missing != Unavailable {
		t.Errorf("%+v", children)
	}
}
