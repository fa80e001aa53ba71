package container

import (
	"strings"

	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// libcxx are the templates of namespace std that have other members in LLVM's library than in GCC's.
var libcxx = map[string]maker{
	"basic_string": shortOrLong,
	"basic_string_view": func(t *ctype.Type) *Shape {
		return text(at(t, "__data"), at(t, "__size"))
	},
	"vector":             llvmVector,
	"span":               llvmSpan,
	"initializer_list":   func(t *ctype.Type) *Shape { return row(t, pointer(t, "__begin_"), word(scalar(t, "__size_"))) },
	"list":               llvmList,
	"forward_list":       llvmForwardList,
	"deque":              llvmDeque,
	"map":                func(t *ctype.Type) *Shape { return llvmTree(t, Map) },
	"multimap":           func(t *ctype.Type) *Shape { return llvmTree(t, Map) },
	"set":                func(t *ctype.Type) *Shape { return llvmTree(t, Set) },
	"multiset":           func(t *ctype.Type) *Shape { return llvmTree(t, Set) },
	"unordered_map":      func(t *ctype.Type) *Shape { return llvmHash(t, Map) },
	"unordered_multimap": func(t *ctype.Type) *Shape { return llvmHash(t, Map) },
	"unordered_set":      func(t *ctype.Type) *Shape { return llvmHash(t, Set) },
	"unordered_multiset": func(t *ctype.Type) *Shape { return llvmHash(t, Set) },
	"unique_ptr":         func(t *ctype.Type) *Shape { return unique(t, compressed(t, "__ptr_")) },
	"shared_ptr":         llvmShared,
	"weak_ptr":           llvmShared,
	"optional":           func(t *ctype.Type) *Shape { return perhaps(t, scalar(t, "__engaged_"), at(t, "__val_")) },
	"variant": func(t *ctype.Type) *Shape {
		return oneOf(t, scalar(t, "__impl", "__index"), at(t, "__impl", "__data"))
	},
	"tuple":            llvmTuple,
	"filesystem::path": func(t *ctype.Type) *Shape { return path(at(t, "__pn_")) },
}

// compressed finds the number or pointer that is the first of a pair, the second of which mostly takes no room.
func compressed(t *ctype.Type, path ...string) ctype.Field {
	return scalar(t, append(path, "__value_")...)
}

// allocated finds what the allocator makes that is the second of such a pair: the nodes of a container.
func allocated(pair ctype.Field) *ctype.Type { return argument(argument(pair.Type, 1), 0) }

// wrapped is the element of a node. Those of maps are in a structure of their own.
func wrapped(f ctype.Field) (elem *ctype.Type, offset int) {
	if strings.Contains(f.Type.Name, "value_type<") {
		inner := at(f.Type, "__cc")
		return inner.Type, f.Offset + inner.Offset
	}
	return f.Type, f.Offset
}

// shortOrLong is a string that has up to 22 characters in place of its pointer. A bit says which it is: the lowest of a byte that
// comes first, and whose other bits are the length of a short string, or the highest of one that comes last, in the other of the
// two layouts. Both are those of machines with the lower byte first.
func shortOrLong(t *ctype.Type) *Shape {
	start, length := pointer(t, "__r_", "__value_", "__l", "__data_"), scalar(t, "__r_", "__value_", "__l", "__size_")
	short := at(t, "__r_", "__value_", "__s")
	data := at(short.Type, "__data_").Offset
	tag := word(ctype.Field{Type: ctype.Int(1, false), Offset: short.Offset + at(short.Type, "__size_").Offset})
	isLong, within := tag.with(ax.OpBitAnd, number(1)), tag.with(ax.OpRshUnsigned, number(1))
	if data == 0 {
		isLong, within = tag.with(ax.OpBitAnd, number(0x80)), tag
	}
	return &Shape{Form: Text, Elem: start.Type.Elem,
		first: choose(isLong, word(start), inside(short.Offset+data)), count: choose(isLong, word(length), within)}
}

func llvmVector(t *ctype.Type) *Shape {
	start := pointer(t, "__begin_")
	size := start.Type.Elem.Size
	if argument(t, 0).Kind == ctype.Bool {
		return &Shape{Form: Bits, Name: "std::vector<bool>", Elem: start.Type.Elem, first: word(start), count: word(scalar(t, "__size_")),
			figures: []figure{{"capacity", word(compressed(t, "__cap_alloc_")).times(8 * size)}}}
	}
	s := row(t, start, signed(word(scalar(t, "__end_")).minus(word(start)), size))
	s.room = signed(word(compressed(t, "__end_cap_")).minus(word(start)), size)
	s.figures = []figure{{"capacity", s.room}}
	return s
}

func llvmSpan(t *ctype.Type) *Shape {
	start := pointer(t, "__data")
	if size := maker(func(t *ctype.Type) *Shape { return row(t, start, word(scalar(t, "__size"))) }).fit(t); size != nil {
		return size
	}
	return fixedSpan(t, start)
}

func llvmList(t *ctype.Type) *Shape {
	anchor := at(t, "__end_")
	s := chain("std::list", Sequence, allocated(at(t, "__size_alloc_")), scalar(t, "__end_", "__next_"), "__next_")
	s.more = term(cursor).equals(inside(anchor.Offset)).not() // the last node points back to the list
	s.count = word(compressed(t, "__size_alloc_"))
	return s
}

func llvmForwardList(t *ctype.Type) *Shape {
	return chain("std::forward_list", Sequence, allocated(at(t, "__before_begin_")),
		scalar(t, "__before_begin_", "__value_", "__next_"), "__next_")
}

func llvmHash(t *ctype.Type, form Form) *Shape {
	s := chain(standardName(t), form, allocated(at(t, "__table_", "__p1_")),
		scalar(t, "__table_", "__p1_", "__value_", "__next_"), "__next_")
	s.count = word(compressed(t, "__table_", "__p2_"))
	return s
}

// llvmTree has a node behind the last one, which has nothing but the root for its left child. So a right child is one that is no
// left child.
func llvmTree(t *ctype.Type, form Form) *Shape {
	nodes := allocated(at(t, "__tree_", "__pair1_"))
	left, parent := step(nodes, "__left_"), step(nodes, "__parent_")
	s := ordered(t, form, nodes, left, step(nodes, "__right_"), parent, left(parent(cursor)).equals(cursor).not())
	s.count, s.first = word(compressed(t, "__tree_", "__pair3_")), word(scalar(t, "__tree_", "__begin_node_"))
	return s
}

// llvmDeque has blocks of 4096 bytes, or of 16 elements if these are large.
func llvmDeque(t *ctype.Type) *Shape {
	const room, few, large = 4096, 16, 256
	elem, each := argument(t, 0), few
	if elem.Size > 0 && elem.Size < large {
		each = room / elem.Size
	}
	s := inBlocks(elem, pointer(t, "__map_", "__begin_"), number(each))
	s.first, s.count = word(scalar(t, "__start_")), word(compressed(t, "__size_"))
	return s
}

// llvmShared counts owners beyond the first.
func llvmShared(t *ctype.Type) *Shape {
	return shared(t, scalar(t, "__ptr_"), pointer(t, "__cntrl_"), "__shared_owners_", "__shared_weak_owners_", 1)
}

// llvmTuple has a leaf for each element, which is a base class of the leaf if it takes no room.
func llvmTuple(t *ctype.Type) *Shape {
	base, ok := t.Field("__base_")
	if !ok { // of nothing
		return inOrder(nil)
	}
	var fields []ctype.Field
	for _, leaf := range base.Type.Fields() {
		if !leaf.Base || !strings.Contains(leaf.Type.Strip().Name, "__tuple_leaf<") {
			continue
		}
		f, ok := leaf.Type.Field("__value_")
		if own := leaf.Type.Fields(); !ok && len(own) > 0 {
			f = own[0]
		} else if !ok {
			panic(missing("__value_"))
		}
		f.Offset += base.Offset + leaf.Offset
		fields = append(fields, f)
	}
	return inOrder(fields)
}
