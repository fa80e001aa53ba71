package xmltext_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
	"tracewell/internal/xmltext"
)

// entities are documents in which entities are referred to, with what comes of it.
var entities = []struct{ declared, doc, want string }{
	{`<!ENTITY b "c">`, "<a>x&b;y</a>", `<a>"x""c""y"</a>`},
	{`<!ENTITY b "c">`, "<a d='x&b;y'/>", `<a> d="xcy"</a>`},
	{`<!ENTITY b "c"><!ENTITY b "d">`, "<a>&b;</a>", `<a>"c"</a>`},
	{`<!ENTITY lt "d">`, "<a>&lt;</a>", `<a>"<"</a>`},
	{`<!ENTITY b "&c;d&c;"><!ENTITY c 'e'>`, "<a f='&b;'>&b;&b;</a>", `<a> f="ede""e""d""e""e""d""e"</a>`},
	{`<!ENTITY b "&#99;&#x64;&lt;">`, "<a f='&b;'>&b;</a>", `<a> f="cd<""cd<"</a>`},
	{`<!ENTITY b "&#38;#99;">`, "<a f='&b;'>&b;</a>", `<a> f="c""c"</a>`},
	{"<!ENTITY b '1\r\n2\t3&#10;4'>", "<a f='&b;'>&b;</a>", `<a> f="1 2 3 4""1\n2\t3\n4"</a>`},
	{`<!ENTITY b "<c d='&#39;e'/>f<g>&h;</g>"><!ENTITY h "<!-- -->i">`, "<a>&b;</a>", ""},
	{`<!ENTITY b "<c d='e'/>f<g>&h;</g>"><!ENTITY h "<!-- -->i">`, "<a>x&b;y</a>",
		`<a>"x"<c> d="e"</c>"f"<g>comment"i"</g>"y"</a>`},
	{`<!ENTITY b "">`, "<a f='&b;'>&b;</a>", `<a> f=""</a>`},
	{`<!ENTITY b "<![CDATA[&c;]]>">`, "<a>&b;</a>", `<a>"&c;"</a>`},
	{`<!ENTITY b ']>'><!ELEMENT a (#PCDATA)><!NOTATION n SYSTEM ">"><?p ]>?>`, "<a>&b;</a>", `<a>"]>"</a>`},
	{`<!ENTITY % b "c">`, "<a>&#38;b;</a>", `<a>"&b;"</a>`},
	{`<!ENTITY b SYSTEM "c>d"> <!ENTITY e PUBLIC 'f' "g">`, "<a/>", `<a></a>`},
}

// plain writes down what a document has, without the places.
func plain(doc string) string {
	var b strings.Builder
	for line := range strings.Lines(tokens(doc)) {
		if _, token, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(token, "doctype") {
			b.WriteString(strings.TrimSuffix(token, "\n"))
		}
	}
	return b.String()
}

func TestEntities(t *testing.T) {
	for _, test := range entities {
		doc := "<!DOCTYPE a [" + test.declared + "]>" + test.doc
		got := plain(doc)
		if test.want == "" { // the quotation mark that ends the attribute comes of a reference
			if !strings.Contains(tokens(doc), "error") {
				t.Errorf("%s: got %s", doc, got)
			}
			continue
		}
		if got != test.want {
			t.Errorf("%s: got %s want %s", doc, got, test.want)
		}
	}
}

// TestXmllintAgreesOnEntities has xmllint replace the entities, and reads what it makes of them.
func TestXmllintAgreesOnEntities(t *testing.T) {
	xmllint := testtool.Path(t, "xmllint")
	join := strings.NewReplacer(`""`, "", "comment", "")
	for _, test := range entities {
		doc := "<!DOCTYPE a [" + test.declared + "]>" + test.doc
		cmd := exec.CommandContext(t.Context(), xmllint, "--noent", "--nonet", "--dropdtd", "--nocdata", "-")
		cmd.Stdin = strings.NewReader(doc)
		replaced, err := cmd.Output()
		if (err == nil) != (test.want != "") {
			t.Errorf("%s: xmllint: %v", doc, err)
		}
		if err != nil {
			continue
		}
		if got, want := join.Replace(plain(doc)), join.Replace(strings.Trim(plain(string(replaced)), `"\n`)); got != want {
			t.Errorf("%s: got %s, of what xmllint makes of it %s", doc, got, want)
		}
	}
}

