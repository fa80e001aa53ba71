package tdesc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tdesc"
)

func TestXML(t *testing.T) {
	name := strings.Repeat("<", 225) // 900 bytes once escaped
	target := &tdesc.Target{
		Version: "1.0", Architecture: "i386", OSABI: "a<b", Compatible: []string{"c"},
		Features: []*tdesc.Feature{
			{
				Name: `f"&`,
				Types: []tdesc.Type{
					tdesc.Vector{ID: "v", Elem: "int8", Count: 2},
					tdesc.Struct{ID: "s", Fields: []tdesc.Field{{Name: "x", Type: "v"}}},
					tdesc.Struct{ID: "b", Size: 4, Bits: []tdesc.BitField{{Name: "x", Start: 1, End: 3, Type: "uint32"}}},
					tdesc.Union{ID: "u", Fields: []tdesc.Field{{Name: "x", Type: "v"}}},
					tdesc.Flags{ID: "g", Size: 1, Bits: []tdesc.BitField{{Name: "", Start: 7, End: 7, Type: "bool"}}},
					tdesc.Enum{ID: "e", Size: 1, Values: []tdesc.EnumValue{{Name: "on", Value: 1}}},
				},
				Registers: []*tdesc.Register{
					{Name: "r", Bits: 16, Num: 3, Type: "v", Group: "vector", SaveRestore: true},
					{Name: "n", Bits: 16, Num: 1, Type: "int"},
					{Name: name, Bits: 8, Num: 2, Type: "int", Group: name, SaveRestore: true},
				},
			},
			{Name: "empty"},
		},
	}
	want := `<?xml version="1.0"?>
<!DOCTYPE target SYSTEM "gdb-target.dtd">
<target version="1.0">
  <architecture>i386</architecture>
  <osabi>a&lt;b</osabi>
  <compatible>c</compatible>
  <feature name="f&#34;&amp;">
    <vector id="v" type="int8" count="2"/>
    <struct id="s">
      <field name="x" type="v"/>
    </struct>
    <struct id="b" size="4">
      <field name="x" start="1" end="3" type="uint32"/>
    </struct>
    <union id="u">
      <field name="x" type="v"/>
    </union>
    <flags id="g" size="1">
      <field name="" start="7" end="7" type="bool"/>
    </flags>
    <enum id="e" size="1">
      <evalue name="on" value="1"/>
    </enum>
    <reg name="r" bitsize="16" type="v" regnum="3" group="vector"/>
    <reg name="n" bitsize="16" type="int" regnum="1" save-restore="no"/>
    <reg
      name="LONG"
      bitsize="8"
      type="int"
      regnum="2"
      group="LONG"
    />
  </feature>
  <feature name="empty">
  </feature>
</target>
`
	want = strings.ReplaceAll(want, "LONG", strings.Repeat("&lt;", 225))
	if diff := cmp.Diff(want, string(target.XML())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	checkRoundTrip(t, target)
}

// checkRoundTrip holds the promise of XML: lines that fit a trace file, no warnings, and an equal description.
func checkRoundTrip(t *testing.T, target *tdesc.Target) {
	t.Helper()
	doc := target.XML()
	for line := range strings.Lines(string(doc)) {
		if len(line) > 990 {
			t.Errorf("line of %d bytes: %.60q…", len(line), line)
		}
	}
	again, _, err := tdesc.Parse(doc, nil)
	if err != nil {
		t.Fatalf("Parse of our own XML: %v\n%s", err, doc)
	}
	if diff := cmp.Diff(target, again); diff != "" {
		t.Fatalf("Parse of our own XML (-printed +read):\n%s", diff)
	}
}

func TestRoundTrip(t *testing.T) {
	target, _ := sampled(t)
	checkRoundTrip(t, target)
	for _, docs := range documents {
		for _, d := range docs {
			if target, _, err := tdesc.Parse([]byte(d.xml), nil); err == nil {
				checkRoundTrip(t, target)
			}
		}
	}
}
