package xmltext

import (
	"strings"
	"unicode/utf8"
)

// startTag reads a start tag or an empty-element tag.
func (r *Reader) startTag(t *Token) error {
	t.Kind = Start
	start := r.pos
	r.pos++
	raw, err := r.name("an element")
	if err != nil {
		return err
	}
	switch {
	case len(r.open) == 0 && r.root:
		return r.fail(start, "second root element <%s>", raw)
	case len(r.open) == MaxDepth:
		return r.failAs(Unsupported, start, "<%s> is nested deeper than %d elements", raw, MaxDepth)
	}
	r.root = true
	r.raw = r.raw[:0]
	bindings := len(r.bindings)
	for {
		spaced := r.space()
		switch {
		case r.pos >= len(r.doc):
			return r.fail(r.pos, "the document ends inside the tag <%s>", raw)
		case r.doc[r.pos] == '>':
			r.pos++
		case strings.HasPrefix(r.doc[r.pos:], "/>"):
			r.pos += 2
			r.pendingEnd = true
		case !spaced:
			return r.fail(r.pos, "no white space before an attribute of <%s>", raw)
		case len(r.raw) == MaxAttributes:
			return r.failAs(Unsupported, start, "<%s> has more than %d attributes", raw, MaxAttributes)
		default:
			if err := r.attribute(raw); err != nil {
				return err
			}
			continue
		}
		return r.enter(t, raw, start, bindings)
	}
}

// space steps over white space and tells whether there is some.
func (r *Reader) space() bool {
	start := r.pos
	for r.pos < len(r.doc) && isSpace(rune(r.doc[r.pos])) {
		r.pos++
	}
	return r.pos > start
}

// attribute reads name="value".
func (r *Reader) attribute(elem string) error {
	a := rawAttribute{pos: r.pos}
	name, err := r.name("an attribute of <%s>", elem)
	if err != nil {
		return err
	}
	r.space()
	if r.pos >= len(r.doc) || r.doc[r.pos] != '=' {
		return r.fail(r.pos, "no = behind the attribute %s of <%s>", name, elem)
	}
	r.pos++
	r.space()
	if a.value, err = r.quoted(name, elem); err != nil {
		return err
	}
	if a.prefix, a.local, err = r.split(name, a.pos); err != nil {
		return err
	}
	for i := range r.raw {
		if r.raw[i].local == a.local && r.raw[i].prefix == a.prefix {
			return r.fail(a.pos, "attribute %s of <%s> comes twice", name, elem)
		}
	}
	r.raw = append(r.raw, a)
	switch {
	case a.prefix == "xmlns":
		if a.value == "" || a.local == "xmlns" || a.local == "xml" && a.value != NamespaceOfXML {
			return r.fail(a.pos, "the prefix %s cannot stand for %q", a.local, a.value)
		}
		r.bindings = append(r.bindings, binding{a.local, a.value})
	case a.prefix == "" && a.local == "xmlns":
		r.bindings = append(r.bindings, binding{"", a.value})
	}
	return nil
}

// quoted reads the value of an attribute.
func (r *Reader) quoted(name, elem string) (string, error) {
	if r.pos >= len(r.doc) || r.doc[r.pos] != '"' && r.doc[r.pos] != '\'' {
		return "", r.fail(r.pos, "the value of the attribute %s of <%s> is not quoted", name, elem)
	}
	start := r.pos + 1
	n := strings.IndexByte(r.doc[start:], r.doc[r.pos])
	if n < 0 {
		return "", r.fail(r.pos, "the value of the attribute %s of <%s> has no closing quote", name, elem)
	}
	value := r.doc[start : start+n]
	r.pos = start + n + 1
	if n := strings.IndexByte(value, '<'); n >= 0 {
		return "", r.fail(start+n, "< in the value of the attribute %s of <%s>", name, elem)
	}
	if err := r.characters(value, start); err != nil {
		return "", err
	}
	if strings.IndexByte(value, '\r') >= 0 {
		value = lineFeeds(value)
	}
	return r.references(blanks(value), start)
}

