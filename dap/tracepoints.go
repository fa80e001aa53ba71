package dap

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/trace"
)

// Breakpoints of a program that runs are tracepoints. They are checked against the file of the program before anything is set, so
// that a client is told what is wrong with one, and the others are set all the same.

// newPlan is a plan without tracepoints, whose frames tell when and by which thread they were made.
func newPlan() *plan.Plan {
	p := &plan.Plan{Settings: plan.Settings{Contents: container.Limits{Elements: mostCollected, Text: mostCollected, Depth: 3}}}
	for _, name := range []string{trace.TimestampName, trace.ThreadIDName} {
		p.Always = append(p.Always, plan.Text{Value: "$" + name, Origin: "dap", Line: "$" + name})
	}
	return p
}

const (
	// mostCollected is how many elements of a container, and characters of a text, are collected.
	mostCollected = 200
	// usualStack is how many bytes of the stack a breakpoint collects unless the user says otherwise.
	usualStack = 2048
)

// place implements debuggee: it changes the plan, and the run if there is one.
func (l *running) place(all []*breakpoint) error {
	next := newPlan()
	next.Variables = l.plan.Variables
	numbers, points := make(map[int]trace.Number), make(map[trace.Number]*breakpoint)
	known := make(map[trace.Number]plan.Tracepoint)
	for _, t := range l.plan.Tracepoints {
		known[t.Number] = t
	}
	var fresh []*breakpoint
	for _, b := range all {
		if b.wrong != "" {
			continue
		}
		if err := l.check(b); err != nil {
			b.message = err.Error()
			continue
		}
		n := l.numbers[b.id]
		t, ok := known[n]
		if !ok {
			l.highest++
			n = l.highest
			var err error
			if t, err = l.tracepoint(b, n, next); err != nil {
				b.message = err.Error()
				continue
			}
			fresh = append(fresh, b)
		}
		numbers[b.id], points[n] = n, b
		if b.verified {
			l.mu.Lock()
			l.armed[n] = true
			l.mu.Unlock()
		}
		next.Tracepoints = append(next.Tracepoints, t)
	}
	slices.SortFunc(next.Tracepoints, func(a, b plan.Tracepoint) int { return int(a.Number) - int(b.Number) })
	l.mu.Lock()
	run, before := l.run, l.points
	started := l.cancel != nil && !l.over
	l.points = points
	l.mu.Unlock()
	if started {
		if err := run.Change(next); err != nil {
			for _, b := range fresh {
				b.verified, b.message = false, err.Error()
			}
			l.mu.Lock()
			l.points = before
			l.mu.Unlock()
			return nil
		}
	} else if run != nil && !l.lost {
		return l.reopen(next, numbers)
	}
	l.plan, l.numbers = next, numbers
	return nil
}

// reopen prepares the run anew of a program that stands at its beginning.
func (l *running) reopen(next *plan.Plan, numbers map[int]trace.Number) error {
	l.plan, l.numbers = next, numbers
	if err := l.run.Close(); err != nil {
		return err
	}
	return l.open()
}

