package dap

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tracewell/arch"
	"tracewell/internal/cexpr"
	"tracewell/internal/text"
	"tracewell/record/plan"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
)

// frameMoment is a frame of a trace run.
type frameMoment struct {
	names  *names
	view   *view.View
	reader *view.Reader // which stays at the frame
}

func newFrameMoment(n *names, v *view.View, f view.Frame) *frameMoment {
	m := &frameMoment{names: n, view: v, reader: v.NewReader()}
	m.reader.Set(f)
	return m
}

// lazyTree unfolds a frame to all of its scopes; the frame is read when somebody does that.
func lazyTree(read func() (*frameMoment, error)) *tree {
	return &tree{list: func(ctx context.Context, from, to int) ([]node, error) {
		m, err := read()
		if err != nil {
			return nil, err
		}
		var all []node
		for _, g := range m.groups() {
			nodes, err := g.tree.list(ctx, 0, mostUnpaged)
			if err != nil {
				return nil, err
			}
			all = append(all, nodes...)
		}
		return fixed(all).list(ctx, from, to)
	}}
}

// viewNames is what gives names to the frames of a view.
func viewNames(v *view.View) *names {
	h := v.Content.Header()
	n := &names{program: v.Symbols, layout: v.Layout, order: h.Order, shapes: &v.Shapes,
		variables: make(map[string]trace.VariableNumber)}
	for _, known := range h.Variables {
		n.variables[known.Name] = known.Number
	}
	for _, name := range []string{trace.TimestampName, trace.ThreadIDName, trace.ProcessIDName, trace.NanosecondsName} {
		if b, ok := trace.Builtin(name); ok && n.variables[name] == 0 {
			n.variables[name] = b.Number
		}
	}
	if v.Symbols != nil {
		n.machine = v.Symbols.Main().File().Arch()
	}
	return n
}

var errLacking = errors.New("the frame does not have it: it was not collected")

// Register implements expr.Context.
func (m *frameMoment) Register(r arch.Reg) ([]byte, error) {
	if m.view.Layout == nil {
		return nil, errLacking
	}
	slot := m.view.Layout.ByNumber(r)
	if slot == nil {
		return nil, errLacking
	}
	if b, ok := slot.Bytes(m.reader.Frame().Registers()); ok {
		return b, nil
	}
	return nil, errLacking
}

// Memory implements expr.Context.
func (m *frameMoment) Memory(addr arch.Addr, n int) ([]byte, error) {
	b := make([]byte, n)
	if m.reader.ReadMemory(addr, b) != n {
		return nil, errLacking
	}
	return b, nil
}

// Variable implements expr.Context.
func (m *frameMoment) Variable(n trace.VariableNumber) (int64, error) {
	if value, ok := m.reader.Frame().Variable(n); ok {
		return value, nil
	}
	return 0, errLacking
}

// ReadMemory implements moment.
func (m *frameMoment) ReadMemory(addr arch.Addr, p []byte) int { return m.reader.ReadMemory(addr, p) }

func (m *frameMoment) pc() (arch.Addr, bool) {
	f := m.reader.Frame()
	return f.PC, f.HasPC
}

func (m *frameMoment) block() ([]byte, []bool) { return m.reader.Frame().Registers(), nil }

// groups implements moment: what the user has asked for comes first.
func (m *frameMoment) groups() []group {
	var collected, variables []node
	for _, item := range m.reader.Items() {
		if _, isVariable := item.Variable(); isVariable || item.Slot != nil || plan.IsStack(item.Name) {
			continue
		}
		if n, ok := m.item(item); ok {
			collected = append(collected, n)
		}
	}
	for _, v := range view.AppendVariables(nil, m.reader.Frame()) {
		name := "$" + text.Visible(m.view.VariableName(v.Number))
		n := node{name: name, evaluate: name, value: strconv.FormatInt(v.Value, 10)}
		if m.view.IsTimestamp(v.Number) {
			n.value = clock(v.Value)
		}
		variables = append(variables, n)
	}
	var all []group
	if len(collected) > 0 {
		all = append(all, group{"Collected", fixed(collected)})
	}
	if len(variables) > 0 {
		all = append(all, group{"Trace state variables", fixed(variables)})
	}
	return all
}

