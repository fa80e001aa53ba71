package plan

import (
	"slices"
	"strconv"
	"strings"
)

// settings are those that a script can set.
var settings = []struct {
	name string
	set  func(p *Plan, value Text) error
}{
	{"default-collect", func(p *Plan, value Text) (err error) {
		p.Default = nil
		if value.Value != "" {
			p.Default, err = value.list()
		}
		return err
	}},
	{"trace-notes", func(p *Plan, value Text) error { p.Settings.Notes = value.Value; return nil }},
	{"trace-stop-notes", func(p *Plan, value Text) error { p.Settings.StopNotes = value.Value; return nil }},
	{"trace-user", func(p *Plan, value Text) error { p.Settings.User = value.Value; return nil }},
	{"circular-trace-buffer", func(p *Plan, value Text) error {
		on, err := strconv.ParseBool(boolean(value.Value))
		if err != nil {
			return value.fault("this is neither on nor off")
		}
		p.Settings.Circular = on
		return nil
	}},
	{"trace-buffer-size", func(p *Plan, value Text) error {
		if value.Value == "unlimited" || value.Value == "-1" {
			p.Settings.BufferSize = Unlimited
			return nil
		}
		n, err := strconv.ParseInt(value.Value, 0, 64)
		if err != nil || n <= 0 {
			return value.fault("a size is a number of bytes, or unlimited")
		}
		p.Settings.BufferSize = n
		return nil
	}},
}

// boolean gives the words that GDB has for truth values as Go's.
func boolean(word string) string {
	switch word {
	case "on", "yes", "enable", "":
		return "true"
	case "off", "no", "disable":
		return "false"
	}
	return word
}

// harmless are settings of GDB that do nothing to a trace.
var harmless = []string{
	"auto-load", "auto-solib-add", "breakpoint", "confirm", "debuginfod", "disassembly-flavor", "disconnected-tracing", "height",
	"history", "listsize", "logging", "max-value-size", "pagination", "print", "prompt", "style", "trace-commands", "verbose",
	"width",
}

func setCommand(s *script, _, argument Text) error {
	name, value := argument.cut()
	for _, setting := range settings {
		if setting.name == name.Value {
			return setting.set(s.plan, value)
		}
	}
	if slices.Contains(harmless, name.Value) {
		return nil
	}
	var names []string
	for _, setting := range settings {
		names = append(names, setting.name)
	}
	return name.Fault(0, len(name.Value), "this is no setting of a trace", "there are "+strings.Join(names, ", "))
}
