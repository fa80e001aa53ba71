package tdesc

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tracewell/arch"
)

// builder makes a Target of the elements, in document order, and checks what the grammar cannot say.
type builder struct {
	result   *Target
	warnings []Warning

	next    int             // number of a register that has no regnum
	names   map[string]bool // of registers so far
	numbers map[arch.Reg]bool

	scope  scope
	fields fields // of the type that is open
	values []EnumValue
}

// scope is the types that the current feature can refer to.
type scope struct {
	feature *Feature
	defined map[string]bool
	used    map[string]bool // predefined types that something has referred to
}

func newBuilder() *builder {
	return &builder{names: make(map[string]bool), numbers: make(map[arch.Reg]bool)}
}

func (b *builder) warn(pos Position, format string, args ...any) {
	b.warnings = append(b.warnings, Warning{Pos: pos, Text: fmt.Sprintf(format, args...)})
}

func (b *builder) target(n *node) error {
	b.result = new(Target)
	version, ok := n.attr("version")
	if ok && version != "1.0" {
		return errorAt(n.pos, "version %q, want 1.0", version)
	}
	b.result.Version = version
	return nil
}

func (b *builder) architecture(n *node) error {
	b.result.Architecture = n.text
	return nil
}

func (b *builder) osabi(n *node) error {
	b.result.OSABI = n.text
	return nil
}

// compatible refuses a repetition because GDB 13 ends with an internal error on one.
func (b *builder) compatible(n *node) error {
	switch {
	case n.text == "":
		b.warn(n.pos, "empty <compatible>")
		return nil
	case slices.Contains(b.result.Compatible, n.text):
		return errorAt(n.pos, "compatible %q comes twice", n.text)
	}
	b.result.Compatible = append(b.result.Compatible, n.text)
	return nil
}

func (b *builder) feature(n *node) error {
	f := &Feature{Name: n.values["name"]}
	b.scope = scope{feature: f, defined: make(map[string]bool), used: make(map[string]bool)}
	b.result.Features = append(b.result.Features, f)
	return nil
}

// refer tells whether a type of the name exists, and notes that it is used.
func (s *scope) refer(name string) bool {
	if s.defined[name] {
		return true
	}
	if _, ok := predefined[name]; !ok {
		return false
	}
	s.used[name] = true
	return true
}

func (b *builder) reg(n *node) error {
	r := &Register{Name: n.values["name"], Type: typeInt, Group: n.values["group"], SaveRestore: true}
	var err error
	if r.Bits, err = n.number("bitsize", math.MaxInt32); err != nil {
		return err
	}
	if err := b.regnum(n, r); err != nil {
		return err
	}
	if name, ok := n.attr("type"); ok {
		r.Type = name
	}
	if err := b.regType(n, r); err != nil {
		return err
	}
	if v, ok := n.attr("save-restore"); ok {
		if !strings.EqualFold(v, "yes") && !strings.EqualFold(v, "no") {
			return errorAt(n.pos, "save-restore=%q, want yes or no", v)
		}
		r.SaveRestore = strings.EqualFold(v, "yes")
	}
	b.scope.feature.Registers = append(b.scope.feature.Registers, r)
	return nil
}

// regnum numbers a register. One without regnum follows the register before it, also across features. GDB says nothing of
// names and numbers that come twice; a description that has some rarely means it.
func (b *builder) regnum(n *node, r *Register) error {
	num := b.next
	if _, ok := n.attr("regnum"); ok {
		var err error
		if num, err = n.number("regnum", math.MaxInt32); err != nil {
			return err
		}
	}
	if num > math.MaxInt32 {
		return errorAt(n.pos, "reg %q: its number would follow %d, the largest there is", r.Name, math.MaxInt32)
	}
	r.Num = arch.Reg(num)
	b.next = num + 1
	if b.names[r.Name] {
		b.warn(n.pos, "reg %q: there is another register of this name", r.Name)
	}
	if b.numbers[r.Num] {
		b.warn(n.pos, "reg %q: there is another register with number %d", r.Name, r.Num)
	}
	b.names[r.Name], b.numbers[r.Num] = true, true
	return nil
}

func (b *builder) regType(n *node, r *Register) error {
	if b.scope.refer(r.Type) {
		return nil
	}
	if r.Type != typeInt && r.Type != typeFloat {
		return errorAt(n.pos, "reg %q has the unknown type %q", r.Name, r.Type)
	}
	b.scope.used[r.Type] = true
	if !slices.Contains(sizedByBits[r.Type], r.Bits) {
		b.warn(n.pos, "reg %q: there is no type %s of %d bits", r.Name, r.Type, r.Bits)
	}
	return nil
}

// sizedByBits has the bitsizes for which C has a type, on one architecture or another. With others GDB warns too.
var sizedByBits = map[string][]int{
	typeInt:   {8, 16, 32, 64},
	typeFloat: {32, 64, 96, 128},
}
