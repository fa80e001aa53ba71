package container

import (
	"strings"

	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// golang makes the shape of a type of Go: a string, a slice, a map since Go 1.24, a channel or an interface. Maps and channels are
// pointers to structures of the runtime, which describes them by names of its own.
func golang(t *ctype.Type) *Shape {
	if t.Kind == ctype.Record {
		switch name := t.Strip().Name; {
		case name == "string":
			return text(at(t, "str"), at(t, "len"))
		case name == "time.Time":
			return moment(t)
		case name == "runtime.iface" || name == "runtime.eface":
			return goInterface(t)
		case strings.HasPrefix(name, "table<"):
			groups := pointer(t, "groups", "data")
			return &Shape{Form: Row, Name: name, Elem: groups.Type.Elem, first: word(groups),
				count: word(scalar(t, "groups", "lengthMask")).plus(1)}
		case strings.HasPrefix(name, "[]"):
			start, length, room := pointer(t, "array"), word(scalar(t, "len")), word(scalar(t, "cap"))
			return &Shape{Form: Array, Name: name, Elem: start.Type.Elem, first: word(start), count: length, room: room,
				figures: []figure{{"cap", room}}, none: word(start).with(ax.OpBitOr, length).not()}
		}
		return nil
	}
	if t.Elem == nil || t.Size != 8 {
		return nil
	}
	if t.Elem.Kind == ctype.Function && t.Name != "" { // $pc points to code, too, and its type has no name
		return closure(t)
	}
	switch name := t.Elem.Name; {
	case strings.HasPrefix(name, "map<"):
		return swissMap(t)
	case strings.HasPrefix(name, "hchan<"):
		return channel(t)
	}
	return nil
}

// through is a member of a structure at an address, which is collected as a whole.
func through(addr term, t *ctype.Type, path ...string) term {
	f := scalar(t, path...)
	return peek(addr.plus(f.Offset), f.Type)
}

// channel has a ring of elements, of which the oldest comes first. Cursors are the numbers of elements.
func channel(t *ctype.Type) *Shape {
	channel := word(ctype.Field{Type: t})
	waiting := at(t.Elem, "recvq", "first") // who waits for an element knows its type
	if waiting.Type.Elem == nil {
		panic(missing("first"))
	}
	elem := pointer(waiting.Type.Elem, "elem").Type.Elem
	room := through(channel, t.Elem, "dataqsiz")
	slot := through(channel, t.Elem, "recvx").with(ax.OpAdd, cursor).with(ax.OpRemUnsigned, room)
	return &Shape{
		Form: Queue, Name: typeName(t), Elem: elem, owner: channel, size: number(t.Elem.Size),
		count: through(channel, t.Elem, "qcount"), limits: room,
		first: number(0), next: term(cursor).plus(1),
		item:    through(channel, t.Elem, "buf").with(ax.OpAdd, slot.times(elem.Size)),
		figures: []figure{{"cap", room}}, room: room, none: channel.not(),
	}
}

// typeName is the name of a map's or channel's type in the source: that of the typedef.
func typeName(t *ctype.Type) string {
	if t.Name != "" {
		return t.Name
	}
	return strings.Replace(strings.Replace(t.Elem.Name, "hchan<", "chan ", 1), ">", "", 1)
}

// swissMap has a directory of tables; each has groups of eight slots and a word that says which of these are in use. A small map is
// one group, which the pointer to the directory points to. A cursor is the index in the directory, the number of the group and the
// number of the slot. Tables stand in the directory as often as they are shallower than it.
func swissMap(t *ctype.Type) *Shape {
	const groupBits, slotBits, slots = 40, 8, 8
	header := word(ctype.Field{Type: t})
	directory := scalar(t.Elem, "dirPtr")
	table := directory.Type.Elem.Elem
	if table == nil {
		panic(missing("table"))
	}
	group := pointer(table, "groups", "data").Type.Elem
	control, all := scalar(group, "ctrl"), at(group, "slots")
	slot := all.Type.Elem
	if slot == nil || slot.Size <= 0 || len(slot.Fields()) != 2 {
		panic(missing("slots"))
	}
	where, length := through(header, t.Elem, "dirPtr"), through(header, t.Elem, "dirLen")
	index := term(cursor).with(ax.OpRshUnsigned, number(groupBits))
	inTable := term(cursor).with(ax.OpRshUnsigned, number(slotBits)).with(ax.OpBitAnd, number(1<<(groupBits-slotBits)-1))
	inGroup := term(cursor).with(ax.OpBitAnd, number(slots-1))
	tableHas := func(path ...string) term {
		f := scalar(table, path...)
		return load(load(where.with(ax.OpAdd, index.times(8)), directory.Type).plus(f.Offset), f.Type)
	}
	groupAt := choose(length, tableHas("groups", "data").with(ax.OpAdd, inTable.times(group.Size)), where)
	controls := load(groupAt.plus(control.Offset), control.Type)
	used := controls.with(ax.OpRshUnsigned, inGroup.times(8)).with(ax.OpBitAnd, number(0x80)).not()
	ended := choose(length, index.with(ax.OpLessUnsigned, length).not(), index)
	lastGroup := choose(length, inTable.equals(tableHas("groups", "lengthMask")), number(1))
	copies := number(1).with(ax.OpLsh, through(header, t.Elem, "globalDepth").minus(tableHas("localDepth")))
	nextTable := index.with(ax.OpAdd, choose(length, copies, number(1))).with(ax.OpLsh, number(groupBits))
	step := choose(inGroup.equals(number(slots-1)), choose(lastGroup, nextTable, term(cursor).plus(1<<slotBits-slots+1)),
		term(cursor).plus(1))
	free := choose(ended, number(0), used.not())
	small := &Shape{Elem: group, first: where, count: length.not()}
	large := &Shape{Elem: table, first: where, count: length, next: term(cursor).plus(8), item: load(cursor, directory.Type)}
	return &Shape{
		Form: Map, Name: typeName(t), Elem: slot, owner: header, size: number(t.Elem.Size), stores: []*Shape{small, large},
		count: through(header, t.Elem, "used"),
		first: follow(number(0), free, step, mostSteps), next: follow(step, free, step, mostSteps), more: ended.not(),
		item: groupAt.plus(all.Offset).with(ax.OpAdd, inGroup.times(slot.Size)), none: header.not(),
	}
}

// mostSteps is how many empty places of a hash table are passed over in a row.
const mostSteps = 1 << 12
