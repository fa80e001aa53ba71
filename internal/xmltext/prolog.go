package xmltext

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// declarationForm is the XML declaration up to its end.
var declarationForm = regexp.MustCompile(`^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')` +
	`(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z][A-Za-z0-9._-]*)["'])?` +
	`(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*["'](yes|no)["'])?[ \t\r\n]*\?>`)

// longestDeclaration bounds what the form is tried on.
const longestDeclaration = 1000

// declaration reads the XML declaration, if there is one, and sees whether the encoding is one that can be read.
func (r *Reader) declaration() error {
	if strings.HasPrefix(r.doc, "\xff\xfe") || strings.HasPrefix(r.doc, "\xfe\xff") {
		return r.failAs(Encoding, 0, "the document is in UTF-16, want UTF-8")
	}
	rest := r.doc[r.pos:]
	if !strings.HasPrefix(rest, "<?xml") || len(rest) > 5 && !isSpace(rune(rest[5])) && rest[5] != '?' {
		return nil
	}
	m := declarationForm.FindStringSubmatch(rest[:min(len(rest), longestDeclaration)])
	if m == nil {
		return r.fail(r.pos, `the XML declaration is not of the form <?xml version="1.0" encoding="UTF-8"?>`)
	}
	if !r.included {
		r.declared.standalone = m[2] == "yes"
	}
	start := r.pos
	r.pos += len(m[0])
	return r.decode(m[1], start)
}

// decode makes UTF-8 of what follows the XML declaration, which begins at start and names the encoding.
func (r *Reader) decode(encoding string, start int) error {
	switch strings.ToLower(encoding) {
	case "", "utf-8":
	case "us-ascii":
		if n := strings.IndexFunc(r.doc[r.pos:], func(c rune) bool { return c >= utf8.RuneSelf }); n >= 0 {
			return r.fail(r.pos+n, "the byte 0x%02x is no character of US-ASCII", r.doc[r.pos+n])
		}
	case "iso-8859-1":
		decoded := []rune(nil)
		for _, c := range []byte(r.doc[r.pos:]) {
			decoded = append(decoded, rune(c))
		}
		r.doc = r.doc[:r.pos] + string(decoded)
		r.counter.latin1 = true
	default:
		return r.failAs(Encoding, start, "encoding %q, want UTF-8, ISO-8859-1 or US-ASCII", encoding)
	}
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

// documentType reads the document type declaration: of what it refers to nothing, of its own declarations the entities.
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
	if err := r.skip("[", "the document type declaration"); err != nil {
		return err
	}
	if r.doc[r.pos-1] == '[' {
		inside := r.pos
		if err := r.subset(t); err != nil {
			return err
		}
		t.Text = strings.TrimSpace(r.doc[inside : r.pos-1])
		r.space()
		if !strings.HasPrefix(r.doc[r.pos:], ">") {
			return r.fail(r.pos, "no > behind the brackets of the document type declaration")
		}
		r.pos++
	}
	return r.characters(r.doc[start:r.pos], start)
}

// skip steps over literals up to and over the next > or one of the other bytes.
func (r *Reader) skip(other, what string) error {
	for r.pos < len(r.doc) {
		c := r.doc[r.pos]
		r.pos++
		switch {
		case c == '>' || strings.IndexByte(other, c) >= 0:
			return nil
		case c == '"' || c == '\'':
			if _, err := r.until(r.pos, string(c), "a literal of "+what); err != nil {
				return err
			}
		}
	}
	return r.fail(r.pos, "the document ends inside %s", what)
}

// subset reads the declarations in the brackets of the document type declaration, and steps over the closing one.
func (r *Reader) subset(t *Token) error {
	for {
		r.space()
		rest := r.doc[r.pos:]
		var err error
		switch {
		case rest == "":
			err = r.fail(r.pos, "the document ends inside the document type declaration")
		case rest[0] == ']':
			r.pos++
			return nil
		case rest[0] == '%':
			t.Unread, r.declared.partial = true, r.declared.partial || !r.included
			err = r.parameterReference()
		case strings.HasPrefix(rest, "<!--"):
			err = r.comment(new(Token))
		case strings.HasPrefix(rest, "<?"):
			err = r.instruction(new(Token))
		case strings.HasPrefix(rest, "<!ENTITY"):
			err = r.entityDeclaration()
		case strings.HasPrefix(rest, "<!ATTLIST"):
			t.Unread = true
			err = r.skip("", "a declaration of attributes")
		case strings.HasPrefix(rest, "<!ELEMENT"), strings.HasPrefix(rest, "<!NOTATION"):
			err = r.skip("", "a declaration of the document type")
		default:
			err = r.fail(r.pos, "no declaration in the brackets of the document type")
		}
		if err != nil {
			return err
		}
	}
}

// parameterReference reads %name; and nothing of what it stands for.
func (r *Reader) parameterReference() error {
	start := r.pos
	r.pos++
	name, err := r.name("a parameter entity")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(r.doc[r.pos:], ";") {
		return r.fail(start, "no ; behind %%%s", name)
	}
	r.pos++
	return nil
}

// entityDeclaration reads <!ENTITY name "text">. Of two for one name the first counts.
func (r *Reader) entityDeclaration() error {
	start := r.pos
	r.pos += len("<!ENTITY")
	spaced := r.space()
	parameter := spaced && strings.HasPrefix(r.doc[r.pos:], "%")
	if parameter {
		r.pos++
		spaced = r.space()
	}
	if !spaced {
		return r.fail(r.pos, "no white space behind <!ENTITY")
	}
	name, err := r.name("an entity")
	if err != nil {
		return err
	}
	if !r.space() {
		return r.fail(r.pos, "no white space behind the name of the entity %s", name)
	}
	e, err := r.entityValue(name, start)
	if _, ok := r.declared.entities[name]; err == nil && !ok && !parameter && !r.included {
		r.declared.entities[name] = e
	}
	return err
}

// entityValue reads what stands behind the name of an entity, to the end of the declaration.
func (r *Reader) entityValue(name string, start int) (entity, error) {
	rest := r.doc[r.pos:]
	if strings.HasPrefix(rest, "SYSTEM") || strings.HasPrefix(rest, "PUBLIC") {
		return entity{external: true}, r.skip("", "the declaration of an entity")
	}
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return entity{}, r.fail(r.pos, "the text of the entity %s is not quoted", name)
	}
	from := r.pos + 1
	literal, err := r.until(from, rest[:1], "the text of an entity")
	if err != nil {
		return entity{}, err
	}
	if n := strings.IndexByte(literal, '%'); n >= 0 {
		return entity{}, r.fail(from+n, "%% in the text of the entity %s", name)
	}
	value, err := r.charactersOf(lineFeeds(literal), from)
	r.space()
	if err == nil && !strings.HasPrefix(r.doc[r.pos:], ">") {
		err = r.fail(start, "no > at the end of the declaration of the entity %s", name)
	}
	r.pos++
	return entity{text: value}, err
}

// charactersOf replaces the references to characters in the text of an entity, and checks that those to entities are some.
func (r *Reader) charactersOf(literal string, pos int) (string, error) {
	var b strings.Builder
	for {
		start, end, name := next(literal)
		switch {
		case start < 0:
			b.WriteString(literal)
			return b.String(), nil
		case name == "":
			return "", r.fail(pos, "& without the name of an entity and a semicolon in the text of an entity")
		case name[0] != '#':
			b.WriteString(literal[:end])
		default:
			c, err := r.character(name, pos)
			if err != nil {
				return "", err
			}
			b.WriteString(literal[:start])
			b.WriteRune(c)
		}
		literal = literal[end:]
	}
}
