package xmltext

import (
	"slices"
	"strconv"
	"strings"

	"tracewell/internal/text"
)

// Bounds of entities, which may refer to each other.
const (
	MaxExpansion   = 1 << 20 // bytes that all references to entities of a document stand for, also of those within entities
	maxEntityDepth = 64      // entities that are open at a time
)

// declarations are those of a document type.
type declarations struct {
	entities   map[string]entity
	partial    bool // there are declarations that have not been read
	standalone bool // the document says that there are none elsewhere
	expanded   int  // bytes of the entities that have been referred to
}

// entity is the replacement text of an entity: in what was declared, references to characters are replaced, and those to
// entities not yet.
type entity struct {
	text     string
	external bool // it is another document, and has no text
}

// input is what is being read: the document, or an entity that it refers to.
type input struct {
	doc   string
	pos   int // of the next byte
	floor int // how many elements were open where it began
}

// predefined are the entities that need no declaration.
var predefined = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "apos": '\'', "quot": '"'}

// next finds the next reference in s: it begins at start, its name is what stands between & and ;, and it ends in front of end.
// start is negative without one, name empty for what is no reference.
func next(s string) (start, end int, name string) {
	start = strings.IndexByte(s, '&')
	if start < 0 {
		return -1, 0, ""
	}
	n := strings.IndexByte(s[start:], ';')
	if n < 0 {
		return start, 0, ""
	}
	name = s[start+1 : start+n]
	if !strings.HasPrefix(name, "#") && !isName(name) {
		name = ""
	}
	return start, start + n + 1, name
}

// general tells whether a reference is to an entity that has to be declared.
func general(name string) bool {
	_, known := predefined[name]
	return name != "" && name[0] != '#' && !known
}

// untilEntity is how many bytes of s there are in front of the first reference to such an entity.
func untilEntity(s string) int {
	for at := 0; ; {
		start, end, name := next(s[at:])
		switch {
		case start < 0 || name == "":
			return len(s)
		case general(name):
			return at + start
		}
		at += end
	}
}

// references replaces the references in text that begins at pos. Unless there are some, nothing is copied.
func (r *Reader) references(s string, pos int) (string, error) {
	if strings.IndexByte(s, '&') < 0 {
		return lineFeeds(s), nil
	}
	var b strings.Builder
	for at := 0; ; {
		start, end, name := next(s[at:])
		if start < 0 {
			b.WriteString(lineFeeds(s[at:]))
			return b.String(), nil
		}
		b.WriteString(lineFeeds(s[at : at+start]))
		if err := r.replace(&b, name, pos+at+start); err != nil {
			return "", err
		}
		at += end
	}
}

// replace writes what a reference at pos stands for.
func (r *Reader) replace(b *strings.Builder, name string, pos int) error {
	switch {
	case name == "":
		return r.fail(pos, "& without the name of an entity and a semicolon")
	case general(name):
		return r.inAttribute(b, name, pos)
	}
	c, err := r.character(name, pos)
	b.WriteRune(c)
	return err
}

// character is the character that a reference means.
func (r *Reader) character(name string, pos int) (rune, error) {
	if !strings.HasPrefix(name, "#") {
		return predefined[name], nil
	}
	digits, base := name[1:], 10
	if strings.HasPrefix(digits, "x") {
		digits, base = digits[1:], 16
	}
	c, err := strconv.ParseUint(digits, base, 31)
	if err != nil || !isCharacter(rune(c)) {
		return 0, r.fail(pos, "%s is the number of no character", text.Quote(name))
	}
	return rune(c), nil
}

// replacement finds the text of an entity, and counts it.
func (r *Reader) replacement(name string, pos int) (string, error) {
	e, ok := r.declared.entities[name]
	switch {
	case !ok && r.declared.partial:
		return "", r.failAs(Unsupported, pos, "the entity %s is not declared where it can be read", text.Quote(name))
	case !ok && r.declared.standalone:
		return "", r.fail(pos, "the entity %s is not declared", text.Quote(name))
	case !ok:
		return "", r.failAs(Undeclared, pos, "the entity %s is not declared", text.Quote(name))
	case e.external:
		return "", r.fail(pos, "the entity %s is another document", text.Quote(name))
	case slices.Contains(r.names, name):
		return "", r.fail(pos, "the entity %s refers to itself", text.Quote(name))
	case len(r.names) == maxEntityDepth:
		return "", r.failAs(Unsupported, pos, "entities refer to each other deeper than %d times", maxEntityDepth)
	}
	if r.declared.expanded += len(e.text); r.declared.expanded > MaxExpansion {
		return "", r.failAs(Unsupported, pos, "the entities that are referred to have more than %d bytes", MaxExpansion)
	}
	return e.text, nil
}

// inAttribute writes what a reference to an entity stands for in the value of an attribute.
func (r *Reader) inAttribute(b *strings.Builder, name string, pos int) error {
	value, err := r.replacement(name, pos)
	switch {
	case err != nil:
		return err
	case strings.IndexByte(value, '<') >= 0:
		return r.fail(pos, "< in the value of an attribute, by the entity %s", text.Quote(name))
	}
	r.names = append(r.names, name)
	value = blanks(value)
	for err == nil {
		start, end, inner := next(value)
		if start < 0 {
			break
		}
		b.WriteString(value[:start])
		err = r.replace(b, inner, pos)
		value = value[end:]
	}
	b.WriteString(value)
	r.names = r.names[:len(r.names)-1]
	return err
}

// enterEntity goes on with the text of an entity if a reference to one comes next in an element.
func (r *Reader) enterEntity() (entered bool, err error) {
	if r.doc[r.pos] != '&' || len(r.open) == 0 {
		return false, nil
	}
	_, end, name := next(r.doc[r.pos:])
	if !general(name) {
		return false, nil
	}
	value, err := r.replacement(name, r.pos)
	if err != nil {
		return false, err
	}
	if len(r.outer) == 0 {
		r.reference = r.place(r.pos)
	}
	r.pos += end
	r.outer, r.names = append(r.outer, r.input), append(r.names, name)
	r.input = input{doc: value, floor: len(r.open)}
	return true, nil
}

// leaveEntity goes on behind the reference to an entity that is at its end.
func (r *Reader) leaveEntity() error {
	if len(r.open) > r.floor {
		return r.fail(r.pos, "<%s> is open at the end of the entity", r.open[len(r.open)-1].raw)
	}
	last := len(r.outer) - 1
	r.input, r.outer, r.names = r.outer[last], r.outer[:last], r.names[:last]
	return nil
}
