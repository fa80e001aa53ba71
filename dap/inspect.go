package dap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	protocol "github.com/google/go-dap"

	"tracewell/internal/cexpr"
	"tracewell/internal/text"
	"tracewell/symbol/expr"
)

func threads(s *session, _ *struct{}) (any, error) {
	return protocol.ThreadsResponseBody{Threads: s.debuggee.threads()}, nil
}

// stackTrace lists the active calls of a thread.
func stackTrace(s *session, a *protocol.StackTraceArguments) (any, error) {
	m, err := s.debuggee.at(a.ThreadId)
	if err != nil {
		return nil, err
	}
	calls := s.debuggee.names().calls(m)
	body := protocol.StackTraceResponseBody{TotalFrames: len(calls), StackFrames: []protocol.StackFrame{}}
	to := len(calls)
	if a.Levels > 0 {
		to = min(to, a.StartFrame+a.Levels)
	}
	for i := max(a.StartFrame, 0); i < to; i++ {
		c := calls[i]
		frame := protocol.StackFrame{Id: s.handles.addCall(c), Name: c.title(), Line: 0, PresentationHint: "normal"}
		if c.File != "" {
			frame.Source, frame.Line, frame.Column = s.source(c.File), s.client.toClient(c.Line), 1-shift(s.client.ColumnsStartAt1)
		} else {
			frame.PresentationHint = "subtle"
		}
		if c.Addr != 0 {
			frame.InstructionPointerReference = c.Addr.String()
		}
		if c.Object != nil {
			frame.ModuleId = c.Object.Path()
		}
		body.StackFrames = append(body.StackFrames, frame)
	}
	return body, nil
}

// callOf finds a call by the number that the client was given, the innermost of the first thread for 0.
func (s *session) callOf(id int) (*call, error) {
	if id != 0 {
		return s.handles.call(id)
	}
	thread := s.lastStop.thread
	if thread == 0 {
		if list := s.debuggee.threads(); len(list) > 0 {
			thread = list[0].Id
		}
	}
	m, err := s.debuggee.at(thread)
	if err != nil {
		return nil, err
	}
	return &s.debuggee.names().calls(m)[0], nil
}

// scopes lists what there is to see in a call.
func scopes(s *session, a *protocol.ScopesArguments) (any, error) {
	c, err := s.handles.call(a.FrameId)
	if err != nil {
		return nil, err
	}
	n := s.debuggee.names()
	list := []protocol.Scope{}
	add := func(name, hint string, expensive bool, t *tree) {
		if t != nil {
			list = append(list, protocol.Scope{Name: name, PresentationHint: hint, Expensive: expensive,
				IndexedVariables: t.indexed, VariablesReference: s.handles.addTree(t)})
		}
	}
	_, isCaller := c.context.(*callerContext)
	if !isCaller {
		for _, g := range c.moment.groups() {
			add(g.name, "", false, g.tree)
		}
	}
	if scope, err := n.scope(c); err == nil && c.Function != "" {
		inner := *c
		add("Locals", "locals", false, &tree{list: func(ctx context.Context, from, to int) ([]node, error) {
			names := slices.Concat(scope.Arguments(), scope.Locals())
			return n.values(&inner, names[min(from, len(names)):min(to, len(names))]), nil
		}})
	}
	add("Registers", "registers", true, n.registers(c))
	if !isCaller {
		add("Frames", "", true, listTree(s.debuggee.list()))
	}
	return protocol.ScopesResponseBody{Scopes: list}, nil
}

// listTree is the frames of a run as a scope, which clients page through.
func listTree(l frameList) *tree {
	if l == nil || l.count() == 0 {
		return nil
	}
	return &tree{indexed: l.count(), list: func(ctx context.Context, from, to int) (nodes []node, err error) {
		for i := from; i < min(to, l.count()) && ctx.Err() == nil; i++ {
			e, err := l.entry(i)
			if err != nil {
				return nodes, err
			}
			nodes = append(nodes, node{name: fmt.Sprintf("[%d]", i), value: e.String(), tree: l.tree(i)})
		}
		return nodes, nil
	}}
}

