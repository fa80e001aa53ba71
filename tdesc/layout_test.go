package tdesc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tdesc"
)

func twoFeatures(first, second string) string {
	return `<target><feature name="f">` + first + `</feature><feature name="g">` + second + `</feature></target>`
}

// TestSharingIsBounded has types each of which GDB would make anew for each register.
func TestSharingIsBounded(t *testing.T) {
	const types = 4000
	var features []*tdesc.Feature
	for i := range 2 {
		f := &tdesc.Feature{Name: fmt.Sprint(i), Types: []tdesc.Type{tdesc.Vector{ID: "t0", Elem: "int8", Count: 1 + i}}}
		for j := range types {
			f.Types = append(f.Types, tdesc.Vector{ID: fmt.Sprintf("t%d", j+1), Elem: fmt.Sprintf("t%d", j), Count: 1})
		}
		for j := types; j > 0; j-- {
			f.Registers = append(f.Registers, &tdesc.Register{Name: fmt.Sprint(i, j), Type: fmt.Sprintf("t%d", j)})
		}
		features = append(features, f)
	}
	_, err := (&tdesc.Target{Features: features}).Layout()
	if err == nil || !strings.Contains(err.Error(), "is too large") {
		t.Errorf("error %v", err)
	}
	huge := []*tdesc.Feature{
		{Name: "a", Types: []tdesc.Type{tdesc.Vector{ID: "v", Elem: "int8", Count: 65536}}, Registers: []*tdesc.Register{{Name: "r", Type: "v"}}},
		{
			Name: "b", Types: []tdesc.Type{tdesc.Vector{ID: "v", Elem: "int8", Count: 1}, tdesc.Vector{ID: "w", Elem: "v", Count: 65536}},
			Registers: []*tdesc.Register{{Name: "q", Type: "w"}},
		},
	}
	_, err = (&tdesc.Target{Features: huge}).Layout()
	if err == nil || !strings.Contains(err.Error(), `feature "b": reg "q": its type "w" is too large`) {
		t.Errorf("error %v", err)
	}
}

