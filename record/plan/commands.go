package plan

import (
	"slices"
	"strconv"
	"strings"

	"tracewell/trace"
)

// command is a command that a script may have.
type command struct {
	name    string
	least   int      // letters of the name that tell it from the others that GDB has
	aliases []string // other names
	run     func(s *script, word, argument Text) error
}

// commands are those that stand by themselves.
var commands []command

func init() { // some of them read lines, which are looked up in the table
	commands = []command{
		{"trace", 2, []string{"tp"}, tracepointCommand(Ordinary)},
		{"ftrace", 2, nil, tracepointCommand(Fast)},
		{"strace", 3, nil, tracepointCommand(Static)},
		{"actions", 2, nil, actionsCommand},
		{"commands", 4, nil, commandsCommand},
		{"condition", 4, nil, conditionCommand},
		{"passcount", 3, nil, passCommand},
		{"tvariable", 2, nil, variableCommand},
		{"enable", 2, nil, ableCommand(false)},
		{"disable", 3, nil, ableCommand(true)},
		{"delete", 3, []string{"d"}, deleteCommand},
		{"set", 3, nil, setCommand},
		{"echo", 2, nil, passOver},
		{"info", 3, []string{"i"}, passOver},
		{"show", 3, nil, passOver},
		{"tstart", 5, nil, passOver},
		{"collect", 3, nil, misplaced},
		{"teval", 3, nil, misplaced},
		{"while-stepping", 6, []string{"ws"}, misplaced},
		{"stepping", 5, nil, misplaced},
		{"end", 3, nil, misplaced},
	}
}

// actionCommands are those that stand in a list of actions.
var actionCommands = []command{
	{name: string(Collect), least: 3},
	{name: string(Evaluate), least: 3},
	{name: string(Step), least: 6, aliases: []string{"ws"}},
	{name: "stepping", least: 5},
	{name: "end", least: 3},
}

// lookUp finds a command by its name, an alias or an abbreviation.
func lookUp(word Text, among []command) (command, error) {
	for _, c := range among {
		if slices.Contains(c.aliases, word.Value) || len(word.Value) >= c.least && strings.HasPrefix(c.name, word.Value) {
			return c, nil
		}
	}
	var names []string
	for _, c := range among {
		names = append(names, c.name)
	}
	return command{}, word.Fault(0, len(word.Value), "this is no command that a trace can be planned with",
		"there are "+strings.Join(names, ", "))
}

// passOver is for commands that do nothing to a trace.
func passOver(*script, Text, Text) error { return nil }

// misplaced is for actions outside of a list.
func misplaced(_ *script, word, _ Text) error {
	return word.fault("this stands only between actions and the end of these")
}

func tracepointCommand(kind Kind) func(*script, Text, Text) error {
	return func(s *script, word, argument Text) error {
		if argument.Value == "" {
			return word.fault("where? There is no location here")
		}
		location, condition, err := place(argument)
		if err != nil {
			return err
		}
		if s.number++; s.number > trace.MaxNumber {
			return tooMany(argument)
		}
		t := Tracepoint{Number: s.number, Kind: kind, Location: location, Condition: condition}
		s.plan.Tracepoints = append(s.plan.Tracepoints, t)
		return nil
	}
}

func actionsCommand(s *script, word, argument Text) error {
	t, err := s.one(argument)
	if err != nil {
		return err
	}
	t.Actions, err = s.actions(word, false)
	return err
}

// commandsCommand gives actions to several tracepoints; without a number it is the last one.
func commandsCommand(s *script, word, argument Text) error {
	if argument.Value == "" {
		return actionsCommand(s, word, argument)
	}
	found, err := s.numbers(argument)
	if err != nil {
		return err
	}
	actions, err := s.actions(word, false)
	for _, t := range found {
		t.Actions = actions
	}
	return err
}

func conditionCommand(s *script, word, argument Text) error {
	number, condition := argument.cut()
	switch number.Value {
	case "":
		return word.fault("the number of a tracepoint is missing")
	case "-force":
		return number.fault("a condition has to be right everywhere: it can't be forced")
	}
	t, err := s.one(number)
	if err == nil {
		t.Condition = condition
	}
	return err
}

func passCommand(s *script, _, argument Text) error {
	count, which := argument.cut()
	n, err := strconv.ParseUint(count.Value, 10, 31)
	if err != nil {
		return count.fault("passcount needs a number of passes")
	}
	var found []*Tracepoint
	if which.Value == "all" {
		found, err = s.numbers(Text{})
	} else {
		found = make([]*Tracepoint, 1)
		found[0], err = s.one(which)
	}
	if err != nil {
		return err
	}
	for _, t := range found {
		t.Pass = n
	}
	return nil
}

func variableCommand(s *script, _, argument Text) error {
	v, err := variable(argument)
	if err == nil {
		s.plan.define(v)
	}
	return err
}

func ableCommand(disabled bool) func(*script, Text, Text) error {
	return func(s *script, _, argument Text) error {
		found, err := s.numbers(withoutKind(argument))
		for _, t := range found {
			t.Disabled = disabled
		}
		return err
	}
}

func deleteCommand(s *script, _, argument Text) error {
	found, err := s.numbers(withoutKind(argument))
	if err != nil {
		return err
	}
	gone := map[*Tracepoint]bool{}
	for _, t := range found {
		gone[t] = true
	}
	kept := []Tracepoint{}
	for i := range s.plan.Tracepoints {
		if t := &s.plan.Tracepoints[i]; !gone[t] {
			kept = append(kept, *t)
		}
	}
	s.plan.Tracepoints = kept
	return nil
}

// withoutKind leaves out the word of "enable tracepoints 1" that says what is numbered.
func withoutKind(list Text) Text {
	word, rest := list.cut()
	if len(word.Value) >= 2 && strings.HasPrefix("tracepoints", word.Value) || word.Value == "breakpoints" {
		return rest
	}
	return list
}
