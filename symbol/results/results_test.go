package results

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// Types of the tests, which compilers have no part in: what they do about these is in internal/test/recordtest.
var (
	char   = ctype.Int(1, true)
	number = ctype.Int(4, true)
	word   = ctype.Int(8, true)
	real8  = &ctype.Type{Kind: ctype.Float, Name: "double", Size: 8}
	real4  = &ctype.Type{Kind: ctype.Float, Name: "float", Size: 4}
	unit   = &ctype.Type{Kind: ctype.Record, Name: "()"}
)

func field(name string, offset int, t *ctype.Type) ctype.Field {
	return ctype.Field{Name: name, Offset: offset, Type: t}
}

// option is an enumeration of Rust: None, and Some with a value at an offset, told apart by a tag of so many bytes at another.
func option(name string, size, tag, at, offset int, of *ctype.Type) *ctype.Type {
	none := ctype.RecordOf("None", size)
	some := ctype.RecordOf("Some", size, field("__0", offset, of))
	discriminant := field("", at, ctype.Int(tag, false))
	return ctype.LateRecord(name, size, func() ([]ctype.Field, *ctype.Variants) {
		return nil, &ctype.Variants{Discriminant: &discriminant, List: []ctype.Variant{
			{Values: []uint64{0}, Field: field("None", 0, none)}, {Values: []uint64{1}, Field: field("Some", 0, some)},
		}}
	})
}

// TestPlaces: where values are, and why others have no place.
func TestPlaces(t *testing.T) {
	slice := ctype.RecordOf("[]int", 24, field("array", 0, ctype.PointerTo(word, 8)), field("len", 8, word), field("cap", 16, word))
	byReference := ctype.RecordOf("copied", 4, field("a", 0, number))
	byReference.ByReference = func() (bool, error) { return true, nil }
	open := ctype.ArrayOf(char, 0)
	open.Open = true
	for _, test := range []struct {
		language ctype.Language
		t        *ctype.Type
		want     string
	}{
		{ctype.C, number, "rax 0+4"},
		{ctype.C, ctype.RecordOf("s", 16, field("a", 0, real8), field("b", 8, number)), "xmm0 0+8, rax 8+8"},
		{ctype.C, ctype.RecordOf("s", 12, field("a", 0, real4), field("b", 4, number), field("c", 8, real4)), "rax 0+8, xmm0 8+4"},
		{ctype.C, ctype.RecordOf("s", 9, field("a", 0, char), field("b", 1, word)), "memory at rax"},
		{ctype.C, ctype.RecordOf("s", 24, field("a", 0, ctype.ArrayOf(word, 3))), "memory at rax"},
		{ctype.C, ctype.RecordOf("s", 4, field("a", 0, number), field("rest", 4, open)), "flexible array member"},
		{ctype.C, ctype.Void, "returns nothing"},
		{ctype.C, &ctype.Type{Name: "hidden"}, "is not described"},
		{ctype.CPlusPlus, byReference, "memory at rax"},
		{ctype.Go, slice, "rax 0+8, rbx 8+8, rcx 16+8"},
		{ctype.Go, ctype.RecordOf("", 32, field("a", 0, real8), field("b", 8, slice)), "xmm0 0+8, rax 8+8, rbx 16+8, rcx 24+8"},
		{ctype.Go, ctype.ArrayOf(number, 1), "rax 0+4"},
		{ctype.Go, ctype.ArrayOf(number, 2), "on the stack"},
		{ctype.Go, ctype.RecordOf("", 240, field("a", 0, slice), field("b", 24, ctype.ArrayOf(slice, 9))), "on the stack"},
		{ctype.Rust, option("core::option::Option<u32>", 8, 4, 0, 4, ctype.Int(4, false)), "rax 0+4, rdx 4+4"},
		{ctype.Rust, option("core::option::Option<f64>", 16, 8, 0, 8, real8), "rax 0+8, xmm0 8+8"},
		{ctype.Rust, option("core::option::Option<&u8>", 8, 8, 0, 0, ctype.PointerTo(char, 8)), "rax 0+8"},
		{ctype.Rust, ctype.RecordOf("(u32, u32)", 8, field("__0", 0, number), field("__1", 4, number)), "rax 0+4, rdx 4+4"},
		{ctype.Rust, ctype.RecordOf("app::Pair", 8, field("a", 0, number), field("b", 4, number)), `extern "C"`},
		{ctype.Rust, ctype.RecordOf("app::Two", 16, field("a", 0, word), field("b", 8, word)), "rax 0+8, rdx 8+8"},
		{ctype.Rust, ctype.RecordOf("alloc::string::String", 24, field("vec", 0, ctype.ArrayOf(word, 3))), "memory at rax"},
		{ctype.Rust, ctype.RecordOf("core::iter::Step", 16, field("a", 0, ctype.ArrayOf(word, 2))), "the version of rustc"},
		{ctype.Rust, ctype.RecordOf("app::Three", 24, field("a", 0, word), field("b", 8, real8), field("c", 16, char)), "memory at rax"},
		{ctype.Rust, unit, ""},
	} {
		place, err := Of(arch.AMD64, test.language, test.t)
		got := describe(place)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != test.want || err != nil && (test.want == "" || !strings.Contains(got, test.want)) {
			t.Errorf("%v of language %v: %q, not %q", test.t, test.language, got, test.want)
		}
	}
	if _, err := Of(arch.ByName("mips64"), ctype.C, number); err == nil {
		t.Error("there is a place on a machine of which nothing is known")
	}
}

