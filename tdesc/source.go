package tdesc

import (
	"errors"
	"fmt"

	"tracewell/internal/xmltext"
)

// Include fetches a document that an xi:include names by its href. The stub's answer to qXfer:features:read:ANNEX is such
// a document, and so is a file beside the including one.
type Include func(annex string) ([]byte, error)

// Bounds on documents. The depth is GDB's; the number keeps documents that include each other twice from growing to 2^depth
// documents. The bytes are those of a document with all that it includes: some ten times what the largest known
// description takes, and what can be read in a fraction of a second.
const (
	maxIncludeDepth = 31
	maxIncludes     = 1000
	MaxBytes        = 1 << 20
)

const xincludeSpace = "http://www.w3.org/2001/XInclude"

// boundPrefixes are those that GDB's document type definition binds, so that a document need not.
var boundPrefixes = map[string]string{"xi": xincludeSpace}

// source reads the tokens of a document with its includes expanded: where an xi:include stood, the tokens of the included
// document's root element follow, and the document's own declarations are gone.
type source struct {
	include  Include
	included int         // documents so far
	bytes    int         // of all documents so far
	docs     []*document // being read; each included by the one before
	first    []byte      // until the first token is asked for
}

// document is one XML document on its way through a reader.
type document struct {
	annex string
	from  *Position // of the xi:include
	xml   *xmltext.Reader
}

func newSource(doc []byte, include Include) *source { return &source{include: include, first: doc} }

func (s *source) push(annex string, from *Position, text []byte) error {
	s.bytes += len(text)
	if s.bytes > MaxBytes {
		pos := Position{Annex: annex, Line: 1, Column: 1, From: from}
		return errorAt(ruleTooLarge, pos, "%d bytes of documents, more than the %d allowed", s.bytes, MaxBytes)
	}
	doc := &document{annex: annex, from: from}
	if len(s.docs) == 0 {
		doc.xml = xmltext.NewReader(text, boundPrefixes)
	} else {
		doc.xml = s.docs[0].xml.Include(text) // GDB drops the document types of included documents before it looks for entities
	}
	s.docs = append(s.docs, doc)
	return nil
}

// next reads a token; more is false at the end of the outermost document.
func (s *source) next(t *xmltext.Token) (more bool, err error) {
	if s.first != nil || len(s.docs) == 0 {
		doc := s.first
		s.first = nil
		if err := s.push("", nil, doc); err != nil {
			return false, err
		}
	}
	for {
		doc := s.docs[len(s.docs)-1]
		more, err := doc.xml.Next(t)
		switch {
		case err != nil:
			return false, doc.syntaxError(err)
		case !more && len(s.docs) > 1:
			s.docs = s.docs[:len(s.docs)-1]
		case !more:
			return false, nil
		case t.Kind == xmltext.Start && t.Name == xmltext.Name{Space: xincludeSpace, Local: "include"}:
			if err := s.open(t, s.place(t)); err != nil {
				return false, err
			}
		default:
			return true, nil
		}
	}
}

// place is where a token stands that next has just read.
func (s *source) place(t *xmltext.Token) Position {
	doc := s.docs[len(s.docs)-1]
	return Position{Annex: doc.annex, Offset: t.Offset, Line: t.Line, Column: t.Column, From: doc.from}
}

// syntaxError gives what is wrong with the XML its place.
func (d *document) syntaxError(err error) *Error {
	syntax, ok := errors.AsType[*xmltext.SyntaxError](err)
	if !ok {
		return &Error{Rule: ruleSyntax, Pos: Position{Annex: d.annex, Line: 1, Column: 1, From: d.from}, Err: err}
	}
	rules := [...]*Rule{
		xmltext.Malformed: ruleSyntax, xmltext.Encoding: ruleEncoding, xmltext.Undeclared: ruleEntity,
		xmltext.Unsupported: ruleUnsupported,
	}
	pos := Position{Annex: d.annex, Offset: syntax.Offset, Line: syntax.Line, Column: syntax.Column, From: d.from}
	return errorAt(rules[syntax.Fault], pos, "%s", syntax.Text)
}

// open begins the document that an xi:include names. What stands inside the element is skipped, as GDB does.
func (s *source) open(e *xmltext.Token, pos Position) error {
	annex, ok := href(e)
	if !ok {
		return errorAt(ruleInclude, pos, "xi:include without href")
	}
	doc := s.docs[len(s.docs)-1]
	for depth := 1; depth > 0; {
		var t xmltext.Token
		if _, err := doc.xml.Next(&t); err != nil {
			return doc.syntaxError(err)
		}
		switch t.Kind {
		case xmltext.Start:
			depth++
		case xmltext.End:
			depth--
		}
	}
	if err := s.mayInclude(annex, pos); err != nil {
		return err
	}
	text, err := s.include(annex)
	if err != nil {
		return &Error{Rule: ruleInclude, Pos: pos, Text: fmt.Sprintf("xi:include of %q", annex), Err: err}
	}
	s.included++
	return s.push(annex, &pos, text)
}

// mayInclude checks the bounds and that no document includes itself, directly or through others.
func (s *source) mayInclude(annex string, pos Position) error {
	switch {
	case s.include == nil:
		return errorAt(ruleInclude, pos, "xi:include of %q, but there are no other documents", annex)
	case len(s.docs) > maxIncludeDepth:
		return errorAt(ruleDeep, pos, "xi:include of %q is nested deeper than %d", annex, maxIncludeDepth)
	case s.included >= maxIncludes:
		return errorAt(ruleMany, pos, "xi:include of %q is more than the %d allowed", annex, maxIncludes)
	}
	for _, doc := range s.docs[1:] {
		if doc.annex == annex {
			return errorAt(ruleCycle, pos, "xi:include of %q, which is being included already", annex)
		}
	}
	return nil
}

func href(e *xmltext.Token) (string, bool) {
	for _, a := range e.Attributes {
		if a.Name == (xmltext.Name{Local: "href"}) {
			return a.Value, true
		}
	}
	return "", false
}
