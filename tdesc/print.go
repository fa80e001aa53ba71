package tdesc

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"
)

// maxLine is the longest line that XML prints, without its line feed. A description goes into a trace file line by line,
// and GDB reads no line of 1000 bytes there, keyword and line feed included.
const maxLine = 989

// XML prints the description in one canonical form: XML declaration and document type, one element a line, no includes,
// the types of a feature before its registers, every register with its number and type. Parse reads an equal Target from
// it, if t can come from Parse at all.
func (t *Target) XML() []byte {
	p := new(printer)
	p.line("<?xml version=\"1.0\"?>")
	p.line("<!DOCTYPE target SYSTEM \"gdb-target.dtd\">")
	target := newTag("target")
	p.open(target.optional("version", t.Version).unknown(t.Unknown))
	p.text("architecture", t.Architecture)
	p.text("osabi", t.OSABI)
	for _, c := range t.Compatible {
		p.text("compatible", c)
	}
	for _, f := range t.Features {
		p.feature(f)
	}
	p.unknown(t.Unknown)
	p.close("target")
	return p.out.Bytes()
}

// printer writes lines, indented by the depth of open elements.
type printer struct {
	out   bytes.Buffer
	depth int
}

func (p *printer) line(s string) {
	p.out.WriteString(p.indent())
	p.out.WriteString(s)
	p.out.WriteByte('\n')
}

// deepest is where the indentation stops to grow, so that all that Parse accepts fits a line.
const deepest = 8

func (p *printer) indent() string { return strings.Repeat("  ", min(p.depth, deepest)) }

// text prints an element with text in it, unless that is empty.
func (p *printer) text(name, text string) {
	if text != "" {
		p.line("<" + name + ">" + escape(text) + "</" + name + ">")
	}
}

func (p *printer) open(t *tag) {
	p.tag(t, ">")
	p.depth++
}

func (p *printer) close(name string) {
	p.depth--
	p.line("</" + name + ">")
}

// leaf prints an element that has nothing in it, unless there is something unknown.
func (p *printer) leaf(t *tag, unknown *Unknown) {
	t.unknown(unknown)
	if unknown == nil || len(unknown.Elements) == 0 {
		p.tag(t, "/>")
		return
	}
	p.open(t)
	p.unknown(unknown)
	p.close(t.name)
}

// tag prints a tag in one line if it fits, else with a line for each attribute.
func (p *printer) tag(t *tag, end string) {
	line := "<" + t.name
	if len(t.attributes) > 0 {
		line += " " + strings.Join(t.attributes, " ")
	}
	if line += end; len(p.indent())+len(line) <= maxLine {
		p.line(line)
		return
	}
	p.line("<" + t.name)
	for _, a := range t.attributes {
		p.line("  " + a)
	}
	p.line(end)
}

// tag is the name of an element with its attributes, ready for print.
type tag struct {
	name       string
	attributes []string
}

func newTag(name string) *tag { return &tag{name: name} }

func (t *tag) add(name, value string) *tag {
	t.attributes = append(t.attributes, name+`="`+escape(value)+`"`)
	return t
}

func (t *tag) optional(name, value string) *tag {
	if value == "" {
		return t
	}
	return t.add(name, value)
}

func (t *tag) number(name string, value int) *tag { return t.add(name, strconv.Itoa(value)) }

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

func (p *printer) feature(f *Feature) {
	p.open(newTag("feature").add("name", f.Name).unknown(f.Unknown))
	for _, t := range f.Types {
		p.typ(t)
	}
	for _, r := range f.Registers {
		p.register(r)
	}
	p.unknown(f.Unknown)
	p.close("feature")
}

func (p *printer) register(r *Register) {
	t := newTag("reg").add("name", r.Name).number("bitsize", r.Bits).add("type", r.Type).number("regnum", int(r.Num))
	t.optional("group", r.Group)
	if !r.SaveRestore {
		t.add("save-restore", "no")
	}
	p.leaf(t, r.Unknown)
}

func (p *printer) typ(t Type) {
	switch t := t.(type) {
	case Vector:
		p.leaf(newTag("vector").add("id", t.ID).add("type", t.Elem).number("count", t.Count), t.Unknown)
	case Struct:
		head := newTag("struct").add("id", t.ID)
		if t.Size != 0 {
			head.number("size", t.Size)
		}
		p.fields(head, t.Fields, t.Bits, t.Unknown)
	case Union:
		p.fields(newTag("union").add("id", t.ID), t.Fields, nil, t.Unknown)
	case Flags:
		p.fields(newTag("flags").add("id", t.ID).number("size", t.Size), nil, t.Bits, t.Unknown)
	case Enum:
		p.open(newTag("enum").add("id", t.ID).number("size", t.Size).unknown(t.Unknown))
		for _, v := range t.Values {
			p.leaf(newTag("evalue").add("name", v.Name).number("value", v.Value), v.Unknown)
		}
		p.unknown(t.Unknown)
		p.close("enum")
	}
}

func (p *printer) fields(head *tag, fields []Field, bits []BitField, unknown *Unknown) {
	p.open(head.unknown(unknown))
	for _, f := range fields {
		p.leaf(newTag("field").add("name", f.Name).add("type", f.Type), f.Unknown)
	}
	for _, f := range bits {
		t := newTag("field").add("name", f.Name).number("start", f.Start).number("end", f.End)
		p.leaf(t.optional("type", f.Type), f.Unknown)
	}
	p.unknown(unknown)
	p.close(head.name)
}
