// Package xmltext reads small XML documents token by token: elements with their namespaces resolved, text, and where each of
// them stands. It is made for documents of strangers, of which the caller wants to tell exactly what is wrong.
//
// It checks that a document is well formed as the XML 1.0 recommendation asks, with its namespaces, and holds it to limits so
// that no document can take much time or memory: each byte is looked at a bounded number of times, and entities together stand
// for at most MaxExpansion bytes. Of a document type declaration the general entities are read that it declares between its
// brackets. Documents are in UTF-8, ISO-8859-1 or US-ASCII.
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
	Unread       bool   // of Doctype: its brackets declare attributes, or refer to parameter entities
	Offset       int    // in the document, of the first byte; of what an entity stands for, of the reference
	Line, Column int    // of the same, from 1; columns are bytes
}

// Fault is the kind of a SyntaxError.
type Fault uint8

// The kinds of errors.
const (
	Malformed   Fault = iota // the document is not well formed
	Encoding                 // it is in none of the encodings that are read
	Undeclared               // it refers to an entity that it does not declare, and may be well formed by declarations elsewhere
	Unsupported              // it may be well formed, but is beyond the limits, or an entity depends on what is not read
)

// SyntaxError says where a document is not well formed, or is so but not for this package.
type SyntaxError struct {
	Offset, Line, Column int
	Text                 string
	Fault                Fault
}

// Error gives place and text.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text) }

// Reader reads the tokens of one document. Of the bindings of namespaces, the innermost comes last.
type Reader struct {
	input
	outer     []input  // those in which the entity is that is being read, the document first
	names     []string // of the entities that are open, also those in the value of an attribute
	reference position // of the outermost entity that is being read
	counter   counter

	open       []element
	bindings   []binding
	attributes []Attribute // of the last Start
	raw        []rawAttribute
	pendingEnd bool // the last token was an empty-element tag
	root       bool // the root element has begun
	doctype    bool
	included   bool // what its document type declares does not count
	declared   *declarations
	bound      map[string]string
}

// position is a place in a document.
type position struct{ offset, line, column int }

// counter counts lines, and the bytes that a document in ISO-8859-1 has fewer than its text in UTF-8.
type counter struct {
	latin1  bool
	counted int // bytes that have been looked at
	line    int // of the next
	from    int // where that line begins
	extra   int // bytes that the document does not have
	before  int // the same where the line begins
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
	r := &Reader{
		input:    input{doc: string(doc)},
		counter:  counter{line: 1},
		declared: &declarations{entities: make(map[string]entity)},
		bound:    bound,
	}
	if strings.HasPrefix(r.doc, byteOrderMark) {
		r.pos = len(byteOrderMark)
		r.counter.counted, r.counter.from = r.pos, r.pos
	}
	return r
}

// Include returns a reader of a document that is to take the place of an element of the first. As it has no document type there,
// its entities are those of the first, and what it declares itself is dropped.
func (r *Reader) Include(doc []byte) *Reader {
	other := NewReader(doc, r.bound)
	other.declared, other.included = r.declared, true
	return other
}

const byteOrderMark = "\ufeff"

// Next reads the next token into t; more is false at the end of a document that is well formed. An error is a *SyntaxError,
// and nothing can be read behind it.
func (r *Reader) Next(t *Token) (more bool, err error) {
	if r.pendingEnd {
		r.pendingEnd = false
		r.begin(t, End, r.pos)
		return true, r.leave(t)
	}
	if len(r.outer) == 0 && (r.pos == 0 || r.pos == len(byteOrderMark) && strings.HasPrefix(r.doc, byteOrderMark)) {
		if err := r.declaration(); err != nil {
			return false, err
		}
	}
	if more, err := r.content(); !more {
		return false, err
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

// content goes into and out of entities until there is something to read; more is false at the end of the document.
func (r *Reader) content() (more bool, err error) {
	for {
		switch {
		case r.pos < len(r.doc):
			if entered, err := r.enterEntity(); !entered {
				return err == nil, err
			}
		case len(r.outer) == 0:
			return false, r.atEnd()
		default:
			if err := r.leaveEntity(); err != nil {
				return false, err
			}
		}
	}
}

func (r *Reader) begin(t *Token, kind Kind, pos int) {
	p := r.reference
	if len(r.outer) == 0 {
		p = r.place(pos)
	}
	*t = Token{Kind: kind, Offset: p.offset, Line: p.line, Column: p.column}
}

// place finds the position of a byte of the document that is not before the one it was called with last.
func (r *Reader) place(pos int) position { return r.counter.place(r.doc, pos) }

func (c *counter) place(doc string, pos int) position {
	for {
		n := strings.IndexByte(doc[c.counted:pos], '\n')
		if n < 0 {
			break
		}
		c.count(doc, c.counted+n+1)
		c.line++
		c.from, c.before = c.counted, c.extra
	}
	c.count(doc, max(c.counted, pos))
	return position{pos - c.extra, c.line, pos - c.from - (c.extra - c.before) + 1}
}

// count looks at the bytes up to pos.
func (c *counter) count(doc string, pos int) {
	if c.latin1 {
		for _, b := range []byte(doc[c.counted:pos]) {
			if b&0xc0 == 0x80 { // the second of two
				c.extra++
			}
		}
	}
	c.counted = pos
}

func (r *Reader) fail(pos int, format string, args ...any) *SyntaxError {
	return r.failAs(Malformed, pos, format, args...)
}

// failAs is fail for what other readers of XML may take.
func (r *Reader) failAs(fault Fault, pos int, format string, args ...any) *SyntaxError {
	p, where := r.reference, ""
	if len(r.outer) > 0 {
		where = " in the entity " + text.Quote(r.names[len(r.outer)-1])
	} else {
		c := counter{latin1: r.counter.latin1, line: 1}
		if strings.HasPrefix(r.doc, byteOrderMark) {
			c.counted, c.from = len(byteOrderMark), len(byteOrderMark)
		}
		p = c.place(r.doc, max(pos, c.counted))
	}
	return &SyntaxError{Offset: p.offset, Line: p.line, Column: p.column, Text: fmt.Sprintf(format, args...) + where, Fault: fault}
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

// text reads to the next tag, or to a reference to an entity that is declared.
func (r *Reader) text(t *Token) error {
	start := r.pos
	n := strings.IndexByte(r.doc[start:], '<')
	if n < 0 {
		n = len(r.doc) - start
	}
	if len(r.open) > 0 {
		n = untilEntity(r.doc[start : start+n])
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
