package tdesc

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Difference is one thing in which two descriptions do not mean the same. A is what the first has and B the second; "" is
// for what one of them lacks altogether.
type Difference struct {
	Kind     string // "architecture", "osabi", "compatible", "feature" or "register"
	Name     string // of the feature or register, or the compatible architecture
	Property string // of a register: "regnum", "bitsize", "type", "group", "save-restore" or "feature"; else ""
	A, B     string
}

// String gives the difference in words.
func (d Difference) String() string {
	what := d.Kind
	if d.Name != "" {
		what += " " + strconv.Quote(d.Name)
	}
	if d.Property != "" {
		what += ": " + d.Property
	}
	switch {
	case d.A == "":
		return what + " only in the second: " + d.B
	case d.B == "":
		return what + " only in the first: " + d.A
	}
	return what + ": " + d.A + " / " + d.B
}

// Diff compares two descriptions by meaning. The order of features, of types and of registers, which have numbers, means
// nothing. Types are compared by what they are made of and not by their ids, and types that no register has not at all;
// type int of 32 bits is the same as int32. What is unknown to the format is left out. Registers are told apart by name;
// of several with the same name the first is compared with the first and so on.
func Diff(a, b *Target) []Difference {
	d := &differ{interned: make(map[string]int)}
	d.text("architecture", a.Architecture, b.Architecture)
	d.text("osabi", a.OSABI, b.OSABI)
	d.names("compatible", a.Compatible, b.Compatible)
	d.names("feature", featureNames(a), featureNames(b))
	d.registers(d.index(a), d.index(b))
	return d.found
}

func featureNames(t *Target) []string {
	var names []string
	for _, f := range t.Features {
		names = append(names, f.Name)
	}
	return names
}

type differ struct {
	found    []Difference
	interned map[string]int // the meanings of types, in both descriptions
}

func (d *differ) add(kind, name, property, a, b string) {
	d.found = append(d.found, Difference{kind, name, property, a, b})
}

func (d *differ) text(kind, a, b string) {
	if a != b {
		d.add(kind, "", "", a, b)
	}
}

// names compares two sets.
func (d *differ) names(kind string, a, b []string) {
	inA, inB := set(a), set(b)
	for _, name := range a {
		if !inB[name] {
			d.add(kind, name, "", "present", "")
			inB[name] = true
		}
	}
	for _, name := range b {
		if !inA[name] {
			d.add(kind, name, "", "", "present")
			inA[name] = true
		}
	}
}

func set(names []string) map[string]bool {
	s := make(map[string]bool)
	for _, name := range names {
		s[name] = true
	}
	return s
}

// registerKey tells registers apart: by name, and among those of one name by their order.
type registerKey struct {
	name string
	nth  int
}

// meaning is what there is to compare of a register.
type meaning struct {
	*Register
	feature string
	typ     int    // as interned
	shown   string // the type in words
}

// index is the registers of a description.
type index struct {
	keys []registerKey // in order of number
	all  map[registerKey]meaning
}

func (d *differ) index(t *Target) index {
	result := index{all: make(map[registerKey]meaning)}
	count := make(map[string]int)
	for _, f := range t.Features {
		types := d.types(f)
		for _, r := range f.Registers {
			key := registerKey{r.Name, count[r.Name]}
			count[r.Name]++
			id, shown := types.register(r)
			result.keys = append(result.keys, key)
			result.all[key] = meaning{r, f.Name, id, shown}
		}
	}
	slices.SortStableFunc(result.keys, func(a, b registerKey) int {
		return cmp.Compare(result.all[a].Num, result.all[b].Num)
	})
	return result
}

func (d *differ) registers(a, b index) {
	for _, key := range a.keys {
		if other, ok := b.all[key]; ok {
			d.register(a.all[key], other)
		} else {
			d.add("register", key.name, "", a.all[key].String(), "")
		}
	}
	for _, key := range b.keys {
		if _, ok := a.all[key]; !ok {
			d.add("register", key.name, "", "", b.all[key].String())
		}
	}
}

// String says what a register is.
func (m meaning) String() string {
	return fmt.Sprintf("number %d, %d bits, type %s", m.Num, m.Bits, m.shown)
}

func (d *differ) register(a, b meaning) {
	different := func(property, x, y string) {
		if x != y {
			d.add("register", a.Name, property, x, y)
		}
	}
	different("regnum", strconv.Itoa(int(a.Num)), strconv.Itoa(int(b.Num)))
	different("bitsize", strconv.Itoa(a.Bits), strconv.Itoa(b.Bits))
	if a.typ != b.typ {
		x, y := a.shown, b.shown
		if x == y {
			x, y = x+" as the first defines it", y+" as the second does"
		}
		d.add("register", a.Name, "type", x, y)
	}
	different("group", orNone(a.Group), orNone(b.Group))
	different("save-restore", yesOrNo(a.SaveRestore), yesOrNo(b.SaveRestore))
	different("feature", strconv.Quote(a.feature), strconv.Quote(b.feature))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return strconv.Quote(s)
}

func yesOrNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// meanings are the types of a feature, each as the number of its meaning. Equal meanings have equal numbers: the text of a
// meaning has the numbers of the types that it is made of, so that it stays short however types are nested.
type meanings struct {
	*differ
	defined map[string]int
}

func (d *differ) types(f *Feature) meanings {
	m := meanings{d, make(map[string]int)}
	for _, t := range f.Types {
		if _, ok := m.defined[t.TypeID()]; !ok {
			m.defined[t.TypeID()] = m.intern(m.describe(t))
		}
	}
	return m
}

func (d *differ) intern(text string) int {
	n, ok := d.interned[text]
	if !ok {
		n = len(d.interned)
		d.interned[text] = n
	}
	return n
}

func (m meanings) lookup(name string) int {
	if n, ok := m.defined[name]; ok {
		return n
	}
	return m.intern("predefined " + name)
}

// register gives the meaning of a register's type, and the type in words.
func (m meanings) register(r *Register) (id int, shown string) {
	if n, ok := m.defined[r.Type]; ok {
		return n, r.Type
	}
	name := r.Type
	if name == typeInt && slices.Contains([]int{16, 32, 64}, r.Bits) {
		name = "int" + strconv.Itoa(r.Bits)
	}
	return m.intern("predefined " + name), r.Type
}

// describe writes down what a type is made of.
func (m meanings) describe(t Type) string {
	var b strings.Builder
	switch t := t.(type) {
	case Vector:
		fmt.Fprintf(&b, "vector %d %d", m.lookup(t.Elem), t.Count)
	case Struct:
		fmt.Fprintf(&b, "struct %d", t.Size)
		m.members(&b, t.Fields, t.Size, t.Bits)
	case Union:
		b.WriteString("union")
		m.members(&b, t.Fields, 0, nil)
	case Flags:
		fmt.Fprintf(&b, "flags %d", t.Size)
		m.members(&b, nil, t.Size, t.Bits)
	case Enum:
		fmt.Fprintf(&b, "enum %d", t.Size)
		for _, v := range t.Values {
			fmt.Fprintf(&b, " %q=%d", v.Name, v.Value)
		}
	}
	return b.String()
}

func (m meanings) members(b *strings.Builder, fields []Field, size int, bits []BitField) {
	for _, f := range fields {
		fmt.Fprintf(b, " %q:%d", f.Name, m.lookup(f.Type))
	}
	for _, f := range bits {
		name := f.Type
		if name == "" {
			name = defaultBitType(size, f.Start, f.End)
		}
		fmt.Fprintf(b, " %q %d-%d:%d", f.Name, f.Start, f.End, m.lookup(name))
	}
}
