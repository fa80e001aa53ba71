package definition

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/trace"
)

// returns finds where the functions around locations return: their return instructions, and the jumps by which they leave for
// another function. What is not recorded of them is a warning; it is an error if that is everything.
func (t *Point) returns(p *symbol.Program, entries []symbol.Location) (found []symbol.Location, warnings []error, err error) {
	for _, entry := range called(p, entries) {
		if entry.Call != "" {
			found = append(found, entry.Returning())
			continue
		}
		exits, err := exitsOf(p, entry)
		if err != nil {
			warnings = append(warnings, t.at(entry, err))
			continue
		}
		found = append(found, append(exits.Returns, exits.Tails...)...)
		if n := len(exits.Unclear); n > 0 {
			warnings = append(warnings, t.at(exits.Unclear[0], fmt.Errorf("%s may leave for another function here or go on, depending on "+
				"what it computes: such returns are not recorded (%d jumps)", exits.Function, n)))
		}
	}
	if len(found) == 0 {
		return nil, nil, errors.Join(warnings...)
	}
	// A line of a function, and another of the same, have the same returns.
	slices.SortFunc(found, func(a, b symbol.Location) int { return int(int64(a.Addr - b.Addr)) })
	return slices.CompactFunc(found, func(a, b symbol.Location) bool { return a.Addr == b.Addr }), warnings, nil
}

// called has the functions themselves in place of the stubs through which one file calls those of others: they are what returns.
func called(p *symbol.Program, entries []symbol.Location) (found []symbol.Location) {
	for _, entry := range entries {
		if entry.Import == "" {
			found = append(found, entry)
			continue
		}
		targets, _ := p.Locate(entry.Import) // one that is not loaded yet is called later, and found then
		for _, target := range targets {
			if target.Object != entry.Object && !target.Copy {
				found = append(found, target)
			}
		}
	}
	return found
}

// entered leaves out locations in parts of functions that were moved away, unless there are no others. Their symbols have the
// names of the functions, but they are executed in the middle of a call.
func entered(p *symbol.Program, locations []symbol.Location) []symbol.Location {
	kept := slices.DeleteFunc(slices.Clone(locations), func(l symbol.Location) bool { return p.Moved(l.Addr) })
	if len(kept) == 0 {
		return locations
	}
	return kept
}

// exitsOf finds the exits of the function that a location is in.
func exitsOf(p *symbol.Program, entry symbol.Location) (symbol.Exits, error) {
	switch {
	case entry.Copy:
		return symbol.Exits{}, errors.New("this copy was inlined: it has no return instruction")
	case entry.Resolver:
		return symbol.Exits{}, errors.New("this function only chooses the one that is called (IFUNC)")
	}
	exits, err := p.Exits(entry.Addr)
	if err == nil && len(exits.Returns)+len(exits.Tails) == 0 {
		err = fmt.Errorf("%s never returns: it has no return instruction", exits.Function)
		if len(exits.Unclear) > 0 {
			err = fmt.Errorf("%s has no return instruction, and each of its jumps elsewhere may lead to another function or not, "+
				"depending on what it computes", exits.Function)
		}
	}
	return exits, err
}

// tailCall is why a frame has no value where a jump leaves the function.
const tailCall = "tail call: another function returns in place of this one"

// addImplied collects what a tracepoint of an entry or of returns has besides its actions. It returns the action of what it could
// collect, and the comments by which the file says why something is missing.
func (b *actionBuilder) addImplied(t *plan.Tracepoint, at symbol.Location) (actions []plan.Action, absent []string) {
	collected := plan.Action{Kind: plan.Collect}
	for _, text := range t.Implied() {
		err := b.collect(collected, text)
		switch {
		case err == nil:
			collected.Expressions = append(collected.Expressions, text)
		case b.expected(text):
		case at.Tail && text.Value == "$"+trace.ReturnName:
			absent = append(absent, plan.AbsentComment(text.Value, tailCall))
		default:
			b.warnings = append(b.warnings, fmt.Errorf("%s cannot be collected: %w", text.Value, err))
			absent = append(absent, plan.AbsentComment(text.Value, problem(err, text.Value)))
		}
	}
	if len(collected.Expressions) > 0 {
		actions = []plan.Action{collected}
	}
	return actions, absent
}

// problem is the reason alone of an error about the whole of a text.
func problem(err error, text string) string {
	var marked *expr.Error
	if errors.As(err, &marked) {
		return strings.TrimPrefix(marked.Problem, text+": ")
	}
	return err.Error()
}

// expected reports whether nothing else is to be expected than that something is not there: most programs have no goroutines, many
// functions return nothing.
func (b *actionBuilder) expected(text plan.Text) bool {
	object, err := b.scope.Register(text.Value[1:])
	if err != nil {
		return false
	}
	return text.Value == "$"+trace.GoroutineName || object.Type == ctype.Void
}