// check finds out where a breakpoint is, and whether what it collects can be had there.
func (l *running) check(b *breakpoint) error {
	if b.data != "" {
		return errors.New("writers of memory are not traced in a program that runs: data breakpoints are for execution traces")
	}
	if b.address != nil {
		b.verified = true
		return nil
	}
	found, err := l.file.Locate(l.location(b))
	var missing *symbol.NotFoundError
	switch {
	case errors.As(err, &missing):
		b.message = fmt.Sprintf("%v; it is looked for in libraries", firstLine(err))
		l.mu.Lock()
		b.verified = l.armed[l.numbers[b.id]]
		l.mu.Unlock()
		return nil
	case err != nil:
		return err
	}
	for _, at := range found {
		if err = l.checkAt(b, at); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	b.verified = true
	if b.at.path != "" && found[0].Line != 0 {
		b.line = found[0].Line
	}
	return nil
}

// checkAt compiles the expressions of a breakpoint for one location. At least one has to have them all.
func (l *running) checkAt(b *breakpoint, at symbol.Location) error {
	n := &names{program: l.file, variables: make(map[string]trace.VariableNumber)}
	for _, name := range []string{trace.TimestampName, trace.ThreadIDName, trace.ProcessIDName, trace.NanosecondsName} {
		if v, ok := trace.Builtin(name); ok {
			n.variables[name] = v.Number
		}
	}
	scope := variableScope{l.file.Scope(at.Addr), n.variables}
	if b.condition != "" {
		if _, err := expr.Condition(b.condition, scope); err != nil {
			return fmt.Errorf("condition: %s", oneLine(err))
		}
	}
	if b.log == nil {
		return nil
	}
	for _, e := range b.log.expressions() {
		if _, err := expr.Collect(e, scope, l.plan.Settings.Contents); err != nil {
			return fmt.Errorf("{%s}: %s", e, oneLine(err))
		}
	}
	return nil
}

// firstLine is the first line of an error.
func firstLine(err error) string { return oneLine(errors.New(err.Error())) }

// location is where a breakpoint is, as a plan has it.
func (l *running) location(b *breakpoint) string {
	switch {
	case b.address != nil:
		return fmt.Sprintf("*%#x", *b.address)
	case b.function != "":
		return b.function
	}
	return l.session.sources.spec(l.file, b.at)
}

// tracepoint makes a tracepoint of a breakpoint. Variables that it takes are added to the plan.
func (l *running) tracepoint(b *breakpoint, n trace.Number, next *plan.Plan) (plan.Tracepoint, error) {
	items := []plan.Item{{Option: "--at", Value: l.location(b)}}
	condition := b.condition
	if b.hits.op != "" {
		// Each hit for which the condition holds is counted in the program itself.
		name := fmt.Sprintf("dap_hits_%d", n)
		next.Variables = append(slices.Clone(next.Variables), plan.Variable{Name: name})
		counted := fmt.Sprintf("($%s = $%[1]s + 1) %s %d", name, b.hits.op, b.hits.n)
		if b.hits.op == "%" {
			counted += " == 0"
		}
		if condition != "" {
			counted = "(" + condition + ") && (" + counted + ")"
		}
		condition = counted
	}
	if condition != "" {
		items = append(items, plan.Item{Option: "--if", Value: condition})
	}
	if b.log != nil {
		for _, e := range b.log.expressions() {
			items = append(items, plan.Item{Option: "--collect", Value: e})
		}
	} else {
		items = append(items, plan.Item{Option: "--collect", Value: "$args, $locals"})
		for _, name := range l.pointers(b) {
			items = append(items, plan.Item{Option: "--collect", Value: "*" + name})
		}
		if stack := l.arguments.stackBytes(); stack > 0 {
			items = append(items, plan.Item{Option: "--backtrace", Value: fmt.Sprint(stack)})
		}
	}
	p := &plan.Plan{Settings: next.Settings}
	if err := p.AddItems(items); err != nil {
		return plan.Tracepoint{}, errors.New(oneLine(err))
	}
	p.CollectTexts(mostCollected)
	t := p.Tracepoints[0]
	t.Number = n
	return t, nil
}

const (
	// mostPointers is of how many pointers a breakpoint collects what they point to, and mostPointee the most bytes of one.
	mostPointers = 16
	mostPointee  = 1024
)

// pointers are the variables at a breakpoint that point to structures. Who unfolds one wants to see what is there.
func (l *running) pointers(b *breakpoint) (names []string) {
	found, err := l.file.Locate(l.location(b))
	if err != nil {
		return nil
	}
	scope := l.file.Scope(found[0].Addr)
	for _, name := range slices.Concat(scope.Arguments(), scope.Locals()) {
		o, err := scope.Lookup(name)
		if err != nil || o.Type == nil || len(names) == mostPointers || slices.Contains(names, name) {
			continue
		}
		t := o.Type.Strip()
		if t.Kind != ctype.Pointer || t.Reference || t.Elem == nil {
			continue
		}
		if e := t.Elem.Strip(); e.Kind != ctype.Record || e.Size <= 0 || e.Size > mostPointee {
			continue
		}
		if _, err := expr.Collect("*"+name, scope, l.plan.Settings.Contents); err == nil {
			names = append(names, name)
		}
	}
	return names
}
