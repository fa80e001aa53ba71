package container

import (
	"strings"

	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// rust makes the shape of a type of Rust's library. Names of modules differ between versions, as do the wrappers around pointers.
func rust(t *ctype.Type) *Shape {
	name := t.Strip().Name
	if t.Kind == ctype.Pointer {
		if strings.HasPrefix(name, "alloc::boxed::Box<") {
			f := ctype.Field{Type: t}
			return &Shape{Form: Pointer, Elem: t.Elem, first: word(f), count: number(1), target: f}
		}
		return nil
	}
	switch {
	case name == "&str" || name == "&mut str" || strings.HasPrefix(name, "alloc::boxed::Box<str,"):
		return text(at(t, "data_ptr"), at(t, "length"))
	case strings.HasPrefix(name, "&[") || strings.HasPrefix(name, "&mut [") || strings.HasPrefix(name, "alloc::boxed::Box<["):
		return sized(name, pointer(t, "data_ptr"), word(scalar(t, "length")))
	}
	if strings.Contains(name, "dyn ") && len(t.Fields()) == 2 {
		if _, ok := t.Field("vtable"); ok {
			return dyn(t)
		}
	}
	module, _, _ := strings.Cut(name, "<")
	if make := library[module[strings.LastIndexByte(module, ':')+1:]]; make != nil && !strings.HasPrefix(module, "&") {
		return make(t)
	}
	return nil
}

// library are the types of the library by their names without modules.
var library = map[string]maker{
	"String": func(t *ctype.Type) *Shape {
		inner := at(t, "vec")
		return text(within8(inner, "buf", inner.Type), at(t, "vec", "len"))
	},
	"Vec": func(t *ctype.Type) *Shape {
		s := sized("Vec", elements8(t, "buf"), word(scalar(t, "len")))
		s.room = word(capacity(at(t, "buf"), 0))
		return s
	},
	"VecDeque": ring,
	"HashMap":  func(t *ctype.Type) *Shape { return hashbrown(t, "HashMap", Map, at(t, "base", "table")) },
	"HashSet":  func(t *ctype.Type) *Shape { return hashbrown(t, "HashSet", Row, at(t, "base", "map", "table")) },
	"BTreeMap": func(t *ctype.Type) *Shape { return btree(t, Map) },
	"BTreeSet": func(t *ctype.Type) *Shape { return btree(t, Row) },
	"Rc":       func(t *ctype.Type) *Shape { return counted(t, "Rc") },
	"Arc":      func(t *ctype.Type) *Shape { return counted(t, "Arc") },
	"Weak":     func(t *ctype.Type) *Shape { return counted(t, "Weak") },
	"Cell":     func(t *ctype.Type) *Shape { return around("Cell", at(t, "value", "value")) },
	"RefCell": func(t *ctype.Type) *Shape {
		return around("RefCell", at(t, "value", "value"), numbers(t, "borrow", "borrow")...)
	},
	"Mutex": func(t *ctype.Type) *Shape {
		return around("Mutex", at(t, "data", "value"), numbers(t, "poison", "poisoned")...)
	},
	"RwLock": func(t *ctype.Type) *Shape {
		return around("RwLock", at(t, "data", "value"), numbers(t, "poison", "poisoned")...)
	},
}

// sized is a row of elements with their number in its title.
func sized(name string, start ctype.Field, count term) *Shape {
	return &Shape{Form: Array, Name: name, Elem: start.Type.Elem, first: word(start), count: count}
}

// within8 finds the pointer within a member, which wrappers such as NonNull are around.
func within8(outer ctype.Field, name string, t *ctype.Type) ctype.Field {
	f := innermost(at(t, name), 0)
	f.Offset += outer.Offset
	if f.Type.Kind != ctype.Pointer {
		panic(missing(name))
	}
	return f
}

// innermost is the first pointer or number within a member.
func innermost(f ctype.Field, depth int) ctype.Field {
	for _, inner := range f.Type.Fields() {
		if !plain(inner) || depth == deepest {
			continue
		}
		inner.Offset += f.Offset
		if found := innermost(inner, depth+1); found.Type.Scalar() {
			return found
		}
	}
	return f
}

// elements8 finds the pointer of a buffer, which points to bytes since Rust 1.83: the type's argument says what they are.
func elements8(t *ctype.Type, name string) ctype.Field {
	f := within8(ctype.Field{}, name, t)
	to := *f.Type
	to.Elem = argument(t, 0)
	f.Type = &to
	return f
}

// ring has its elements in a buffer that they may leave at the end and enter again at the beginning. Cursors are the numbers of
// elements.
func ring(t *ctype.Type) *Shape {
	start := elements8(t, "buf")
	room := word(capacity(at(t, "buf"), 0))
	head := word(scalar(t, "head"))
	s := &Shape{Form: Array, Name: "VecDeque", Elem: start.Type.Elem, first: number(0), next: term(cursor).plus(1), limits: room,
		room: room}
	from := head
	if tail, ok := t.Field("tail"); ok { // until Rust 1.66, where head is the end
		from = word(tail)
		s.count = head.minus(from).with(ax.OpBitAnd, room.minus(number(1)))
	} else {
		s.count = word(scalar(t, "len"))
	}
	s.item = word(start).with(ax.OpAdd, from.with(ax.OpAdd, cursor).with(ax.OpRemUnsigned, room).times(start.Type.Elem.Size))
	return s
}

// capacity finds the member cap of a buffer.
func capacity(f ctype.Field, depth int) ctype.Field {
	for _, inner := range f.Type.Fields() {
		inner.Offset += f.Offset
		if inner.Name == "cap" {
			return innermost(inner, 0)
		}
		if inner.Name == "inner" && depth < deepest {
			return capacity(inner, depth+1)
		}
	}
	panic(missing("cap"))
}

// hashbrown has a byte for each place, whose highest bit says that it is empty, and in front of these the elements, the last place
// first. Cursors are the numbers of places.
func hashbrown(t *ctype.Type, name string, form Form, table ctype.Field) *Shape {
	elem := argument(table.Type, 0)
	stride := elem.Size
	if members := elem.Fields(); form == Row && len(members) > 0 { // a set is a map to nothing
		elem = members[0].Type
	}
	inner := table
	if f, ok := table.Type.Field("table"); ok {
		f.Offset += table.Offset
		inner = f
	}
	has := func(name string) ctype.Field {
		f := innermost(at(inner.Type, name), 0)
		f.Offset += inner.Offset
		return f
	}
	control, mask := word(has("ctrl")), word(has("bucket_mask"))
	empty := peek(control.with(ax.OpAdd, cursor), ctype.Int(1, false)).with(ax.OpBitAnd, number(0x80))
	ended := mask.with(ax.OpLessUnsigned, cursor)
	free := choose(ended, number(0), empty)
	return &Shape{
		Form: form, Name: name, Elem: elem, count: word(has("items")),
		owner: control, size: clamped(mask.plus(1), mostSteps),
		first: follow(number(0), free, term(cursor).plus(1), mostSteps),
		next:  follow(term(cursor).plus(1), free, term(cursor).plus(1), mostSteps),
		more:  ended.not(), item: control.minus(term(cursor).plus(1).times(stride)),
	}
}

// counted points to what several own together: the counts, and the value behind them. The owners count as one more that is weak.
// What is only referred to weakly may be gone, or have never been: then the pointer is the highest one.
func counted(t *ctype.Type, name string) *Shape {
	start := within8(ctype.Field{}, "ptr", t)
	block := start.Type.Elem
	value, ok := block.Field("value")
	if !ok {
		value = at(block, "data")
	}
	counts := func(name string) term {
		f := innermost(at(block, name), 0)
		return peek(word(start).plus(f.Offset), f.Type)
	}
	strong, weak := counts("strong"), counts("weak")
	s := &Shape{
		Form: Shared, Name: name, Elem: value.Type, first: word(start).plus(value.Offset), count: number(1), target: start,
		owner: word(start), size: number(block.Size),
	}
	if name == "Weak" {
		none := word(start).plus(1).not()
		strong, weak = choose(none, number(0), strong), choose(none, number(0), weak)
		s.count, s.owner = strong.not().not(), choose(none, number(0), word(start))
	}
	s.figures = []figure{{"strong", strong}, {"weak", weak.minus(strong.not().not())}}
	if table, ok := beside(t, "ptr", "vtable"); ok {
		s.countedDyn(start, table, value)
	} else if length, ok := beside(t, "ptr", "length"); ok {
		s.countedSlice(start, length, value)
	}
	return s
}

// beside is the word behind a pointer to what has no size of its own, which wrappers are around together.
func beside(t *ctype.Type, name, second string) (ctype.Field, bool) {
	for f, depth := at(t, name), 0; depth < deepest; depth++ {
		if inner, ok := f.Type.Field(second); ok {
			inner.Offset += f.Offset
			return inner, inner.Type.Scalar()
		}
		fields := f.Type.Fields()
		if len(fields) == 0 {
			break
		}
		fields[0].Offset += f.Offset
		f = fields[0]
	}
	return ctype.Field{}, false
}

// around is a value within another, which may have numbers of its own.
func around(name string, value ctype.Field, figures ...figure) *Shape {
	return &Shape{Form: Shared, Name: name, Parts: []Part{within(value, "", nil)}, figures: figures}
}

// numbers is the one that a member wraps, by its word in the title.
func numbers(t *ctype.Type, name, title string) []figure {
	f := innermost(at(t, name), 0)
	if !f.Type.Scalar() {
		panic(missing(name))
	}
	return []figure{{title, word(f)}}
}

// btree has nodes of up to 11 elements in order, with a node in front of each element and one behind the last, but for the leaves.
// A cursor is a node, how high it is above the leaves, and the number of an element in it.
func btree(t *ctype.Type, form Form) *Shape {
	const heightBits, indexBits, pointerSize = 4, 4, 8
	name, base := "BTreeMap", 0
	if form == Row { // a set is a map to nothing
		inner := at(t, "map")
		name, base, t = "BTreeSet", inner.Offset, inner.Type
	}
	root, length := chosen(at(t, "root")), scalar(t, "length")
	node, height := innermost(at(root.Type, "node"), 0), at(root.Type, "height")
	if node.Type.Kind != ctype.Pointer || !height.Type.Scalar() {
		panic(missing("root"))
	}
	node.Offset, height.Offset, length.Offset = node.Offset+root.Offset+base, height.Offset+root.Offset+base, length.Offset+base
	leaf := node.Type.Elem
	parent := innermost(chosen(at(leaf, "parent")), 0)
	if parent.Type.Kind != ctype.Pointer {
		panic(missing("parent"))
	}
	edges := at(parent.Type.Elem, "edges")
	used, place := at(leaf, "len"), innermost(at(leaf, "parent_idx"), 0)
	where := term(cursor).with(ax.OpRshUnsigned, number(heightBits+indexBits))
	index := term(cursor).with(ax.OpBitAnd, number(1<<indexBits-1))
	above := term(cursor).with(ax.OpRshUnsigned, number(indexBits)).with(ax.OpBitAnd, number(1<<heightBits-1))
	to := func(node, height, index term) term {
		return node.times(1<<heightBits).with(ax.OpAdd, height).times(1<<indexBits).with(ax.OpAdd, index)
	}
	edge := load(where.plus(edges.Offset).with(ax.OpAdd, index.times(pointerSize)), node.Type)
	down := to(edge, above.minus(number(1)), number(0))
	up := to(load(where.plus(parent.Offset), parent.Type), above.plus(1), load(where.plus(place.Offset), place.Type))
	behind := index.with(ax.OpLessUnsigned, load(where.plus(used.Offset), used.Type)).not()
	next := term(cursor).plus(1)
	first := follow(to(word(node), word(height), number(0)), above, down, 1<<heightBits)
	next = choose(above, follow(next, above, down, 1<<heightBits), follow(next, behind, up, 1<<heightBits))
	all := func(member string, t *ctype.Type) *Shape {
		return &Shape{Form: form, Name: name, Elem: t, count: word(length), first: first, next: next,
			item: where.plus(at(leaf, member).Offset).with(ax.OpAdd, index.times(t.Size))}
	}
	key, value := argument(leaf, 0), argument(leaf, 1)
	keys := all("keys", key)
	if form == Row {
		return keys
	}
	return &Shape{
		Form: form, Name: name, count: keys.count, first: first, next: next, stores: []*Shape{keys, all("vals", value)}, apart: true,
		Elem: ctype.RecordOf("", key.Size+value.Size, ctype.Field{Name: "key", Type: key},
			ctype.Field{Name: "value", Type: value, Offset: key.Size}),
	}
}

// chosen is what the alternative of an enumeration has that has anything, such as Some.
func chosen(f ctype.Field) ctype.Field {
	if variants := f.Type.Variants(); variants != nil {
		for _, v := range variants.List {
			if inner, ok := v.Field.Type.Field("__0"); ok {
				inner.Offset += f.Offset + v.Field.Offset
				return inner
			}
		}
	}
	panic(missing(f.Name))
}
