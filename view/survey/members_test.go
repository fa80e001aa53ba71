package survey

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"tracewell/symbol/ctype"
)

func TestMembers(t *testing.T) {
	text := ctype.ArrayOf(&ctype.Type{Kind: ctype.Integer, Size: 1, Char: true, Signed: true}, 4)
	pair := ctype.RecordOf("struct pair", 8, []ctype.Field{
		{Name: "a", Type: ctype.Int(4, true)},
		{Name: "low", Type: ctype.Int(4, false), Offset: 4, Bits: 4},
		{Name: "high", Type: ctype.Int(4, false), Offset: 4, Bits: 4, Shift: 4},
	}...)
	outer := ctype.RecordOf("struct outer", 24, []ctype.Field{
		{Name: "text", Type: text},
		{Name: "n", Type: ctype.ArrayOf(ctype.Int(2, true), 2), Offset: 4},
		{Name: "pairs", Type: ctype.ArrayOf(pair, 1), Offset: 8},
		{Type: pair, Offset: 16}, // without a name
	}...)
	var endless *ctype.Type
	endless = ctype.LateRecord("struct endless", 4, func() ([]ctype.Field, *ctype.Variants) {
		return []ctype.Field{{Name: "again", Type: endless}}, nil
	})

	before := []byte("abc\x00\x01\x00\x02\x00\x03\x00\x00\x00\x12\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00")
	after := []byte("abd\x00\x01\x00\x05\x00\x03\x00\x00\x00\x13\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00")
	printer := ctype.Printer{Order: binary.LittleEndian}
	for _, test := range []struct {
		name string
		typ  *ctype.Type
		want string
	}{
		{"o", outer, `o.text "abc"→"abd"; o.n[1] 2→5; o.pairs[0].low 2→3; o.pairs[0].high 1→1; o.a 4→7`},
		{"*o", outer, `o->text "abc"→"abd"; o->n[1] 2→5; o->pairs[0].low 2→3; o->pairs[0].high 1→1; o->a 4→7`},
		{"*(o + 1)", pair, `(*(o + 1)).a 6513249→6578785`},
		{"buf[0]@2", ctype.ArrayOf(ctype.Int(4, true), 2), `(buf[0]@2)[0] 6513249→6578785; (buf[0]@2)[1] 131073→327681`},
		{"x", ctype.Int(4, true), `x 6513249→6578785`},
		{"e", endless, ``},
		{"long", ctype.ArrayOf(ctype.Int(8, true), 9), ``},
	} {
		var got []string
		for _, m := range Members(test.name, test.typ, before, after) {
			got = append(got, fmt.Sprintf("%s %s→%s", m.Name, printer.AppendField(nil, m.Field, m.Old), printer.AppendField(nil, m.Field, m.New)))
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s: %s\nwant %s", test.name, text, test.want)
		}
	}
}

func TestStretches(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{"", "", "[]"},
		{"abcdefgh", "abcdefgh", "[]"},
		{"abcdefghij", "abcDefghiJ", "[{0 4} {8 10}]"},
		{"abcdefgh", "ABcdeFgh", "[{0 8}]"},
		{"abc", "abcd", "[{0 4}]"},
	} {
		if got := fmt.Sprint(Stretches([]byte(test.a), []byte(test.b))); got != test.want {
			t.Errorf("%q and %q: %s, want %s", test.a, test.b, got, test.want)
		}
	}
}