// blanks makes a blank of each line feed and tab.
func blanks(s string) string {
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(s)
}

// enter resolves the prefixes of a start tag that has been read, and opens the element.
func (r *Reader) enter(t *Token, raw string, start, bindings int) error {
	prefix, local, err := r.split(raw, start+1)
	if err != nil {
		return err
	}
	space, ok := r.resolve(prefix)
	if !ok {
		return r.fail(start, "<%s> has a prefix that is not declared", raw)
	}
	t.Name = Name{space, local}
	r.attributes = r.attributes[:0]
	for i := range r.raw {
		a := &r.raw[i]
		name := Name{Local: a.local}
		switch {
		case a.prefix == "xmlns" || a.prefix == "" && a.local == "xmlns":
			name.Space = NamespaceOfDeclarations
		case a.prefix != "":
			if name.Space, ok = r.resolve(a.prefix); !ok {
				return r.fail(a.pos, "the attribute %s:%s of <%s> has a prefix that is not declared", a.prefix, a.local, raw)
			}
			for _, earlier := range r.attributes {
				if earlier.Name == name {
					return r.fail(a.pos, "attribute %s of the namespace %q comes twice in <%s>", a.local, name.Space, raw)
				}
			}
		}
		r.attributes = append(r.attributes, Attribute{name, a.value})
	}
	t.Attributes = r.attributes
	r.open = append(r.open, element{raw, t.Name, bindings})
	return nil
}

// resolve finds the namespace of a prefix.
func (r *Reader) resolve(prefix string) (space string, ok bool) {
	for i := len(r.bindings) - 1; i >= 0; i-- {
		if r.bindings[i].prefix == prefix {
			return r.bindings[i].space, true
		}
	}
	switch prefix {
	case "":
		return "", true
	case "xml":
		return NamespaceOfXML, true
	}
	if space, ok := r.bound[prefix]; ok {
		return space, true
	}
	return "", false
}

// split takes a name apart at its colon.
func (r *Reader) split(name string, pos int) (prefix, local string, err error) {
	n := strings.IndexByte(name, ':')
	if n < 0 {
		return "", name, nil
	}
	if prefix, local = name[:n], name[n+1:]; n == 0 || !IsName(local) {
		return "", "", r.fail(pos, "the name %q is not a prefix, a colon and a name", name)
	}
	return prefix, local, nil
}

func (r *Reader) endTag(t *Token) error {
	t.Kind = End
	start := r.pos
	r.pos += 2
	raw, err := r.name("an end tag")
	if err != nil {
		return err
	}
	r.space()
	if r.pos >= len(r.doc) || r.doc[r.pos] != '>' {
		return r.fail(r.pos, "no > at the end of </%s>", raw)
	}
	r.pos++
	switch {
	case len(r.open) == r.floor:
		return r.fail(start, "</%s>, but no element is open", raw)
	case r.open[len(r.open)-1].raw != raw:
		return r.fail(start, "</%s> where </%s> is wanted", raw, r.open[len(r.open)-1].raw)
	}
	return r.leave(t)
}

// leave closes the innermost element.
func (r *Reader) leave(t *Token) error {
	last := r.open[len(r.open)-1]
	t.Name = last.name
	r.open = r.open[:len(r.open)-1]
	r.bindings = r.bindings[:last.bindings]
	return nil
}

// name reads a name.
func (r *Reader) name(what string, args ...any) (string, error) {
	start := r.pos
	for r.pos < len(r.doc) && r.doc[r.pos] < 0x80 && ascii[r.doc[r.pos]]&inName != 0 {
		r.pos++
	}
	for r.pos < len(r.doc) {
		c, n := utf8.DecodeRuneInString(r.doc[r.pos:])
		if !isNameCharacter(c) {
			break
		}
		r.pos += n
	}
	name := r.doc[start:r.pos]
	if !startsName(name) {
		return "", r.fail(start, "no name of "+what, args...)
	}
	return name, nil
}
