package xmltext

import (
	"regexp"
	"strings"
)

// declarationForm is the XML declaration up to its end.
var declarationForm = regexp.MustCompile(`^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')` +
	`(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z][A-Za-z0-9._-]*)["'])?` +
	`(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*["'](?:yes|no)["'])?[ \t\r\n]*\?>`)

// longestDeclaration bounds what the form is tried on.
const longestDeclaration = 1000

// declaration reads the XML declaration, if there is one, and sees whether the encoding is one that can be read.
func (r *Reader) declaration() error {
	if strings.HasPrefix(r.doc, "\xff\xfe") || strings.HasPrefix(r.doc, "\xfe\xff") {
		return r.unsupported(0, "the document is in UTF-16, want UTF-8")
	}
	rest := r.doc[r.pos:]
	if !strings.HasPrefix(rest, "<?xml") || len(rest) > 5 && !isSpace(rune(rest[5])) && rest[5] != '?' {
		return nil
	}
	m := declarationForm.FindStringSubmatch(rest[:min(len(rest), longestDeclaration)])
	if m == nil {
		return r.fail(r.pos, `the XML declaration is not of the form <?xml version="1.0" encoding="UTF-8"?>`)
	}
	if m[1] != "" && !strings.EqualFold(m[1], "utf-8") && !strings.EqualFold(m[1], "us-ascii") {
		return r.unsupported(r.pos, "encoding %q, want UTF-8 or US-ASCII", m[1])
	}
	r.pos += len(m[0])
	return nil
}

func (r *Reader) instruction(t *Token) error {
	t.Kind = Instruction
	start := r.pos
	r.pos += 2
	name, err := r.name("a processing instruction")
	if err != nil {
		return err
	}
	if strings.EqualFold(name, "xml") {
		return r.fail(start, "the XML declaration is not at the start of the document")
	}
	if !r.space() && !strings.HasPrefix(r.doc[r.pos:], "?>") {
		return r.fail(r.pos, "no white space behind <?%s", name)
	}
	_, err = r.until(r.pos, "?>", "a processing instruction")
	return err
}

// documentType reads over the document type declaration. What it declares is not looked at, only where it ends.
func (r *Reader) documentType(t *Token) error {
	t.Kind = Doctype
	start := r.pos
	switch {
	case r.root:
		return r.fail(start, "document type declaration behind the start of the root element")
	case r.doctype:
		return r.fail(start, "second document type declaration")
	}
	r.doctype = true
	r.pos += len("<!DOCTYPE")
	if !r.space() {
		return r.fail(r.pos, "no white space behind <!DOCTYPE")
	}
	var err error
	if t.Name.Local, err = r.name("a document type"); err != nil {
		return err
	}
	if t.Text, err = r.subset(); err != nil {
		return err
	}
	r.declares = t.Text != ""
	return r.characters(r.doc[start:r.pos], start)
}

// subset reads to the end of the document type declaration, and returns what stands in its brackets.
func (r *Reader) subset() (string, error) {
	inside := -1 // where the brackets begin
	var subset string
	for r.pos < len(r.doc) {
		rest := r.doc[r.pos:]
		switch c := rest[0]; {
		case c == '"' || c == '\'':
			if _, err := r.until(r.pos+1, string(c), "a literal of the document type declaration"); err != nil {
				return "", err
			}
			continue
		case strings.HasPrefix(rest, "<!--"):
			if err := r.comment(new(Token)); err != nil {
				return "", err
			}
			continue
		case strings.HasPrefix(rest, "<?"):
			if _, err := r.until(r.pos+2, "?>", "a processing instruction"); err != nil {
				return "", err
			}
			continue
		case c == '[' && inside < 0:
			inside = r.pos + 1
		case c == ']' && inside >= 0:
			subset, inside = strings.TrimSpace(r.doc[inside:r.pos]), -1
		case c == '>' && inside < 0:
			r.pos++
			return subset, nil
		}
		r.pos++
	}
	return "", r.fail(r.pos, "the document ends inside the document type declaration")
}
