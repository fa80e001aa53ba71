package tdesc

import (
	"fmt"
	"strings"

	"tracewell/internal/xmltext"
)

// Source is the authority by which a document is read, where GDB and its manual disagree.
type Source uint8

// The authorities. GDB's manual promises types that GDB 13 does not know (int24, uint24, i386_eflags, i386_mxcsr) and bit
// fields without an end, and forbids what GDB does not mind: see Rule.Manual.
const (
	ByGDB    Source = iota // what GDB 13 does
	ByManual               // what its manual says
)

// Options say how a document is read. The zero value is for documents that stand alone.
type Options struct {
	// Include fetches what an xi:include names; nil refuses them all.
	Include Include
	// Source decides where GDB and its manual disagree.
	Source Source
	// KeepUnknown keeps elements and attributes that the format does not know, see Unknown.
	KeepUnknown bool
}

// Parse reads a target description. Where the document has an xi:include, the function include is asked for the document
// named there; it may be nil for documents that stand alone. The target.xml of a stub and a description saved in a trace
// file both are such documents.
//
// The error of a document that is no description is an *Error. The warnings, in document order, are of what was skipped or
// is questionable; there may be some beside an error as well, and there are never more than 1000.
func Parse(doc []byte, include Include) (*Target, []Finding, error) {
	return Options{Include: include}.Parse(doc)
}

// Parse reads a target description as the function Parse does.
func (o Options) Parse(doc []byte) (*Target, []Finding, error) {
	p := newParser(doc, o)
	if err := p.run(); err != nil {
		return nil, p.builder.warnings, err
	}
	return p.builder.result, p.builder.warnings, nil
}

// Inspect reads a document to find all that is wrong with it, and not only what Parse stops at: behind an element that
// GDB would reject, and which is left out, it reads on. It also looks at what makes the document invalid XML. Findings are
// in document order. The Target is what could be read, with no element at all in the worst case. The error, the last of the
// findings, is why the document could not be read to its end.
func (o Options) Inspect(doc []byte) (*Inspected, error) {
	p := newParser(doc, o)
	p.thorough = true
	err := p.run()
	result := &Inspected{Target: p.builder.result, Findings: p.builder.warnings, places: p.builder.places}
	if result.Target == nil {
		result.Target = new(Target)
	}
	if failure, ok := err.(*Error); ok {
		result.Findings = append(result.Findings, failure.finding())
	}
	return result, err
}

// parser drives the builder through the grammar. Elements nest no deeper than the rules do; an unknown one is skipped whole.
type parser struct {
	source   *source
	builder  *builder
	open     []element
	thorough bool // go on behind errors, and look at what GDB does not mind
	order    bool // look at the order of elements
	keep     bool // what is unknown
}

// element is an open element and what has been seen in it.
type element struct {
	rule *rule
	node node
	seen [maxChildren]bool // children by their place in the rule
	last int               // rank of the child that came last
	text []byte            // when the rule asks for it
	void bool              // it has an error, and what is in it does not count
}

func newParser(doc []byte, o Options) *parser {
	return &parser{source: newSource(doc, o.Include), builder: newBuilder(o.Source), keep: o.KeepUnknown}
}

