package view

import (
	"encoding/binary"
	"encoding/json"
	"testing"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/tfile"
)

// The types of the values below.
var (
	letter   = &ctype.Type{Kind: ctype.Integer, Name: "u8", Size: 1, Char: true}
	word     = ctype.Int(8, false)
	integer  = ctype.Int(4, true)
	goString = ctype.RecordOf("string", 16, ctype.Field{Name: "str", Type: ctype.PointerTo(letter, 8)},
		ctype.Field{Name: "len", Offset: 8, Type: ctype.Int(8, true)})
	rustStr = ctype.RecordOf("&str", 16, ctype.Field{Name: "data_ptr", Type: ctype.PointerTo(letter, 8)},
		ctype.Field{Name: "length", Offset: 8, Type: word})
	rustString = ctype.RecordOf("alloc::string::String", 24, ctype.Field{Name: "vec", Type: ctype.RecordOf("Vec<u8>", 24,
		ctype.Field{Name: "buf", Offset: 8, Type: ctype.RecordOf("RawVec", 16, ctype.Field{Name: "cap", Offset: 8, Type: word},
			ctype.Field{Name: "ptr", Type: ctype.RecordOf("Unique", 8, ctype.Field{Name: "pointer", Type: ctype.PointerTo(letter, 8)})})},
		ctype.Field{Name: "len", Type: word})})
	option = ctype.LateRecord("Option<i32>", 8, func() ([]ctype.Field, *ctype.Variants) {
		some := ctype.RecordOf("Option<i32>::Some", 8, ctype.Field{Name: "__0", Offset: 4, Type: integer})
		return nil, &ctype.Variants{
			Discriminant: &ctype.Field{Type: ctype.Int(4, false)},
			List: []ctype.Variant{
				{Values: []uint64{0}, Field: ctype.Field{Type: ctype.RecordOf("Option<i32>::None", 8)}},
				{Values: []uint64{1}, Field: ctype.Field{Type: some}},
			},
		}
	})
	pairReference = &ctype.Type{Kind: ctype.Pointer, Size: 8, Reference: true, Elem: ctype.RecordOf("pair", 8,
		ctype.Field{Name: "a", Type: integer}, ctype.Field{Name: "b", Offset: 4, Type: integer})}
	nothing = ctype.RecordOf("nothing", 0)
	mixed   = ctype.RecordOf("mixed", 24,
		ctype.Field{Name: "shared", Type: word, Static: true},
		ctype.Field{Name: "unit", Type: nothing},
		ctype.Field{Name: "none", Type: ctype.ArrayOf(integer, 0)},
		ctype.Field{Type: ctype.RecordOf("", 8, ctype.Field{Name: "x", Type: integer}, ctype.Field{Name: "y", Offset: 4, Type: integer})},
		ctype.Field{Name: "maybe", Offset: 8, Type: option},
		ctype.Field{Name: "flag", Offset: 16, Type: integer, Bits: 3, Shift: 1},
	)
)

