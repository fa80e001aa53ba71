package tdesc

import (
	"strings"

	"tracewell/internal/xmltext"
)

// Unknown is what an element had that the format does not know, as far as Options.KeepUnknown asks for it. Text and
// elements that stand beside each other lose their order; unknown parts of <architecture>, <osabi> and <compatible> are
// never kept.
type Unknown struct {
	Attributes []UnknownAttribute
	Elements   []*UnknownElement
}

// UnknownAttribute is an attribute of Unknown or of an UnknownElement.
type UnknownAttribute struct {
	Space string // namespace, "" for none
	Name  string
	Value string
}

// UnknownElement is an element with all that is in it.
type UnknownElement struct {
	Space      string // namespace, "" for none
	Name       string
	Attributes []UnknownAttribute
	Text       string // all text in it, but not in its elements, without the blanks around it
	Elements   []*UnknownElement
}

func (n *node) keep() *Unknown {
	if n.unknown == nil {
		n.unknown = new(Unknown)
	}
	return n.unknown
}

// unknownAttribute keeps an attribute, if that is wanted.
func (p *parser) unknownAttribute(n *node, a xmltext.Attribute) {
	if p.keep && p.keepable(n.pos, a.Name.Space+a.Name.Local, a.Value) {
		u := n.keep()
		u.Attributes = append(u.Attributes, UnknownAttribute{a.Name.Space, a.Name.Local, a.Value})
	}
}

// keepable tells whether a name and a text fit into one line of a trace file.
func (p *parser) keepable(pos Position, name, text string) bool {
	if escapedLength(name)*2+escapedLength(text) <= maxValue {
		return true
	}
	p.builder.warn(ruleLongName, pos, "%.20q… with %d bytes is not kept", name, len(name)+len(text))
	return false
}

// unknown reads an unknown element to its end, and keeps it if that is wanted.
func (p *parser) unknown(t *xmltext.Token, pos Position) error {
	root, err := p.tree(t, pos)
	if p.keep && root != nil {
		u := p.top().node.keep()
		u.Elements = append(u.Elements, root)
	}
	return err
}

// tree reads an element to its end. The result is nil if the element is not to be kept.
func (p *parser) tree(t *xmltext.Token, pos Position) (*UnknownElement, error) {
	e := p.unknownElement(t, pos)
	var text strings.Builder
	for {
		if _, err := p.source.next(t); err != nil {
			return nil, err
		}
		switch t.Kind {
		case xmltext.Start:
			child, err := p.tree(t, p.source.place(t))
			if err != nil {
				return nil, err
			}
			if e != nil && child != nil {
				e.Elements = append(e.Elements, child)
			}
		case xmltext.Text:
			if p.keep {
				text.WriteString(t.Text)
			}
		case xmltext.End:
			if e == nil {
				return nil, nil
			}
			if e.Text = strings.TrimSpace(text.String()); !p.keepable(pos, e.Space+e.Name, e.Text) {
				return nil, nil
			}
			return e, nil
		}
	}
}

func (p *parser) unknownElement(t *xmltext.Token, pos Position) *UnknownElement {
	if !p.keep {
		return nil
	}
	e := &UnknownElement{Space: t.Name.Space, Name: t.Name.Local}
	for _, a := range t.Attributes {
		if a.Name.Space != xmltext.NamespaceOfDeclarations && p.keepable(pos, a.Name.Space+a.Name.Local, a.Value) {
			e.Attributes = append(e.Attributes, UnknownAttribute{a.Name.Space, a.Name.Local, a.Value})
		}
	}
	return e
}
