package tdesc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
)

// verdict is what GDB 13 makes of a document, seen from what Parse makes of it.
type verdict int

const (
	agrees  verdict = iota // GDB accepts what Parse accepts and rejects what it rejects
	lenient                // GDB accepts, Parse does not
	refuses                // GDB does not accept, Parse does
	crashes                // GDB is not to be asked
)

// document is a description on trial.
type document struct {
	xml  string
	err  string // in the error of Parse; empty if it accepts
	warn string // in the first warning of Parse
	gdb  verdict
}

func feature(content string) string {
	return `<target><feature name="f">` + content + `</feature></target>`
}

func encoded(encoding, name string) string {
	return `<?xml version="1.0" encoding="` + encoding + `"?>` + feature(`<reg name="`+name+`" bitsize="32"/>`)
}

// declared is a feature in a document with a document type of its own.
func declared(declarations, content string) string {
	return `<!DOCTYPE target [` + declarations + `]>` + feature(content)
}

func reg(attributes string) string { return feature(`<reg name="r" ` + attributes + `/>`) }

func sized(fields string) string {
	return feature(`<struct id="s" size="4">` + fields + `</struct>`)
}

var long = strings.Repeat("n", 901)

var documents = map[string][]document{
	"document": {
		{xml: `<target/>`},
		{xml: "\ufeff<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target/>"},
		{xml: `<?xml version="1.0" encoding="us-ascii"?><target/>`},
		{xml: `<target/><!-- end -->`},
		{xml: `<target><?pi x?><!-- c -->text</target>`},
		{xml: ``, err: "1:1: the document has no root element"},
		{xml: `<target`, err: "1:8: the document ends inside the tag <target>"},
		{xml: "<target>\n</feature>", err: "2:1: </feature> where </target> is wanted"},
		{xml: `<target/><target/>`, err: "1:10: second root element <target>"},
		{xml: `<target/>x`, err: `1:10: text "x" outside the root element`},
		{xml: "\n<?xml version=\"1.0\"?><target/>", err: "2:1: the XML declaration is not at the start"},
		{xml: `<target><!DOCTYPE target></target>`, err: "1:9: document type declaration behind the start of the root element"},
		{xml: `<feature name="f"/>`, err: "1:1: the root element is <feature>, want <target>", gdb: lenient},
		{xml: `<target xmlns="urn:x"/>`, err: `the root element is <target> of the namespace "urn:x", want <target>`, gdb: lenient},
		{xml: `<target><x:y xmlns:x="urn:z"/></target>`, warn: `1:9: unknown element <y> of the namespace "urn:z" in <target>`},
		{xml: `<target><x:y/></target>`, err: "1:9: <x:y> has a prefix that is not declared"},
		{xml: `<target q="c"/>`, warn: "1:1: unknown attribute q of <target>"},
		{xml: `<target q="c" q="d"/>`, err: "attribute q of <target> comes twice"},
		{xml: `<target version="1.0"/>`},
		{xml: `<target version="1.1"/>`, err: `version "1.1", want 1.0`},
		{xml: `<target version=""/>`, err: `version "", want 1.0`},
	},
	"encodings": {
		{xml: encoded("UTF-8", "gr\u00fcn")},
		{xml: encoded("utf-8", "gr\xfcn"), err: "1:78: the byte 0xfc is not part of a character in UTF-8"},
		{xml: encoded("ISO-8859-1", "gr\xfcn\x85")},
		{xml: "\ufeff" + encoded("iso-8859-1", "gr\u00fcn")},
		{xml: encoded("latin1", "r"), err: `1:1: encoding "latin1", want UTF-8, ISO-8859-1 or US-ASCII`},
		{xml: encoded("windows-1252", "r"), err: `encoding "windows-1252"`},
		{xml: encoded("UTF-16", "r"), err: `encoding "UTF-16"`},
		{xml: "\xfe\xff\x00<\x00t\x00/\x00>", err: "the document is in UTF-16"},
		{xml: encoded("US-ASCII", "r")},
		{xml: encoded("US-ASCII", "gr\u00fcn"), err: "1:81: the byte 0xc3 is no character of US-ASCII"},
	},
	"entities": {
		{xml: declared(`<!ENTITY a "b">`, `<reg name="x&a;y" bitsize="32"/>`)},
		{xml: declared(`<!ENTITY a "b&c;"><!ENTITY c "d"><!ENTITY a "e">`, `<reg name="&a;&c;" bitsize="32"/>`)},
		{xml: declared(`<!ENTITY a "<reg name='&c;' bitsize='3&#x32;'/>"><!ENTITY c "d">`, `&a;<reg name="r" bitsize="32"/>`)},
		{xml: `<!DOCTYPE target [<!ENTITY a "i386">]><target><architecture>&a;:x86-64</architecture></target>`},
		{xml: declared(`<!ENTITY lt "x">`, `<reg name="&lt;" bitsize="32"/>`)},
		{xml: declared(`<!ENTITY a "x&#38;#38;y">`, `<reg name="&a;" bitsize="32"/>`)},
		{xml: declared(`<!ENTITY a "`+"x\r\n\ty"+`">`, `<reg name="&a;" bitsize="32"/>`)},
		{xml: declared(`<!ELEMENT target ANY><!NOTATION n SYSTEM "x"><?pi ]>?><!-- ]> -->`, `<reg name="r" bitsize="32"/>`)},
		{xml: declared(`<!ENTITY a "&b;"><!ENTITY b "&a;">`, `<reg name="r" bitsize="32"/>`)},
		{xml: declared(`<!ENTITY a "&b;"><!ENTITY b "&a;">`, `<reg name="&a;" bitsize="32"/>`), err: `the entity "a" refers to itself`},
		{xml: declared(`<!ENTITY a "&b;"><!ENTITY b "&a;">`, `&a;`), err: `the entity "a" refers to itself in the entity "b"`},
		{xml: declared(`<!ENTITY a "&#60;">`, `<reg name="&a;" bitsize="32"/>`), err: `< in the value of an attribute, by the entity "a"`},
		{xml: declared(`<!ENTITY a "</feature><feature name='g'>">`, `&a;`), err: `</feature>, but no element is open in the entity "a"`},
		{xml: declared(`<!ENTITY a SYSTEM "b.xml">`, `&a;`), err: `the entity "a" is another document`},
		{xml: declared(`<!ENTITY % p "x"><!ENTITY a "%p;">`, ``), err: `% in the text of the entity a`},
		{xml: declared(`<!ENTITY a b>`, ``), err: "the text of the entity a is not quoted"},
		{xml: declared(`nonsense`, ``), err: "1:19: no declaration in the brackets of the document type"},
		{xml: declared(`<!ENTITY a "b">`, `<reg name="&c;" bitsize="32"/>`), err: `the entity "c" is not declared`, gdb: lenient},
		{xml: feature(`&c;`), err: `1:27: the entity "c" is not declared`, gdb: lenient},
		{xml: `<?xml version="1.0" standalone="yes"?>` + feature(`&c;`), err: `1:65: the entity "c" is not declared`},
		{
			xml:  declared(`<!ATTLIST reg bitsize CDATA "32">`, ``),
			warn: "1:1: the document type declares attributes or refers to parameter entities, which is not read",
		},
		{xml: declared(`<!ATTLIST reg bitsize CDATA "32">`, `<reg name="r"/>`), err: "without its attribute bitsize", gdb: lenient},
		{xml: declared(`<!ENTITY % p "<!ENTITY a 'b'>">%p;`, `<reg name="&a;" bitsize="32"/>`), err: "is not declared where it can be read", gdb: lenient},
	},
	"header": {
		{xml: `<target><architecture> i386 </architecture></target>`},
		{xml: `<target><architecture><![CDATA[i386]]></architecture></target>`},
		{xml: `<target><architecture/></target>`},
		{xml: `<target><architecture>i386<foo/>:x86-64</architecture></target>`, warn: "1:27: unknown element <foo> in <architecture>"},
		{xml: `<target><architecture>vax2</architecture></target>`, gdb: refuses},
		{xml: `<target><osabi/><osabi/></target>`, err: "1:17: second <osabi> in <target>"},
		{xml: `<target><architecture/><architecture/></target>`, err: "second <architecture>"},
		{xml: `<target><osabi>GNU/Linux</osabi><compatible>i386</compatible></target>`},
		{xml: `<target><compatible/></target>`, warn: "empty <compatible>"},
		{
			xml: `<target><compatible>i386</compatible><compatible>i386</compatible></target>`,
			err: `compatible "i386" comes twice`, gdb: crashes,
		},
		{xml: `<target><feature/></target>`, err: "1:9: <feature> without its attribute name"},
		{xml: `<target><feature name=""/><feature name=""/></target>`},
		{xml: `<target><architecture>` + long + `</architecture></target>`, err: "has 901 bytes, more than 900"},
	},
	"reg": {
		{xml: reg(`bitsize="32"`)},
		{xml: reg(`bitsize="32" foo="x"`), warn: "unknown attribute foo of <reg>"},
		{xml: feature(`<reg name="r" bitsize="32"><description>d</description></reg>`), warn: "unknown element <description> in <reg>"},
		{xml: feature(`<unk><reg name="q"/></unk>`), warn: "unknown element <unk> in <feature>"},
		{xml: feature(`<reg name="" bitsize="8"/>`)},
		{xml: feature(`<reg bitsize="8"/>`), err: "<reg> without its attribute name"},
		{xml: feature(`<reg name="r"/>`), err: "<reg> without its attribute bitsize"},
		{xml: feature(`<reg name="` + long + `" bitsize="8"/>`), err: "has 901 bytes, more than 900", gdb: lenient},
		{xml: reg(`bitsize="0x20"`)},
		{xml: reg(`bitsize="040"`)},
		{xml: reg(`bitsize=" +32"`)},
		{xml: reg(`bitsize="0"`), warn: "there is no type int of 0 bits"},
		{xml: reg(`bitsize="24"`), warn: `reg "r": there is no type int of 24 bits`},
		{xml: reg(`bitsize="16" type="float"`), warn: `reg "r": there is no type float of 16 bits`},
		{xml: reg(`bitsize=""`), err: `bitsize="" of <reg> is not a number`},
		{xml: reg(`bitsize="08"`), err: `bitsize="08" of <reg> is not a number`},
		{xml: reg(`bitsize="32 "`), err: "is not a number"},
		{xml: reg(`bitsize="3_2"`), err: "is not a number"},
		{xml: reg(`bitsize="18446744073709551648"`), err: "is not a number"},
		{xml: reg(`bitsize="-8"`), err: "is not a number", gdb: lenient},
		{xml: reg(`bitsize="0x"`), err: "is not a number", gdb: lenient},
		{xml: reg(`bitsize="4294967328"`), err: "is more than 2147483647", gdb: lenient},
		{xml: reg(`bitsize="32" regnum="2147483647"`)},
		{xml: reg(`bitsize="32" regnum="2147483648"`), err: "is more than 2147483647", gdb: lenient},
		{
			xml: feature(`<reg name="a" bitsize="8" regnum="2147483647"/><reg name="b" bitsize="8"/>`),
			err: `1:74: reg "b": its number would follow 2147483647`, gdb: lenient,
		},
		{xml: reg(`bitsize="32" save-restore="NO"`)},
		{xml: reg(`bitsize="32" save-restore="maybe"`), err: `save-restore="maybe", want yes or no`},
		{xml: reg(`bitsize="32" group=""`)},
		{xml: reg(`bitsize="32" type=""`), err: `reg "r" has the unknown type ""`},
		{xml: reg(`bitsize="32" type="int24"`), err: `reg "r" has the unknown type "int24"`},
		{xml: reg(`bitsize="32" type="i386_eflags"`), err: `the unknown type "i386_eflags"`},
		{
			xml:  feature(`<reg name="r" bitsize="8"/><reg name="r" bitsize="8" regnum="0"/>`),
			warn: `reg "r": there is another register of this name`,
		},
		{
			xml:  feature(`<reg name="r" bitsize="8"/><reg name="q" bitsize="8" regnum="0"/>`),
			warn: `reg "q": there is another register with number 0`,
		},
		{
			xml: `<target><feature name="a"><vector id="v" type="int8" count="1"/></feature>` +
				`<feature name="b"><reg name="r" bitsize="8" type="v"/></feature></target>`,
			err: `1:93: reg "r" has the unknown type "v"`,
		},
	},
	"types": {
		{xml: feature(`<vector id="v" type="int8" count="65536"/>`)},
		{xml: feature(`<vector id="v" type="int8" count="0"/>`)},
		{xml: feature(`<vector id="v" type="int8" count="65537"/>`), err: `count="65537" of <vector> is more than 65536`},
		{xml: feature(`<vector id="v" type="int" count="2"/>`), err: `vector "v" has elements of the unknown type "int"`},
		{xml: feature(`<vector id="v" type="v" count="2"/>`), err: `unknown type "v"`},
		{xml: feature(`<vector id="v" type="int8"/>`), err: "<vector> without its attribute count"},
		{xml: feature(`<vector id="a" type="int8" count="2"/><vector id="b" type="a" count="2"/>`)},
		{xml: feature(`<struct id="s"/>`), err: "1:27: <struct> without a <field>"},
		{xml: feature(`<union id="s"/>`), err: "<union> without a <field>"},
		{xml: feature(`<flags id="s" size="4"/>`), err: "<flags> without a <field>"},
		{xml: feature(`<enum id="s" size="4"/>`), err: "<enum> without a <evalue>"},
		{xml: feature(`<flags id="s"><field name="a" start="0" end="0"/></flags>`), err: "<flags> without its attribute size"},
		{xml: feature(`<flags id="s" size="65536"><field name="a" start="0" end="0"/></flags>`)},
		{xml: feature(`<flags id="s" size="65537"><field name="a" start="0" end="0"/></flags>`), err: "more than 65536"},
		{xml: feature(`<flags id="s" size="0"><field name="a" start="0" end="0"/></flags>`), err: `<flags> "s" of size 0`, gdb: crashes},
		{xml: sized(``), err: "<struct> without a <field>"},
		{xml: feature(`<struct id="s" size="0"><field name="a" start="0" end="0"/></struct>`), err: "of size 0", gdb: crashes},
		{xml: feature(`<enum id="s" size="0"><evalue name="a" value="0"/></enum>`), err: "of size 0", gdb: crashes},
		{xml: feature(`<enum id="e" size="4"><evalue name="a"/></enum>`), err: "<evalue> without its attribute value", gdb: crashes},
		{xml: feature(`<enum id="e" size="4"><evalue name="a" value="2147483647"/></enum>`)},
		{xml: feature(`<enum id="e" size="4"><evalue name="a" value="2147483648"/></enum>`), err: "more than 2147483647"},
		{xml: feature(`<union id="s" size="4"><field name="a" type="int8"/></union>`), warn: "unknown attribute size of <union>"},
		{
			xml: feature(`<struct id="s"><field name="a" type="int8"/></struct>` +
				`<struct id="s"><field name="b" type="int16"/></struct>`),
			warn: `1:80: <struct> has the id "s" of an earlier type and is ignored`,
		},
		{
			xml: feature(`<reg name="r" bitsize="8" type="int8"/><vector id="int8" type="int32" count="2"/>`),
			err: `1:66: <vector> redefines the type "int8", which the feature has used already`, gdb: lenient,
		},
		{xml: feature(`<vector id="int" type="int8" count="2"/><reg name="r" bitsize="16"/>`)},
	},
	"fields": {
		{xml: sized(`<field name="a" start="0" end="31"/>`)},
		{xml: sized(`<field name="" start="0" end="3"/><field name="a" start="2" end="8" type="int64"/>`)},
		{xml: sized(`<field name="a" start="0" end="3" type="nope"/>`), warn: `the unknown type "nope"; uint32 is used`},
		{xml: sized(`<field name="a" start="0"/>`), err: `field "a" has only one of start and end`},
		{xml: sized(`<field name="a" end="3" type="int8"/>`), err: `field "a" has only one of start and end`},
		{xml: sized(`<field name="a" start="0" end="32"/>`), err: `bit field "a" ends at bit 32, but its type has 4 bytes`},
		{xml: sized(`<field name="a" start="3" end="2"/>`), err: `bit field "a" starts at 3, after its end at 2`},
		{xml: sized(`<field name="a" start="0" end="64"/>`), err: `end="64" of <field> is more than 63`},
		{xml: sized(`<field name="a" start="0" end="1" type="bool"/>`), err: "is a bool of more than one bit"},
		{xml: sized(`<field name="a" type="int8"/>`), err: `field "a" has no bit position, but its type has a size`},
		{xml: feature(`<struct id="s"><field name="a" start="0" end="0"/></struct>`), err: "is in a type without a size"},
		{xml: feature(`<union id="s"><field name="a" start="0" end="0"/></union>`), err: "is in a type without a size"},
		{xml: feature(`<struct id="s"><field name="a"/></struct>`), err: "has neither a type nor a bit position"},
		{xml: feature(`<struct id="s"><field name="a" type="nope"/></struct>`), err: `field "a" has the unknown type "nope"`},
		{xml: feature(`<struct id="s"><field type="int8"/></struct>`), err: "<field> without its attribute name"},
		{xml: feature(`<struct id="s"><field name="a" type="int8"/><field name="a" type="int8"/></struct>`)},
	},
}