// le makes memory of words of 8 bytes.
func le(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// encoded are values over a frame that has "héllo" at 0x2000, the pair {7, -1} at 0x3000 and half of one at 0x4000.
var encoded = []struct {
	name      string
	language  ctype.Language
	value     ctype.Value
	json, csv string
}{
	{"a string of Go", ctype.Go, ctype.Value{Type: goString, Bytes: le(0x2000, 6)}, `"héllo"`, "héllo"},
	{"a part of it", ctype.Go, ctype.Value{Type: goString, Bytes: le(0x2001, 2)}, `"é"`, "é"},
	{"an empty one", ctype.Go, ctype.Value{Type: goString, Bytes: le(0, 0)}, `""`, ""},
	{"one whose text is not there", ctype.Go, ctype.Value{Type: goString, Bytes: le(0x9000, 6)}, `"<not collected: 6 characters>"`,
		"<not collected: 6 characters>"},
	{"one whose text is cut", ctype.Go, ctype.Value{Type: goString, Bytes: le(0x2000, 7)}, `"héllo<not collected: 1 character>"`,
		"héllo<not collected: 1 character>"},
	{"one that is no text", ctype.Go, ctype.Value{Type: goString, Bytes: le(0x2002, 2)}, `"a96c"`, "a9 6c"},
	{"one of a length that cannot be", ctype.Go, ctype.Value{Type: goString, Bytes: le(0x2000, 1<<63)},
		`"<damaged: the end lies before the beginning>"`, "<damaged: the end lies before the beginning>"},
	{"no string in C", ctype.C, ctype.Value{Type: goString, Bytes: le(0x2000, 6)}, `{"str":"0x2000","len":6}`,
		"00 20 00 00 00 00 00 00 06 00 00 00 00 00 00 00"},
	{"a &str", ctype.Rust, ctype.Value{Type: rustStr, Bytes: le(0x2000, 1)}, `"h"`, "h"},
	{"a String", ctype.Rust, ctype.Value{Type: rustString, Bytes: le(6, 0x2000, 8)}, `"héllo"`, "héllo"},
	{"Some", ctype.Rust, ctype.Value{Type: option, Bytes: le(5<<32 | 1)}, `"Option<i32>::Some(5)"`, "Option<i32>::Some(5)"},
	{"None", ctype.Rust, ctype.Value{Type: option, Bytes: le(0)}, `"Option<i32>::None"`, "Option<i32>::None"},
	{"a reference", ctype.CPlusPlus, ctype.Value{Type: pairReference, Bytes: le(0x3000)}, `{"a":7,"b":-1}`, "{a = 7, b = -1}"},
	{"a reference to a half", ctype.CPlusPlus, ctype.Value{Type: pairReference, Bytes: le(0x4000)}, `{"a":9,"b":"<unavailable>"}`,
		"{a = 9, b = <unavailable>}"},
	{"a reference to nowhere", ctype.CPlusPlus, ctype.Value{Type: pairReference, Bytes: le(0x9000)}, `"0x9000"`, "0x9000"},
	{"nothing", ctype.Rust, ctype.Value{Type: nothing}, `{}`, ""},
	{"members of all kinds", ctype.Rust, ctype.Value{Type: mixed, Bytes: le(2<<32|1, 5<<32|1, 0x0a)},
		`{"unit":{},"none":[],"x":1,"y":2,"maybe":"Option<i32>::Some(5)","flag":-3}`,
		"01 00 00 00 02 00 00 00 01 00 00 00 05 00 00 00 0a 00 00 00 00 00 00 00"},
	{"what is nowhere", ctype.C, ctype.Value{Type: integer, Bytes: make([]byte, 4), Holes: []ctype.Hole{{To: 4, Why: ctype.OptimizedOut}}},
		`"<optimized out>"`, "<optimized out>"},
	{"elements that are nowhere", ctype.C, ctype.Value{Type: ctype.ArrayOf(integer, 2), Bytes: le(3),
		Holes: []ctype.Hole{{From: 4, To: 8, Why: ctype.Unavailable}}},
		`[3,"<unavailable>"]`, "3 <unavailable>"},
	{"a bit field that is nowhere", ctype.Rust, ctype.Value{Type: mixed, Bytes: le(1, 0, 0),
		Holes: []ctype.Hole{{From: 16, To: 20, Why: ctype.OptimizedOut}}},
		`{"unit":{},"none":[],"x":1,"y":0,"maybe":"Option<i32>::None","flag":"<optimized out>"}`,
		"mixed {shared: <optimized out>, unit: nothing, none: [], :  {x: 1, y: 0}, maybe: Option<i32>::None, flag: <optimized out>}"},
}

// TestEncode writes values that are more than numbers and structures of them.
func TestEncode(t *testing.T) {
	v := newView(t, file(t, toyHeader(binary.LittleEndian), func(b *tfile.Builder) {
		copy(b.Memory(0x2000, 6), "héllo")
		copy(b.Memory(0x3000, 8), le(0xffffffff_00000007))
		copy(b.Memory(0x4000, 4), le(9))
	}), nil)
	frame, err := v.Frame(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := v.NewReader()
	r.Set(frame)
	for _, e := range encoded {
		asJSON := string(encoder{reader: r, language: e.language, style: StyleJSON}.append(nil, e.value, deepest))
		if asJSON != e.json || !json.Valid([]byte(asJSON)) {
			t.Errorf("%s is %s, want %s", e.name, asJSON, e.json)
		}
		if asCSV := string(encoder{reader: r, language: e.language}.append(nil, e.value, deepest)); asCSV != e.csv {
			t.Errorf("%s is %s in a table, want %s", e.name, asCSV, e.csv)
		}
	}
}

// TestParts: a column has a member, the alternatives of an enumeration or a text; what is not known of one leaves the others.
func TestParts(t *testing.T) {
	v := newView(t, file(t, toyHeader(binary.LittleEndian), func(b *tfile.Builder) { copy(b.Memory(0x2000, 6), "héllo") }), nil)
	frame, err := v.Frame(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := v.NewReader()
	r.Set(frame)
	both := ctype.RecordOf("both", 40, ctype.Field{Name: "name", Type: rustStr}, ctype.Field{Name: "m", Offset: 16, Type: mixed})
	item := &Item{Name: "b", Type: both, Language: ctype.Rust, sources: []source{{kind: sourceMemory}}}
	value := ctype.Value{Type: both, Bytes: le(0x2000, 6, 2<<32|1, 5<<32|1, 0), Addr: arch.Addr(0x5000), InMemory: true,
		Holes: []ctype.Hole{{From: 20, To: 24, Why: ctype.Unavailable}}}
	got := ""
	for _, part := range v.Parts(item) {
		got += part.Name + "=" + string(r.AppendPart(nil, item, value, part, StyleCSV)) + ";"
	}
	if want := "b.name=héllo;b.m.none=;b.m.x=1;b.m.y=<unavailable>;b.m.maybe=Option<i32>::Some(5);b.m.flag=0;"; got != want {
		t.Errorf("parts %s\nwant %s", got, want)
	}
}
