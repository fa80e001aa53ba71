package match

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync/atomic"

	"tracewell/itrace"
)

// rules are the rules by which records are made what is compared, shared by the readers of both traces.
type rules struct {
	options Options
	ignores []*ignoring
	window  counter
	split   counter
	digits  counter
}

// counter is a rule in force and how often it made a difference.
type counter struct {
	text  string
	fired atomic.Int64
}

func (c *counter) fire() { c.fired.Add(1) }

// ignoring is an Ignore in force.
type ignoring struct {
	Ignore
	counter
}

func newRules(o Options) *rules {
	r := &rules{options: o}
	for _, ignore := range o.Ignores {
		i := &ignoring{Ignore: ignore}
		i.text = "--ignore " + ignore.Text
		r.ignores = append(r.ignores, i)
	}
	r.window.text = fmt.Sprintf("effects up to %d records late", o.Window)
	r.split.text = "accesses split or merged"
	r.digits.text = "digits that are not known match all"
	return r
}

// uses lists what was in force.
func (r *rules) uses(o *Options) (uses []RuleUse) {
	for _, text := range o.describe() {
		uses = append(uses, RuleUse{Rule: text})
	}
	for _, c := range []*counter{&r.window, &r.split, &r.digits} {
		uses = append(uses, RuleUse{c.text, c.fired.Load()})
	}
	for _, i := range r.ignores {
		uses = append(uses, RuleUse{i.text, i.fired.Load()})
	}
	return uses
}

// ParseIgnore reads a rule as users write one:
//
//	reg:NAME[&MASK]       writes of a register, or only the bits of a mask; * stands for any characters
//	mem:FIRST[-LAST]      accesses to memory at these addresses; read: and write: mean those only
//	pc:FIRST[-LAST]       instructions at these addresses, with their effects
//	mem, read, write, reg all records of the kind
//
// Addresses and masks are hexadecimal, with or without 0x; LAST is included.
func ParseIgnore(text string) (Ignore, error) {
	kind, what, some := strings.Cut(text, ":")
	ignore := Ignore{Text: text}
	switch kind {
	case "reg":
		ignore.Kind, ignore.Register = itrace.Register, "*"
	case "mem", "read", "write":
		ignore.Kind, ignore.Accesses = itrace.Memory, map[string]Access{"mem": Any, "read": Reads, "write": Writes}[kind]
	case "pc":
	default:
		return Ignore{}, fmt.Errorf("rule %q: %q is neither reg, mem, read, write nor pc", text, kind)
	}
	if !some && kind != "pc" {
		return ignore, nil
	}
	if kind == "reg" {
		name, mask, masked := strings.Cut(what, "&")
		ignore.Register = strings.ToLower(name)
		if _, err := path.Match(ignore.Register, ""); err != nil || name == "" {
			return Ignore{}, fmt.Errorf("rule %q: %q is no name of a register", text, name)
		}
		if masked {
			var err error
			if ignore.Mask, err = parseAddr(mask); err != nil || ignore.Mask == 0 {
				return Ignore{}, fmt.Errorf("rule %q: %q is no mask in hexadecimal", text, mask)
			}
		}
		return ignore, nil
	}
	r, err := parseRange(what)
	if err != nil {
		return Ignore{}, fmt.Errorf("rule %q: %w", text, err)
	}
	if kind == "pc" {
		ignore.PC = &r
	} else {
		ignore.Memory = &r
	}
	return ignore, nil
}

func parseRange(text string) (r Range, err error) {
	first, last, several := strings.Cut(text, "-")
	if r.First, err = parseAddr(first); err != nil {
		return Range{}, err
	}
	if r.Last = r.First; several {
		if r.Last, err = parseAddr(last); err == nil && r.Last < r.First {
			err = fmt.Errorf("%q ends before it begins", text)
		}
	}
	return r, err
}

func parseAddr(text string) (uint64, error) {
	digits := strings.TrimPrefix(strings.ToLower(text), "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no address in hexadecimal", text)
	}
	return n, nil
}

// instruction reports whether an instruction with all its effects is to be left out.
func (r *rules) instruction(pc uint64) bool {
	for _, i := range r.ignores {
		if i.PC != nil && i.PC.Contains(pc) {
			i.fire()
			return true
		}
	}
	return false
}

// effect applies the rules to an effect, and reports whether it is to be left out. name is that of a register.
func (r *rules) effect(e *effect, name func() string) bool {
	for _, i := range r.ignores {
		if i.PC != nil || !i.concerns(e, name) {
			continue
		}
		if i.Mask == 0 {
			i.fire()
			return true
		}
		if e.value&i.Mask != 0 {
			e.value &^= i.Mask
			i.fire()
		}
	}
	return false
}

func (i *ignoring) concerns(e *effect, name func() string) bool {
	switch i.Kind {
	case itrace.Register:
		if e.kind != writesRegister {
			return false
		}
		if i.Register == "*" {
			return true
		}
		ok, _ := path.Match(i.Register, name())
		return ok
	case itrace.Memory:
		if e.kind == writesRegister || i.Accesses == Reads && e.kind != loads || i.Accesses == Writes && e.kind != stores {
			return false
		}
		return i.Memory == nil || i.Memory.Contains(e.at)
	}
	return false
}
