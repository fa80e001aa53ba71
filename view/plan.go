package view

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/internal/cexpr"
	"tracewell/symbol"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/tfile"
	"tracewell/trace"
)

// What a user had collected is found by its text as well where the program's debug information is at hand: the text is compiled
// for the tracepoint's address, and evaluated over the frame. So are variables found that lie in a register, now here and now
// there, or in pieces. An action tells nothing of these but registers and memory.

// explains reports whether the debug information of a program tells where its variables are: what registers there are has to be
// known, and which of them DWARF means by a number.
func (v *View) explains(p *symbol.Program) bool {
	return p != nil && v.knows(p.Main().File().Arch()) && p.Main().File().HasDWARF()
}

// knows reports whether the registers of a machine are those of every Linux, or in the description that the trace has.
func (v *View) knows(m *arch.Machine) bool { return m.Variables || v.Layout != nil && len(m.DWARF) > 0 }

// planScope is the scope of an address with the trace state variables of the file.
// A program knows nothing of these variables, which only the trace defines.
type planScope struct {
	expr.Scope
	view *View
}

// Variable implements expr.Scope.
func (s planScope) Variable(name string) (trace.VariableNumber, bool) {
	n, ok := s.view.variableNumber(name)
	return trace.VariableNumber(n), ok
}

// addPlans adds an item for each thing that commands name and that no action has given one. If all of them are understood there
// is nothing that was not named by one: what has a name only by what its action says is a part of another, or led to it.
// Commands are compiled in the scope of the tracepoint's address, as GDB and record compiled them when they defined
// it: names mean there what they meant to the user.
func (v *View) addPlans(c *collection, commands []string) {
	at := v.scopeOf(c.tracepoint)
	if at == nil {
		return
	}
	scope := planScope{at, v}
	// Only if every text was understood, raw items are known to be parts of what the texts name.
	all, some := true, false
	for _, command := range commands {
		word, rest, _ := strings.Cut(strings.TrimSpace(command), " ")
		word, option, asText := strings.Cut(word, "/")
		if len(word) < 3 || !strings.HasPrefix("collect", word) {
			continue
		}
		if asText {
			option = "/" + option + " "
		}
		for _, text := range splitList(rest) {
			collected, err := expr.Collect(option+text, scope, container.Limits{})
			if err != nil {
				all = false
				continue
			}
			listed := text == "$args" || text == "$locals"
			for _, item := range collected.Items {
				if !listed {
					item.Text = text
				}
				planned := v.addPlan(c, item, listed, scope)
				all, some = all && planned, some || planned
			}
		}
	}
	if all && some {
		c.items = slices.DeleteFunc(c.items, func(item *Item) bool { return item.raw })
	}
}

// addPlan gives an item what its name means, and reports whether that is known. Registers and variables mean nothing else.
func (v *View) addPlan(c *collection, item expr.Item, listed bool, scope planScope) bool {
	name := cexpr.Normal(item.Text)
	if plain := strings.Trim(item.Text, "'"); c.byName[name] == nil && c.byName[plain] != nil {
		name = plain // GDB takes quotes around any name
	}
	known := c.byName[name]
	if item.Type == nil || known != nil && (known.Slot != nil || known.sources[0].kind == sourceVariable) {
		return true
	}
	plan, err := expr.Compile(item.Text, scope)
	if err != nil || plan.Type == nil {
		return false
	}
	found := source{kind: sourcePlan, plan: plan, size: uint64(max(plan.Type.Size, 0))}
	if known == nil {
		known = &Item{Name: item.Text, Type: plan.Type, sources: []source{found}}
		c.add(known)
	} else if first := &known.sources[0]; !first.step && first.kind != sourceString && plan.Type.Size > 0 {
		// An action that found memory of the right size is kept, since it reads what was collected at no cost; any
		// other way of finding the item gives way to the plan, which knows of registers and pieces.
		known.Type = plan.Type
		if first.kind != sourceMemory || first.size != found.size {
			*first = found
		}
	}
	known.plan, known.raw, known.Explained, known.Listed = plan, false, true, listed
	known.Language, known.Reference = scope.Language(), reference(item, scope)
	return true
}

