package tdesc

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/internal/xmltext"
)

// maxFindings bounds the findings in one document.
const maxFindings = 1000

// builder makes a Target of the elements, in document order, and checks what the grammar cannot say.
type builder struct {
	source   Source
	result   *Target
	warnings []Finding
	places   *places // of what it makes; nil if nobody asks

	next       int             // number of a register that has no regnum
	names      map[string]bool // of registers so far
	numbers    map[arch.Reg]bool
	features   map[string]bool // names so far
	compatible map[string]bool

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

func newScope(f *Feature) scope {
	return scope{feature: f, defined: make(map[string]bool), used: make(map[string]bool)}
}

func newBuilder(source Source) *builder {
	return &builder{
		source:     source,
		names:      make(map[string]bool),
		numbers:    make(map[arch.Reg]bool),
		features:   make(map[string]bool),
		compatible: make(map[string]bool),
		scope:      newScope(new(Feature)),
	}
}

// full tells whether there are so many findings that further ones are dropped.
func (b *builder) full() bool { return len(b.warnings) >= maxFindings }

func (b *builder) warn(rule *Rule, pos Position, format string, args ...any) {
	if !b.full() {
		b.note(Finding{Rule: rule, Pos: pos, Text: fmt.Sprintf(format, args...)})
	}
}

func (b *builder) note(f Finding) {
	if !b.full() {
		b.warnings = append(b.warnings, f)
	}
}

// breach is an error where only the manual forbids something and is to be followed, else a warning.
func (b *builder) breach(rule *Rule, pos Position, format string, args ...any) error {
	if rule.Manual && b.source == ByManual {
		return errorAt(rule, pos, format, args...)
	}
	b.warn(rule, pos, format, args...)
	return nil
}

// spoil takes note of an element that has an error, so that what refers to it is not wrong as well.
func (b *builder) spoil(n *node) {
	if id := n.value("id"); id != "" {
		b.scope.defined[id] = true
	}
	switch {
	case n.begun:
	case n.name == "reg":
		b.next++
	case n.name == "feature":
		b.scope = newScope(new(Feature)) // which is lost
	case n.name == "target":
		b.result = new(Target)
	}
}

func (b *builder) beginTarget(n *node) error {
	b.result = new(Target)
	version, ok := n.attr("version")
	if ok && version != "1.0" {
		return errorAt(ruleVersion, n.pos, "version %q, want 1.0", version)
	}
	b.result.Version = version
	return nil
}

func (b *builder) endTarget(n *node) error {
	b.result.Unknown = n.unknown
	return nil
}

func (b *builder) architecture(n *node) error {
	b.result.Architecture = n.text
	if b.places != nil {
		b.places.architecture = n.pos
	}
	return nil
}

func (b *builder) osabi(n *node) error {
	b.result.OSABI = n.text
	if b.places != nil {
		b.places.osabi = n.pos
	}
	return nil
}

// compatibleElement refuses a repetition because GDB 13 ends with an internal error on one.
func (b *builder) compatibleElement(n *node) error {
	switch {
	case n.text == "":
		b.warn(ruleEmptyCompatible, n.pos, "empty <compatible>")
		return nil
	case b.compatible[n.text]:
		return errorAt(ruleSameCompatible, n.pos, "compatible %q comes twice", n.text)
	}
	b.compatible[n.text] = true
	b.result.Compatible = append(b.result.Compatible, n.text)
	if b.places != nil {
		b.places.compatible[n.text] = n.pos
	}
	return nil
}

// beginFeature looks at the name as an XML identifier: that is what the document type definition has it be.
func (b *builder) beginFeature(n *node) error {
	f := &Feature{Name: n.value("name")}
	b.scope = newScope(f)
	b.result.Features = append(b.result.Features, f)
	if b.places != nil {
		b.places.features[f] = n.pos
	}
	if b.places == nil && b.source == ByGDB {
		return nil
	}
	if !xmltext.IsName(f.Name) {
		return b.breach(ruleFeatureName, n.pos, "the feature name %q is no XML name", f.Name)
	}
	if b.features[f.Name] {
		return b.breach(ruleFeatureTwice, n.pos, "second feature %q", f.Name)
	}
	b.features[f.Name] = true
	return nil
}

func (b *builder) endFeature(n *node) error {
	b.scope.feature.Unknown = n.unknown
	return nil
}

// refer tells whether a type of the name exists, and notes that it is used.
func (b *builder) refer(name string) bool {
	if b.scope.defined[name] {
		return true
	}
	if _, ok := predefined[name]; !ok || manualOnly[name] && b.source == ByGDB {
		return false
	}
	b.scope.used[name] = true
	return true
}

// unknownType is the error of a reference to a type that does not exist.
func (b *builder) unknownType(n *node, format string, args ...any) error {
	name := args[len(args)-1].(string)
	if manualOnly[name] && b.source == ByGDB {
		return errorAt(ruleManualType, n.pos, format+", which GDB's manual has and GDB 13 has not", args...)
	}
	return errorAt(ruleUnknownType, n.pos, format, args...)
}

func (b *builder) reg(n *node) error {
	r := &Register{Name: n.value("name"), Type: typeInt, Group: n.value("group"), SaveRestore: true, Unknown: n.unknown}
	if err := b.regnum(n, r); err != nil {
		return err
	}
	var err error
	if r.Bits, err = n.number("bitsize", math.MaxInt32); err != nil {
		return err
	}
	if name, ok := n.attr("type"); ok {
		r.Type = name
	}
	if err := b.regType(n, r); err != nil {
		return err
	}
	if r.SaveRestore, err = b.saveRestore(n); err != nil {
		return err
	}
	if err := b.group(n, r); err != nil {
		return err
	}
	if b.places != nil {
		b.places.registers[r] = n.pos
	}
	b.scope.feature.Registers = append(b.scope.feature.Registers, r)
	return nil
}

func (b *builder) saveRestore(n *node) (bool, error) {
	v, ok := n.attr("save-restore")
	if !ok {
		return true, nil
	}
	yes := strings.EqualFold(v, "yes")
	if !yes && !strings.EqualFold(v, "no") {
		return false, errorAt(ruleSaveRestore, n.pos, "save-restore=%q, want yes or no", v)
	}
	if v != "yes" && v != "no" && (b.places != nil || b.source == ByManual) {
		return yes, b.breach(ruleSaveCase, n.pos, "save-restore=%q, want yes or no", v)
	}
	return yes, nil
}

// group checks the name of a register's group as the manual has it.
func (b *builder) group(n *node, r *Register) error {
	if b.places == nil && b.source == ByGDB || r.Group == "" {
		return nil
	}
	for _, c := range r.Group {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return b.breach(ruleGroup, n.pos, "reg %q: the group %q has other characters than letters, digits and hyphens",
				r.Name, r.Group)
		}
	}
	return nil
}

