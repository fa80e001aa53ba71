package xmltext_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"tracewell/internal/xmltext"
)

// content writes down what a document holds, as another reader of XML would see it: elements, attributes, and text that is not apart.
func content(doc string) (string, error) {
	r := xmltext.NewReader([]byte(doc), nil)
	var b, text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			fmt.Fprintf(&b, "%q\n", text.String())
			text.Reset()
		}
	}
	depth := 0
	var t xmltext.Token
	for {
		more, err := r.Next(&t)
		if err != nil {
			return "", err
		}
		if t.Kind != xmltext.Text || !more {
			flush()
		}
		if !more {
			return b.String(), nil
		}
		switch t.Kind {
		case xmltext.Start:
			depth++
			fmt.Fprintf(&b, "<%q %q", t.Name.Space, t.Name.Local)
			for _, a := range t.Attributes {
				if a.Name.Space == xmltext.NamespaceOfDeclarations {
					continue
				}
				fmt.Fprintf(&b, " %q %q=%q", a.Name.Space, a.Name.Local, a.Value)
			}
			b.WriteString(">\n")
		case xmltext.End:
			depth--
			fmt.Fprintf(&b, "</%q %q>\n", t.Name.Space, t.Name.Local)
		case xmltext.Text:
			if depth > 0 {
				text.WriteString(t.Text)
			}
		}
	}
}

// contentOfXML is content by encoding/xml, which accepts more than is well formed.
func contentOfXML(doc string) (string, error) {
	d := xml.NewDecoder(strings.NewReader(doc))
	var b, text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			fmt.Fprintf(&b, "%q\n", text.String())
			text.Reset()
		}
	}
	depth := 0
	for {
		token, err := d.Token()
		if _, chars := token.(xml.CharData); !chars {
			flush()
		}
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		} else if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			fmt.Fprintf(&b, "<%q %q", t.Name.Space, t.Name.Local)
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
					continue
				}
				fmt.Fprintf(&b, " %q %q=%q", a.Name.Space, a.Name.Local, strings.NewReplacer("\n", " ", "\t", " ").Replace(a.Value))
			}
			b.WriteString(">\n")
		case xml.EndElement:
			depth--
			fmt.Fprintf(&b, "</%q %q>\n", t.Name.Space, t.Name.Local)
		case xml.CharData:
			if depth > 0 {
				text.Write(t)
			}
		}
	}
}

// author writes documents at random.
type author struct {
	*rand.Rand
	b strings.Builder
}

func (a *author) pick(words ...string) string { return words[a.IntN(len(words))] }

func (a *author) text(most int) string {
	var b strings.Builder
	for range a.IntN(most) {
		b.WriteString(a.pick("a", "Z", " ", "\n", "\r\n", "\r", "\t", "é", "😀", "&lt;", "&gt;", "&amp;", "&apos;", "&quot;", "&#65;", "&#x41;", "&#x10FFFF;", "]]", ">", ";", "\u00a0"))
	}
	return strings.ReplaceAll(b.String(), "]]>", "]] >")
}

func (a *author) misc() {
	switch a.IntN(8) {
	case 0:
		a.b.WriteString("<!-- " + strings.ReplaceAll(a.pick("c", "a - b", "<x>&y;", "é\n"), "--", "") + " -->")
	case 1:
		a.b.WriteString("<?" + a.pick("p", "xml-x", "é") + a.pick("", " ", " a='>'", "\n?") + "?>")
	case 2:
		a.b.WriteString(a.pick("\n", " ", "\r\n"))
	}
}

func (a *author) element(depth int) {
	name := a.pick("a", "b-c", "_d.1", "é", "p:x", "q:y", "xml:z")
	a.b.WriteString("<" + name)
	declared := map[string]string{"p": "urn:p" + a.pick("1", "2"), "q": "urn:q"}
	attributes := []string{"xmlns:p=" + quoted(a, declared["p"]), "xmlns:q=" + quoted(a, declared["q"])}
	if a.IntN(3) == 0 {
		attributes = append(attributes, "xmlns="+quoted(a, a.pick("", "urn:d")))
	}
	for _, n := range []string{"m", "n:", "p:m", "q:m", "xml:lang", "o"} {
		if a.IntN(3) == 0 && !strings.HasSuffix(n, ":") {
			value := strings.NewReplacer("<", "", "'", "", "\"", "").Replace(a.text(6))
			attributes = append(attributes, n+a.pick("", " ", "\n")+"="+a.pick("", "\t")+quoted(a, value))
		}
	}
	a.Shuffle(len(attributes), func(i, j int) { attributes[i], attributes[j] = attributes[j], attributes[i] })
	for _, attribute := range attributes {
		a.b.WriteString(a.pick(" ", "\n", "\t ", "\r\n") + attribute)
	}
	a.b.WriteString(a.pick("", "", " ", "\n"))
	if a.IntN(4) == 0 {
		a.b.WriteString("/>")
		return
	}
	a.b.WriteString(">")
	for range a.IntN(4) {
		switch a.IntN(4) {
		case 0:
			a.b.WriteString(a.text(8))
		case 1:
			a.b.WriteString("<![CDATA[" + a.pick("", "<&]]", "x\r\ny", "]", "é\r") + "]]>")
		case 2:
			a.misc()
		default:
			if depth > 0 {
				a.element(depth - 1)
			}
		}
	}
	a.b.WriteString("</" + name + a.pick("", "", " ", "\n") + ">")
}

