// Package xmltext reads small XML documents token by token: elements with their namespaces resolved, text, and where each of
// them stands. It is made for documents of strangers, of which the caller wants to tell exactly what is wrong.
//
// It checks that a document is well formed as the XML 1.0 recommendation asks, with its namespaces, and holds it to limits so
// that no document can take much time or memory: nothing is ever expanded, and each byte is looked at a bounded number of
// times. A document type declaration is read over; entities that it declares are unknown. Documents are in UTF-8.
//
// encoding/xml is not used because it accepts much that is not well formed (attributes that come twice, prefixes that nobody
// declares), and for its speed: names and values here are parts of the document wherever they can be.
package xmltext

import (
	"fmt"
	"strings"

	"tracewell/internal/text"
)

// Bounds of a document.
const (
	MaxDepth      = 256 // elements open at a time
	MaxAttributes = 256 // of one element
)

// Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Start       Kind = iota // of an element; an empty-element tag gives Start and End
	End                     // of an element
	Text                    // character data, also from CDATA sections; adjacent tokens may be text
	Comment                 // a comment
	Instruction             // a processing instruction, other than the XML declaration
	Doctype                 // the document type declaration
)

// Name is a name with its namespace, "" for none.
type Name struct{ Space, Local string }

// Attribute is an attribute of an element. Declarations of namespaces have the Space NamespaceOfDeclarations.
type Attribute struct {
	Name  Name
	Value string // normalized: references replaced, white space as blanks
}

// NamespaceOfDeclarations is what the prefix xmlns stands for.
const NamespaceOfDeclarations = "http://www.w3.org/2000/xmlns/"

// NamespaceOfXML is what the prefix xml stands for.
const NamespaceOfXML = "http://www.w3.org/XML/1998/namespace"

// Token is one piece of a document. Attributes are valid until the next call of Next.
type Token struct {
	Kind         Kind
	Name         Name // of Start and End; of a Doctype, Local is the root element that it names
	Attributes   []Attribute
	Text         string // of Text; for Doctype what stands between its brackets
	CDATA        bool   // of Text: it comes from a CDATA section
	Offset       int    // in the document, of the first byte
	Line, Column int    // of the same, from 1; columns are bytes
}

// SyntaxError says where a document is not well formed, or is so but not for this package.
type SyntaxError struct {
	Offset, Line, Column int
	Text                 string
	Unsupported          bool // it may be well formed, but has another encoding, entities of its own, or is beyond the limits
}

// Error gives place and text.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text) }

// Reader reads the tokens of one document. Of the bindings of namespaces, the innermost comes last.
type Reader struct {
	doc  string
	pos  int // of the next byte
	line int // of counted
	from int // where that line begins

	counted int // bytes whose line feeds are in line

	open       []element
	bindings   []binding
	attributes []Attribute // of the last Start
	raw        []rawAttribute
	pendingEnd bool // the last token was an empty-element tag
	root       bool // the root element has begun
	doctype    bool
	declares   bool // the document type has declarations
	bound      map[string]string
}

// element is an open element.
type element struct {
	raw      string // the name as it is written
	name     Name
	bindings int // how many there were before it
}

// binding gives a prefix, "" for elements without one, a namespace.
type binding struct{ prefix, space string }

// rawAttribute is an attribute before prefixes are resolved.
type rawAttribute struct {
	prefix, local, value string
	pos                  int
}

// NewReader returns a reader of the document. The prefixes in bound need no declaration for elements; it may be nil.
func NewReader(doc []byte, bound map[string]string) *Reader {
	r := &Reader{doc: string(doc), line: 1, bound: bound}
	if strings.HasPrefix(r.doc, "\ufeff") {
		r.pos = len("\ufeff")
		r.counted, r.from = r.pos, r.pos
	}
	return r
}

