package ctf

import (
	"fmt"

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
	number shape = iota
	text
	octets // an array of bytes
	block  // an array of bytes that fits into a block of a trace file whatever its length is
	texts  // an array of strings
)

var shapeNames = [...]string{number: "an integer", text: "a string", octets: "an array of bytes",
	block: "an array of bytes, of which a number of 16 bits or less says how many", texts: "an array of strings"}

// is reports whether field i has the shape.
func (r *record) is(i int, s shape) bool {
	f := &r.fields[i]
	single, bytes := f.count == scalar, f.count != scalar && f.typ.size == 1 && f.typ.align == 1
	switch s {
	case number:
		return single && f.typ.size > 0
	case text:
		return single && f.typ.size == 0
	case texts:
		return !single && f.typ.size == 0
	case block:
		return bytes && f.count == counted && r.fields[f.from].typ.size <= 2
	}
	return bytes
}

// wanted is a field that a role needs.
type wanted struct {
	name  string
	shape shape
}

// role is what an event means.
type role struct {
	fields []wanted
	// block appends the event to the frame as a block of a trace file.
	block func(frame []byte, order arch.ByteOrder, v []value) []byte
	// define takes the event into the definitions.
	define func(d *definitions, v []value) error
}

// roles are the classes of event by name.
var roles = map[string]*role{
	"frame":    {},
	"register": {fields: []wanted{{"contents", octets}}, block: registersBlock},
	"memory":   {fields: []wanted{{"address", number}, {"contents", block}}, block: memoryBlock},
	"tsv":      {fields: []wanted{{"num", number}, {"val", number}}, block: variableBlock},
	"static":   {fields: []wanted{{"contents", block}}, block: staticBlock},
	"rest":     {fields: []wanted{{"contents", octets}}, block: restBlock},
	"status": {fields: []wanted{{"stop_reason", number}, {"stopping_tracepoint", number}, {"traceframe_count", number},
		{"traceframes_created", number}, {"buffer_free", number}, {"buffer_size", number}, {"disconnected_tracing", number},
		{"circular_buffer", number}}, define: (*definitions).status},
	"tsv_def": {fields: []wanted{{"number", number}, {"initial_value", number}, {"builtin", number}, {"name", text}},
		define: (*definitions).variable},
	"tp_def": {fields: []wanted{{"number", number}, {"addr", number}, {"enabled", number}, {"step", number}, {"pass", number},
		{"hit_count", number}, {"traceframe_usage", number}, {"type", number}, {"cond", text}, {"actions", texts},
		{"step_actions", texts}, {"at_string", text}, {"cond_string", text}, {"cmd_strings", texts}},
		define: (*definitions).tracepoint},
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
	}{{&l.content, d.context, "content_size"}, {&l.packet, d.context, "packet_size"}, {&l.tpnum, d.context, "tpnum"}, {&l.idAt, d.event, "id"}} {
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

// find returns which field has the name, -1 for none.
func (r *record) find(name string) int {
	for i := range r.fields {
		if r.fields[i].name == name {
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
