package match

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/itrace/dialects"
	"tracewell/itrace/match"
	"tracewell/itrace/match/profile"
)

// originalOptions are the options of Trace Matcher, with its names and meanings, so that its command lines work unchanged.
type originalOptions struct {
	WindowSize   windowSize   `group:"Options of Trace Matcher:" short:"w" placeholder:"N" help:"Compare N records at once: an effect may be up to N-1 records late. Without N, and without the option, the window is ${window}."`
	FirstDifStop bool         `group:"Options of Trace Matcher:" help:"Stop at the first difference; also -fds."`
	BootSize     flags.Count  `group:"Options of Trace Matcher:" placeholder:"N" help:"Skip the first N instructions of each trace; also -bs N."`
	StartAddr    startAddress `group:"Options of Trace Matcher:" placeholder:"ADDR" help:"Start each trace at its first instruction at ADDR, in hexadecimal, or by auto where both first go the same way, by none at the beginning; also -sa ADDR."`
	SkipEqual    bool         `group:"Options of Trace Matcher:" help:"Treat consecutive records that differ only in time as one; also -se."`
	SkipRest     bool         `group:"Options of Trace Matcher:" help:"Ignore the rest of the longer trace; also -sr."`
	Debug        bool         `group:"Options of Trace Matcher:" short:"d" help:"Print to standard error what was read, and how fast."`
}

// meaningOptions say what counts as a difference. By default times, numbers of instructions, disassembly, privilege and security
// do not, as simulators and hardware disagree about them.
type meaningOptions struct {
	Profile   profileName     `group:"What makes a difference:" placeholder:"NAME" complete:"profiles" help:"Use the options that stand for a pair of producers: ${profiles}. Other options on the command line go ahead of it. --profile help prints what each stands for."`
	Compare   []matchField    `group:"What makes a difference:" placeholder:"FIELD" help:"Compare these fields as well: ${matchFields}."`
	Alias     []aliases       `group:"What makes a difference:" placeholder:"NAME=SAME" help:"Treat two names as one register, as in r8=t0, or all names of an instruction set: ${aliasSets}."`
	Ignore    []ignoreRule    `group:"What makes a difference:" sep:"none" placeholder:"RULE" help:"Ignore differences in some records; may be given several times. reg:NAME for a register, where * matches any characters, or reg:NAME&MASK for some of its bits; mem:FIRST-LAST, read:FIRST-LAST, write:FIRST-LAST for memory accesses; pc:FIRST-LAST for instructions with their effects; reg, mem, read, write for all. Numbers are hexadecimal. LAST is included and may be omitted."`
	Rule      []namedRule     `group:"What makes a difference:" placeholder:"NAME" help:"Put a rule into force, or by no-NAME out of force: ${matchRules}."`
	MaxRounds flags.Count     `group:"What makes a difference:" placeholder:"N" help:"With the rule waiting, allow N extra rounds of a loop in one place (any number)."`
	MaxBad    flags.Count     `group:"What makes a difference:" placeholder:"N" help:"Accept N lines in each trace that are not records (0)."`
	Dialect   []flags.Dialect `group:"What makes a difference:" sep:"none" placeholder:"NAME" complete:"dialects" help:"The format of the traces; given twice, that of the reference, and then that of the others; without it the format is detected: ${dialects}."`
}

// profileName is the value of --profile: one of those that there are, nil without the option, or that they are to be listed.
type profileName struct {
	*profile.Profile
	list bool
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *profileName) UnmarshalText(text []byte) (err error) {
	if p.list = string(text) == "help"; p.list {
		return nil
	}
	p.Profile, err = profile.ByName(string(text))
	return err
}

