package tdesc

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Include fetches a document that an xi:include names by its href. The stub's answer to qXfer:features:read:ANNEX is such
// a document, and so is a file beside the including one.
type Include func(annex string) ([]byte, error)

// Bounds on xi:include. The depth is GDB's; the number keeps documents that include each other twice from growing to
// 2^depth documents.
const (
	maxIncludeDepth = 30
	maxIncludes     = 1000
)

const xincludeSpace = "http://www.w3.org/2001/XInclude"

// source reads the tokens of a document with its includes expanded: where an xi:include stood, the tokens of the included
// document's root element follow, and the document's own declarations are gone. It checks of each document what encoding/xml
// does not: that it has exactly one root element, no text outside it, and no declaration in the wrong place.
type source struct {
	include  Include
	included int         // documents so far
	docs     []*document // being read; each included by the one before
}

// document is one XML document on its way through a decoder.
type document struct {
	annex string
	from  *Position // of the xi:include
	xml   *xml.Decoder
	depth int  // elements open
	root  bool // the root element has begun
}

func newSource(doc []byte, include Include) *source {
	return &source{include: include, docs: []*document{newDocument("", nil, doc)}}
}

func newDocument(annex string, from *Position, doc []byte) *document {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(doc, []byte("\ufeff"))))
	d.CharsetReader = charsetReader
	return &document{annex: annex, from: from, xml: d}
}

// next returns a token and where it begins: a start element, an end element or text. At the end of the outermost document
// the error is io.EOF.
func (s *source) next() (xml.Token, Position, error) {
	for {
		doc := s.docs[len(s.docs)-1]
		pos := doc.position()
		token, err := doc.next(pos)
		if err == io.EOF && len(s.docs) > 1 {
			s.docs = s.docs[:len(s.docs)-1]
			continue
		}
		if err != nil {
			return nil, pos, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if !isInclude(t) {
				return t, pos, nil
			}
			if err := s.open(t, pos); err != nil {
				return nil, pos, err
			}
		case xml.EndElement, xml.CharData:
			return t, pos, nil
		}
	}
}

func (d *document) position() Position {
	line, column := d.xml.InputPos()
	return Position{Annex: d.annex, Line: line, Column: column, From: d.from}
}

// next reads one token and checks that it may stand where it does.
func (d *document) next(pos Position) (xml.Token, error) {
	atStart := d.xml.InputOffset() == 0
	token, err := d.xml.Token()
	if err == io.EOF && d.root {
		return nil, io.EOF
	}
	if err == io.EOF {
		return nil, errorAt(pos, "the document has no root element")
	}
	if err != nil {
		return nil, d.syntaxError(err)
	}
	switch t := token.(type) {
	case xml.StartElement:
		if d.depth == 0 && d.root {
			return nil, errorAt(pos, "second root element <%s>", t.Name.Local)
		}
		d.root = true
		d.depth++
	case xml.EndElement:
		d.depth--
	case xml.CharData:
		if d.depth == 0 && len(bytes.TrimSpace(t)) > 0 {
			return nil, errorAt(pos, "text %.40q outside the root element", t)
		}
	case xml.ProcInst:
		if t.Target == "xml" && !atStart {
			return nil, errorAt(pos, "the XML declaration is not at the start of the document")
		}
	case xml.Directive:
		if d.root {
			return nil, errorAt(pos, "declaration <!%.40s> behind the start of the root element", t)
		}
	}
	return token, nil
}

// syntaxError gives what encoding/xml found wrong its place.
func (d *document) syntaxError(err error) *Error {
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return errorAt(d.position(), "XML syntax: %s", syntax.Msg)
	}
	return errorAt(d.position(), "XML: %s", strings.TrimPrefix(err.Error(), "xml: "))
}

// isInclude recognizes xi:include. The built-in document type of GDB binds the prefix, so a document need not.
func isInclude(e xml.StartElement) bool {
	return e.Name.Local == "include" && (e.Name.Space == xincludeSpace || e.Name.Space == "xi")
}

// open begins the document that an xi:include names. What stands inside the element is skipped, as GDB does.
func (s *source) open(e xml.StartElement, pos Position) error {
	doc := s.docs[len(s.docs)-1]
	annex, ok := href(e)
	if !ok {
		return errorAt(pos, "xi:include without href")
	}
	if err := doc.xml.Skip(); err != nil {
		return doc.syntaxError(err)
	}
	doc.depth--
	if err := s.mayInclude(annex, pos); err != nil {
		return err
	}
	text, err := s.include(annex)
	if err != nil {
		return &Error{Pos: pos, Text: fmt.Sprintf("xi:include of %q", annex), Err: err}
	}
	s.included++
	s.docs = append(s.docs, newDocument(annex, &pos, text))
	return nil
}

// mayInclude checks the bounds and that no document includes itself, directly or through others.
func (s *source) mayInclude(annex string, pos Position) error {
	switch {
	case s.include == nil:
		return errorAt(pos, "xi:include of %q, but there are no other documents", annex)
	case len(s.docs) > maxIncludeDepth:
		return errorAt(pos, "xi:include of %q is nested deeper than %d", annex, maxIncludeDepth)
	case s.included >= maxIncludes:
		return errorAt(pos, "xi:include of %q is more than the %d allowed", annex, maxIncludes)
	}
	for _, doc := range s.docs[1:] {
		if doc.annex == annex {
			return errorAt(pos, "xi:include of %q, which is being included already", annex)
		}
	}
	return nil
}

func href(e xml.StartElement) (string, bool) {
	for _, a := range e.Attr {
		if a.Name.Space == "" && a.Name.Local == "href" {
			return a.Value, true
		}
	}
	return "", false
}

// charsetReader admits US-ASCII, which is UTF-8 already.
func charsetReader(charset string, input io.Reader) (io.Reader, error) {
	if strings.EqualFold(charset, "us-ascii") {
		return input, nil
	}
	return nil, fmt.Errorf("encoding %q, want UTF-8 or US-ASCII", charset)
}