// String is a frame in one line.
func (e frameEntry) String() string {
	var words []string
	for _, word := range []string{e.Time, e.Place, e.Values} {
		if word != "" {
			words = append(words, word)
		}
	}
	return shorten(strings.Join(words, "  "))
}

// variables unfolds a scope or a variable.
func variables(s *session, a *protocol.VariablesArguments) (any, error) {
	t, err := s.handles.tree(a.VariablesReference)
	if err != nil {
		return nil, err
	}
	body := protocol.VariablesResponseBody{Variables: []protocol.Variable{}}
	// What a tree has is either named or indexed.
	if a.Filter == "named" && t.indexed > 0 || a.Filter == "indexed" && t.indexed == 0 {
		return body, nil
	}
	from, to := max(a.Start, 0), max(a.Start, 0)+mostUnpaged
	if a.Count > 0 {
		to = min(to, from+a.Count)
	}
	nodes, err := t.list(s.handles.ctx, from, to)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		body.Variables = append(body.Variables, s.handles.variable(n))
	}
	if a.Count == 0 && t.indexed > mostUnpaged {
		body.Variables = append(body.Variables, protocol.Variable{Name: "…", Value: fmt.Sprintf("%d more", t.indexed-mostUnpaged)})
	}
	return body, nil
}

// tree finds a tree by its number.
func (h *handles) tree(id int) (*tree, error) {
	if i := id - h.base; i >= 0 && i < len(h.trees) {
		return h.trees[i], nil
	}
	return nil, fmt.Errorf("there is no variable %d any more", id)
}

// evaluateOf is the expression for a child of a tree, "" if there is none.
func (h *handles) evaluateOf(ctx context.Context, id int, name string) string {
	t, err := h.tree(id)
	if err != nil {
		return ""
	}
	nodes, err := t.list(ctx, 0, mostUnpaged)
	if err != nil {
		return ""
	}
	for _, n := range nodes {
		if n.name == name {
			return n.evaluate
		}
	}
	return ""
}

// evaluate evaluates an expression in a call, or carries out a command of the console.
func evaluate(s *session, a *protocol.EvaluateArguments) (any, error) {
	expression := strings.TrimSpace(a.Expression)
	if expression == "" {
		return nil, errors.New("there is no expression")
	}
	if a.Context == "repl" {
		if done, says, err := s.command(expression); done {
			return protocol.EvaluateResponseBody{Result: text.VisibleLines(says)}, err
		}
	}
	c, err := s.callOf(a.FrameId)
	if err != nil {
		return nil, err
	}
	n, err := s.debuggee.names().evaluate(c, expression)
	if err != nil {
		if a.Context != "repl" {
			return nil, errors.New(oneLine(err)) // there is no room to mark a place
		}
		return nil, err
	}
	body := protocol.EvaluateResponseBody{Result: n.value, Type: n.typ, VariablesReference: s.handles.addTree(n.tree),
		MemoryReference: n.memory}
	if n.tree != nil {
		body.IndexedVariables = n.tree.indexed
	}
	return body, nil
}

// evaluate finds the value of an expression: that which was collected under its name, or else what the program makes of it.
func (n *names) evaluate(c *call, expression string) (node, error) {
	_, isCaller := c.context.(*callerContext)
	if !isCaller {
		if found, ok := c.moment.named(cexpr.Normal(expression)); ok {
			return found, nil
		}
	}
	scope, err := n.scope(c)
	if err != nil {
		return node{}, err
	}
	return n.value(scope, c.context, expression, n.printer(c.moment.ReadMemory, scope.Language()))
}

// command carries out a command of the console, false if it is none. A first word that is a name at hand is one all the same only
// if something follows it that no expression has.
func (s *session) command(line string) (done bool, says string, err error) {
	name, arguments, _ := strings.Cut(line, " ")
	list := append(s.debuggee.commands(), command{"help", "", "lists these commands", nil})
	i := slices.IndexFunc(list, func(c command) bool { return c.name == name })
	if i < 0 {
		return false, "", nil
	}
	if list[i].do == nil {
		var b strings.Builder
		for _, c := range list {
			fmt.Fprintf(&b, "%-28s %s\n", strings.TrimSpace(c.name+" "+c.arguments), c.about)
		}
		return true, b.String() + "Anything else is an expression in C syntax, as for GDB's print.", nil
	}
	says, at, err := list[i].do(s.handles.ctx, s, strings.TrimSpace(arguments))
	if at != nil && err == nil {
		s.later = append(s.later, func() { s.stopped(*at) })
	}
	return true, says, err
}