func TestParse(t *testing.T) {
	for group, docs := range documents {
		for _, d := range docs {
			t.Run(group, func(t *testing.T) { d.check(t) })
		}
	}
}

func (d document) check(t *testing.T) {
	target, warnings, err := tdesc.Parse([]byte(d.xml), nil)
	switch {
	case d.err == "" && err != nil:
		t.Errorf("%s\nis refused: %v", d.xml, err)
	case d.err != "" && err == nil:
		t.Errorf("%s\nis accepted, want error %q", d.xml, d.err)
	case d.err != "" && !strings.Contains(err.Error(), d.err):
		t.Errorf("%s\nerror %q, want %q in it", d.xml, err, d.err)
	}
	if (target == nil) != (err != nil) {
		t.Errorf("%s\ngave %v and error %v", d.xml, target, err)
	}
	first := ""
	if len(warnings) > 0 {
		first = warnings[0].String()
	}
	if err == nil && (!strings.Contains(first, d.warn) || d.warn == "" && first != "") {
		t.Errorf("%s\nfirst warning %q, want %q", d.xml, first, d.warn)
	}
}

// TestGDBJudgesTheSame asks GDB for its opinion on every document, and for its own print of what it accepts.
func TestGDBJudgesTheSame(t *testing.T) {
	dir := t.TempDir()
	var script strings.Builder
	asked := map[string]document{}
	for group, docs := range documents {
		for i, d := range docs {
			name := fmt.Sprintf("%s %d", group, i)
			file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			if err := os.WriteFile(file, []byte(d.xml), 0o644); err != nil {
				t.Fatal(err)
			}
			if d.gdb != crashes {
				fmt.Fprintf(&script, "-- %s --\n? maint print xml-tdesc %s\n", name, file)
				asked[name] = d
			}
		}
	}
	output := gdbtest.Run(t, "", script.String())
	for name, d := range asked {
		printed := output.Section(t, name)
		accepted := !strings.Contains(printed, "Could not load XML target description")
		want := d.err == "" && d.gdb == agrees || d.gdb == lenient
		if accepted != want {
			t.Errorf("%s\nGDB accepts: %v, want %v:\n%s", d.xml, accepted, want, printed)
		}
		group, _, _ := strings.Cut(name, " ")
		if accepted && d.gdb == agrees && (group == "entities" || group == "encodings") {
			d.compare(t, printed)
		}
	}
}

