package ctype

import (
	"encoding/binary"
	"strings"
	"testing"

	"tracewell/arch"
)

// TestValues: the texts are those that GDB 13 writes for the same values.
func TestValues(t *testing.T) {
	enum := func(values ...int64) *Type {
		e := &Type{Kind: Integer, Name: "Flags", Size: 4, Enum: true}
		for i, v := range values {
			e.Values = append(e.Values, Enumerator{string("ABCD"[i]), v})
		}
		return e
	}
	flags, mixed := enum(1, 2, 4), enum(1, 6)
	wide := &Type{Kind: Integer, Name: "wchar_t", Size: 4, Signed: true, Char: true}
	base := RecordOf("ns::Base", 4, Field{Name: "b", Type: Int(4, true)}, Field{Name: "count", Type: Int(4, true), Static: true, Value: []byte{7, 0, 0, 0}})
	derived := RecordOf("ns::Derived", 8, Field{Name: "ns::Base", Type: base, Base: true}, Field{Name: "d", Type: Int(4, true), Offset: 4})
	reference := &Type{Kind: Pointer, Size: 8, Elem: Int(4, true), Reference: true}
	signed := &Type{Kind: Integer, Enum: true, Size: 2, Signed: true, Values: flags.Values}
	function := &Type{Kind: Function, Size: 1, Elem: Int(4, true), Params: []*Type{Int(4, true)}}
	memory := func(addr arch.Addr, b []byte) int {
		if addr != 0x1000 {
			return 0
		}
		return copy(b, "text\x00\x00\x00\x00")
	}
	p := Printer{Order: binary.LittleEndian, Memory: memory}
	for _, test := range []struct {
		typ    *Type
		memory string
		want   string
	}{
		{flags, "\x03\x00\x00\x00", "(A | B)"},
		{flags, "\x09\x00\x00\x00", "(A | unknown: 0x8)"},
		{flags, "\x08\x00\x00\x00", "(unknown: 0x8)"},
		{flags, "\x00\x00\x00\x00", "0"},
		{signed, "\xfd\xff", "(A | C | unknown: 0xfff8)"},
		{mixed, "\x07\x00\x00\x00", "7"},
		{wide, "w\x00\x00\x00", "119 L'w'"},
		{ArrayOf(wide, 3), "w\x00\x00\x00\xe9\x00\x00\x00\x00\x00\x00\x00", `L"w\351"`},
		{derived, "\x01\x00\x00\x00\x02\x00\x00\x00", "{<ns::Base> = {b = 1, static count = 7}, d = 2}"},
		{RecordOf("E", 1), "\x00", "{<No data fields>}"},
		{PointerTo(base, 8), "\x00\x20\x00\x00\x00\x00\x00\x00", "(ns::Base *) 0x2000"},
		{PointerTo(base.Qualify(true, false), 8), "\x00\x20\x00\x00\x00\x00\x00\x00", "(const ns::Base *) 0x2000"},
		{PointerTo(base, 8).Qualify(true, false), "\x00\x20\x00\x00\x00\x00\x00\x00", "(ns::Base * const) 0x2000"},
		{PointerTo(function, 8), "\x00\x20\x00\x00\x00\x00\x00\x00", "(int (*)(int)) 0x2000"},
		{PointerTo(function, 8).Named("binop"), "\x00\x20\x00\x00\x00\x00\x00\x00", "(binop) 0x2000"},
		{PointerTo(ArrayOf(Int(4, true), 3), 8), "\x00\x20\x00\x00\x00\x00\x00\x00", "(int (*)[3]) 0x2000"},
		{PointerTo(char, 8), "\x00\x10\x00\x00\x00\x00\x00\x00", `0x1000 "text"`},
		{PointerTo(char, 8), "\x01\x00\x00\x00\x00\x00\x00\x00", "0x1 <error: Cannot access memory at address 0x1>"},
		{PointerTo(char, 8), "\x00\x00\x00\x00\x00\x00\x00\x00", "0x0"},
		{reference, "\x00\x10\x00\x00\x00\x00\x00\x00", "(int &) @0x1000: 1954047348"},
		{&Type{Kind: Integer, Name: "__int128", Size: 16, Signed: true}, "\xfb\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "-5"},
		{&Type{Kind: Float, Name: "long double", Size: 16}, "\x00\x00\x00\x00\x00\x00\x00\xa0\x00\x40\x00\x00\x00\x00\x00\x00", "2.5"},
		{&Type{Kind: Float, Name: "long double", Size: 16}, "\xcd\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xfb\x3f\x00\x00\x00\x00\x00\x00", "0.100000000000000000001"},
		{&Type{Kind: Float, Name: "long double", Size: 16}, "\x00\x00\x00\x00\x00\x00\x00\x20\x00\x40\x00\x00\x00\x00\x00\x00", "<invalid float value>"},
		{&Type{Kind: Float, Name: "_Float16", Size: 2}, "\x66\x2e", "0.099976"},
		{&Type{Kind: Float, Name: "_Float16", Size: 2}, "\x00\xfc", "-inf"},
		{&Type{Kind: Float, Name: "_Float128", Size: 16}, "\x9a\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\xfb\x3f", "0.100000000000000000000000000000000005"},
		{&Type{Kind: Integer, Name: "int", Size: 4, Signed: true, Swapped: true}, "\xff\xff\xff\xfe", "-2"},
		{ArrayOf(char, 4000), "x" + strings.Repeat("\x00", 3998) + "y", `"x", '\000' <repeats 3998 times>...`},
		{enum(1, 1, 2), "\x03\x00\x00\x00", "(A | C)"},
		{&Type{Kind: Complex, Size: 8, Elem: &Type{Kind: Float, Size: 4}}, "\x00\x00\xc0\x3f\x00\x00\x00\x00", "1.5 + 0i"},
	} {
		if got := string(p.Print(nil, Value{Type: test.typ, Bytes: []byte(test.memory)})); got != test.want {
			t.Errorf("%v is printed as\n%s, want\n%s", test.typ, got, test.want)
		}
	}
	partly := Value{Type: derived, Bytes: make([]byte, 8), Holes: []Hole{{4, 8, Unavailable}}}
	if got, want := string(p.Print(nil, partly)), "{<ns::Base> = {b = 0, static count = 7}, d = <unavailable>}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	nothing := Value{Type: derived, Bytes: make([]byte, 8), Holes: []Hole{{0, 8, OptimizedOut}}}
	if got := string(p.Print(nil, nothing)); got != OptimizedOut {
		t.Errorf("%s, want %s", got, OptimizedOut)
	}
}

// TestKindsOfValues: the texts are those that GDB 13 writes for the same values, of kinds that few programs have.
func TestKindsOfValues(t *testing.T) {
	memory := func(addr arch.Addr, b []byte) int {
		if addr != 0x1000 {
			return 0
		}
		return copy(b, "text\x00\x00\x00\x00")
	}
	p := Printer{Order: binary.LittleEndian, Memory: memory}
	rust, golang := p, p
	rust.Language, golang.Language = Rust, Go
	floating := func(size int, name string) *Type { return &Type{Kind: Float, Name: name, Size: size} }
	word := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	integer := Int(4, true)
	flags := &Type{Kind: Integer, Name: "Flags", Size: 4, Enum: true, Values: []Enumerator{{"A", 1}, {"B", 2}}}
	letter := &Type{Kind: Integer, Name: "char", Size: 4, Char: true}
	address, length := Field{Name: "data_ptr", Type: PointerTo(integer, 8)}, Field{Name: "length", Type: Int(8, false), Offset: 8}
	class := RecordOf("C", 8)
	class.Method = func(place int) string {
		if place == 1 {
			return "C::f()"
		}
		return ""
	}
	method := &Type{Kind: MemberPointer, Size: 16, Elem: &Type{Kind: Function, Size: 1, Elem: Void, Prototyped: true}, Class: class}
	plain := LateRecord("Plain", 1, func() ([]Field, *Variants) {
		return nil, &Variants{Discriminant: &Field{Type: Int(1, false)}, List: []Variant{
			{Values: []uint64{0}, Field: Field{Type: RecordOf("Plain::Zero", 1)}}, {Values: []uint64{1}, Field: Field{Type: RecordOf("Plain::One", 1)}}}}
	})
	for _, test := range []struct {
		p      Printer
		typ    *Type
		memory string
		want   string
	}{
		{p, floating(10, "long double"), "\x00\x00\x00\x00\x00\x00\x00\xa0\x00\x40", "2.5"},
		{p, floating(2, "_Float16"), "\x01\x7e", "nan(0x201)"},
		{p, floating(8, "double"), word(0x7ff8000000000000), "nan(0x8000000000000)"},
		{p, floating(8, "double"), word(0x4059000000000000), "100"},
		{p, floating(8, "double"), word(0x433fffffffffffff), "9007199254740991"},
		{p, floating(3, "odd"), "\x01\x02\x03", "0x010203"},
		{p, flags, "\x02\x00\x00\x00", "B"},
		{p, &Type{Kind: Integer, Name: "__int128", Size: 16, Signed: true}, word(0) + word(1), "18446744073709551616"},
		{rust, letter, "\xff\x00\x00\x00", `255 '\xff'`},
		{rust, letter, "\x00\x01\x00\x00", `256 '\u{000100}'`},
		{rust, RecordOf("&str", 16, Field{Name: "data_ptr", Type: PointerTo(Int(1, false), 8)}, length), word(0x10) + word(1),
			"<error: Cannot access memory at address 0x10>"},
		{rust, RecordOf("&[i32]", 16, address, length), word(0x1000) + word(1), "&[i32] [1954047348]"},
		{rust, RecordOf("&[i32]", 16, address), word(0x1000) + word(1), "&[i32] {data_ptr: 0x1000}"},
		{rust, RecordOf("&[i32]", 16, length), word(0x1000) + word(1), "&[i32] {length: 1}"},
		{rust, plain, "\x00", "Plain::Zero"},
		{rust, plain, "\x01", "Plain::One"},
		{golang, RecordOf("string", 16, Field{Name: "str", Type: PointerTo(char, 8)}, Field{Name: "len", Type: Int(8, true), Offset: 8}),
			word(0x1000) + word(4), `0x1000 "text"`},
		{p, method, word(0) + word(0), "NULL"},
		{p, method, word(9) + word(0), "&virtual C::f()"},
		{p, method, word(17) + word(0), "&virtual table offset 16"},
		{p, method, word(0x2000) + word(0), "(void (C::*)(void)) 0x2000"},
	} {
		if got := string(test.p.AppendValue(nil, Value{Type: test.typ, Bytes: []byte(test.memory)})); got != test.want {
			t.Errorf("%v is printed as\n%s, want\n%s", test.typ, got, test.want)
		}
	}
}

// TestUnknownElements: equal elements are printed once also where they are equal by not being known.
func TestUnknownElements(t *testing.T) {
	p := Printer{Order: binary.LittleEndian}
	for _, test := range []struct {
		holes []Hole
		want  string
	}{
		{[]Hole{{0, 12, Unavailable}}, "{<unavailable> <repeats 12 times>, 7, 7}"},
		{[]Hole{{1, 14, Unavailable}}, "{7, <unavailable> <repeats 13 times>}"},
		{[]Hole{{0, 1, Unavailable}, {1, 12, OptimizedOut}}, "{<unavailable>, <optimized out> <repeats 11 times>, 7, 7}"},
		{[]Hole{{13, 14, Unavailable}}, "{7 <repeats 13 times>, <unavailable>}"},
	} {
		v := Value{Type: ArrayOf(Int(1, false), 14), Bytes: []byte(strings.Repeat("\x07", 14)), Holes: test.holes}
		if got := string(p.AppendValue(nil, v)); got != test.want {
			t.Errorf("%v: %s, want %s", test.holes, got, test.want)
		}
	}
}

// TestNumberOrder compares numbers by their types.
func TestNumberOrder(t *testing.T) {
	const minusOne = ^uint64(0)
	for _, typ := range []*Type{Int(8, true), Int(8, false)} {
		small, large := Number{1, typ}, Number{minusOne, typ}
		if typ.Signed {
			small, large = large, small
		}
		if !small.Less(large) || large.Less(small) || small.Less(small) || small.Float() >= large.Float() {
			t.Errorf("%v: %v and %v", typ, small, large)
		}
	}
}

// TestNamelessMembers finds members within a member that has no name, from the start of the outer one.
func TestNamelessMembers(t *testing.T) {
	inner := RecordOf("", 8, Field{Name: "a", Type: Int(4, true)}, Field{Name: "b", Type: Int(4, true), Offset: 4})
	outer := RecordOf("struct outer", 24, Field{Name: "x", Type: Int(4, true)}, Field{Type: RecordOf("", 16, Field{Type: inner, Offset: 8}), Offset: 8})
	if f, ok := outer.Field("b"); !ok || f.Offset != 20 {
		t.Errorf("%+v, %v", f, ok)
	}
	if f, ok := outer.Field("c"); ok {
		t.Errorf("%+v", f)
	}
}
