package view

import (
	"slices"
	"strconv"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/internal/jsontext"
	"tracewell/record/plan"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/symbol/scope"
	"tracewell/tdesc"
	"tracewell/trace"
)

// Item is one thing that a tracepoint collects, under the name that a user knows it by:
//
//	$rdi  $hits              a register, a trace state variable
//	j->id  q  buf[0]@16      what a collect command says, where it is certain which action comes of it
//	limit  table+8           memory of the program that a symbol names
//	*(int *)($rbp - 20)      anything else, as an expression that GDB reads, too
//
// Within a tracepoint a name is used once: what is collected both at the hit and after steps is one item.
type Item struct {
	Name string
	Type *ctype.Type // an integer of the size where nothing else is known
	Slot *tdesc.Slot // of a register, nil for other items
	// Language is that of the source where the program's debug information tells of the item, else C.
	Language  ctype.Language
	Explained bool // it does, and so the type is certain
	// Listed says that $args or $locals stands for the item, which GDB then prints without its type.
	Listed bool
	// Reference is the type of a reference, whose value is that of what it refers to; nil for other items.
	Reference *ctype.Type

	// Absent is why no frame of the location has it, as an item of calls; "" for other items.
	Absent string

	raw     bool            // named by what the action says, not by what somebody wrote
	plan    *expr.Evaluator // what the name means at the hit; nil if nothing tells
	sources []source        // tried one after the other
	entry   string          // the name, in its normal form, of the item of the entry that this is; "" for other items
	key     []byte          // the name as the key of a JSON object
}

// source is one way to find an item in a frame.
type source struct {
	step     bool // collected after steps
	kind     sourceKind
	size     uint64
	addr     arch.Addr       // sourceMemory: the address, or what is added to base
	base     *tdesc.Slot     // sourceMemory: nil for an absolute address; sourceRegister
	variable int32           // sourceVariable
	code     *ax.Program     // sourceCode, sourceString, sourceResult
	needs    bool            // the code reads registers
	plan     *expr.Evaluator // sourcePlan
}

// sourceKind is a way to find an item.
type sourceKind uint8

const (
	sourceRegister sourceKind = iota // the Slot of the item, or base
	sourceMemory
	sourceVariable
	sourceCode   // memory: the one that the code records last
	sourceString // as sourceCode, up to the first zero byte
	sourceResult // a number: the one that the code has at its end
	sourcePlan   // what an expression gives
	sourceTook   // how long the call of the frame took
	sourceAbsent // none
)

// collection is what one location of a tracepoint collects.
type collection struct {
	tracepoint *trace.Tracepoint // nil for what is the same for all
	items      []*Item
	byName     map[string]*Item // by the normal form of the name
	stack      bool             // the stack is collected for a backtrace

	locals    []scope.Local // in scope at the location
	frameBase []byte        // code that finds what the Offsets of locals count from; nil if no action does

	ofCalls               bool  // it is of an entry or of returns
	activation, goroutine *Item // what frames of a call are paired by; nil if not collected
}

// collections are those of all tracepoints.
type collections struct {
	of    map[*trace.Tracepoint]*collection
	none  *collection            // of frames whose tracepoint is not defined
	typed map[string]*ctype.Type // names of any collection
}

// Items returns what a tracepoint collects, at the first location if it has several: registers, then what its actions say in
// their order, then what it collects after steps.
func (v *View) Items(n trace.Number) []*Item {
	t := v.tracepoints[n]
	if t == nil {
		return nil
	}
	return v.collected().of[t.locations[0]].items
}

// EveryItem returns the items of all tracepoints that frames can have, by the numbers of these.
func (v *View) EveryItem() []*Item {
	all := v.collected()
	var items []*Item
	for _, t := range v.byNumber() {
		for _, item := range all.of[t].items {
			if item.Absent == "" {
				items = append(items, item)
			}
		}
	}
	return items
}

// ItemNames returns the names of all items, each once.
func (v *View) ItemNames() []string {
	var names []string
	for _, item := range v.EveryItem() {
		names = append(names, item.Name)
	}
	return compact(names)
}

// Variable returns the number of the trace state variable that an item is, false for another item.
func (i *Item) Variable() (int32, bool) {
	s := &i.sources[0]
	return s.variable, s.kind == sourceVariable
}

// InMemory reports whether an item is neither a register nor a trace state variable.
func (i *Item) InMemory() bool {
	_, isVariable := i.Variable()
	return i.Slot == nil && !isVariable
}