// regnum numbers a register. One without regnum follows the register before it, also across features. GDB says nothing of
// names and numbers that come twice; a description that has some rarely means it.
func (b *builder) regnum(n *node, r *Register) error {
	num := b.next
	b.next++
	text, ok := n.attr("regnum")
	switch {
	case ok && outside(text):
		b.warn(ruleOutside, n.pos, "reg %q: with the number -1 it is in no packet", r.Name)
		num = int(Outside)
	case ok:
		var err error
		if num, err = n.number("regnum", math.MaxInt32); err != nil {
			return err
		}
	}
	if num > math.MaxInt32 {
		return errorAt(ruleWrap, n.pos, "reg %q: its number would follow %d, the largest there is", r.Name, math.MaxInt32)
	}
	r.Num = arch.Reg(num)
	b.next = num + 1
	named, numbered := b.names[r.Name], b.numbers[r.Num] && r.Num != Outside
	b.names[r.Name], b.numbers[r.Num] = true, true
	var err error
	if named {
		err = b.breach(ruleSameName, n.pos, "reg %q: there is another register of this name", r.Name)
	}
	if numbered {
		b.warn(ruleSameNumber, n.pos, "reg %q: there is another register with number %d", r.Name, r.Num)
	}
	return err
}

func (b *builder) regType(n *node, r *Register) error {
	if b.refer(r.Type) {
		return nil
	}
	if r.Type != typeInt && r.Type != typeFloat {
		return b.unknownType(n, "reg %q has the unknown type %q", r.Name, r.Type)
	}
	b.scope.used[r.Type] = true
	if !slices.Contains(sizedByBits[r.Type], r.Bits) {
		b.warn(ruleNoSize, n.pos, "reg %q: there is no type %s of %d bits", r.Name, r.Type, r.Bits)
	}
	return nil
}

// sizedByBits has the bitsizes for which C has a type, on one architecture or another. With others GDB warns too.
var sizedByBits = map[string][]int{
	typeInt:   {8, 16, 32, 64},
	typeFloat: {32, 64, 96, 128},
}
