package tdesc

import (
	"strconv"

	"tracewell/internal/xmltext"
)

// unknown adds the attributes that the format does not know.
func (t *tag) unknown(u *Unknown) *tag {
	if u != nil {
		t.unknownAttributes(u.Attributes)
	}
	return t
}

// unknownAttributes adds attributes of any namespace, each of which gets a prefix of its own.
func (t *tag) unknownAttributes(attributes []UnknownAttribute) {
	for i, a := range attributes {
		prefix := "a" + strconv.Itoa(i)
		switch a.Space {
		case "":
			t.add(a.Name, a.Value)
		case xmltext.NamespaceOfXML:
			t.add("xml:"+a.Name, a.Value)
		default:
			t.add("xmlns:"+prefix, a.Space).add(prefix+":"+a.Name, a.Value)
		}
	}
}

// unknown prints the elements that the format does not know.
func (p *printer) unknown(u *Unknown) {
	if u == nil {
		return
	}
	for _, e := range u.Elements {
		p.element(e, "")
	}
}

// element prints an unknown element inside one of the namespace space.
func (p *printer) element(e *UnknownElement, space string) {
	t := newTag(e.Name)
	if e.Space != space {
		t.add("xmlns", e.Space)
	}
	t.unknownAttributes(e.Attributes)
	switch {
	case len(e.Elements) == 0 && e.Text == "":
		p.tag(t, "/>")
		return
	case len(e.Elements) == 0 && len(t.attributes) == 0:
		p.line("<" + e.Name + ">" + escape(e.Text) + "</" + e.Name + ">")
		return
	}
	p.open(t)
	if e.Text != "" {
		p.line(escape(e.Text))
	}
	for _, child := range e.Elements {
		p.element(child, e.Space)
	}
	p.close(e.Name)
}