// CollectedRegisters returns the registers that were selected or else those that some tracepoint asks for, in the order of
// the target. Where no tracepoint does, but the first frames have registers, it is all.
func (v *View) CollectedRegisters() ([]*tdesc.Slot, error) {
	if v.selected || v.Layout == nil {
		return v.Registers(), nil
	}
	asked := make(map[*tdesc.Slot]bool)
	for _, action := range v.actions() {
		for _, n := range action.Registers() {
			asked[v.Layout.ByNumber(n)] = true
		}
	}
	slots := slices.DeleteFunc(v.Registers(), func(slot *tdesc.Slot) bool { return !asked[slot] })
	if len(slots) > 0 {
		return slots, nil
	}
	found, _, err := v.sample()
	if found {
		slots = v.Registers()
	}
	return slots, err
}

// AsksFor reports whether a register was selected, or the tracepoint of a frame collects it; no matter which if that is not
// defined.
func (v *View) AsksFor(f Frame, slot *tdesc.Slot) bool {
	t := v.Definition(f)
	if t == nil || v.selected {
		return true
	}
	return slices.ContainsFunc(slices.Concat(t.Actions, t.StepActions), func(a trace.Action) bool {
		return slices.ContainsFunc(a.Registers(), func(n arch.Reg) bool { return v.Layout.ByNumber(n) == slot })
	})
}

// collected works out what all tracepoints collect, once.
func (v *View) collected() *collections {
	v.once.Do(func() {
		all := &collections{
			of:    make(map[*trace.Tracepoint]*collection),
			none:  &collection{byName: make(map[string]*Item)},
			typed: make(map[string]*ctype.Type),
		}
		if v.Symbols != nil {
			v.globals = v.Symbols.Globals()
		}
		for _, t := range v.byNumber() {
			all.of[t] = v.collect(t)
			all.note(all.of[t])
		}
		v.everything = all
	})
	return v.everything
}

// note remembers the types of what a location has names for.
func (all *collections) note(c *collection) {
	note := func(name string, typ *ctype.Type) {
		if all.typed[name] == nil {
			all.typed[name] = typ
		}
	}
	for _, item := range c.items {
		if item.Absent != "" {
			continue
		}
		note(cexpr.Normal(item.Name), item.Type)
	}
	for _, local := range c.locals {
		if local.Kind == scope.Static || local.Kind == scope.InFrame && c.frameBase != nil {
			note(local.Name, local.Type)
		}
	}
}

// byNumber returns the tracepoints in the order of their numbers.
// The sort is stable: locations of one number stay in the order of the file.
func (v *View) byNumber() []*trace.Tracepoint {
	sorted := slices.Clone(v.definitions)
	slices.SortStableFunc(sorted, func(a, b *trace.Tracepoint) int { return int(a.Number) - int(b.Number) })
	return sorted
}

// collect works out what one location collects, and what the entry does if it is one of returns.
func (v *View) collect(t *trace.Tracepoint) *collection {
	c := v.own(t)
	if n := v.tracepoints[t.Number]; n.entry != 0 {
		v.addCall(c, n)
	}
	return c
}

// own works out what one location collects.
func (v *View) own(t *trace.Tracepoint) *collection {
	n := v.tracepoints[t.Number]
	c := &collection{tracepoint: t, byName: make(map[string]*Item), ofCalls: n.entry != 0 || n.paired}
	if v.globals != nil {
		c.locals = v.Symbols.Scope(t.Addr).Frame()
	}
	hit, step := splitCommands(t.Source.Commands)
	v.addActions(c, t.Actions, hit, false)
	v.addPlans(c, hit)
	v.addActions(c, t.StepActions, step, true)
	for _, command := range t.Source.Commands {
		if name, why, ok := plan.ParseAbsent(command); ok && c.byName[name] == nil {
			c.add(&Item{Name: name, Type: ctype.Void, Absent: why, sources: []source{{kind: sourceAbsent}}})
		}
	}
	return c
}

