package tdesc

import "tracewell/internal/xmltext"

// rule says what an element may have, in the terms of GDB's own tables: what is not listed is skipped with a warning.
type rule struct {
	attributes []attribute
	children   []child
	text       bool // the text inside the element matters
	begin      func(b *builder, n *node) error
	end        func(b *builder, n *node) error // of elements that have no other in them it is all
}

// Sizes of the grammar, for arrays.
const (
	maxAttributes = 6 // of an element
	maxChildren   = 6 // different ones
	maxDepth      = 5 // document, target, feature, type, field
)

type attribute struct {
	name     string
	required bool
	vital    bool // GDB crashes without it
}

// child is an element that may stand in another.
type child struct {
	name   string
	rule   *rule
	once   bool // at most one
	needed bool // at least one
	rank   int  // the document type definition has those of lower rank first
}

// node is an element as the builder sees it.
type node struct {
	name       string
	pos        Position
	attributes []attribute           // those that there can be
	values     [maxAttributes]string // of them, in the same order
	given      [maxAttributes]bool
	text       string // at the end of the element, without the blanks around it, when the rule asks for it
	stray      bool   // it has been said that something stands in it that should not
	begun      bool   // the builder has seen it
	unknown    *Unknown
}

// attr returns the value of an attribute, and whether there is one.
func (n *node) attr(name string) (string, bool) {
	for i := range n.attributes {
		if n.attributes[i].name == name {
			return n.values[i], n.given[i]
		}
	}
	return "", false
}

// value returns the value of an attribute, "" without.
func (n *node) value(name string) string {
	v, _ := n.attr(name)
	return v
}

// child finds the place of a child element in the rule, -1 for one that is unknown. Elements of a namespace are nobody's
// children here.
func (r *rule) child(name xmltext.Name) int {
	if name.Space == "" {
		for i := range r.children {
			if r.children[i].name == name.Local {
				return i
			}
		}
	}
	return -1
}

func (r *rule) attribute(name string) int {
	for i := range r.attributes {
		if r.attributes[i].name == name {
			return i
		}
	}
	return -1
}

func required(name string) attribute { return attribute{name: name, required: true} }
func optional(name string) attribute { return attribute{name: name} }

// The grammar, innermost element first.
var (
	fieldRule = &rule{
		attributes: []attribute{required("name"), optional("type"), optional("start"), optional("end")},
		end:        (*builder).field,
	}
	evalueRule = &rule{
		attributes: []attribute{required("name"), {name: "value", required: true, vital: true}},
		end:        (*builder).evalue,
	}
	regRule = &rule{
		attributes: []attribute{
			required("name"), required("bitsize"), optional("regnum"), optional("type"), optional("group"), optional("save-restore"),
		},
		end: (*builder).reg,
	}
	vectorRule = &rule{
		attributes: []attribute{required("id"), required("type"), required("count")},
		end:        (*builder).vector,
	}
	structRule = &rule{
		attributes: []attribute{required("id"), optional("size")},
		children:   []child{{name: "field", rule: fieldRule, needed: true}},
		begin:      (*builder).beginStruct,
		end:        (*builder).endStruct,
	}
	unionRule = &rule{
		attributes: []attribute{required("id")},
		children:   []child{{name: "field", rule: fieldRule, needed: true}},
		begin:      (*builder).beginUnion,
		end:        (*builder).endUnion,
	}
	flagsRule = &rule{
		attributes: []attribute{required("id"), required("size")},
		children:   []child{{name: "field", rule: fieldRule, needed: true}},
		begin:      (*builder).beginFlags,
		end:        (*builder).endFlags,
	}
	enumRule = &rule{
		attributes: []attribute{required("id"), required("size")},
		children:   []child{{name: "evalue", rule: evalueRule, needed: true}},
		begin:      (*builder).beginEnum,
		end:        (*builder).endEnum,
	}
	featureRule = &rule{
		attributes: []attribute{required("name")},
		children: []child{
			{name: "reg", rule: regRule, rank: 1},
			{name: "struct", rule: structRule},
			{name: "union", rule: unionRule},
			{name: "flags", rule: flagsRule},
			{name: "enum", rule: enumRule},
			{name: "vector", rule: vectorRule},
		},
		begin: (*builder).beginFeature,
		end:   (*builder).endFeature,
	}
	architectureRule = &rule{text: true, end: (*builder).architecture}
	osabiRule        = &rule{text: true, end: (*builder).osabi}
	compatibleRule   = &rule{text: true, end: (*builder).compatibleElement}
	targetRule       = &rule{
		attributes: []attribute{optional("version")},
		children: []child{
			{name: "architecture", rule: architectureRule, once: true},
			{name: "osabi", rule: osabiRule, once: true, rank: 1},
			{name: "compatible", rule: compatibleRule, rank: 2},
			{name: "feature", rule: featureRule, rank: 3},
		},
		begin: (*builder).beginTarget,
		end:   (*builder).endTarget,
	}
	documentRule = &rule{children: []child{{name: "target", rule: targetRule, once: true, needed: true}}}
)