func TestLayout(t *testing.T) {
	tests := []struct {
		name string
		xml  string
		want string // name number offset size, by slot
	}{
		{
			"by number, not by document", feature(`<reg name="b" bitsize="64" regnum="9"/><reg name="a" bitsize="16" regnum="2"/>`),
			"a 2 0 2, b 9 2 8",
		},
		{
			"by type, not by bitsize", feature(`<reg name="a" bitsize="64" type="int32"/><reg name="b" bitsize="24"/>`),
			"a 0 0 4, b 1 4 8",
		},
		{
			"floats", feature(`<reg name="a" bitsize="32" type="float"/><reg name="b" bitsize="64" type="float"/>
				<reg name="c" bitsize="128" type="float"/><reg name="d" bitsize="80" type="float"/>`),
			"a 0 0 4, b 1 4 8, c 2 12 16, d 3 28 8",
		},
		{
			"equal numbers", feature(`<reg name="a" bitsize="8"/><reg name="b" bitsize="16" regnum="0"/>`),
			"a 0 0 1, b 0 1 2",
		},
		{
			"outside", feature(`<reg name="a" bitsize="8"/><reg name="b" bitsize="16" regnum="-1"/><reg name="c" bitsize="32"/>
				<reg name="d" bitsize="64" regnum="4294967295"/><reg name="e" bitsize="8" regnum="7"/>`),
			"a 0 0 1, c 0 1 4, e 7 5 1",
		},
		{
			"one id in two features", twoFeatures(`<vector id="v" type="int32" count="4"/><reg name="a" bitsize="128" type="v"/>`,
				`<vector id="v" type="int8" count="8"/><reg name="b" bitsize="64" type="v"/><reg name="c" bitsize="64"/>`),
			"a 0 0 16, b 1 16 16 shared, c 2 32 8",
		},
		{
			"one id in parts", twoFeatures(`<flags id="v" size="4"><field name="x" start="0" end="0"/></flags><reg name="a" bitsize="32" type="v"/>`,
				`<vector id="v" type="int8" count="8"/><struct id="s"><field name="x" type="v"/><field name="y" type="int16"/></struct>
				<union id="u"><field name="x" type="s"/><field name="y" type="v"/></union><vector id="w" type="u" count="2"/>
				<struct id="z" size="8"><field name="n" start="0" end="7" type="int8"/></struct>
				<reg name="b" bitsize="160" type="w"/><reg name="c" bitsize="64" type="z"/>`),
			"a 0 0 4, b 1 4 12 shared, c 2 16 8",
		},
		{
			"an id of GDB's", twoFeatures(`<reg name="a" bitsize="32" type="int32"/><reg name="b" bitsize="64" type="ieee_double"/>`,
				`<vector id="int32" type="int8" count="16"/><vector id="ieee_double" type="int32" count="4"/>
				<vector id="u" type="int32" count="1"/><reg name="c" bitsize="128" type="int32"/>
				<reg name="d" bitsize="128" type="ieee_double"/><reg name="e" bitsize="128" type="u"/>`),
			"a 0 0 4, b 1 4 8, c 2 12 4 shared, d 3 16 8 shared, e 4 24 4 shared",
		},
		{
			"GDB gives int32 in any case", twoFeatures(`<vector id="int32" type="int8" count="16"/><reg name="a" bitsize="128" type="int32"/>`,
				`<vector id="v" type="int32" count="2"/><reg name="b" bitsize="32" type="int32"/><reg name="c" bitsize="64" type="v"/>`),
			"a 0 0 16, b 1 16 4, c 2 20 8",
		},
		{
			"standard features first", strings.Replace(twoFeatures(`<vector id="v" type="int8" count="2"/><reg name="a" bitsize="16" type="v"/>`,
				`<vector id="v" type="int8" count="4"/><reg name="b" bitsize="32" type="v"/>`), `"g"`, `"org.gnu.gdb.g"`, 1),
			"a 0 0 4 shared, b 1 4 4",
		},
		{
			"equal types of one id", twoFeatures(`<vector id="v" type="int8" count="2"/><reg name="a" bitsize="16" type="v"/>`,
				`<vector id="v" type="int8" count="2"/><reg name="b" bitsize="16" type="v"/>`),
			"a 0 0 2, b 1 2 2",
		},
		{
			"aggregates", feature(`<struct id="s"><field name="x" type="int8"/><field name="y" type="int64"/></struct>
				<union id="u"><field name="x" type="s"/><field name="y" type="int16"/></union>
				<vector id="v" type="u" count="3"/><struct id="w" size="5"><field name="n" start="0" end="0"/></struct>
				<reg name="a" bitsize="216" type="v"/><reg name="b" bitsize="40" type="w"/>`),
			"a 0 0 27, b 1 27 5",
		},
		{
			"first of two types", feature(`<vector id="v" type="int8" count="2"/><vector id="v" type="int8" count="4"/>
				<reg name="a" bitsize="8" type="v"/>`),
			"a 0 0 2",
		},
		{
			"32-bit pointers by architecture", strings.Replace(feature(`<reg name="a" bitsize="32" type="code_ptr"/>
				<reg name="b" bitsize="96" type="float"/><reg name="c" bitsize="80"/>`),
				"<target>", "<target><architecture>i386</architecture>", 1),
			"a 0 0 4, b 1 4 12, c 2 16 4",
		},
		{
			"32-bit pointers by register", feature(`<vector id="v" type="data_ptr" count="2"/>
				<reg name="a" bitsize="64" type="v"/><reg name="b" bitsize="32" type="code_ptr"/>`),
			"a 0 0 8, b 1 8 4",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			target, _, err := tdesc.Parse([]byte(test.xml), nil)
			if err != nil {
				t.Fatal(err)
			}
			l := layoutOf(t, target)
			var got []string
			end := 0
			for _, s := range l.Slots {
				line := fmt.Sprintf("%s %d %d %d", s.Reg.Name, s.Reg.Num, s.Offset, s.Size)
				if s.Shared {
					line += " shared"
				}
				got = append(got, line)
				end = s.Offset + s.Size
			}
			if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
				t.Error(diff)
			}
			if l.Size != end {
				t.Errorf("size %d, want %d", l.Size, end)
			}
		})
	}
}

