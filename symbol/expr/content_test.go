package expr

import (
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/exprtest"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
)

// running is an array whose length the program has: n elements.
func running(elem *ctype.Type, n byte) *ctype.Type {
	return &ctype.Type{Kind: ctype.Array, Elem: elem, Bound: &ctype.Bound{Expr: []byte{n}}}
}

// TestLengths has arrays whose length is only known when the program runs: what is collected, and what is printed of it.
func TestLengths(t *testing.T) {
	for text, want := range map[string]string{
		"vla":            "12: {1, -1, 0}",
		"vla[1]":         "4: -1",
		"sizeof vla":     ": 12",
		"rows":           "16: {{1, -1}, {0, 0}}",
		"rows[1]":        "8: {0, 0}",
		"rows[1][0] - 1": "4: -1",
		"&rows[1]":       ": (int (*)[]) 0x1008",
		"*(row + 1)":     "8: {0, 0}",
		"row[0]@2":       "16: {{1, -1}, {0, 0}}",
		"sizeof rows":    ": 16",
		"flat":           "16: {{1, -1}, {0, 0}}",
		"none":           ": 0x1000",
		"unbounded":      "error: the length of unbounded: optimized out",
	} {
		s, p := anywhere()
		two := running(intType, 2)
		s.objects["vla"] = inMemory(0x1000, running(intType, 3))
		s.objects["rows"] = inMemory(0x1000, ctype.ArrayOf(two, 2))
		s.objects["flat"] = inMemory(0x1000, running(ctype.ArrayOf(intType, 2), 2))
		s.objects["none"] = inMemory(0x1000, running(intType, 0))
		s.objects["row"] = Object{Type: ctype.PointerTo(two, 8), Place: Value{fixedAt(0x1000)}}
		s.objects["unbounded"] = inMemory(0x1000, &ctype.Type{Kind: ctype.Array, Elem: intType, Bound: &ctype.Bound{}})
		if got := printed(t, s, p, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestVirtual has an object with a virtual base class, of which the virtual table says where it lies, and a static member of a
// class whose this is not known.
func TestVirtual(t *testing.T) {
	s, p := anywhere()
	s.language = ctype.CPlusPlus
	p.Store(0x2024, "00000000") // the end of object
	this := s.objects["this"]
	this.Place = Absent{"entry value of $rdi is not known here"}
	s.objects["this"] = this
	for text, want := range map[string]string{
		"object": "40 4 8 8 8 8 4: {<Base> = {value = 7, own = 8}, <Root> = {deep = 10}, own = 9, ref = @0x1000, static shared = <optimized out>}",
		"shared": "4: -1",
		"own":    "error: own: entry value of $rdi is not known here",
	} {
		if got := printed(t, s, p, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestSlices has pointers of Rust that know how much they point to: what they point to is collected with them.
func TestSlices(t *testing.T) {
	s, p := anywhere()
	s.language = ctype.Rust
	p.Store(0x1050, "0010000000000000 0300000000000000 00000000") // of the integers 1, -1 and 0
	p.Store(0x1068, "0010000000000000 ffffffffffffff7f")
	slice := ctype.RecordOf("&[i32]", 16, ctype.Field{Name: "data_ptr", Type: ctype.PointerTo(intType, 8)},
		ctype.Field{Name: "length", Offset: 8, Type: ctype.Int(8, false)})
	s.objects["slice"] = inMemory(0x1050, slice)
	s.objects["within"] = inMemory(0x1048, ctype.RecordOf("main::Within", 24, ctype.Field{Name: "s", Offset: 8, Type: slice}))
	s.objects["damaged"] = inMemory(0x1068, slice)
	s.objects["half"] = Object{Type: slice, Place: Pieces{{Register{2, 0, 8}, 64, 0}, {Absent{"optimized out"}, 64, 0}}}
	for text, want := range map[string]string{
		"slice":   "16 8 8 12: &[i32] [1, -1, 0]",
		"within":  "24 8 8 12: main::Within {s: &[i32] [1, -1, 0]}",
		"half":    "registers 2: &[i32] <error reading variable: value has been optimized out>",
		"damaged": "16 8 8 804: ",
	} {
		if got := printed(t, s, p, text); got != want && (text != "damaged" || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// printed is what is collected for an expression, and what is printed of it over that.
func printed(t *testing.T, s Scope, p *exprtest.Process, text string) string {
	t.Helper()
	c, err := Collect(text, s, container.Limits{})
	if err != nil {
		return firstLine(err)
	}
	frame := p.Collect(t, Actions(c))
	got := p.Summary(c.Registers) + ": "
	plan, err := Compile(text, s)
	if err != nil {
		return got + firstLine(err)
	}
	v, err := plan.Value(exprtest.Context{Process: frame})
	if err != nil {
		return got + firstLine(err)
	}
	printer := ctype.Printer{Order: s.Order(), Language: s.Language(), Memory: func(addr arch.Addr, b []byte) int {
		content, _ := exprtest.Context{Process: frame}.Memory(addr, len(b))
		return copy(b, content)
	}}
	return got + string(printer.Print(nil, v))
}
