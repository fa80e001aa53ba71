package match

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"tracewell/itrace"
)

// rules are the rules by which records are made what is compared, those of both traces. Each counts how often it
// made a difference: those that leave something out, what they left out of both traces; those that make things equal, the pairs.
type rules struct {
	options Options
	ignores []*ignoring

	boot, start, equal, unknown counter // left out when reading: instructions, instructions, records, lines
	rest                        counter // records left out at the end
	aliases                     counter // names of registers for which others were taken
	window, split, digits       counter // effects that came late, instructions, instructions
	named                       map[Rule]*counter
	untold                      map[untold]*counter
	adapt                       bool // a rule is in force that changes or leaves out what most traces tell
}

// counter is how often a rule made a difference.
type counter struct{ fired int64 }

func (c *counter) fire() { c.fired++ }

// ignoring is an Ignore in force.
type ignoring struct {
	Ignore
	counter
}

func newRules(o Options) *rules {
	r := &rules{options: o, named: make(map[Rule]*counter), untold: make(map[untold]*counter)}
	for _, rule := range Rules {
		if o.applies(rule.Rule) {
			r.named[rule.Rule] = new(counter)
			r.adapt = r.adapt || !rule.On
		}
	}
	given := make(map[string]bool)
	for _, ignore := range o.Ignores {
		if ignore.Text != "" && given[ignore.Text] {
			continue // it could never fire
		}
		given[ignore.Text] = true
		r.ignores = append(r.ignores, &ignoring{Ignore: ignore})
	}
	return r
}

// uses lists what was in force, each as it is written on the command line if it is an option. Counts are those of the differences.
func (r *rules) uses(counts map[Class]int64) (uses []RuleUse) {
	o := &r.options
	add := func(on bool, c *counter, format string, args ...any) {
		if on {
			uses = append(uses, RuleUse{fmt.Sprintf(format, args...), c.fired})
		}
	}
	add(true, &r.window, "--window-size %d", o.Window)
	add(o.Boot > 0, &r.boot, "--boot-size %d", o.Boot)
	if o.Start != nil {
		add(true, &r.start, "--start-addr 0x%x", *o.Start)
	}
	add(o.SkipEqual, &r.equal, "--skip-equal")
	add(o.SkipRest, &r.rest, "--skip-rest")
	add(o.AllowUnknown > 0, &r.unknown, "--max-bad %d", o.AllowUnknown)
	for _, f := range o.Fields {
		uses = append(uses, RuleUse{fmt.Sprintf("--compare %s", f), counts[f.class()]})
	}
	add(len(o.Aliases) > 0, &r.aliases, "--alias: names taken for others")
	add(true, &r.split, "accesses split or merged")
	add(true, &r.digits, "digits that are not known match all")
	for _, rule := range Rules {
		if c := r.named[rule.Rule]; c != nil && (c.fired > 0 || !rule.On) {
			add(true, c, "--rule %s", rule.Rule)
		}
	}
	if c := r.named[RuleWaiting]; c != nil {
		add(o.Rounds > 0, c, "--max-rounds %d", o.Rounds)
	}
	for _, i := range r.ignores {
		add(true, &i.counter, "--ignore %s", i.Text)
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
			if ignore.Mask, err = ParseAddr(mask); err != nil || ignore.Mask == 0 {
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
	if r.First, err = ParseAddr(first); err != nil {
		return Range{}, err
	}
	if r.Last = r.First; several {
		if r.Last, err = ParseAddr(last); err == nil && r.Last < r.First {
			err = fmt.Errorf("%q ends before it begins", text)
		}
	}
	return r, err
}

// ParseAddr reads an address, or a mask, in hexadecimal, with or without 0x.
func ParseAddr(text string) (uint64, error) {
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
		if i.leavesInstructionsOut() && (i.PC == nil || i.PC.Contains(pc)) {
			i.fire()
			return true
		}
	}
	return false
}

// leavesInstructionsOut reports whether the rule is about instructions, with their effects, and not about effects of some kind.
func (i *ignoring) leavesInstructionsOut() bool {
	return i.Kind == itrace.Instruction || i.Kind == itrace.Unknown && i.PC != nil && i.Register == "" && i.Memory == nil &&
		i.Accesses == Any
}

// effect applies the rules to an effect of a group, and reports whether it is to be left out. name is that of a register.
func (r *rules) effect(g *group, e *effect, name func() string) bool {
	for _, i := range r.ignores {
		switch {
		case i.leavesInstructionsOut() || !i.concerns(g, e, name):
		case i.Mask == 0:
			i.fire()
			return true
		case g.mask(e, i.Mask):
			i.fire()
		}
	}
	return false
}

// concerns reports whether all that the rule says fits an effect.
func (i *ignoring) concerns(g *group, e *effect, name func() string) bool {
	isRegister := e.kind == writesRegister || e.kind == readsRegister
	switch {
	case i.PC != nil && (g.bare || !i.PC.Contains(g.pc)),
		i.Kind == itrace.Register && !isRegister,
		i.Kind == itrace.Memory && !e.accesses(),
		i.Accesses == Reads && e.kind != loads,
		i.Accesses == Writes && e.kind != stores,
		i.Memory != nil && (!e.accesses() || !i.Memory.Contains(e.at)),
		i.Register != "" && !isRegister:
		return false
	case i.Register == "" || i.Register == "*":
		return true
	}
	ok, _ := path.Match(i.Register, name())
	return ok
}

// mask makes bits of a value 0, of whose digits some may not be known, and reports whether one was not.
func (g *group) mask(e *effect, bits uint64) bool {
	changed := e.value&bits != 0
	e.value &^= bits
	if !e.wide {
		return changed
	}
	digits := g.wide[e.digits.from:e.digits.to]
	for n := range min(len(digits), 16) {
		d := &digits[len(digits)-1-n]
		if v, wild, _ := itrace.ParseDigits([]byte{*d}); !wild { // one that is not known matches what is masked as well
			*d = "0123456789abcdef"[v&^(bits>>(4*n))]
		}
	}
	return changed
}
