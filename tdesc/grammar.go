package tdesc

// rule says what an element may have, in the terms of GDB's own tables: what is not listed is skipped with a warning.
type rule struct {
	attributes []attribute
	children   []child
	text       bool // the text inside the element matters
	begin      func(b *builder, n *node) error
	end        func(b *builder, n *node) error
}

type attribute struct {
	name     string
	required bool
}

// child is an element that may stand in another.
type child struct {
	name   string
	rule   *rule
	once   bool // at most one
	needed bool // at least one
}

// node is an element as the builder sees it.
type node struct {
	name   string
	pos    Position
	values map[string]string // of the attributes that the rule lists
	text   string            // at the end of the element, without the blanks around it, when the rule asks for it
}

func (n *node) attr(name string) (string, bool) {
	v, ok := n.values[name]
	return v, ok
}

// The grammar, innermost element first.
var (
	fieldRule = &rule{
		attributes: []attribute{{"name", true}, {"type", false}, {"start", false}, {"end", false}},
		begin:      (*builder).field,
	}
	evalueRule = &rule{
		attributes: []attribute{{"name", true}, {"value", true}},
		begin:      (*builder).evalue,
	}
	regRule = &rule{
		attributes: []attribute{{"name", true}, {"bitsize", true}, {"regnum", false}, {"type", false}, {"group", false},
			{"save-restore", false}},
		begin: (*builder).reg,
	}
	vectorRule = &rule{
		attributes: []attribute{{"id", true}, {"type", true}, {"count", true}},
		begin:      (*builder).vector,
	}
	structRule = &rule{
		attributes: []attribute{{"id", true}, {"size", false}},
		children:   []child{{name: "field", rule: fieldRule, needed: true}},
		begin:      (*builder).beginStruct,
		end:        (*builder).endStruct,
	}
	unionRule = &rule{
		attributes: []attribute{{"id", true}},
		children:   []child{{name: "field", rule: fieldRule, needed: true}},
		begin:      (*builder).beginUnion,
		end:        (*builder).endUnion,
	}
	flagsRule = &rule{
		attributes: []attribute{{"id", true}, {"size", true}},
		children:   []child{{name: "field", rule: fieldRule, needed: true}},
		begin:      (*builder).beginFlags,
		end:        (*builder).endFlags,
	}
	enumRule = &rule{
		attributes: []attribute{{"id", true}, {"size", true}},
		children:   []child{{name: "evalue", rule: evalueRule, needed: true}},
		begin:      (*builder).beginEnum,
		end:        (*builder).endEnum,
	}
	featureRule = &rule{
		attributes: []attribute{{"name", true}},
		children: []child{
			{name: "reg", rule: regRule},
			{name: "struct", rule: structRule},
			{name: "union", rule: unionRule},
			{name: "flags", rule: flagsRule},
			{name: "enum", rule: enumRule},
			{name: "vector", rule: vectorRule},
		},
		begin: (*builder).feature,
	}
	architectureRule = &rule{text: true, end: (*builder).architecture}
	osabiRule        = &rule{text: true, end: (*builder).osabi}
	compatibleRule   = &rule{text: true, end: (*builder).compatible}
	targetRule       = &rule{
		attributes: []attribute{{"version", false}},
		children: []child{
			{name: "architecture", rule: architectureRule, once: true},
			{name: "osabi", rule: osabiRule, once: true},
			{name: "compatible", rule: compatibleRule},
			{name: "feature", rule: featureRule},
		},
		begin: (*builder).target,
	}
	documentRule = &rule{children: []child{{name: "target", rule: targetRule, once: true, needed: true}}}
)