// TestPlacesAArch64: what AAPCS64 has in registers, and what not.
func TestPlacesAArch64(t *testing.T) {
	quads := ctype.RecordOf("s", 32, field("a", 0, real8), field("b", 8, ctype.ArrayOf(real8, 3)))
	overlaid := ctype.RecordOf("u", 8, field("a", 0, real8), field("b", 0, real8))
	for _, test := range []struct {
		language ctype.Language
		t        *ctype.Type
		want     string
	}{
		{ctype.C, number, "x0 0+4"},
		{ctype.C, real8, "v0 0+8"},
		{ctype.C, ctype.RecordOf("s", 16, field("a", 0, real8), field("b", 8, number)), "x0 0+8, x1 8+8"},
		{ctype.C, ctype.RecordOf("s", 12, field("a", 0, real4), field("b", 4, real4), field("c", 8, real4)), "v0 0+4, v1 4+4, v2 8+4"},
		{ctype.C, ctype.RecordOf("s", 12, field("a", 0, real4), field("b", 4, number), field("c", 8, real4)), "x0 0+8, x1 8+4"},
		{ctype.C, quads, "v0 0+8, v1 8+8, v2 16+8, v3 24+8"},
		{ctype.C, overlaid, "v0 0+8"},
		{ctype.C, ctype.RecordOf("s", 40, field("a", 0, ctype.ArrayOf(real8, 5))), "returned in memory"},
		{ctype.C, ctype.RecordOf("s", 24, field("a", 0, ctype.ArrayOf(word, 3))), "returned in memory"},
		{ctype.Rust, number, "not known here"},
		{ctype.Go, ctype.RecordOf("", 16, field("a", 0, real8), field("b", 8, word)), "v0 0+8, x0 8+8"},
	} {
		place, err := Of(arch.ByName("aarch64"), test.language, test.t)
		got := describe(place)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != test.want || err != nil && !strings.Contains(got, test.want) {
			t.Errorf("%v of language %v: %q, not %q", test.t, test.language, got, test.want)
		}
	}
}

func describe(p Place) string {
	if p.Memory != "" {
		return "memory at " + p.Memory
	}
	var parts []string
	for _, part := range p.Parts {
		parts = append(parts, fmt.Sprintf("%s %d+%d", part.Register, part.From, part.Size))
	}
	return strings.Join(parts, ", ")
}
