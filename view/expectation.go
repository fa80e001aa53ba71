package view

import (
	"strings"

	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
	"tracewell/symbol/expr"
	"tracewell/symbol/scope"
	"tracewell/trace"
)

// expectation is what a text of a command can have become.
// It says what actions the text can have become, not which: pair compares all texts with all actions.
type expectation struct {
	text      string
	least     int // X actions: at least so many, at most one or, if many, any number
	many      bool
	memory    bool                // it can be part of an M action instead
	matches   func(d *draft) bool // an X action looks right
	nameless  bool                // nothing is called by the text
	registers bool                // it asks for registers
}

// splitCommands takes the commands of a tracepoint apart: those at the hit and those of its while-stepping. Comments are left
// out, but for those that hide from GDB what it can't collect, as record writes them.
// Other lines of a script are for people or for the GDB that read it. Nested while-stepping does not exist in GDB, so
// that a flag is enough.
func splitCommands(commands []string) (hit, step []string) {
	stepping := false
	for _, command := range commands {
		if text, ok := strings.CutPrefix(strings.TrimSpace(command), "#"); ok {
			command = strings.TrimSpace(text)
			if word, _, _ := strings.Cut(command, " "); word != "collect" && word != "teval" {
				continue
			}
		}
		switch word, _, _ := strings.Cut(strings.TrimSpace(command), " "); {
		case word == "while-stepping" || word == "stepping" || word == "ws":
			stepping = true
		case word == "end":
			stepping = false
		case stepping:
			step = append(step, command)
		default:
			hit = append(hit, command)
		}
	}
	return hit, step
}

// expectations reads commands, nil if there is one that is not understood.
func (v *View) expectations(c *collection, commands []string) []expectation {
	var all []expectation
	for _, command := range commands {
		command = strings.TrimSpace(command)
		length := strings.IndexAny(command, " \t/")
		// GDB takes prefixes of commands. Of fewer than three letters there is none that means collect or teval alone.
		if length < 3 {
			return nil
		}
		word, rest := command[:length], command[length:]
		switch {
		case strings.HasPrefix("collect", word):
			asText := strings.HasPrefix(rest, "/")
			if asText {
				_, rest, _ = strings.Cut(rest, " ")
			}
			for _, text := range splitList(rest) {
				e, ok := v.expectation(c, text)
				if !ok {
					return nil
				}
				// collect/s makes an action that ends in tracenz of what is a pointer to characters, and an ordinary
				// one of anything else.
				if matches := e.matches; asText {
					e.matches = func(d *draft) bool { return matches(d) || d.source.kind == sourceString && e.text != "" }
				}
				all = append(all, e)
			}
		case strings.HasPrefix("teval", word):
			// An expression of teval is evaluated for its effect, such as an assignment to a trace state variable. It
			// has an action, too, which must not be taken for that of a collect.
			for range splitList(rest) {
				all = append(all, expectation{least: 1, nameless: true, matches: func(d *draft) bool { return !d.shape.records }})
			}
		default:
			return nil
		}
	}
	return all
}

// splitList splits at the commas that are in no brackets and no quotes.
func splitList(text string) []string {
	var parts []string
	// Commas separate the texts of a collect command, but are also C's operator and separate arguments, which GDB
	// finds by parsing each text.
	depth, start := 0, 0
	quote := rune(0)
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

func isPlain(d *draft) bool { return d.shape.plain }

// expectation says what one text of a collect command can become.
func (v *View) expectation(c *collection, text string) (e expectation, ok bool) {
	switch text {
	case "":
		return e, false
	// Both become an action that is no expression: R, and L for the data of a static tracepoint.
	case "$regs", "$_sdata":
		return expectation{nameless: true, registers: true, matches: func(*draft) bool { return false }}, true
	// What belongs to the call may be in registers, in memory, or computed.
	case "$" + trace.ReturnName, "$" + trace.ActivationName, "$" + trace.GoroutineName:
		return expectation{many: true, memory: true, nameless: true, registers: true, matches: func(*draft) bool { return true }}, true
	case "$args", "$locals":
		return expectation{many: true, memory: true, nameless: true, matches: isPlain}, true
	// The return address, which GDB's unwinder of the architecture compiles: code that no source explains.
	case "$_ret":
		return expectation{text: text, least: 1, matches: func(d *draft) bool { return d.shape.records }}, true
	}
	name, isVariable := strings.CutPrefix(text, "$")
	switch {
	case isVariable && isName(name):
		if v.Layout != nil && v.Layout.ByName(name) != nil {
			return expectation{nameless: true, registers: true, matches: func(*draft) bool { return false }}, true
		}
		if number, ok := v.variableNumber(name); ok {
			return expectation{text: text, least: 1, matches: func(d *draft) bool {
				return d.source.kind == sourceVariable && d.source.variable == number
			}}, true
		}
		return e, false
	// GDB accepts qualified names of C++ and Rust without quotes.
	case isName(strings.ReplaceAll(text, "::", "_")):
		return v.nameExpectation(c, text), true
	}
	return v.expressionExpectation(c, text), true
}

// nameExpectation is that of a variable. Where the program says where the variable is there is no choice.
func (v *View) nameExpectation(c *collection, name string) expectation {
	e := expectation{text: name, memory: true, matches: isPlain}
	for _, local := range c.locals {
		switch {
		case local.Name != name:
		case local.Kind == scope.InFrame:
			return expectation{text: name, least: 1, matches: func(d *draft) bool {
				return d.accesses && d.access.offset == local.Offset
			}}
		default:
			return e
		}
	}
	// GDB compiles a structure at a fixed address to an expression and a scalar there to a part of an M action.
	if addr, typ, ok := v.globals.Fixed(name); ok && typ.Kind == ctype.Record {
		return expectation{text: name, least: 1, matches: func(d *draft) bool {
			return d.source.kind == sourceMemory && d.source.addr == addr
		}}
	} else if ok {
		e.matches = func(*draft) bool { return false }
	}
	return e
}

// expressionExpectation is that of what is more than a name. What follows a pointer is no variable of a frame itself, unless
// the pointer is an array's name. If the size is known only an action with that will do.
func (v *View) expressionExpectation(c *collection, text string) expectation {
	e := expectation{text: text, least: 1, matches: func(d *draft) bool {
		return !strings.Contains(text, "->") || !d.accesses || !d.shape.plain
	}}
	// {TYPE} ADDRESS and casts may name a fixed address, which GDB then puts into an M action.
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "(") {
		e.least, e.memory = 0, true
	}
	if v.globals == nil {
		return e
	}
	if typ, ok := expr.TypeOf(text, &declarations{v, c}); ok {
		looks := e.matches
		e.matches = func(d *draft) bool {
			sized := d.source.kind != sourceResult && d.source.kind != sourceString
			return looks(d) && (!sized || d.source.size == uint64(typ.Size))
		}
	}
	return e
}

// isName reports whether a text is one word.
func isName(text string) bool {
	other := func(r rune) bool { return !cexpr.IsWord(r) }
	return text != "" && !strings.ContainsFunc(text, other) && (text[0] < '0' || text[0] > '9')
}

func (v *View) variableNumber(name string) (int32, bool) {
	for number, known := range v.variables {
		if known.text == name {
			return number, true
		}
	}
	return 0, false
}