// Next reads the next token into t; more is false at the end of a document that is well formed. An error is a *SyntaxError,
// and nothing can be read behind it.
func (r *Reader) Next(t *Token) (more bool, err error) {
	if r.pendingEnd {
		r.pendingEnd = false
		r.begin(t, End, r.pos)
		return true, r.leave(t)
	}
	if r.pos == 0 || r.pos == len("\ufeff") && strings.HasPrefix(r.doc, "\ufeff") {
		if err := r.declaration(); err != nil {
			return false, err
		}
	}
	if r.pos >= len(r.doc) {
		return false, r.atEnd()
	}
	r.begin(t, Text, r.pos)
	if r.doc[r.pos] != '<' {
		return true, r.text(t)
	}
	rest := r.doc[r.pos:]
	switch {
	case strings.HasPrefix(rest, "</"):
		return true, r.endTag(t)
	case strings.HasPrefix(rest, "<!--"):
		return true, r.comment(t)
	case strings.HasPrefix(rest, "<![CDATA["):
		return true, r.cdata(t)
	case strings.HasPrefix(rest, "<!DOCTYPE"):
		return true, r.documentType(t)
	case strings.HasPrefix(rest, "<?"):
		return true, r.instruction(t)
	case strings.HasPrefix(rest, "<!"):
		return true, r.fail(r.pos, "<! begins neither a comment nor a document type")
	}
	return true, r.startTag(t)
}

func (r *Reader) begin(t *Token, kind Kind, pos int) {
	*t = Token{Kind: kind, Offset: pos}
	t.Line, t.Column = r.place(pos)
}

// place gives line and column of a byte that is not before the one it was called with last.
func (r *Reader) place(pos int) (line, column int) {
	for {
		n := strings.IndexByte(r.doc[r.counted:pos], '\n')
		if n < 0 {
			break
		}
		r.line++
		r.counted += n + 1
		r.from = r.counted
	}
	r.counted = max(r.counted, pos)
	return r.line, pos - r.from + 1
}

func (r *Reader) fail(pos int, format string, args ...any) *SyntaxError {
	line, column := r.place(max(pos, r.counted))
	if pos < r.counted {
		line = 1 + strings.Count(r.doc[:pos], "\n")
		column = pos - strings.LastIndexByte(r.doc[:pos], '\n')
	}
	return &SyntaxError{Offset: pos, Line: line, Column: column, Text: fmt.Sprintf(format, args...)}
}

// unsupported is fail for what other readers of XML may take.
func (r *Reader) unsupported(pos int, format string, args ...any) *SyntaxError {
	err := r.fail(pos, format, args...)
	err.Unsupported = true
	return err
}

func (r *Reader) atEnd() error {
	switch {
	case len(r.open) > 0:
		return r.fail(r.pos, "the document ends inside <%s>", r.open[len(r.open)-1].raw)
	case !r.root:
		return r.fail(r.pos, "the document has no root element")
	}
	return nil
}

// until returns what stands from pos to the next end, which is stepped over.
func (r *Reader) until(pos int, end, what string) (string, error) {
	n := strings.Index(r.doc[pos:], end)
	if n < 0 {
		return "", r.fail(len(r.doc), "the document ends inside %s", what)
	}
	r.pos = pos + n + len(end)
	return r.doc[pos : pos+n], r.characters(r.doc[pos:pos+n], pos)
}

func (r *Reader) comment(t *Token) error {
	t.Kind = Comment
	start := r.pos
	text, err := r.until(r.pos+len("<!--"), "-->", "a comment")
	if err != nil {
		return err
	}
	if n := strings.Index(text+"-", "--"); n >= 0 {
		return r.fail(start+len("<!--")+n, "-- inside a comment")
	}
	return nil
}

func (r *Reader) cdata(t *Token) error {
	if len(r.open) == 0 {
		return r.fail(r.pos, "CDATA outside the root element")
	}
	t.CDATA = true
	text, err := r.until(r.pos+len("<![CDATA["), "]]>", "a CDATA section")
	t.Text = lineFeeds(text)
	return err
}

// text reads to the next tag.
func (r *Reader) text(t *Token) error {
	start := r.pos
	n := strings.IndexByte(r.doc[start:], '<')
	if n < 0 {
		n = len(r.doc) - start
	}
	raw := r.doc[start : start+n]
	r.pos = start + n
	if len(r.open) == 0 {
		if n := strings.IndexFunc(raw, func(c rune) bool { return !isSpace(c) }); n >= 0 {
			return r.fail(start+n, "text %s outside the root element", text.Quote(raw[n:]))
		}
		t.Text = raw
		return nil
	}
	if n := strings.Index(raw, "]]>"); n >= 0 {
		return r.fail(start+n, "]]> in text")
	}
	if err := r.characters(raw, start); err != nil {
		return err
	}
	text, err := r.references(raw, start)
	t.Text = text
	return err
}

func isSpace(c rune) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// lineFeeds makes a line feed of each end of a line.
func lineFeeds(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