// clock is a time as $trace_timestamp has it, in microseconds: of day, or on a clock that does not count from 1970.
func clock(microseconds int64) string {
	if t := time.UnixMicro(microseconds); t.Year() >= 2000 && t.Year() < 2200 {
		return t.Format("15:04:05.000000")
	}
	return strconv.FormatInt(microseconds, 10) + " µs"
}

// named implements moment.
func (m *frameMoment) named(normal string) (node, bool) {
	for _, item := range m.reader.Items() {
		if cexpr.Normal(item.Name) == normal {
			return m.item(item)
		}
	}
	return node{}, false
}

// item makes a node of what a tracepoint collects, false if the frame has nothing of it.
func (m *frameMoment) item(item *view.Item) (node, bool) {
	made := node{name: text.Visible(item.Name), evaluate: item.Name}
	switch {
	case item.Absent != "":
		made.value = text.Visible(item.Reason())
		return made, true
	case item.IsDuration():
		n, ok := m.reader.Integer(item)
		made.value = time.Duration(n.Bits).String()
		return made, ok
	}
	p := m.names.printer(m.reader.Of(item).ReadMemory, item.Language)
	if item.IsText() {
		if d, ok := m.reader.Read(item); ok {
			s, _, _ := strings.Cut(string(d.Bytes), "\x00")
			made.value, made.typ = shorten(strconv.Quote(s)), "char *"
			made.plain = func() string { return s }
			return made, true
		}
	}
	v, ok := m.reader.Value(item)
	if !ok {
		return made, false
	}
	return m.names.node(item.Name, item.Name, v, p), true
}

// entryOf describes a frame for a list.
func (m *frameMoment) entryOf() frameEntry {
	f := m.reader.Frame()
	e := frameEntry{Frame: f.Number, Tracepoint: int(f.Tracepoint()), Place: text.Visible(m.view.SourceOf(f))}
	if f.HasPC {
		e.Place = m.names.describe(f.PC)
	}
	if at, ok := f.Variable(trace.Timestamp); ok {
		e.Time = clock(at)
	}
	if tid, ok := m.view.ThreadID(f); ok {
		e.Thread = int(tid)
	}
	var words []string
	for _, g := range m.groups() {
		if g.name != "Collected" {
			continue
		}
		const most = 8
		nodes, _ := g.tree.list(nil, 0, most)
		for _, n := range nodes {
			words = append(words, n.name+"="+n.value)
		}
	}
	e.Values = strings.Join(words, " ")
	return e
}

// threadOf is the thread that made a frame, as clients see threads: by a number from 1 on.
func (m *frameMoment) threadOf() int {
	const largest = 1<<31 - 1
	if tid, ok := m.view.ThreadID(m.reader.Frame()); ok && tid > 0 && tid <= largest {
		return int(tid)
	}
	return 1
}

// threadName names that.
func (m *frameMoment) threadName() string {
	name := fmt.Sprintf("thread %d", m.threadOf())
	if comm, ok := m.view.Comm(m.reader.Frame()); ok {
		name += " (" + text.Visible(comm) + ")"
	}
	return name
}

// definitions are the header of a trace whose frames are elsewhere, as a view takes it.
type definitions tfile.Header

// Header implements tfile.Content.
func (d definitions) Header() tfile.Header { return tfile.Header(d) }

// NumFrames implements tfile.Content.
func (definitions) NumFrames() int { return 0 }

// Tracepoint implements tfile.Content.
func (definitions) Tracepoint(int) trace.Number { return 0 }

// ReadFrame implements tfile.Content.
func (definitions) ReadFrame(int, []byte) (tfile.Frame, error) {
	return tfile.Frame{}, errors.New("the frames are elsewhere")
}