// reference returns the type of an item that is a reference, nil for others.
func reference(item expr.Item, scope expr.Scope) *ctype.Type {
	if o, err := scope.Lookup(item.Text); err == nil && o.Type != nil && o.Type.Reference {
		return o.Type
	}
	return nil
}

// ReadMemory reads what the frame has at an address, and else what the program has there that never changes. It returns how much
// of p that is.
// The program's read-only segments are the same at each hit, so that tracers do not collect them; a string literal is
// read from the file of the program.
func (r *Reader) ReadMemory(addr arch.Addr, p []byte) int {
	if n := r.frame.ReadMemory(addr, p); n > 0 || r.view.program == nil {
		return n
	}
	return r.view.program.ReadConstants(addr, p)
}

// evaluate finds what a plan gives in the frame.
func (r *Reader) evaluate(s *source) (Datum, bool) {
	found, err := s.plan.Locate((*exprContext)(r))
	switch {
	case err != nil || len(found.Holes) > 0:
		return Datum{}, false
	// Where the plan only computes the place, the frame must have the bytes; other results are registers or constants.
	case found.InMemory:
		return r.memory(found.Addr, s.size, false)
	}
	return Datum{Bytes: found.Bytes}, uint64(len(found.Bytes)) >= s.size
}

// Value returns the value of an item, some of which may not be known, false if nothing of it is.
func (r *Reader) Value(item *Item) (ctype.Value, bool) {
	if v, ok := r.planned(item); ok {
		return v, true
	}
	d, ok := r.Read(item)
	return ctype.Value{Type: item.Type, Bytes: bytes.Clone(d.Bytes), InMemory: d.HasAddr, Addr: d.Addr}, ok
}

// Find is like Value, but takes what was collected for the item before all else, and allocates nothing if the frame has that.
// The value is valid until the next Find, Read or Set.
func (r *Reader) Find(item *Item) (ctype.Value, bool) {
	if d, ok := r.Read(item); ok {
		return ctype.Value{Type: item.Type, Bytes: d.Bytes, InMemory: d.HasAddr, Addr: d.Addr}, true
	}
	return r.planned(item)
}

// planned returns what the name of an item means in the program, false if nothing of that is known.
// After steps, locations in registers would be those of another address than the plan was compiled for.
func (r *Reader) planned(item *Item) (ctype.Value, bool) {
	if item.entry != "" {
		entry, found := r.ofEntry(item)
		if found == nil {
			return ctype.Value{}, false
		}
		return entry.planned(found)
	}
	if item.plan == nil || item.Reference != nil || r.stepped {
		return ctype.Value{}, false
	}
	v, err := item.plan.Value((*exprContext)(r))
	return v, err == nil && !isUnavailable(v)
}

// isUnavailable reports whether a frame lacks all of a value.
func isUnavailable(v ctype.Value) bool {
	return len(v.Holes) == 1 && v.Holes[0] == ctype.Hole{From: 0, To: v.Type.Size, Why: ctype.Unavailable}
}

// exprContext is the frame of a Reader as the context in which an expression is evaluated.
type exprContext Reader

var errLacking = errors.New("the frame does not have it")

// Register implements expr.Context.
func (w *exprContext) Register(n arch.Reg) ([]byte, error) {
	r := (*Reader)(w)
	if r.view.Layout == nil {
		return nil, errLacking
	}
	if b, ok := r.register(r.view.Layout.ByNumber(n)); ok {
		return b, nil
	}
	return nil, errLacking
}

// Memory implements expr.Context.
func (w *exprContext) Memory(addr arch.Addr, n int) ([]byte, error) {
	// One block has it as a rule, and is handed out without a copy; only a range over several blocks is put together.
	for block := range w.frame.Blocks() {
		at, size := uint64(addr-block.Addr), uint64(len(block.Bytes))
		if block.Kind == tfile.BlockMemory && at < size && uint64(n) <= size-at {
			return block.Bytes[at : at+uint64(n) : at+uint64(n)], nil
		}
	}
	b := make([]byte, n)
	if (*Reader)(w).ReadMemory(addr, b) != n {
		return nil, errLacking
	}
	return b, nil
}

// Variable implements expr.Context.
func (w *exprContext) Variable(n trace.VariableNumber) (int64, error) {
	if value, ok := (*Reader)(w).variable(int32(n)); ok {
		return value, nil
	}
	return 0, errLacking
}
