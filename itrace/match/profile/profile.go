// Package profile has named sets of options for comparing the execution traces of certain producers.
//
// A profile stands for what differs between two kinds of producers without being a difference between executions: a simulator
// against another, or against hardware. It is made of the rules and options of package match and of nothing else, so whoever
// wants a little more or less begins with Words. What is asked for besides goes ahead of a profile (Apply).
//
// The names of pairs are for what is known of two producers besides.
package profile

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/itrace/match"
)

// Profile is a named set of options.
type Profile struct {
	Name string
	Help string // what it is for

	Rules     []match.Rule
	Registers string   // a set of names of registers (match.AliasSets), empty for none
	Ignores   []string // as match.ParseIgnore reads them
	Start     bool     // where both traces first go the same way
}

// written is what two producers of traces of one processor do not agree on, be they simulators or hardware: what is counted, how
// narrow values are held and short instructions written, how long something is waited for, and which instructions make a line.
var written = []match.Rule{match.RuleCounters, match.RuleBoxing, match.RuleCompressed, match.RuleExceptions, match.RuleWaiting,
	match.RuleReserved}

// timed is what hardware does besides at times of its own, or an emulator with a clock.
var timed = append(slices.Clip(written), match.RuleInterrupts)

// All are the profiles that there are. Those of pairs serve for both orders.
var All = []Profile{
	{Name: "riscv-iss", Help: "two simulators of RISC-V", Rules: written, Registers: family, Start: true},
	{Name: "riscv-rtl", Help: "a simulator of RISC-V and the tracer of a core", Rules: timed, Registers: family, Start: true},
	{Name: "spike-ibex", Help: "Spike and Ibex, or a core with its tracer", Rules: timed, Registers: family, Start: true},
	// PicoRV32 tells of accesses what its bus carries.
	{Name: "spike-picorv32", Help: "Spike and PicoRV32, or another core by its bus",
		Rules: append(slices.Clip(timed), match.RuleAligned, match.RuleLanes), Registers: family, Start: true},
	// QEMU sets bits of mstatus that Spike has not, and shows interrupts that are pending though nothing has written mip.
	{Name: "spike-qemu", Help: "Spike and QEMU, its log or its plugin", Rules: timed, Registers: family, Start: true,
		Ignores: []string{"reg:mstatus", "reg:mip"}},
	{Name: "spike-dromajo", Help: "Spike and Dromajo", Rules: written, Registers: family, Start: true},
	{Name: "spike-rocket", Help: "Spike and Rocket or BOOM", Rules: timed, Registers: family, Start: true},
	{Name: "spike-cva6", Help: "Spike and CVA6", Rules: timed, Registers: family, Start: true},
	{Name: "arm-tarmac", Help: "two Tarmac traces, of a model and of a processor", Registers: "arm", Start: true,
		Rules: []match.Rule{match.RuleWaiting, match.RuleReserved, match.RuleInterrupts}},
	{Name: "flow", Help: "any two traces, by the addresses of their instructions alone", Start: true,
		Rules: []match.Rule{match.RuleFlow}},
}

// family is the set of names of RISC-V's registers.
const family = "riscv"

// ByName returns the profile of a name; the error lists those that there are.
func ByName(name string) (*Profile, error) {
	i := slices.IndexFunc(All, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no profile %q: there are %s", name, strings.Join(Names(), ", "))
	}
	return &All[i], nil
}

// Names lists the profiles.
func Names() (names []string) {
	for _, p := range All {
		names = append(names, p.Name)
	}
	return names
}

// Words are the options of a command line that the profile stands for.
func (p *Profile) Words() (words []string) {
	var rules []string
	for _, rule := range p.Rules {
		rules = append(rules, string(rule))
	}
	words = append(words, "--rule", strings.Join(rules, ","))
	for _, ignore := range p.Ignores {
		words = append(words, "--ignore", ignore)
	}
	if p.Registers != "" {
		words = append(words, "--alias", p.Registers)
	}
	if p.Start {
		words = append(words, "--start-addr", "auto")
	}
	return words
}

// Apply returns options with those of the profile where they leave it open: a start or a boot section of their own go ahead, and so
// do rules that they put out of force.
func (p *Profile) Apply(o match.Options) match.Options {
	o.Profile = p.Name
	if p.Start && o.Start == nil && o.Boot == 0 {
		o.StartCommon = true
	}
	rules := slices.Clone(o.Rules)
	for _, rule := range p.Rules {
		if !slices.Contains(o.Without, rule) && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	o.Rules = rules
	ignores := slices.Clone(o.Ignores)
	for _, text := range p.Ignores {
		if ignore, err := match.ParseIgnore(text); err == nil { // they are constants
			ignores = append(ignores, ignore)
		}
	}
	o.Ignores = ignores
	o.Aliases = slices.Concat(o.Aliases, match.AliasSets[p.Registers])
	return o
}