func TestLayoutLookup(t *testing.T) {
	target, _, err := tdesc.Parse([]byte(feature(`<reg name="a" bitsize="8" regnum="5"/><reg name="b" bitsize="8"/>
		<reg name="a" bitsize="16"/><reg name="c" bitsize="16" regnum="5"/>`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := layoutOf(t, target)
	if s := l.ByNumber(5); s == nil || s.Reg.Name != "a" {
		t.Errorf("ByNumber(5) = %v", s)
	}
	if s := l.ByName("a"); s == nil || s.Reg.Num != 5 || s.Feature.Name != "f" {
		t.Errorf("ByName(a) = %v", s)
	}
	if l.ByNumber(4) != nil || l.ByName("A") != nil {
		t.Error("found registers that are not there")
	}
	if r := target.Register("b"); r == nil || r.Num != 6 || target.Register("B") != nil {
		t.Errorf("Register(b) = %v", r)
	}
	if target.Feature("f") != target.Features[0] || target.Feature("g") != nil {
		t.Error("Feature finds the wrong one")
	}
}

func TestLayoutProgramCounter(t *testing.T) {
	for _, test := range []struct{ name, typ, want string }{
		{"rip", "code_ptr", "rip"}, {"pc", "code_ptr", "pc"}, {"pc", "uint128", ""}, {"r15", "code_ptr", ""},
	} {
		f := tdesc.Feature{Registers: []*tdesc.Register{{Name: test.name, Type: test.typ}}}
		layout, err := (&tdesc.Target{Architecture: "i386:x86-64", Features: []*tdesc.Feature{&f}}).Layout()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if slot := layout.ProgramCounter(); slot != nil {
			got = slot.Reg.Name
		}
		if got != test.want {
			t.Errorf("of register %s, %s: %q, want %q", test.name, test.typ, got, test.want)
		}
	}
}

func TestSlotBytes(t *testing.T) {
	target, _, _ := tdesc.Parse([]byte(feature(`<reg name="a" bitsize="8"/><reg name="b" bitsize="16"/>`)), nil)
	s := layoutOf(t, target).ByName("b")
	if b, ok := s.Bytes([]byte{1, 2, 3, 4}); !ok || string(b) != "\x02\x03" || cap(b) != 2 {
		t.Errorf("got %v, %v", b, ok)
	}
	if b, ok := s.Bytes([]byte{1, 2}); ok {
		t.Errorf("a short block gave %v", b)
	}
}

// foreign is a type of none of the kinds that there are.
type foreign struct{}

func (foreign) TypeID() string { return "foreign" }

// TestLayoutErrors has descriptions that Parse would not make, or makes of documents that mean no machine.
func TestLayoutErrors(t *testing.T) {
	doubling := []tdesc.Type{tdesc.Vector{ID: "t0", Elem: "int8", Count: 0}}
	for i := range 30 {
		f := tdesc.Field{Type: fmt.Sprintf("t%d", i)}
		doubling = append(doubling, tdesc.Struct{ID: fmt.Sprintf("t%d", i+1), Fields: []tdesc.Field{f, f}})
	}
	tests := []struct {
		feature tdesc.Feature
		want    string
	}{
		{tdesc.Feature{Registers: []*tdesc.Register{{Name: "r", Type: "t"}}}, `reg "r": unknown type "t"`},
		{tdesc.Feature{Types: []tdesc.Type{tdesc.Vector{ID: "v", Elem: "t", Count: 1}}}, `type "v": unknown type "t"`},
		{tdesc.Feature{Types: []tdesc.Type{tdesc.Vector{ID: "v", Elem: "int8", Count: -1}}}, `type "v": -1 elements`},
		{tdesc.Feature{Types: []tdesc.Type{tdesc.Flags{ID: "f"}}}, `type "f": size 0`},
		{tdesc.Feature{Types: []tdesc.Type{tdesc.Enum{ID: "e", Size: -1}}}, `type "e": size -1`},
		{
			tdesc.Feature{Types: []tdesc.Type{tdesc.Flags{ID: "f", Size: 1, Bits: []tdesc.BitField{{Name: "b", End: 8}}}}},
			`field "b": bits 0 to 8 do not fit 1 bytes`,
		},
		{
			tdesc.Feature{Types: []tdesc.Type{tdesc.Struct{ID: "s", Fields: []tdesc.Field{{Name: "x", Type: "s"}}}}},
			`type "s": field "x": unknown type "s"`,
		},
		{tdesc.Feature{Types: []tdesc.Type{tdesc.Union{ID: "u", Fields: []tdesc.Field{{Name: "x"}}}}}, `field "x": unknown type ""`},
		{tdesc.Feature{Types: []tdesc.Type{foreign{}}}, "foreign is no kind of type"},
		{tdesc.Feature{Types: doubling}, "values, more than 1048576"},
		{
			tdesc.Feature{Types: []tdesc.Type{
				tdesc.Vector{ID: "a", Elem: "int8", Count: 65536}, tdesc.Vector{ID: "b", Elem: "a", Count: 65536},
			}},
			"it has 4294967296 bytes",
		},
	}
	for _, test := range tests {
		_, err := (&tdesc.Target{Features: []*tdesc.Feature{&test.feature}}).Layout()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}