func quoted(a *author, value string) string {
	quote := a.pick("'", "\"")
	return quote + value + quote
}

func (a *author) document() string {
	a.b.Reset()
	a.b.WriteString(a.pick("", "", "\ufeff"))
	a.b.WriteString(a.pick("", "<?xml version='1.0'?>", "<?xml version=\"1.0\" encoding='UTF-8' standalone=\"yes\" ?>", "<?xml\tversion = '1.1'\nencoding=\"utf-8\"?>"))
	a.misc()
	if a.IntN(4) == 0 {
		a.b.WriteString("<!DOCTYPE " + a.pick("a", "é") + a.pick("", " ", " SYSTEM 'x>y'", " [<!-- ]> --> <?p ]>?> <!ELEMENT a ANY>]", " PUBLIC \"-//a\" 'b' [ ]") + a.pick("", " ") + ">")
	}
	a.misc()
	a.element(3)
	a.misc()
	return a.b.String()
}

// TestContentAsEncodingXML reads documents that are well formed and has encoding/xml say what they hold.
func TestContentAsEncodingXML(t *testing.T) {
	a := &author{Rand: rand.New(rand.NewPCG(71, 72))}
	compared := 0
	for range 3000 {
		doc := a.document()
		got, err := content(doc)
		if err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		checkPlaces(t, doc)
		// It reads no XML 1.1, no other encoding, and has another mind of a mark of byte order.
		plain := regexp.MustCompile(`(?s)^\x{feff}?(<\?xml.*?\?>)?`).ReplaceAllString(doc, "")
		want, err := contentOfXML(plain)
		if err != nil {
			continue
		}
		compared++
		if got != want {
			t.Fatalf("%q:\n%s\nwant\n%s", doc, got, want)
		}
	}
	if compared < 2000 {
		t.Errorf("only %d documents were compared", compared)
	}
}

// checkPlaces sees that each token is where it says, in bytes, lines and columns, and that they come one behind the other.
func checkPlaces(t *testing.T, doc string) {
	t.Helper()
	r := xmltext.NewReader([]byte(doc), nil)
	var token xmltext.Token
	last := 0
	for {
		more, err := r.Next(&token)
		if err != nil || !more {
			return
		}
		at := token.Offset
		line, column := place(doc, at)
		opens := map[xmltext.Kind]string{xmltext.Start: "<", xmltext.Comment: "<!--", xmltext.Instruction: "<?", xmltext.Doctype: "<!DOCTYPE"}[token.Kind]
		if token.CDATA {
			opens = "<![CDATA["
		}
		if at < last || token.Line != line || token.Column != column || !strings.HasPrefix(doc[at:], opens) {
			t.Fatalf("%q: %+v, want it at %d:%d", doc, token, line, column)
		}
		last = at
	}
}

