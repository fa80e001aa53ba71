package ctf

import (
	"fmt"
	"strings"

	"tracewell/arch"
)

// layout is what is to be known of a stream to read it.
type layout struct {
	order        arch.ByteOrder
	registerSize int

	header, context, event              *record // of a packet, of a packet, of an event
	magic, content, packet, tpnum, idAt int     // which of their fields it is; magic may be missing, -1
	classes                             map[uint64]*class
}

// class is one class of event.
type class struct {
	name   string
	fields record
	role   *role // nil for one that means nothing here
	at     []int // which fields those of the role are
}

// shape is what a field has to be.
type shape uint8

// The shapes of fields.
const (
	shapeNumber shape = iota
	shapeText
	shapeTexts
	shapeBytes
	shapeBlock // bytes that fit into a block of a trace file however many they are
)

// shapeNames are the shapes in words.
var shapeNames = [...]string{
	shapeNumber: "an integer",
	shapeText:   "a string",
	shapeTexts:  "an array of strings",
	shapeBytes:  "an array of bytes",
	shapeBlock:  "an array of bytes, of which a number of 16 bits or less says how many",
}

// is reports whether field i has the shape.
func (r *record) is(i int, s shape) bool {
	f := &r.fields[i]
	single := f.count == scalar
	bytes := !single && f.typ.size == 1 && f.typ.align == 1
	switch s {
	case shapeNumber:
		return single && f.typ.size > 0
	case shapeText:
		return single && f.typ.size == 0
	case shapeTexts:
		return !single && f.typ.size == 0
	case shapeBlock:
		return bytes && f.count == counted && r.fields[f.from].typ.size <= 2
	}
	return bytes
}

// wanted is a field that a role needs.
type wanted struct {
	name  string
	shape shape
}

// role is what an event means. Its functions are given the values of its fields, in their order here.
type role struct {
	fields []wanted
	// block appends the event to the frame as a block of a trace file; nil if it is none.
	block func(frame []byte, order arch.ByteOrder, v []value) []byte
	// define takes the event into the definitions; nil if it defines nothing.
	define func(d *definitions, v []value) error
}

// roles are the events that mean something here, by name. (frame means that a frame begins.)
var roles = map[string]*role{
	"frame":    {},
	"register": {fields: []wanted{{"contents", shapeBytes}}, block: registersBlock},
	"memory":   {fields: []wanted{{"address", shapeNumber}, {"contents", shapeBlock}}, block: memoryBlock},
	"tsv":      {fields: []wanted{{"num", shapeNumber}, {"val", shapeNumber}}, block: variableBlock},
	"static":   {fields: []wanted{{"contents", shapeBlock}}, block: staticBlock},
	"rest":     {fields: []wanted{{"contents", shapeBytes}}, block: restBlock},
	"status":   {fields: statusFields, define: (*definitions).status},
	"tsv_def":  {fields: variableFields, define: (*definitions).variable},
	"tp_def":   {fields: tracepointFields, define: (*definitions).tracepoint},
}

// newLayout finds in what is declared all that a trace of GDB's has. The error is a *MetadataError.
func newLayout(d *declared) (*layout, error) {
	l := &layout{order: d.order, header: d.header, context: d.context, event: d.event, classes: make(map[uint64]*class)}
	missing := func(what string) error { return &MetadataError{d.end, "the end of the text", what} }
	switch {
	case d.order == nil:
		return nil, missing("the byte_order of the trace")
	case d.header == nil:
		return nil, missing("the packet.header of the trace")
	case d.context == nil:
		return nil, missing("the packet.context of the stream")
	case d.event == nil:
		return nil, missing("the event.header of the stream")
	}
	l.magic = d.header.find("magic")
	for _, place := range []struct {
		at   *int
		in   *record
		name string
	}{{&l.content, d.context, "content_size"}, {&l.packet, d.context, "packet_size"}, {&l.tpnum, d.context, "tpnum"}, {&l.idAt,
		d.event, "id"}} {
		if *place.at = place.in.find(place.name); *place.at < 0 {
			return nil, missing("a field " + place.name + " in the context of packets or the header of events")
		}
	}
	for _, e := range d.events {
		if err := l.add(e); err != nil {
			return nil, err
		}
	}
	if l.registerSize == 0 {
		return nil, missing("an event named register with an array of bytes contents")
	}
	return l, nil
}

// find returns which field has the name, -1 for none. An underscore that a name begins with is no part of it: writers put one
// there so that no name is a keyword.
func (r *record) find(name string) int {
	for i := range r.fields {
		if strings.TrimPrefix(r.fields[i].name, "_") == name {
			return i
		}
	}
	return -1
}

// add takes an event class.
func (l *layout) add(e declaredEvent) error {
	if other := l.classes[e.id]; other != nil {
		return &MetadataError{e.line, fmt.Sprintf("event %s with id %d", e.name, e.id), "an id other than that of event " + other.name}
	}
	c := &class{name: e.name, fields: e.fields, role: roles[e.name]}
	l.classes[e.id] = c
	if c.role == nil {
		return nil
	}
	for _, want := range c.role.fields {
		at := c.fields.find(want.name)
		if at < 0 {
			return &MetadataError{e.line, "event " + e.name + " without a field " + want.name, "one that is " + shapeNames[want.shape]}
		}
		if !c.fields.is(at, want.shape) {
			return &MetadataError{c.fields.fields[at].line, "field " + want.name, "one that is " + shapeNames[want.shape]}
		}
		c.at = append(c.at, at)
	}
	if e.name == "register" {
		l.registerSize = max(0, c.fields.fields[c.at[0]].count)
	}
	return nil
}
