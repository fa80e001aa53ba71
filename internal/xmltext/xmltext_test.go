package xmltext_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
	"tracewell/internal/xmltext"
)

// tokens writes down what a document has, a token a line, and the error if there is one.
func tokens(doc string) string {
	r := xmltext.NewReader([]byte(doc), map[string]string{"xi": "urn:xi"})
	var b strings.Builder
	var t xmltext.Token
	for {
		more, err := r.Next(&t)
		if err != nil {
			fmt.Fprintf(&b, "error %v\n", err)
			return b.String()
		}
		if !more {
			return b.String()
		}
		fmt.Fprintf(&b, "%d:%d ", t.Line, t.Column)
		switch t.Kind {
		case xmltext.Start:
			fmt.Fprintf(&b, "<%s>", name(t.Name))
			for _, a := range t.Attributes {
				fmt.Fprintf(&b, " %s=%q", name(a.Name), a.Value)
			}
		case xmltext.End:
			fmt.Fprintf(&b, "</%s>", name(t.Name))
		case xmltext.Text:
			fmt.Fprintf(&b, "%q", t.Text)
		case xmltext.Comment:
			b.WriteString("comment")
		case xmltext.Instruction:
			b.WriteString("instruction")
		case xmltext.Doctype:
			fmt.Fprintf(&b, "doctype %s [%s]", t.Name.Local, t.Text)
		}
		b.WriteString("\n")
	}
}

func name(n xmltext.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return "{" + n.Space + "}" + n.Local
}

