package tdesc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tdesc"
)

// TestManual has documents on which GDB and its manual disagree.
func TestManual(t *testing.T) {
	tests := []struct {
		name, doc   string
		gdb, manual string // in the error; empty if it is accepted
	}{
		{
			"types of the manual", feature(`<reg name="r" bitsize="24" type="uint24"/><reg name="s" bitsize="32" type="i386_eflags"/>`),
			`the unknown type "uint24", which GDB's manual has and GDB 13 has not`, "",
		},
		{"bit without end", sized(`<field name="a" start="3"/>`), "only one of start and end", ""},
		{"end without start", sized(`<field name="a" end="3"/>`), "only one of start and end", "only one of start and end"},
		{
			"register name twice", feature(`<reg name="r" bitsize="8"/><reg name="r" bitsize="8"/>`),
			"", `1:54: reg "r": there is another register of this name`,
		},
		{"order", `<target><osabi>x</osabi><architecture>y</architecture></target>`, "", "<architecture> stands too late in <target>"},
		{"feature name", `<target><feature name="a b"/></target>`, "", `the feature name "a b" is no XML name`},
		{"feature twice", `<target><feature name="a"/><feature name="a"/></target>`, "", `second feature "a"`},
		{"group", reg(`bitsize="8" group="a_b"`), "", `the group "a_b" has other characters`},
		{"save-restore", reg(`bitsize="8" save-restore="NO"`), "", `save-restore="NO", want yes or no`},
		{"size zero", feature(`<flags id="s" size="0"><field name="a" start="0" end="0"/></flags>`), "of size 0", "of size 0"},
	}
	for _, test := range tests {
		for source, want := range map[tdesc.Source]string{tdesc.ByGDB: test.gdb, tdesc.ByManual: test.manual} {
			target, _, err := tdesc.Options{Source: source}.Parse([]byte(test.doc))
			switch {
			case want == "" && err != nil:
				t.Errorf("%s: %v", test.name, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: error %v, want %q in it", test.name, err, want)
			case err == nil:
				if _, err := target.Layout(); err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
			}
		}
	}
}

func TestBitWithoutEnd(t *testing.T) {
	target, _, err := tdesc.Options{Source: tdesc.ByManual}.Parse([]byte(sized(`<field name="a" start="3"/>`)))
	if err != nil {
		t.Fatal(err)
	}
	want := tdesc.Struct{ID: "s", Size: 4, Bits: []tdesc.BitField{{Name: "a", Start: 3, End: 3, Type: "bool"}}}
	if diff := cmp.Diff(tdesc.Type(want), target.Features[0].Types[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

const strange = `<target maker="me" xmlns:v="urn:v" v:since="2">
  <architecture>i386</architecture>
  <v:board xmlns="urn:w" v:x="1" xml:lang="en">text &lt;<chip name="c"/> more</v:board>
  <feature name="f" order="9">
    <enum id="e" size="4" kind="k"><evalue name="a" value="1" note="n"/><other/></enum>
    <struct id="s" size="4"><field name="a" start="0" end="0" doc="d"/></struct>
    <struct id="p"><field name="a" type="int8" doc="d"/></struct>
    <reg name="r" bitsize="8" offset="4"><description>what it is</description></reg>
    <note/>
  </feature>
</target>`

func TestKeepUnknown(t *testing.T) {
	target, warnings, err := tdesc.Options{KeepUnknown: true}.Parse([]byte(strange))
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 12 {
		t.Errorf("%d warnings: %v", len(warnings), warnings)
	}
	want := &tdesc.Unknown{
		Attributes: []tdesc.UnknownAttribute{{"", "maker", "me"}, {"urn:v", "since", "2"}},
		Elements: []*tdesc.UnknownElement{{
			Space: "urn:v", Name: "board",
			Attributes: []tdesc.UnknownAttribute{{"urn:v", "x", "1"}, {"http://www.w3.org/XML/1998/namespace", "lang", "en"}},
			Text:       "text < more",
			Elements:   []*tdesc.UnknownElement{{Space: "urn:w", Name: "chip", Attributes: []tdesc.UnknownAttribute{{"", "name", "c"}}}},
		}},
	}
	if diff := cmp.Diff(want, target.Unknown); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if u := target.Features[0].Registers[0].Unknown; u == nil || u.Elements[0].Text != "what it is" {
		t.Errorf("the register has %v", u)
	}
	printed := target.XML()
	again, _, err := tdesc.Options{KeepUnknown: true}.Parse(printed)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if diff := cmp.Diff(target, again); diff != "" {
		t.Errorf("-printed +read:\n%s\n%s", diff, printed)
	}
	plain, _, err := tdesc.Parse([]byte(strange), nil)
	if err != nil || plain.Unknown != nil || plain.Features[0].Registers[0].Unknown != nil {
		t.Errorf("without being asked for: %v, %v", plain, err)
	}
}

// TestInspect has several errors in one document, each of which is found, and none that only follows from another.
func TestInspect(t *testing.T) {
	doc := `<target version="3">
<feature name="a"><struct id="s" size="0"><field name="x" start="0" end="0"/></struct>
<reg name="r" bitsize="32" type="s"/>
<reg name="q" bitsize="many"/>
<reg bitsize="8"/>
<reg name="p" bitsize="8" regnum="3"/>
<reg name="o" bitsize="8" type="none"/></feature>
</target></end>`
	in, err := tdesc.Options{}.Inspect([]byte(doc))
	if err == nil || !strings.Contains(err.Error(), "8:10") {
		t.Errorf("error %v, want one at 8:10", err)
	}
	var got []string
	for _, f := range in.Findings {
		got = append(got, f.Pos.String()+" "+f.Rule.Name)
	}
	want := []string{"1:1 version", "2:19 size-zero", "4:1 number", "5:1 missing-attribute", "7:1 unknown-type", "8:10 xml-syntax"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDiff(t *testing.T) {
	parse := func(doc string) *tdesc.Target {
		t.Helper()
		target, _, err := tdesc.Parse([]byte(doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		return target
	}
	a := parse(`<target><architecture>i386</architecture><compatible>x</compatible>
<feature name="f"><vector id="v" type="int8" count="4"/><union id="u"><field name="a" type="v"/></union>
<reg name="same" bitsize="32" type="int32" regnum="0"/><reg name="moved" bitsize="32" regnum="1"/>
<reg name="vec" bitsize="32" type="u" regnum="2"/><reg name="gone" bitsize="8" regnum="3"/>
<reg name="kept" bitsize="32" type="v" regnum="9"/></feature><feature name="g"/></target>`)
	b := parse(`<target><architecture>arm</architecture><compatible>y</compatible>
<feature name="h"/><feature name="f"><vector id="w" type="int8" count="4"/><vector id="v" type="uint8" count="4"/>
<union id="u"><field name="a" type="v"/></union>
<reg name="kept" bitsize="32" type="w" regnum="9"/>
<reg name="same" bitsize="32" type="int" regnum="0"/><reg name="moved" bitsize="32" regnum="4" group="float" save-restore="no"/>
<reg name="vec" bitsize="32" type="u" regnum="2"/><reg name="new" bitsize="8" regnum="3"/></feature></target>`)
	want := []string{
		"architecture: i386 / arm",
		`compatible "x" only in the first: present`,
		`compatible "y" only in the second: present`,
		`feature "g" only in the first: present`,
		`feature "h" only in the second: present`,
		`register "moved": regnum: 1 / 4`,
		`register "moved": group: none / "float"`,
		`register "moved": save-restore: yes / no`,
		`register "vec": type: u as the first defines it / u as the second does`,
		`register "gone" only in the first: number 3, 8 bits, type int`,
		`register "new" only in the second: number 3, 8 bits, type int`,
	}
	var got []string
	for _, d := range tdesc.Diff(a, b) {
		got = append(got, d.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if d := tdesc.Diff(a, parse(string(a.XML()))); len(d) != 0 {
		t.Errorf("a description differs from its own XML: %v", d)
	}
}