// compare holds what Parse reads in a document against what it reads in GDB's print of the same.
func (d document) compare(t *testing.T, printed string) {
	t.Helper()
	ours, _, err := tdesc.Parse([]byte(d.xml), nil)
	if err != nil {
		return
	}
	printed = strings.NewReplacer(`"<"`, `"&lt;"`, "&", "&amp;").Replace(printed) // GDB prints names as they are
	theirs, _, err := tdesc.Parse([]byte(printed), nil)
	if err != nil {
		t.Errorf("%s\nGDB prints what Parse refuses: %v\n%s", d.xml, err, printed)
		return
	}
	if diff := cmp.Diff(ours, theirs); diff != "" {
		t.Errorf("%s\n-read +printed by GDB:\n%s", d.xml, diff)
	}
}

func TestParseValues(t *testing.T) {
	doc := `<?xml version="1.0"?>
<target version="1.0">
  <feature name="one">
    <reg name="a" bitsize="0x20" group="general&#10;x"/>
    <reg name="b" bitsize="040" regnum="7" save-restore="No"/>
    <reg name="c" bitsize="64" type="float"/>
    <flags id="f" size="4">
      <field name="z" start="2" end="2"/>
      <field name="n" start="4" end="7"/>
    </flags>
    <struct id="w" size="8"><field name="n" start="4" end="7"/></struct>
    <struct id="s"><field name="x" type="f"/></struct>
    <union id="u"><field name="x" type="int8"/><field name="y" type="s"/></union>
    <enum id="e" size="1"><evalue name="on" value="1"/></enum>
    <vector id="v" type="e" count="3"/>
  </feature>
  <feature name="two"><reg name="d" bitsize="32" regnum="3"/><reg name="e" bitsize="32"/></feature>
  <compatible>spu</compatible>
  <architecture>i386</architecture>
  <osabi>none</osabi>
</target>`
	want := &tdesc.Target{
		Version: "1.0", Architecture: "i386", OSABI: "none", Compatible: []string{"spu"},
		Features: []*tdesc.Feature{
			{
				Name: "one",
				Types: []tdesc.Type{
					tdesc.Flags{ID: "f", Size: 4, Bits: []tdesc.BitField{
						{Name: "z", Start: 2, End: 2, Type: "bool"},
						{Name: "n", Start: 4, End: 7, Type: "uint32"},
					}},
					tdesc.Struct{ID: "w", Size: 8, Bits: []tdesc.BitField{{Name: "n", Start: 4, End: 7, Type: "uint64"}}},
					tdesc.Struct{ID: "s", Fields: []tdesc.Field{{Name: "x", Type: "f"}}},
					tdesc.Union{ID: "u", Fields: []tdesc.Field{{Name: "x", Type: "int8"}, {Name: "y", Type: "s"}}},
					tdesc.Enum{ID: "e", Size: 1, Values: []tdesc.EnumValue{{Name: "on", Value: 1}}},
					tdesc.Vector{ID: "v", Elem: "e", Count: 3},
				},
				Registers: []*tdesc.Register{
					{Name: "a", Bits: 32, Num: 0, Type: "int", Group: "general\nx", SaveRestore: true},
					{Name: "b", Bits: 32, Num: 7, Type: "int"},
					{Name: "c", Bits: 64, Num: 8, Type: "float", SaveRestore: true},
				},
			},
			{Name: "two", Registers: []*tdesc.Register{
				{Name: "d", Bits: 32, Num: 3, Type: "int", SaveRestore: true},
				{Name: "e", Bits: 32, Num: 4, Type: "int", SaveRestore: true},
			}},
		},
	}
	got, warnings, err := tdesc.Parse([]byte(doc), nil)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("error %v, warnings %v", err, warnings)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
