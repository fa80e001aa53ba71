package tdesc

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Parse reads a target description. Where the document has an xi:include, the function include is asked for the document
// named there; it may be nil for documents that stand alone. The target.xml of a stub and a description saved in a trace
// file both are such documents.
//
// The error of a document that is no description is an *Error. The warnings, in document order, are of what was skipped or
// is questionable; there may be some beside an error as well.
func Parse(doc []byte, include Include) (*Target, []Warning, error) {
	p := &parser{source: newSource(doc, include), builder: newBuilder()}
	err := p.run()
	if err != nil {
		return nil, p.builder.warnings, err
	}
	return p.builder.result, p.builder.warnings, nil
}

// parser drives the builder through the grammar. Elements nest no deeper than the rules do; an unknown one is skipped whole.
type parser struct {
	source  *source
	builder *builder
	open    []*element
}

// element is an open element and what has been seen in it.
type element struct {
	rule *rule
	node node
	seen map[string]int // children by name
	text []byte         // when the rule asks for it
}

func (p *parser) run() error {
	p.open = []*element{{rule: documentRule}}
	for {
		token, pos, err := p.source.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = p.start(t, pos)
		case xml.EndElement:
			err = p.end()
		case xml.CharData:
			p.text(t)
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) top() *element { return p.open[len(p.open)-1] }

func (p *parser) start(t xml.StartElement, pos Position) error {
	parent := p.top()
	c := parent.child(t.Name)
	if c == nil && len(p.open) == 1 {
		return errorAt(pos, "the root element is %s, want <target>", describe(t.Name))
	}
	if c == nil {
		p.builder.warn(pos, "unknown element %s in <%s>", describe(t.Name), parent.node.name)
		return p.skip()
	}
	if c.once && parent.seen[c.name] > 0 {
		return errorAt(pos, "second <%s> in <%s>", c.name, parent.node.name)
	}
	parent.count(c.name)
	e := &element{rule: c.rule, node: node{name: c.name, pos: pos}}
	if err := p.attributes(e, t.Attr); err != nil {
		return err
	}
	p.open = append(p.open, e)
	if c.rule.begin == nil {
		return nil
	}
	return c.rule.begin(p.builder, &e.node)
}

func describe(name xml.Name) string {
	if name.Space == "" {
		return "<" + name.Local + ">"
	}
	return fmt.Sprintf("<%s> of the namespace %q", name.Local, name.Space)
}

// child finds the rule for a child element. Elements of a namespace are nobody's children here.
func (e *element) child(name xml.Name) *child {
	if name.Space != "" {
		return nil
	}
	for i := range e.rule.children {
		if e.rule.children[i].name == name.Local {
			return &e.rule.children[i]
		}
	}
	return nil
}

func (e *element) count(name string) {
	if e.seen == nil {
		e.seen = make(map[string]int)
	}
	e.seen[name]++
}

// attributes keeps those that the rule lists, and checks what encoding/xml does not: that none comes twice.
func (p *parser) attributes(e *element, attrs []xml.Attr) error {
	n := &e.node
	n.values = make(map[string]string, len(e.rule.attributes))
	all := make(map[xml.Name]bool, len(attrs))
	for _, a := range attrs {
		if all[a.Name] {
			return errorAt(n.pos, "attribute %s of <%s> comes twice", a.Name.Local, n.name)
		}
		all[a.Name] = true
		switch {
		case a.Name.Space == "xmlns" || a.Name == xml.Name{Local: "xmlns"}:
		case a.Name.Space != "" || !e.rule.has(a.Name.Local):
			p.builder.warn(n.pos, "unknown attribute %s of <%s>", a.Name.Local, n.name)
		default:
			v := normalize(a.Value)
			if err := checkLength(n.pos, a.Name.Local, v); err != nil {
				return err
			}
			n.values[a.Name.Local] = v
		}
	}
	for _, a := range e.rule.attributes {
		if _, ok := n.values[a.name]; a.required && !ok {
			return errorAt(n.pos, "<%s> without its attribute %s", n.name, a.name)
		}
	}
	return nil
}

func (r *rule) has(name string) bool {
	for _, a := range r.attributes {
		if a.name == name {
			return true
		}
	}
	return false
}

// normalize does what XML asks for attribute values and encoding/xml leaves out: white space becomes blanks.
func normalize(v string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, v)
}

// skip reads to the end of an unknown element.
func (p *parser) skip() error {
	for depth := 1; depth > 0; {
		token, _, err := p.source.next()
		if err != nil {
			return err // cannot be io.EOF: the decoder wants the end element first
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

func (p *parser) end() error {
	e := p.top()
	p.open = p.open[:len(p.open)-1]
	for _, c := range e.rule.children {
		if c.needed && e.seen[c.name] == 0 {
			return errorAt(e.node.pos, "<%s> without a <%s>", e.node.name, c.name)
		}
	}
	if e.rule.end == nil {
		return nil
	}
	e.node.text = strings.TrimSpace(string(e.text))
	if err := checkLength(e.node.pos, e.node.name, e.node.text); err != nil {
		return err
	}
	return e.rule.end(p.builder, &e.node)
}

func (p *parser) text(t xml.CharData) {
	if e := p.top(); e.rule.text {
		e.text = append(e.text, t...)
	}
}