func TestTokens(t *testing.T) {
	doc := "\ufeff<?xml version='1.0' encoding=\"utf-8\" standalone='yes' ?>\r\n" +
		"<!DOCTYPE a SYSTEM \"x>y\" [<!-- ]> --><?p ]>?><!ENTITY e \"]>\"> ]>\n" +
		"<!-- c --><a x = 'a\tb&#10;&amp;&lt;&quot;&apos;&gt;&#x41;'\r\n  xmlns='urn:1' xmlns:p=\"urn:2\" p:y=''>\n" +
		"  t\r\n\ru&amp;<![CDATA[<&]]><p:b xmlns='' z=\">\"/><?pi x?><xi:é.-1/>\n</a  >\n"
	want := "1:57 \"\\r\\n\"\n2:1 doctype a [<!-- ]> --><?p ]>?><!ENTITY e \"]>\">]\n2:65 \"\\n\"\n3:1 comment\n" +
		"3:11 <{urn:1}a> x=\"a b\\n&<\\\"'>A\" {http://www.w3.org/2000/xmlns/}xmlns=\"urn:1\" " +
		"{http://www.w3.org/2000/xmlns/}p=\"urn:2\" {urn:2}y=\"\"\n" +
		"4:40 \"\\n  t\\n\\nu&\"\n6:8 \"<&\"\n6:22 <{urn:2}b> {http://www.w3.org/2000/xmlns/}xmlns=\"\" z=\">\"\n6:43 </{urn:2}b>\n" +
		"6:43 instruction\n6:51 <{urn:xi}é.-1>\n6:62 </{urn:xi}é.-1>\n6:62 \"\\n\"\n7:1 </{urn:1}a>\n7:7 \"\\n\"\n"
	if got := tokens(doc); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// malformed are documents that are not well formed, with what is said of them.
var malformed = []struct{ doc, err string }{
	{"", "1:1: the document has no root element"},
	{" \n", "2:1: the document has no root element"},
	{"<a>", "1:4: the document ends inside <a>"},
	{"<a", "1:3: the document ends inside the tag <a>"},
	{"<a b='1'", "1:9: the document ends inside the tag <a>"},
	{"<a></b>", "1:4: </b> where </a> is wanted"},
	{"<a></a", "1:7: no > at the end of </a>"},
	{"</a>", "1:1: </a>, but no element is open"},
	{"<a/><b/>", "1:5: second root element <b>"},
	{"<a/>x", `1:5: text "x" outside the root element`},
	{"<a/>&amp;", `1:5: text "&amp;" outside the root element`},
	{"<a/><![CDATA[]]>", "1:5: CDATA outside the root element"},
	{"<a b='1' b='2'/>", "1:10: attribute b of <a> comes twice"},
	{"<a xmlns:p='u' xmlns:q='u' p:b='' q:b=''/>", `1:35: attribute b of the namespace "u" comes twice in <a>`},
	{"<a b='1'c='2'/>", "1:9: no white space before an attribute of <a>"},
	{"<a b/>", "1:5: no = behind the attribute b of <a>"},
	{"<a b=1/>", "1:6: the value of the attribute b of <a> is not quoted"},
	{"<a b='<'/>", "1:7: < in the value of the attribute b of <a>"},
	{"<a b='1/>", "1:6: the value of the attribute b of <a> has no closing quote"},
	{"<a ='1'/>", "1:4: no name of an attribute of <a>"},
	{"<1/>", "1:2: no name of an element"},
	{"< a/>", "1:2: no name of an element"},
	{"<p:a/>", "1:1: <p:a> has a prefix that is not declared"},
	{"<a p:b=''/>", "1:4: the attribute p:b of <a> has a prefix that is not declared"},
	{"<a:/>", `1:2: the name "a:" is not a prefix, a colon and a name`},
	{"<a xmlns:p=''/>", `1:4: the prefix p cannot stand for ""`},
	{"<a>&</a>", "1:4: & without the name of an entity and a semicolon"},
	{"<a>& b;</a>", "1:4: & without the name of an entity and a semicolon"},
	{"<a>&b;</a>", `1:4: the entity "b" is not declared`},
	{"<a b='x&c;'/>", `1:8: the entity "c" is not declared`},
	{"<a>&#0;</a>", `1:4: "#0" is the number of no character`},
	{"<a>&#x110000;</a>", `1:4: "#x110000" is the number of no character`},
	{"<a>]]></a>", "1:4: ]]> in text"},
	{"<a><![CDATA[</a>", "1:17: the document ends inside a CDATA section"},
	{"<a><!-- -- --></a>", "1:9: -- inside a comment"},
	{"<a><!-- ---></a>", "1:9: -- inside a comment"},
	{"<a><!b></a>", "1:4: <! begins neither a comment nor a document type"},
	{"<a><?xml version='1.0'?></a>", "1:4: the XML declaration is not at the start of the document"},
	{"<?xml encoding='utf-8'?><a/>", "1:1: the XML declaration is not of the form"},
	{"<a/><!DOCTYPE a>", "1:5: document type declaration behind the start"},
	{"<!DOCTYPE a><!DOCTYPE a><a/>", "1:13: second document type declaration"},
	{"<!DOCTYPE a [<a/>", "1:14: no declaration in the brackets of the document type"},
	{"<!DOCTYPE a [x]><a/>", "1:14: no declaration in the brackets of the document type"},
	{"<!DOCTYPE a [ ", "1:15: the document ends inside the document type declaration"},
	{"<!DOCTYPE a SYSTEM 'x>", "1:23: the document ends inside a literal of the document type declaration"},
	{"<!DOCTYPE a []x><a/>", "1:15: no > behind the brackets of the document type declaration"},
	{"<!DOCTYPE a [<!ELEMENT a", "1:25: the document ends inside a declaration of the document type"},
	{"<!DOCTYPE a [%p]><a/>", "1:14: no ; behind %p"},
	{"<!DOCTYPE a [% p;]><a/>", "1:15: no name of a parameter entity"},
	{"<!DOCTYPE a [<!ENTITYb 'c'>]><a/>", "1:22: no white space behind <!ENTITY"},
	{"<!DOCTYPE a [<!ENTITY %b 'c'>]><a/>", "1:24: no white space behind <!ENTITY"},
	{"<!DOCTYPE a [<!ENTITY 1 'c'>]><a/>", "1:23: no name of an entity"},
	{"<!DOCTYPE a [<!ENTITY b'c'>]><a/>", "1:24: no white space behind the name of the entity b"},
	{"<!DOCTYPE a [<!ENTITY b c>]><a/>", "1:25: the text of the entity b is not quoted"},
	{"<!DOCTYPE a [<!ENTITY b 'c", "1:27: the document ends inside the text of an entity"},
	{"<!DOCTYPE a [<!ENTITY b 'c' d>]><a/>", "1:14: no > at the end of the declaration of the entity b"},
	{"<!DOCTYPE a [<!ENTITY b '%c;'>]><a/>", "1:26: % in the text of the entity b"},
	{"<!DOCTYPE a [<!ENTITY b '&'>]><a/>", "1:26: & without the name of an entity and a semicolon in the text of an entity"},
	{"<!DOCTYPE a [<!ENTITY b '&#0;'>]><a/>", `1:26: "#0" is the number of no character`},
	{"<!DOCTYPE a [<!ENTITY b '&b;'>]><a>&b;</a>", `1:36: the entity "b" refers to itself in the entity "b"`},
	{"<!DOCTYPE a [<!ENTITY b '&b;'>]><a c='&b;'/>", `1:39: the entity "b" refers to itself`},
	{"<!DOCTYPE a [<!ENTITY b '&c;'><!ENTITY c '&b;'>]><a d='&b;'/>", `1:56: the entity "b" refers to itself`},
	{"<!DOCTYPE a [<!ENTITY b '&#60;'>]><a c='&b;'/>", `1:41: < in the value of an attribute, by the entity "b"`},
	{"<!DOCTYPE a [<!ENTITY b '<c>'>]><a>&b;</c></a>", `1:36: <c> is open at the end of the entity in the entity "b"`},
	{"<!DOCTYPE a [<!ENTITY b '</a><a>'>]><a>&b;</a>", `1:40: </a>, but no element is open in the entity "b"`},
	{"<!DOCTYPE a [<!ENTITY b '<c'>]><a>&b;/></a>", `1:35: the document ends inside the tag <c> in the entity "b"`},
	{"<!DOCTYPE a [<!ENTITY b '&#38;'>]><a>\n&b;</a>", `2:1: & without the name of an entity and a semicolon in the entity "b"`},
	{"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>&b;", `1:35: text "&b;" outside the root element`},
	{"<?xml version='1.0' encoding='us-ascii'?><a>\n\xc3\xbc</a>", "2:1: the byte 0xc3 is no character of US-ASCII"},
	{"<?xml version='1.0' encoding='iso-8859-1'?><a>\n\xfc\xfc<b/>\xfc\x01</a>", "2:8: the control character 0x01"},
	{"<a>\n\x01</a>", "2:1: the control character 0x01"},
	{"<a>\xff</a>", "1:4: the byte 0xff is not part of a character in UTF-8"},
	{"<a>\xed\xa0\x80</a>", "1:4: the byte 0xed is not part of a character in UTF-8"},
	{"<a>\ufffe</a>", "1:4: the character U+FFFE, which XML does not allow"},
}

func TestMalformed(t *testing.T) {
	for _, test := range malformed {
		if got := tokens(test.doc); !strings.Contains(got, "error "+test.err) {
			t.Errorf("%q: got %s want %s", test.doc, got, test.err)
		}
	}
}

// TestXmllintFindsThemMalformed shows that the examples above are what they are said to be.
func TestXmllintFindsThemMalformed(t *testing.T) {
	xmllint := testtool.Path(t, "xmllint")
	path := filepath.Join(t.TempDir(), "doc.xml")
	for _, test := range malformed {
		if err := os.WriteFile(path, []byte(test.doc), 0o600); err != nil {
			t.Fatal(err)
		}
		output, err := exec.CommandContext(t.Context(), xmllint, "--noout", "--nonet", path).CombinedOutput()
		if err == nil && !strings.Contains(string(output), "error") {
			t.Errorf("%q: xmllint takes it", test.doc)
		}
	}
}

// lastError reads a document to its end and returns the error there.
func lastError(r *xmltext.Reader) *xmltext.SyntaxError {
	var token xmltext.Token
	for {
		more, err := r.Next(&token)
		if syntax, ok := err.(*xmltext.SyntaxError); ok || !more {
			return syntax
		}
	}
}

func TestFaults(t *testing.T) {
	for doc, want := range map[string]xmltext.Fault{
		"<?xml version='1.0' encoding='windows-1252'?><a/>": xmltext.Encoding,
		"<?xml version='1.0' encoding='latin1'?><a/>":       xmltext.Encoding,
		"\xfe\xff\x00<": xmltext.Encoding,
		strings.Repeat("<a>", xmltext.MaxDepth+1):             xmltext.Unsupported,
		"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&d;</a>":            xmltext.Undeclared,
		"<!DOCTYPE a [%p;]><a>&d;</a>":                        xmltext.Unsupported,
		"<?xml version='1.0' standalone='yes'?><a>&d;</a>":    xmltext.Malformed,
		"<?xml version='1.0' standalone='no'?><a b='&d;'/>":   xmltext.Undeclared,
		"<!DOCTYPE a [<!ENTITY b SYSTEM 'b'>]><a>&b;</a>":     xmltext.Malformed,
		"<!DOCTYPE a [<!-- <!ENTITY b 'c'> -->]><a c='&b;'/>": xmltext.Undeclared,
	} {
		if err := lastError(xmltext.NewReader([]byte(doc), nil)); err == nil || err.Fault != want {
			t.Errorf("%.50q: error %v, want one of the kind %d", doc, err, want)
		}
	}
}
