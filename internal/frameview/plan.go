package frameview

import (
	"errors"
	"strings"

	"tracewell/arch"
	"tracewell/internal/filter"
	"tracewell/symbol"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/trace"
)

// What a user had collected is found by its text as well where the program's debug information is at hand: the text is compiled
// for the tracepoint's address, and evaluated over the frame. So are variables found that lie in a register, now here and now
// there, or in pieces. An action tells nothing of these but registers and memory.

// explained reports whether the debug information of a program is of use for a target: it is read for x86-64 only.
func explained(p *symbol.Program) bool {
	return p != nil && p.Main().File().IsAMD64() && p.Main().File().HasDWARF()
}

// planScope is the scope of an address with the trace state variables of the file.
type planScope struct {
	expr.Scope
	view *View
}

// Variable implements expr.Scope.
func (s planScope) Variable(name string) (trace.VariableNumber, bool) {
	n, ok := s.view.variableNumber(name)
	return trace.VariableNumber(n), ok
}

// addPlans adds an item for each thing that commands name and that no action has given one.
func (v *View) addPlans(c *collection, commands []string) {
	if v.program == nil {
		return
	}
	scope := planScope{v.program.Scope(c.tracepoint.Addr), v}
	for _, command := range commands {
		word, rest, _ := strings.Cut(strings.TrimSpace(command), " ")
		if len(word) < 3 || !strings.HasPrefix("collect", word) {
			continue
		}
		for _, text := range splitList(rest) {
			collected, err := expr.Collect(text, scope)
			if err != nil {
				continue
			}
			for _, item := range collected.Items {
				v.addPlan(c, item, scope)
				if known := c.byName[filter.Normal(item.Text)]; known != nil {
					known.Listed = text == "$args" || text == "$locals"
				}
			}
		}
	}
}

func (v *View) addPlan(c *collection, item expr.Item, scope expr.Scope) {
	if item.Type == nil || item.Text == "" {
		return
	}
	plan, err := expr.Compile(item.Text, scope)
	if err != nil || plan.Type == nil || plan.Type.Size <= 0 {
		return
	}
	found := source{kind: sourcePlan, plan: plan, size: uint64(plan.Type.Size)}
	known := c.byName[filter.Normal(item.Text)]
	if known == nil {
		c.add(&Item{Name: item.Text, Type: plan.Type, Language: scope.Language(), Reference: reference(item, scope), Explained: true, sources: []source{found}})
		return
	}
	if first := &known.sources[0]; known.Slot == nil && !first.step && first.kind != sourceVariable && first.kind != sourceString {
		known.Type, known.Language, known.Reference, known.Explained = plan.Type, scope.Language(), reference(item, scope), true
		if first.kind != sourceMemory || first.size != found.size {
			*first = found
		}
	}
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
func (r *Reader) ReadMemory(addr arch.Addr, p []byte) int {
	if n := r.frame.ReadMemory(addr, p); n > 0 || r.view.program == nil {
		return n
	}
	return r.view.program.ReadConstants(addr, p)
}

// evaluate finds what a plan gives in the frame.
func (r *Reader) evaluate(s *source) (Datum, bool) {
	found, err := s.plan.Locate((*world)(r))
	switch {
	case err != nil:
		return Datum{}, false
	case found.InMemory:
		return r.memory(found.Addr, s.size, false)
	}
	return Datum{Bytes: found.Bytes}, uint64(len(found.Bytes)) >= s.size
}

// world is the frame of a Reader as a plan sees it.
type world Reader

var errLacking = errors.New("the frame does not have it")

// Register implements expr.World.
func (w *world) Register(n arch.Reg) ([]byte, error) {
	r := (*Reader)(w)
	if r.view.Layout == nil {
		return nil, errLacking
	}
	if b, ok := r.register(r.view.Layout.ByNumber(n)); ok {
		return b, nil
	}
	return nil, errLacking
}

// Memory implements expr.World.
func (w *world) Memory(addr arch.Addr, n int) ([]byte, error) {
	b := make([]byte, n)
	if (*Reader)(w).frame.ReadMemory(addr, b) != n {
		return nil, errLacking
	}
	return b, nil
}

// Variable implements expr.World.
func (w *world) Variable(n trace.VariableNumber) (int64, error) {
	if value, ok := (*Reader)(w).variable(int32(n)); ok {
		return value, nil
	}
	return 0, errLacking
}