// place is the line and column of a byte, a mark of byte order not counted.
func place(doc string, at int) (line, column int) {
	before := doc[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	if start == 0 && strings.HasPrefix(doc, "\ufeff") && at >= 3 {
		start = 3
	}
	return 1 + strings.Count(before, "\n"), at - start + 1
}

// verdicts has xmllint read many documents at once, and returns those that it finds malformed.
func verdicts(t *testing.T, docs []string) map[int]bool {
	t.Helper()
	dir := t.TempDir()
	args := []string{"--noout", "--nonet"}
	for i, doc := range docs {
		name := fmt.Sprintf("%05d.xml", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	c := exec.CommandContext(t.Context(), "/usr/bin/xmllint", args...)
	c.Dir = dir
	output, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("this test needs xmllint, which make test installs: %v", err)
	}
	wrong := make(map[int]bool)
	// That the name of a namespace should be a URI, and that a colon should not be in the name of an instruction, makes no document
	// malformed.
	for _, m := range regexp.MustCompile(`(?m)^(\d{5})\.xml:\d+: (?:parser|namespace) error :(.*)$`).FindAllSubmatch(output, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil && !strings.Contains(string(m[2]), "URI") && !strings.Contains(string(m[2]), "colons are forbidden from PI names") {
			wrong[n] = true
		}
	}
	if len(wrong) == 0 {
		t.Fatalf("xmllint: %v: %.500s", err, output)
	}
	return wrong
}

// TestWellFormedAsXmllint changes documents here and there and has xmllint say whether they are well formed still.
func TestWellFormedAsXmllint(t *testing.T) {
	a := &author{Rand: rand.New(rand.NewPCG(73, 74))}
	const alphabet = "<>/!?[]&;#x='\": \n\tap-.1é\x01\x00\xff\ufffe\u0300·"
	var docs []string
	for len(docs) < 1500 {
		doc := a.document()
		if strings.Contains(doc, "'1.1'") || strings.Contains(doc, "DOCTYPE") && a.IntN(4) > 0 {
			continue
		}
		runes := []rune(doc)
		for range 1 + a.IntN(2) {
			at, c := a.IntN(len(runes)), []rune(alphabet)[a.IntN(len([]rune(alphabet)))]
			switch a.IntN(4) {
			case 0:
				runes[at] = c
			case 1:
				runes = slices.Insert(runes, at, c)
			case 2:
				runes = slices.Delete(runes, at, at+1)
			default:
				runes = append(runes[:at:at], runes[min(len(runes), at+1+a.IntN(6)):]...)
			}
			if len(runes) == 0 {
				runes = []rune{'x'}
			}
		}
		docs = append(docs, string(runes))
	}
	wrong := verdicts(t, docs)
	good := 0
	for i, doc := range docs {
		_, err := content(doc)
		var syntax *xmltext.SyntaxError
		if errors.As(err, &syntax) {
			line, column := place(doc, syntax.Offset)
			if syntax.Offset > len(doc) || syntax.Line != line || syntax.Column != column {
				t.Errorf("%q: %v at %d, want %d:%d", doc, err, syntax.Offset, line, column)
			}
		}
		if err == nil {
			good++
		}
		// What is declared in a document type is not looked at; xmllint takes other declarations of the version than the recommendation
		// has; and U+FFFD in a name cannot be told from a byte that is not UTF-8.
		lax := strings.Contains(doc, "DOCTYPE") || syntax != nil && (syntax.Fault != xmltext.Malformed || strings.HasPrefix(syntax.Text, "the XML declaration is not of")) ||
			strings.ContainsRune(doc, utf8.RuneError) && err != nil
		if (err != nil) != wrong[i] && !lax {
			t.Errorf("%q: %v, xmllint finds it malformed: %v", doc, err, wrong[i])
		}
	}
	if good < 200 || good > 1200 {
		t.Errorf("%d of %d documents are well formed", good, len(docs))
	}
}

// TestCharactersAsXmllint has every character at the border of a range begin and continue a name, stand in text, and be a reference.
func TestCharactersAsXmllint(t *testing.T) {
	var docs []string
	borders := []rune{0, 1, 8, 9, 10, 11, 13, 14, 0x1f, ' ', '-', '.', '/', '0', '9', ':', ';', '@', 'A', 'Z', '[', '_', '`', 'a', 'z', '{', 0x7f, 0x80, 0xb6, 0xb7, 0xb8, 0xbf, 0xc0, 0xd6, 0xd7, 0xd8, 0xf6, 0xf7, 0xf8,
		0x2ff, 0x300, 0x36f, 0x370, 0x37d, 0x37e, 0x37f, 0x1fff, 0x2000, 0x200b, 0x200c, 0x200d, 0x200e, 0x203e, 0x203f, 0x2040, 0x2041, 0x206f, 0x2070, 0x218f, 0x2190, 0x2bff, 0x2c00, 0x2fef, 0x2ff0, 0x3000, 0x3001,
		0xd7ff, 0xe000, 0xf8ff, 0xf900, 0xfdcf, 0xfdd0, 0xfdef, 0xfdf0, 0xfffc, 0xfffe, 0xffff, 0x10000, 0xeffff, 0xf0000, 0x10ffff}
	for _, c := range borders {
		if utf8.ValidRune(c) {
			docs = append(docs, fmt.Sprintf("<%c/>", c), fmt.Sprintf("<a%c/>", c), fmt.Sprintf("<a>%c</a>", c), fmt.Sprintf("<a b='%c'/>", c), fmt.Sprintf("<?p%c?><a/>", c), fmt.Sprintf("<!--%c--><a/>", c))
		}
		docs = append(docs, fmt.Sprintf("<a>&#%d;</a>", c), fmt.Sprintf("<a>&#x%X;</a>", c), fmt.Sprintf("<a b='&#x%x;'/>", c))
	}
	docs = append(docs, "<a>\ufffd</a>", "<a b='\ufffd'/>", "<a>&#xfffd;</a>", "<a>&#xd800;</a>", "<a>&#xdfff;</a>", "<a>&#x110000;</a>", "<a>&#4294967361;</a>", "<a>&#x100000041;</a>", "<a>&#;</a>", "<a>&#x;</a>", "<a>&#X41;</a>", "<a>&#-1;</a>", "<a>&;</a>", "<a>&lt</a>")
	wrong := verdicts(t, docs)
	for i, doc := range docs {
		if _, err := content(doc); (err != nil) != wrong[i] {
			t.Errorf("%q: %v, xmllint finds it malformed: %v", doc, err, wrong[i])
		}
	}
	for name, want := range map[string]bool{"a": true, "a:b": false, "": false, "1": false, "a1": true, "é": true, "a\u0300": true, "\u0300": false, "a b": false, "-": false, "_": true, ":": false} {
		if xmltext.IsName(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}

// TestBounds: elements within one another and attributes of one are bounded, and what reaches the bound is not.
func TestBounds(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }
	attributes := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " a%d=''", i)
		}
		return "<a" + b.String() + "/>"
	}
	for _, test := range []struct {
		doc  string
		want string
	}{
		{nested(256), ""}, {nested(257), "1:769: <a> is nested deeper than 256 elements"},
		{attributes(256), ""}, {attributes(257), "1:1: <a> has more than 256 attributes"},
		{"<a xmlns:p='u'><p::b/></a>", `1:17: the name "p::b" is not a prefix, a colon and a name`},
		{"<a>" + strings.Repeat("<b></b><c/>", 500) + "</a>", ""},
		{"<?xml version='1.0' " + strings.Repeat(" ", 1000) + "?><a/>", "1:1: the XML declaration is not of the form"},
		{"<?xml version='1.0' " + strings.Repeat(" ", 900) + "?><a/>", ""},
	} {
		if _, err := content(test.doc); (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%.60s: %v, want %q", test.doc, err, test.want)
		}
	}
}