func (p *parser) run() error {
	p.order = p.thorough || p.builder.source == ByManual
	if p.thorough {
		p.builder.places = newPlaces()
	}
	p.open = append(make([]element, 0, maxDepth), element{rule: documentRule})
	var t xmltext.Token
	for {
		more, err := p.source.next(&t)
		if !more {
			return err
		}
		switch t.Kind {
		case xmltext.Start:
			err = p.start(&t)
		case xmltext.End:
			err = p.end()
		case xmltext.Doctype:
			err = p.doctype(&t)
		default:
			err = p.content(&t)
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) top() *element { return &p.open[len(p.open)-1] }

// failed passes an error on, or notes it where the reading goes on.
func (p *parser) failed(err error) error {
	failure, ok := err.(*Error)
	if !ok || !p.thorough {
		return err
	}
	p.builder.note(failure.finding())
	return nil
}

// breach reports that the document breaks a rule with which GDB has no trouble.
func (p *parser) breach(rule *Rule, pos Position, format string, args ...any) error {
	if rule.Manual && p.builder.source == ByManual {
		return p.failed(errorAt(rule, pos, format, args...))
	}
	p.builder.warn(rule, pos, format, args...)
	return nil
}

func (p *parser) start(t *xmltext.Token) error {
	pos := p.source.place(t)
	parent := p.top()
	i := parent.rule.child(t.Name)
	switch {
	case i < 0 && len(p.open) == 1:
		return errorAt(ruleRoot, pos, "the root element is %s, want <target>", describe(t.Name))
	case i < 0:
		if !p.builder.full() {
			p.builder.warn(ruleUnknownElement, pos, "unknown element %s in <%s>", describe(t.Name), parent.node.name)
		}
		return p.unknown(t, pos)
	}
	c := &parent.rule.children[i]
	if err := p.place(parent, i, pos); err != nil {
		return err
	}
	p.open = append(p.open, element{rule: c.rule, node: node{name: c.name, pos: pos}, void: parent.void})
	e := p.top()
	err := p.attributes(e, t.Attributes)
	if err == nil && c.rule.begin != nil && !e.void {
		e.node.begun = true
		err = c.rule.begin(p.builder, &e.node)
	}
	if err == nil {
		return nil
	}
	e.void = e.void || c.rule != targetRule && c.rule != featureRule
	p.builder.spoil(&e.node)
	return p.failed(err)
}

// place checks that a child may stand where it does.
func (p *parser) place(parent *element, i int, pos Position) error {
	c := &parent.rule.children[i]
	second := c.once && parent.seen[i]
	parent.seen[i] = true
	if second {
		return p.failed(errorAt(ruleSecondElement, pos, "second <%s> in <%s>", c.name, parent.node.name))
	}
	if c.rank < parent.last && p.order {
		return p.breach(ruleOrder, pos, "<%s> stands too late in <%s>", c.name, parent.node.name)
	}
	parent.last = max(parent.last, c.rank)
	return nil
}

func describe(name xmltext.Name) string {
	if name.Space == "" {
		return "<" + name.Local + ">"
	}
	return fmt.Sprintf("<%s> of the namespace %q", name.Local, name.Space)
}

// attributes keeps those that the rule lists.
func (p *parser) attributes(e *element, attrs []xmltext.Attribute) error {
	n := &e.node
	var long error
	for _, a := range attrs {
		i := -1
		if a.Name.Space == "" {
			i = e.rule.attribute(a.Name.Local)
		}
		switch {
		case a.Name.Space == xmltext.NamespaceOfDeclarations:
			p.namespace(n, a)
		case i < 0:
			p.builder.warn(ruleUnknownAttribute, n.pos, "unknown attribute %s of <%s>", a.Name.Local, n.name)
			p.unknownAttribute(n, a)
		default:
			if err := checkLength(n.pos, a.Name.Local, a.Value); err != nil {
				long = err
			}
			n.attributes = e.rule.attributes
			n.values[i], n.given[i] = a.Value, true
		}
	}
	n.attributes = e.rule.attributes
	for i, a := range e.rule.attributes {
		if a.required && !n.given[i] {
			rule := ruleMissingAttribute
			if a.vital {
				rule = ruleNoValue
			}
			return errorAt(rule, n.pos, "<%s> without its attribute %s", n.name, a.name)
		}
	}
	return long
}

// namespace notes declarations of namespaces that the document type definition does not have.
func (p *parser) namespace(n *node, a xmltext.Attribute) {
	if p.thorough && (a.Name.Local != "xi" || a.Value != xincludeSpace) {
		p.builder.warn(ruleUnknownAttribute, n.pos, "declaration of the namespace %q in <%s>", a.Value, n.name)
	}
}

func (p *parser) end() error {
	e := p.top()
	p.open = p.open[:len(p.open)-1]
	err := p.finish(e)
	if err == nil {
		return nil
	}
	p.builder.spoil(&e.node)
	return p.failed(err)
}

// finish checks an element that is at its end, and hands it to the builder.
func (p *parser) finish(e *element) error {
	for i, c := range e.rule.children {
		if c.needed && !e.seen[i] {
			return errorAt(ruleMissingElement, e.node.pos, "<%s> without a <%s>", e.node.name, c.name)
		}
	}
	if e.rule.end == nil || e.void {
		return nil
	}
	e.node.text = strings.TrimSpace(string(e.text))
	if err := checkLength(e.node.pos, e.node.name, e.node.text); err != nil {
		return err
	}
	e.node.begun = true
	return e.rule.end(p.builder, &e.node)
}

// content takes text, and notes what the document type definition does not allow, once for each element.
func (p *parser) content(t *xmltext.Token) error {
	e := p.top()
	if e.rule.text && t.Kind == xmltext.Text {
		e.text = append(e.text, t.Text...)
	}
	if !p.thorough || e.rule.text || len(p.open) == 1 || e.node.stray {
		return nil
	}
	switch {
	case e.rule.children == nil:
		p.builder.warn(ruleNotEmpty, p.source.place(t), "<%s> is not empty", e.node.name)
	case t.Kind == xmltext.Text && (t.CDATA || strings.TrimSpace(t.Text) != ""):
		p.builder.warn(ruleStrayText, p.source.place(t), "text in <%s>", e.node.name)
	default:
		return nil
	}
	e.node.stray = true
	return nil
}

// doctype looks at the document type declaration of the outermost document; GDB drops those of included ones.
func (p *parser) doctype(t *xmltext.Token) error {
	pos, outermost := p.source.place(t), len(p.source.docs) == 1
	switch {
	case !outermost && t.Text != "":
		p.builder.warn(ruleDropped, pos, "the document type has declarations, which do not count in an included document")
	case outermost && t.Unread:
		p.builder.warn(ruleSubset, pos, "the document type declares attributes or refers to parameter entities, which is not read")
	}
	if p.thorough && outermost && t.Name.Local != "target" {
		p.builder.warn(ruleDoctype, pos, "the document type is %s, want target", t.Name.Local)
	}
	return nil
}