// TestPlacesWithEntities: what an entity stands for has the place of the reference.
func TestPlacesWithEntities(t *testing.T) {
	doc := "<!DOCTYPE a [<!ENTITY b '<c>\n\n</c>&d;'>\n<!ENTITY d 'e'>]>\n<a>\n &b;f\n<g/></a>"
	want := "1:1 doctype a [<!ENTITY b '<c>\n\n</c>&d;'>\n<!ENTITY d 'e'>]\n4:18 \"\\n\"\n5:1 <a>\n5:4 \"\\n \"\n6:2 <c>\n6:2 \"\\n\\n\"\n6:2 </c>\n6:2 \"e\"\n" +
		"6:5 \"f\\n\"\n7:1 <g>\n7:5 </g>\n7:5 </a>\n"
	if got := tokens(doc); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLatin1 has offsets and columns in bytes of the document as it is.
func TestLatin1(t *testing.T) {
	for _, mark := range []string{"", "\ufeff"} {
		doc := mark + "<?xml version='1.0' encoding='ISO-8859-1'?>\n<a b='gr\xfcn\x85'>\xe4\xf6<c/>\xff\n\xfc<d/></a>"
		r := xmltext.NewReader([]byte(doc), nil)
		var token xmltext.Token
		var got strings.Builder
		for {
			more, err := r.Next(&token)
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			fmt.Fprintf(&got, "%d=%d:%d ", token.Offset-len(mark), token.Line, token.Column)
			switch token.Kind {
			case xmltext.Start:
				fmt.Fprintf(&got, "%s %q, ", token.Name.Local, token.Attributes)
			case xmltext.Text:
				fmt.Fprintf(&got, "%q, ", token.Text)
			}
		}
		want := `43=1:44 "\n", 44=2:1 a [{{"" "b"} "grün\u0085"}], 57=2:14 "äö", 59=2:16 c [], 63=2:20 63=2:20 "ÿ\nü", 66=3:2 d [], 70=3:6 70=3:6 `
		if got.String() != want {
			t.Errorf("%q:\ngot  %s\nwant %s", mark, got.String(), want)
		}
	}
}

// TestInclude: entities are those of the including document, and of nobody else.
func TestInclude(t *testing.T) {
	outer := xmltext.NewReader([]byte("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"), nil)
	if err := lastError(outer); err != nil {
		t.Fatal(err)
	}
	token := xmltext.Token{Kind: xmltext.Doctype}
	inner := outer.Include([]byte("<!DOCTYPE d [<!ENTITY b 'x'><!ENTITY e 'x'>%p;]><d f='&b;'>&e;</d>"))
	for token.Kind != xmltext.Start {
		if _, err := inner.Next(&token); err != nil {
			t.Fatal(err)
		}
	}
	if token.Attributes[0].Value != "c" {
		t.Errorf("b stands for %q", token.Attributes[0].Value)
	}
	if err := lastError(inner); err == nil || err.Fault != xmltext.Undeclared {
		t.Errorf("an entity of the included document: %v", err)
	}
}

// TestEntitiesAreBounded has entities that stand for much, or for each other.
func TestEntitiesAreBounded(t *testing.T) {
	grow := func(levels, factor int) string {
		var b strings.Builder
		b.WriteString("<!ENTITY l0 'lol'>")
		for i := range levels {
			fmt.Fprintf(&b, "<!ENTITY l%d '%s'>", i+1, strings.Repeat(fmt.Sprintf("&l%d;", i), factor))
		}
		return b.String()
	}
	wide := "<!ENTITY w '" + strings.Repeat("w", 1<<10) + "'>"
	tests := []struct {
		declared, reference, want string
	}{
		{grow(9, 10), "&l9;", "more than 1048576 bytes"},
		{grow(63, 1), "&l63;", ""},
		{grow(64, 1), "&l64;", "deeper than 64 times"},
		{wide, strings.Repeat("&w;", 1<<10), ""},
		{wide, strings.Repeat("&w;", 1<<10+1), "more than 1048576 bytes"},
		{grow(9, 10) + "<!ENTITY empty ''>", strings.Repeat("&empty;", 1<<16), ""},
	}
	for i, test := range tests {
		for _, doc := range []string{"<a>%s</a>", "<a b='%s'/>"} {
			err := lastError(xmltext.NewReader([]byte("<!DOCTYPE a ["+test.declared+"]>"+fmt.Sprintf(doc, test.reference)), nil))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%d, %s: %v", i, doc, err)
			case test.want != "" && (err == nil || err.Fault != xmltext.Unsupported || !strings.Contains(err.Text, test.want)):
				t.Errorf("%d, %s: %v, want %s", i, doc, err, test.want)
			}
		}
	}
}