// TestPlacesOfErrors has where errors are that have something like them before, and what xmllint thinks of such documents.
func TestPlacesOfErrors(t *testing.T) {
	tests := []struct{ doc, want string }{
		{"<a>&lt;&amp;&b;</a>", `1:13: the entity "b"`}, {"<a>x&lt;y& z</a>", "1:10: & without the name"}, {"<a b='&lt;&#0;'/>", `1:11: "#0" is the number`},
		{"<a>bcd\xff</a>", "1:7: the byte 0xff"}, {"<a>é\n\x02</a>", "2:1: the control character 0x02"}, {"<a>é\uffff</a>", "1:6: the character U+FFFF"},
		{"<!DOCTYPE a [\x01]><a/>", "1:14: no declaration in the brackets"}, {"<!DOCTYPE a SYSTEM '\xff'><a/>", "1:21: the byte 0xff"},
		{"<!DOCTYPE a [<?b?><?c ]> ?>]><a/>", ""}, {"<?xmla b?><a/>", ""}, {"<?xmla", "1:7: no white space behind <?xmla"}, {"<?xml", "1:1: the XML declaration is not of the form"},
		{"<?xml version='1.0' encoding='EBCDIC-CP-US'?><a/>", `1:1: encoding "EBCDIC-CP-US", want UTF-8`},
		{"<?xml?><a/>", "1:1: the XML declaration is not of the form"}, {"<!DOCTYPE a SYSTEM ''><a/>", ""}, {"<!DOCTYPE a SYSTEM '' [<!ENTITY b \"\">]><a/>", ""},
		{"<a>\x80</a>", "1:4: the byte 0x80"}, {"<a\x80/>", "1:3: no white space before an attribute"}, {"<\x80/>", "1:2: no name of an element"},
		{"\xfe\xff\x00<", "1:1: the document is in UTF-16"},
	}
	var docs []string
	for _, test := range tests {
		docs = append(docs, test.doc)
		if _, err := content(test.doc); (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.doc, err, test.want)
		}
	}
	wrong := verdicts(t, docs)
	for i, test := range tests {
		if wrong[i] != (test.want != "") && !strings.Contains(test.want, "encoding") {
			t.Errorf("%q: xmllint finds it malformed: %v", test.doc, wrong[i])
		}
	}
}