// completions lists what can stand at the cursor of the console.
func completions(s *session, a *protocol.CompletionsArguments) (any, error) {
	line := a.Text
	if lines := strings.Split(a.Text, "\n"); a.Line > 0 {
		line = lines[min(s.client.fromClient(a.Line), len(lines))-1]
	}
	// A column counts units of UTF-16.
	end, units := 0, a.Column-1+shift(s.client.ColumnsStartAt1)
	for end < len(line) && units > 0 {
		r, size := utf8.DecodeRuneInString(line[end:])
		end += size
		if units--; r >= 0x10000 {
			units--
		}
	}
	start := end
	for start > 0 && (cexpr.IsWord(rune(line[start-1])) || line[start-1] == '$') {
		start--
	}
	word := line[start:end]
	body := protocol.CompletionsResponseBody{Targets: []protocol.CompletionItem{}}
	const most = 200
	seen := make(map[string]bool)
	add := func(name string, kind protocol.CompletionItemType) {
		if strings.HasPrefix(name, word) && !seen[name] && len(body.Targets) < most {
			seen[name] = true
			body.Targets = append(body.Targets, protocol.CompletionItem{Label: text.Visible(name), Type: kind,
				Start: len(line[:start]), Length: len(word)})
		}
	}
	if strings.TrimSpace(line[:start]) == "" {
		for _, c := range append(s.debuggee.commands(), command{name: "help"}) {
			add(c.name, "keyword")
		}
	}
	if c, err := s.callOf(a.FrameId); err == nil {
		n := s.debuggee.names()
		if scope, err := n.scope(c); err == nil {
			for _, name := range slices.Concat(scope.Arguments(), scope.Locals(), scopeNames(scope)) {
				add(name, "variable")
			}
		}
		for name := range n.variables {
			add("$"+name, "variable")
		}
		if n.layout != nil {
			for i := range n.layout.Slots {
				add("$"+n.layout.Slots[i].Reg.Name, "variable")
			}
		}
	}
	return body, nil
}

func scopeNames(s expr.Scope) []string { return s.Names() }

// framesArguments are those of tracewell/frames.
type framesArguments struct {
	Start int    `json:"start"`
	Count int    `json:"count"` // 0 for the usual number
	Where string `json:"where"`
}

// framesBody is the answer: the frames from a place on, of those that an expression holds for.
type framesBody struct {
	Total  int          `json:"total"` // of the run
	Frames []frameEntry `json:"frames"`
	Next   int          `json:"next,omitempty"` // where to go on; 0 if there are no more
}

// framesOf lists frames of the run for a client that has a list of its own.
func framesOf(s *session, a *framesArguments) (any, error) {
	l := s.debuggee.list()
	if l == nil {
		return nil, errUnsupported
	}
	if a.Start < 0 || a.Count < 0 {
		return nil, errors.New("start and count are numbers from 0 on")
	}
	const usual, most = 100, 10000
	count := a.Count
	if count == 0 {
		count = usual
	}
	holds := func(int) (bool, error) { return true, nil }
	if a.Where != "" {
		var err error
		if holds, err = l.filter(a.Where); err != nil {
			return nil, err
		}
	}
	body := framesBody{Total: l.count(), Frames: []frameEntry{}}
	for i := a.Start; i < l.count(); i++ {
		if len(body.Frames) == min(count, most) {
			body.Next = i
			break
		}
		if err := s.handles.ctx.Err(); err != nil {
			return nil, err
		}
		ok, err := holds(i)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		e, err := l.entry(i)
		if err != nil {
			return nil, err
		}
		body.Frames = append(body.Frames, e)
	}
	return body, nil
}