// listProfiles prints what each profile is for, and the options that it stands for, in a line of their own: whoever wants a few of
// them copies these to a command line.
func listProfiles(out *console.Output) error {
	for i := range profile.All {
		p := &profile.All[i]
		if _, err := fmt.Fprintf(out, "%-15s %s\n%15s %s\n", p.Name, p.Help, "", strings.Join(p.Words(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// namedRule is a value of --rule.
type namedRule struct {
	rule match.Rule
	off  bool
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *namedRule) UnmarshalText(text []byte) error {
	name, off := strings.CutPrefix(string(text), "no-")
	*n = namedRule{match.Rule(name), off}
	for _, r := range match.Rules {
		if r.Rule == n.rule {
			return nil
		}
	}
	return fmt.Errorf("%q is no rule; there are %s", text, ruleList())
}

// ruleList is all rules, with what they do.
func ruleList() string {
	var all []string
	for _, r := range match.Rules {
		words := fmt.Sprintf("%s (%s", r.Rule, r.Help)
		if r.On {
			words += "; in force unless switched off"
		}
		all = append(all, words+")")
	}
	return strings.Join(all, ", ")
}

// windowSize is the value of --window-size.
type windowSize int64

// UnmarshalText implements encoding.TextUnmarshaler. As in Trace Matcher, a word behind -w is taken for the number (see Words for
// -w without one); here the error says what to do about it.
func (w *windowSize) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("-w takes a number of records, 1 or more, as in -w 5; "+
			"%q is none; without a number it comes behind the files", text)
	}
	*w = windowSize(n)
	return nil
}

// The values below are types of their own because kong decodes an option by its type (encoding.TextUnmarshaler): a wrong one is
// an error of the command line, in front of any work, and it names what would have been right.

// startAddress is an address in hexadecimal, with 0x or without, as Trace Matcher takes it, or auto, which is no such number.
type startAddress struct {
	addr  *uint64
	auto  bool
	given bool // be it that nothing is to be left out
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *startAddress) UnmarshalText(text []byte) error {
	*a = startAddress{given: true, auto: string(text) == "auto"}
	if a.auto || string(text) == "none" {
		return nil
	}
	n, err := match.ParseAddr(string(text))
	a.addr = &n
	return err
}

// matchField is a value of --compare.
type matchField match.Field

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *matchField) UnmarshalText(text []byte) error {
	*f = matchField(text)
	if !slices.Contains(match.Fields, match.Field(text)) {
		return fmt.Errorf("%q is none of the fields, which are %s", text, strings.Join(fieldsCompared(), ", "))
	}
	return nil
}

// aliases is a value of --alias.
type aliases []match.Alias

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *aliases) UnmarshalText(text []byte) error {
	// The names of the sets contain no equals sign, so neither hides the other.
	if set, ok := match.AliasSets[string(text)]; ok {
		*a = set
		return nil
	}
	name, same, ok := strings.Cut(string(text), "=")
	if !ok || name == "" || same == "" {
		// Register 8 of MIPS, r8, is t0 in the usual ABI: simulators print one or the other.
		example := arch.MIPS.Registers[8]
		return fmt.Errorf("%q is no alias: want NAME=SAME, such as %s=%s, or the name of a set: %s",
			text, example.Name, example.ABI, strings.Join(aliasSets(), ", "))
	}
	*a = aliases{{Name: name, Same: same}}
	return nil
}

// ignoreRule is a value of --ignore.
type ignoreRule match.Ignore

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *ignoreRule) UnmarshalText(text []byte) error {
	rule, err := match.ParseIgnore(string(text))
	*i = ignoreRule(rule)
	return err
}

// Variables are what the help of match refers to.
func Variables() kong.Vars {
	var names []string
	for _, d := range dialects.All {
		names = append(names, d.Name)
	}
	// The fields, sets and dialects are those of the packages that have them, so help and errors list what there is.
	list := func(words []string) string { return strings.Join(words, ", ") }
	return kong.Vars{"window": defaultWindow, "matchFields": list(fieldsCompared()), "aliasSets": list(aliasSets()),
		"matchRules": ruleList(), "profiles": list(profile.Names()),
		"dialects": list(names)}
}

// fieldsCompared are the values of --compare.
func fieldsCompared() (names []string) {
	for _, f := range match.Fields {
		names = append(names, string(f))
	}
	return names
}

// aliasSets are the names of the sets for --alias, sorted, since a map has no order.
func aliasSets() []string { return slices.Sorted(maps.Keys(match.AliasSets)) }

// settings translates the options for itrace/match. Rules of --ignore and --alias stay in the order of the command line, in which
// the report lists how often each applied.
func (c *Command) settings() match.Options {
	// The dialect is not among them: it belongs to each trace, and without --dialect the two may be of different formats.
	o := match.Options{
		Window: int64(c.WindowSize), FirstOnly: c.FirstDifStop, Boot: int64(c.BootSize), Start: c.StartAddr.addr,
		StartCommon: c.StartAddr.auto,
		SkipEqual:   c.SkipEqual, SkipRest: c.SkipRest, AllowUnknown: int64(c.MaxBad), Rounds: int(c.MaxRounds),
		MaxDifferences: int(c.MaxDifferences), Context: int(c.Context),
		Described: int(c.Described), Consequences: int(c.Consequences),
	}
	for _, f := range c.Compare {
		o.Fields = append(o.Fields, match.Field(f))
	}
	for _, rule := range c.Rule {
		// Of what is said twice of a rule the last is meant, as of options with one value: a script may append to a command line.
		is := func(r match.Rule) bool { return r == rule.rule }
		o.Rules, o.Without = slices.DeleteFunc(o.Rules, is), slices.DeleteFunc(o.Without, is)
		if rule.off {
			o.Without = append(o.Without, rule.rule)
		} else {
			o.Rules = append(o.Rules, rule.rule)
		}
	}
	for _, set := range c.Alias {
		o.Aliases = append(o.Aliases, set...)
	}
	for _, rule := range c.Ignore {
		o.Ignores = append(o.Ignores, match.Ignore(rule))
	}
	// The profile comes last, since it fills in only what the command line leaves open. That the traces are compared from their
	// beginnings, where a profile looks for a common start, is said by none.
	if c.Profile.Profile != nil {
		o = c.Profile.Apply(o)
		o.StartCommon = o.StartCommon && (c.StartAddr.auto || !c.StartAddr.given)
	}
	return o
}
