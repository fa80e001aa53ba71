package container

import (
	"strconv"
	"strings"

	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// standard are the templates of namespace std, by their names. GCC's library has the members that are looked for here.
var standard = map[string]maker{
	"basic_string":       func(t *ctype.Type) *Shape { return text(at(t, "_M_dataplus", "_M_p"), at(t, "_M_string_length")) },
	"basic_string_view":  func(t *ctype.Type) *Shape { return text(at(t, "_M_str"), at(t, "_M_len")) },
	"vector":             vector,
	"span":               span,
	"initializer_list":   func(t *ctype.Type) *Shape { return row(t, pointer(t, "_M_array"), word(scalar(t, "_M_len"))) },
	"list":               list,
	"forward_list":       forwardList,
	"deque":              deque,
	"map":                func(t *ctype.Type) *Shape { return tree(t, Map) },
	"multimap":           func(t *ctype.Type) *Shape { return tree(t, Map) },
	"set":                func(t *ctype.Type) *Shape { return tree(t, Set) },
	"multiset":           func(t *ctype.Type) *Shape { return tree(t, Set) },
	"unordered_map":      func(t *ctype.Type) *Shape { return hash(t, Map) },
	"unordered_multimap": func(t *ctype.Type) *Shape { return hash(t, Map) },
	"unordered_set":      func(t *ctype.Type) *Shape { return hash(t, Set) },
	"unordered_multiset": func(t *ctype.Type) *Shape { return hash(t, Set) },
	"unique_ptr":         uniquePointer,
	"shared_ptr":         sharedPointer,
	"weak_ptr":           sharedPointer,
	"optional":           optional,
	"variant":            variant,
	"tuple":              tuple,
	"pair":               pair,
	"stack":              wrapping,
	"queue":              wrapping,
	"priority_queue":     wrapping,
	"filesystem::path":   func(t *ctype.Type) *Shape { return path(at(t, "_M_pathname")) },
}

// standardName is the name of a template of namespace std, as GDB's printers write it.
func standardName(t *ctype.Type) string {
	return "std::" + templateName(strings.TrimPrefix(t.Name, "std::"))
}

// text is a string with a pointer and a length.
func text(start, length ctype.Field) *Shape {
	if start.Type.Kind != ctype.Pointer || start.Type.Elem.Size <= 0 || !length.Type.Scalar() {
		panic(missing("text"))
	}
	return &Shape{Form: Text, Elem: start.Type.Elem, first: word(start), count: word(length)}
}

// row has elements in a row behind a pointer.
func row(t *ctype.Type, start ctype.Field, count term) *Shape {
	return &Shape{Form: Array, Name: standardName(t), Elem: start.Type.Elem,
		first: word(start), count: count}
}

func vector(t *ctype.Type) *Shape {
	if argument(t, 0).Kind == ctype.Bool {
		return bits(t)
	}
	start, end, room := pointer(t, "_M_impl", "_M_start"), word(scalar(t, "_M_impl", "_M_finish")),
		word(scalar(t, "_M_impl", "_M_end_of_storage"))
	size := start.Type.Elem.Size
	s := row(t, start, signed(end.minus(word(start)), size))
	s.room = signed(room.minus(word(start)), size)
	s.figures = []figure{{"capacity", s.room}}
	return s
}

// signed is a number of elements by the bytes that they take, which is negative where an end lies before its beginning.
func signed(bytes term, size int) term { return bytes.with(ax.OpDivSigned, number(size)) }

// bits is the vector of bool, whose elements are bits of words.
func bits(t *ctype.Type) *Shape {
	start, end := pointer(t, "_M_impl", "_M_start", "_M_p"), word(scalar(t, "_M_impl", "_M_finish", "_M_p"))
	elem := start.Type.Elem
	room := word(scalar(t, "_M_impl", "_M_end_of_storage"))
	width := func(bytes term) term { return bytes.times(8) }
	return &Shape{
		Form: Bits, Name: "std::vector<bool>", Elem: elem, first: word(start),
		count: width(end.minus(word(start))).with(ax.OpAdd, word(scalar(t, "_M_impl", "_M_finish", "_M_offset"))).
			minus(word(scalar(t, "_M_impl", "_M_start", "_M_offset"))),
		figures: []figure{{"capacity", width(room.minus(word(start)))}},
	}
}

// span has its length as a member, or in its type.
func span(t *ctype.Type) *Shape {
	start := pointer(t, "_M_ptr")
	if extent := at(t, "_M_extent"); extent.Type.Size >= 8 {
		return row(t, start, word(scalar(t, "_M_extent", "_M_extent_value")))
	}
	return fixedSpan(t, start)
}

// fixedSpan has its length in the name of its type alone.
func fixedSpan(t *ctype.Type, start ctype.Field) *Shape {
	last := t.Name[strings.LastIndex(t.Name, ",")+1:]
	count, err := strconv.ParseUint(strings.TrimRight(strings.TrimSpace(last), "ulUL>"), 10, 31)
	if err != nil {
		panic(missing("extent"))
	}
	return row(t, start, number(int(count)))
}

// node finds what the nodes of a container are: the argument of the allocator that its implementation derives from.
func node(implementation *ctype.Type) *ctype.Type {
	for _, f := range implementation.Fields() {
		if name := f.Type.Strip().Name; f.Base && strings.HasPrefix(name, "std::allocator<") {
			return argument(f.Type, 0)
		}
	}
	panic(missing("allocator"))
}

// stored finds where a node has its element, which is in a buffer of no type of its own.
func stored(node *ctype.Type) (elem *ctype.Type, offset int) {
	if f, ok := node.Field("_M_value_field"); ok {
		return f.Type, f.Offset
	}
	if f, ok := node.Field("__value_"); ok {
		return wrapped(f)
	}
	storage := at(node, "_M_storage")
	return argument(storage.Type, 0), storage.Offset
}

// chain has nodes of which each points to the next.
func chain(name string, form Form, nodes *ctype.Type, head ctype.Field, link string) *Shape {
	elem, offset := stored(nodes)
	next := scalar(nodes, link)
	return &Shape{Form: form, Name: name, Elem: elem, first: word(head), more: cursor,
		next: load(term(cursor).plus(next.Offset), next.Type), item: term(cursor).plus(offset)}
}

func list(t *ctype.Type) *Shape {
	implementation, anchor := at(t, "_M_impl"), at(t, "_M_impl", "_M_node")
	s := chain("std::__cxx11::list", Sequence, node(implementation.Type), scalar(t, "_M_impl", "_M_node", "_M_next"), "_M_next")
	// The last node points back to the list.
	s.more = term(cursor).equals(inside(anchor.Offset)).not()
	s.count = word(scalar(t, "_M_impl", "_M_node", "_M_size"))
	return s
}

func forwardList(t *ctype.Type) *Shape {
	return chain("std::forward_list", Sequence, node(at(t, "_M_impl").Type), scalar(t, "_M_impl", "_M_head", "_M_next"), "_M_next")
}

// hash has one chain through all of its buckets.
func hash(t *ctype.Type, form Form) *Shape {
	table := at(t, "_M_h")
	s := chain(standardName(t), form, hashNode(table.Type, 0),
		scalar(t, "_M_h", "_M_before_begin", "_M_nxt"), "_M_nxt")
	s.count = word(scalar(t, "_M_h", "_M_element_count"))
	return s
}

// hashNode finds the nodes of a hash table, whose allocator is a base class of one of its base classes.
func hashNode(table *ctype.Type, depth int) *ctype.Type {
	for _, f := range table.Fields() {
		switch name := f.Type.Strip().Name; {
		case !f.Base || depth == 4:
		case strings.HasPrefix(name, "std::__detail::_Hashtable_alloc<"):
			return argument(argument(f.Type, 0), 0)
		}
	}
	panic(missing("_Hashtable_alloc"))
}

// longestBranch is how high a tree is at most that is not damaged: a red-black tree of 2^32 elements has at most 64 levels.
const longestBranch = 64

func tree(t *ctype.Type, form Form) *Shape {
	nodes := node(at(t, "_M_t", "_M_impl").Type)
	parent, right := step(nodes, "_M_parent"), step(nodes, "_M_right")
	s := ordered(t, form, nodes, step(nodes, "_M_left"), right, parent, right(parent(cursor)).equals(cursor))
	s.count = word(scalar(t, "_M_t", "_M_impl", "_M_node_count"))
	s.first = word(scalar(t, "_M_t", "_M_impl", "_M_header", "_M_left"))
	return s
}

// step goes from a node to another.
func step(nodes *ctype.Type, name string) func(term) term {
	f := scalar(nodes, name)
	return func(from term) term { return load(from.plus(f.Offset), f.Type) }
}

// ordered is a red-black tree, whose elements are in order. What a right child is, its libraries see in different nodes.
func ordered(t *ctype.Type, form Form, nodes *ctype.Type, left, right, parent func(term) term, isRight term) *Shape {
	elem, offset := stored(nodes)
	lowest := follow(right(cursor), left(cursor), left(cursor), longestBranch)
	highest := follow(cursor, isRight, parent(cursor), longestBranch)
	return &Shape{
		Form: form, Name: standardName(t), Elem: elem,
		more: cursor,
		next: choose(right(cursor), lowest, parent(highest)),
		item: term(cursor).plus(offset),
	}
}

func deque(t *ctype.Type) *Shape {
	in := func(iterator, member string) ctype.Field { return pointer(t, "_M_impl", iterator, member) }
	blocks, cur := in("_M_start", "_M_node"), in("_M_start", "_M_cur")
	elem := cur.Type.Elem
	apart := func(from, to ctype.Field, size int) term { return signed(word(to).minus(word(from)), size) }
	each := apart(in("_M_start", "_M_first"), in("_M_start", "_M_last"), elem.Size)
	before := apart(in("_M_start", "_M_first"), cur, elem.Size)
	whole := apart(blocks, in("_M_finish", "_M_node"), blocks.Type.Elem.Size)
	s := inBlocks(elem, blocks, each)
	s.first = before
	s.count = whole.with(ax.OpMul, each).with(ax.OpAdd, apart(in("_M_finish", "_M_first"), in("_M_finish", "_M_cur"), elem.Size)).
		minus(before)
	return s
}

// inBlocks is a deque: it has blocks of elements, and a table of these. Its cursors are the numbers of elements, counted from the
// start of a block.
func inBlocks(elem *ctype.Type, blocks ctype.Field, each term) *Shape {
	entry := term(cursor).with(ax.OpDivUnsigned, each).times(blocks.Type.Elem.Size)
	block := load(word(blocks).with(ax.OpAdd, entry), blocks.Type.Elem)
	return &Shape{
		Form: Row, Name: "std::deque", Elem: elem,
		limits: each,
		next:   term(cursor).plus(1),
		item:   block.with(ax.OpAdd, term(cursor).with(ax.OpRemUnsigned, each).times(elem.Size)),
	}
}

// single is what a pointer owns: one element, or none.
func single(name string, target ctype.Field) *Shape {
	return &Shape{Form: Pointer, Name: name, Elem: target.Type.Elem, first: word(target), count: word(target).not().not(),
		target: target}
}

func uniquePointer(t *ctype.Type) *Shape {
	pair := at(t, "_M_t", "_M_t")
	for _, f := range elements(pair.Type, pair.Offset, 0) {
		if f.Type.Kind == ctype.Pointer {
			return unique(t, f)
		}
	}
	panic(missing("pointer"))
}

func unique(t *ctype.Type, target ctype.Field) *Shape {
	return single("std::unique_ptr<"+brief(argument(t, 0).String())+">", target)
}

func sharedPointer(t *ctype.Type) *Shape {
	return shared(t, scalar(t, "_M_ptr"), pointer(t, "_M_refcount", "_M_pi"), "_M_use_count", "_M_weak_count", 0)
}

// shared is what pointers own together, and count in a structure of its own: from less than one, as LLVM's library does.
func shared(t *ctype.Type, target, owner ctype.Field, use, weak string, less int) *Shape {
	s := single(standardName(t)+"<"+brief(argument(t, 0).String())+">", target)
	counts := func(name string) term {
		f := scalar(owner.Type.Elem, name)
		return choose(word(owner), peek(word(owner).plus(f.Offset), f.Type).plus(less), number(0))
	}
	s.figures = []figure{{"use count", counts(use)}, {"weak count", counts(weak)}}
	s.owner, s.size = word(owner), number(owner.Type.Elem.Size)
	return s
}

// within makes a part of a member.
func within(f ctype.Field, name string, is term) Part { return Part{Field: f, Name: name, is: is} }

func optional(t *ctype.Type) *Shape {
	return perhaps(t, scalar(t, "_M_payload", "_M_engaged"), at(t, "_M_payload", "_M_payload", "_M_value"))
}

func perhaps(t *ctype.Type, engaged, value ctype.Field) *Shape {
	return &Shape{Form: Optional, Name: "std::optional<" + brief(argument(t, 0).String()) + ">",
		Parts: []Part{within(value, "[contained value]", word(engaged))}}
}

func variant(t *ctype.Type) *Shape { return oneOf(t, scalar(t, "_M_index"), at(t, "_M_u")) }

// oneOf is one of the arguments of a template, which all begin where the storage does.
func oneOf(t *ctype.Type, index, storage ctype.Field) *Shape {
	s := &Shape{Form: Variant, figures: []figure{{"index", word(index)}}}
	var names []string
	for i, alternative := range t.Arguments() {
		f := ctype.Field{Type: alternative, Offset: storage.Offset}
		s.Parts = append(s.Parts, within(f, "", word(index).equals(number(i))))
		names = append(names, brief(alternative.String()))
	}
	s.Name = "std::variant<" + strings.Join(names, ", ") + ">"
	return s
}

func tuple(t *ctype.Type) *Shape {
	if !strings.HasPrefix(t.Name, "std::tuple<") {
		panic(missing("_Tuple_impl"))
	}
	return inOrder(elements(t, 0, 0))
}

func inOrder(fields []ctype.Field) *Shape {
	s := &Shape{Form: Tuple, Name: "std::tuple"}
	for i, f := range fields {
		s.Parts = append(s.Parts, within(f, "["+strconv.Itoa(i+1)+"]", nil))
	}
	return s
}

// elements are those of a tuple: the first lies in a base class, the others in a tuple that is another base class.
func elements(t *ctype.Type, offset, depth int) (all []ctype.Field) {
	if depth == 256 {
		return nil
	}
	var rest []ctype.Field
	for _, f := range t.Fields() {
		f.Offset += offset
		switch name := f.Type.Strip().Name; {
		case !f.Base:
		case strings.HasPrefix(name, "std::_Tuple_impl<"):
			rest = elements(f.Type, f.Offset, depth+1)
		case strings.HasPrefix(name, "std::_Head_base<"):
			if head, ok := f.Type.Field("_M_head_impl"); ok {
				head.Offset += f.Offset
				f = head
			}
			all = append(all, f)
		}
	}
	return append(all, rest...)
}

// pair is a structure whose base class says nothing.
func pair(t *ctype.Type) *Shape {
	return &Shape{Form: Members, Parts: []Part{within(at(t, "first"), "first", nil), within(at(t, "second"), "second", nil)}}
}

// wrapping is an adapter of another container.
func wrapping(t *ctype.Type) *Shape {
	return &Shape{Form: Wrapping, Name: standardName(t), Parts: []Part{within(at(t, "c"), "", nil)}}
}

func path(text ctype.Field) *Shape {
	return &Shape{Form: Path, Name: "filesystem::path", Parts: []Part{within(text, "", nil)}}
}