// addActions adds what some actions collect, which the commands led to.
func (v *View) addActions(c *collection, actions []trace.Action, commands []string, step bool) {
	for _, action := range actions {
		if action.Kind == trace.CollectRegisters {
			v.addRegisters(c, action, step)
		}
	}
	drafts := v.drafts(actions)
	expected := v.expectations(c, commands)
	pair(drafts, expected)
	if !step { // after steps the variable may be elsewhere
		v.nameRegister(drafts, expected, actions)
	}
	for _, d := range drafts {
		if d.source.kind != sourceVariable && c.tracepoint != nil && atCall(c.tracepoint) {
			continue
		}
		d.source.step = step
		c.nameLocal(d)
		for _, named := range v.named(c, d) {
			v.retype(c, named)
			c.add(named)
		}
	}
}

func (v *View) addRegisters(c *collection, action trace.Action, step bool) {
	if v.Layout == nil {
		return
	}
	for _, n := range action.Registers() {
		if slot := v.Layout.ByNumber(n); slot != nil {
			c.add(&Item{Name: "$" + slot.Reg.Name, Type: registerType(slot), Slot: slot,
				sources: []source{{kind: sourceRegister, step: step}}})
		}
	}
}

// add adds an item, to one of the same name if there is one. What is there for backtraces, and to pair and time
// calls, is none.
func (c *collection) add(item *Item) {
	switch {
	case plan.IsStack(item.Name):
		c.stack = true
		return
	case item.Name == "$"+trace.ActivationName:
		c.activation = item
		return
	case item.Name == "$"+trace.GoroutineName:
		c.goroutine = item
		return
	case item.Name == "$"+trace.NanosecondsName && c.ofCalls:
		return
	}
	name := cexpr.Normal(item.Name)
	known := c.byName[name]
	if known == nil {
		c.byName[name] = item
		item.key = jsontext.AppendString(nil, item.Name)
		c.items = append(c.items, item)
		return
	}
	if slices.ContainsFunc(known.sources, func(s source) bool { return s.step == item.sources[0].step }) {
		return // the same thing twice
	}
	known.sources = append(known.sources, item.sources...)
}

// named makes the items of a draft: one under the name that the user gave, or those that symbols give, or one by what the
// action says.
func (v *View) named(c *collection, d *draft) []*Item {
	// A constant stands for a variable that the compiler left out, and has its value at the tracepoint itself.
	constant := d.source.kind == sourceResult && d.shape.plain && !d.source.needs
	if d.text == "" || constant && (d.name == "" || d.source.step) {
		return nil
	}
	if d.name == "" && d.source.kind == sourceMemory && d.source.base == nil {
		return v.symbolItems(c, d.source)
	}
	name := d.name
	if name == "" {
		name = d.text
	}
	return []*Item{{Name: name, Type: d.typ(), raw: d.name == "", sources: []source{d.source}}}
}

func (d *draft) typ() *ctype.Type {
	switch d.source.kind {
	case sourceVariable, sourceResult:
		return ctype.Int(8, true)
	case sourceRegister:
		if d.source.base != nil {
			return registerType(d.source.base)
		}
	case sourceString:
		return ctype.ArrayOf(ctype.Int(1, true), int(min(d.source.size, 1<<16)))
	}
	return ctype.Bytes(int(min(d.source.size, 1<<31)))
}

// symbolItems takes a range of memory apart into the symbols that lie in it, as far as there are any. GDB collects neighbours
// as one range.
func (v *View) symbolItems(c *collection, s source) []*Item {
	var items []*Item
	for s.size > 0 {
		part := s
		name, size := c.staticAt(s.addr, s.size)
		if name == "" {
			name, size = v.symbolAt(s.addr, s.size)
		}
		if name == "" {
			name, size = ax.Place(s.addr.String(), s.size), s.size
		}
		part.size = size
		items = append(items, &Item{Name: name, Type: ctype.Bytes(int(min(size, 1<<31))), raw: true, sources: []source{part}})
		s.addr += arch.Addr(size)
		s.size -= size
	}
	return items
}

// symbolAt names at most size bytes at an address by the symbol that they lie in, and says how many those are.
func (v *View) symbolAt(addr arch.Addr, size uint64) (string, uint64) {
	if v.Symbols == nil {
		return "", 0
	}
	symbol, offset, ok := v.Symbols.SymbolAt(addr)
	if !ok || symbol.Size <= offset {
		return "", 0
	}
	whole := min(size, symbol.Size-offset)
	switch {
	case offset > 0:
		return symbol.Name + "+" + strconv.FormatUint(offset, 10), whole
	case whole < symbol.Size:
		return ax.Place("&"+symbol.Name, whole), whole
	}
	return symbol.Name, whole
}
