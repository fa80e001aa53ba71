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
