package plan

import (
	"fmt"
	"strings"
)

// Script returns the plan as GDB's "save tracepoints" writes one. GDB reads it, and so does AddScript.
func (p *Plan) Script() string {
	var s scriptWriter
	p.Settings.write(&s)
	for _, v := range p.Variables {
		if v.Initial == 0 {
			s.line("tvariable $%s", v.Name)
		} else {
			s.line("tvariable $%s = %d", v.Name, v.Initial)
		}
	}
	for i := range p.Tracepoints {
		p.Tracepoints[i].write(&s)
	}
	if len(p.Default) > 0 {
		s.line("set default-collect %s", joined(p.Default))
	}
	return s.String()
}

// scriptWriter writes lines, those within others two columns further in.
type scriptWriter struct {
	strings.Builder
	indent int
}

func (s *scriptWriter) line(format string, args ...any) {
	s.WriteString(strings.Repeat("  ", s.indent))
	fmt.Fprintf(s, format+"\n", args...)
}

func (s *Settings) write(w *scriptWriter) {
	for _, text := range []struct{ setting, value string }{
		{"trace-notes", s.Notes}, {"trace-stop-notes", s.StopNotes}, {"trace-user", s.User},
	} {
		if text.value != "" {
			w.line("set %s %s", text.setting, text.value)
		}
	}
	if s.Circular {
		w.line("set circular-trace-buffer on")
	}
	switch {
	case s.BufferSize == Unlimited:
		w.line("set trace-buffer-size unlimited")
	case s.BufferSize > 0:
		w.line("set trace-buffer-size %d", s.BufferSize)
	}
}

func (t *Tracepoint) write(w *scriptWriter) {
	w.line("%s %s", t.Kind, t.Location)
	w.indent++
	if t.Pass != 0 {
		w.line("passcount %d", t.Pass)
	}
	if t.Condition.Value != "" {
		w.line("condition $bpnum %s", t.Condition)
	}
	if len(t.Actions) > 0 {
		w.line("commands")
		w.indent++
		writeActions(w, t.Actions)
		w.indent--
		w.line("end")
	}
	w.indent--
	if t.Disabled {
		w.line("disable $bpnum")
	}
}

func writeActions(w *scriptWriter, actions []Action) {
	for _, a := range actions {
		if a.Kind != Step {
			w.line("%s%s %s", a.Kind, a.modifiers(), joined(a.Expressions))
			continue
		}
		w.line("%s %d", a.Kind, a.Steps)
		w.indent++
		writeActions(w, a.Body)
		w.indent--
		w.line("end")
	}
}

// modifiers is what stands directly behind "collect".
func (a Action) modifiers() string {
	switch {
	case !a.String:
		return ""
	case a.Limit == 0:
		return "/s"
	}
	return fmt.Sprintf("/s%d", a.Limit)
}

// joined is a list of expressions as one text.
func joined(expressions []Text) string {
	values := make([]string, len(expressions))
	for i, e := range expressions {
		values[i] = e.Value
	}
	return strings.Join(values, ", ")
}

// Dialect says how GDB writes an expression, and false if it can't. Nil is for expressions that are GDB's already.
type Dialect func(Text) (string, bool)

// commandLength is the most that a command is long in a trace file. GDB reads lines of 999 bytes there, with two digits for
// each byte.
const commandLength = 400

// comment is what begins a command that GDB passes over.
const comment = "# "

// Commands returns actions as the source strings that a trace file keeps of them, for a GDB that reads the file: one that meets
// a command there that it can't parse reads none of the rest. What the dialect has no words for stands in comments, in the
// user's words. So does the stack: GDB parses commands in the language of the location, and C's types are no words of Go and Rust.
// Left out are the modifier of collect/s, which GDB knows for no trace file, and expressions longer than a line.
func Commands(actions []Action, dialect Dialect) []string {
	var commands []string
	for _, a := range actions {
		if a.Kind == Step {
			commands = append(commands, fmt.Sprintf("%s %d", a.Kind, a.Steps))
			commands = append(commands, Commands(a.Body, dialect)...)
			commands = append(commands, "end")
			continue
		}
		words := map[bool]string{true: string(a.Kind) + " ", false: comment + string(a.Kind) + " "}
		var run []string // expressions that go together
		var spoken bool
		for _, e := range a.Expressions {
			text, ok := e.Value, true
			if dialect != nil {
				text, ok = dialect(e)
				ok = ok && !a.Stack
			}
			if !ok {
				text = e.Value
			}
			if ok != spoken {
				commands = appendCommands(commands, words[spoken], run)
				run, spoken = nil, ok
			}
			run = append(run, text)
		}
		commands = appendCommands(commands, words[spoken], run)
	}
	return commands
}

// appendCommands appends as many commands as a list of expressions takes.
func appendCommands(commands []string, word string, expressions []string) []string {
	line := ""
	for _, text := range expressions {
		if len(text) > commandLength {
			continue
		}
		if line != "" && len(line)+len(text) > commandLength {
			commands = append(commands, line)
			line = ""
		}
		if line == "" {
			line = word + text
		} else {
			line += ", " + text
		}
	}
	if line != "" {
		commands = append(commands, line)
	}
	return commands
}
