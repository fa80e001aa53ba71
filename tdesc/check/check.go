// Package check says what is wrong with a target description: what makes GDB reject it, misread it or crash, what makes the
// document invalid, and which registers GDB wants of the architecture that are not there.
//
// Each finding breaks a rule, which has a name, tells what GDB makes of the breach, and advises what to do. The rules of the
// format are package tdesc's and checked while the document is read; those here need the whole description. GDB is GDB 13;
// what is known of later ones is said so.
package check

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/tdesc"
)

// Verdict is the outcome of a check.
type Verdict string

// The verdicts.
const (
	WellFormed Verdict = "well-formed" // nothing was found
	Findings   Verdict = "findings"
	Unreadable Verdict = "unreadable" // the document could not be read to its end
)

// Report is what a check has found.
type Report struct {
	Verdict  Verdict
	Target   *tdesc.Target // what could be read
	Findings []tdesc.Finding
}

// Worst is the worst severity among the findings, tdesc.Odd if there are none.
func (r *Report) Worst() tdesc.Severity {
	worst := tdesc.Odd
	for _, f := range r.Findings {
		worst = max(worst, f.Rule.Severity)
	}
	return worst
}

var rules = slices.Clone(tdesc.Rules())

func newRule(name string, severity tdesc.Severity, advice string) *tdesc.Rule {
	r := &tdesc.Rule{Name: name, Severity: severity, Advice: advice}
	rules = append(rules, r)
	return r
}

// Rules returns all rules, those of package tdesc included. They are shared and nobody's to change.
func Rules() []*tdesc.Rule { return rules }

// Rules of whole descriptions.
var (
	ruleOSABI = newRule("osabi-unknown", tdesc.Misreads,
		"write one of the names that GDB's command 'set osabi' lists, such as GNU/Linux or none")
	ruleSize = newRule("size-mismatch", tdesc.Misreads,
		"make bitsize eight times the size of the type: GDB goes by the type, other readers by bitsize")
	ruleBits   = newRule("bitsize-odd", tdesc.Misreads, "make bitsize a multiple of 8, and more than 0")
	ruleHuge   = newRule("type-too-large", tdesc.Misreads, "make the type smaller; no register takes a megabyte")
	ruleShared = newRule("type-shared", tdesc.Misreads,
		"give the type another name in one of the features: GDB takes the type of the first register for all types of the name")
	ruleCompatible = newRule("compatible-unknown", tdesc.Misreads, "write the name as GDB's command 'set architecture' lists it; "+
		"GDB 13 ignores others without a word")
	ruleName = newRule("register-name", tdesc.Odd,
		"name the register as a word of letters, digits and underscores, so that it can be typed behind a $")
	ruleHidden = newRule("register-name-empty", tdesc.Misreads, "name the register, or GDB does not show it; its place is kept")
)

// Document checks a description.
func Document(doc []byte, options tdesc.Options) *Report {
	in, err := options.Inspect(doc)
	report := &Report{Target: in.Target}
	c := &checker{in: in, findings: in.Findings}
	if err != nil {
		report.Verdict, report.Findings = Unreadable, c.findings
		return report
	}
	c.header()
	c.registers()
	c.standard()
	report.Verdict, report.Findings = WellFormed, c.findings
	if len(c.findings) > 0 {
		report.Verdict = Findings
	}
	return report
}

// checker gathers findings.
type checker struct {
	in       *tdesc.Inspected
	findings []tdesc.Finding
}

// most is how many findings a report has.
const most = 1000

func (c *checker) add(rule *tdesc.Rule, pos tdesc.Position, format string, args ...any) {
	if len(c.findings) < most {
		c.findings = append(c.findings, tdesc.Finding{Rule: rule, Pos: pos, Text: fmt.Sprintf(format, args...)})
	}
}

func (c *checker) header() {
	t := c.in.Target
	switch {
	case t.Architecture == "":
		if hasRegisters(t) {
			c.add(ruleNoArchitecture, c.in.Architecture(), "the architecture is not named")
		}
	case !architectures[strings.ToLower(t.Architecture)]:
		c.add(ruleArchitecture, c.in.Architecture(), "no GDB knows the architecture %q", t.Architecture)
	}
	for _, name := range t.Compatible {
		if !architectures[strings.ToLower(name)] {
			c.add(ruleCompatible, c.in.Compatible(name), "no GDB knows the architecture %q", name)
		}
	}
	if t.OSABI != "" && !osABIs[t.OSABI] {
		c.add(ruleOSABI, c.in.OSABI(), "no GDB knows the OS ABI %q", t.OSABI)
	}
}

func (c *checker) registers() {
	for _, r := range c.in.Target.Registers() {
		switch {
		case r.Name == "":
			c.add(ruleHidden, c.in.Register(r), "register %d has no name", r.Num)
		case !typable(r.Name):
			c.add(ruleName, c.in.Register(r), "the name %q cannot be typed behind a $", r.Name)
		}
	}
	layout, err := c.in.Layout()
	if err != nil {
		c.add(ruleHuge, tdesc.Position{Line: 1, Column: 1}, "%s", strings.TrimPrefix(err.Error(), "target description: "))
		return
	}
	for i := range layout.Slots {
		c.size(&layout.Slots[i])
	}
}

// size compares the size of a register with that of its type. Where there is no int or float of the size it has been said.
func (c *checker) size(s *tdesc.Slot) {
	r := s.Reg
	pos := c.in.Register(r)
	said := slices.ContainsFunc(c.findings, func(f tdesc.Finding) bool {
		return f.Rule.Name == "bitsize-type" && f.Pos.Offset == pos.Offset && f.Pos.Annex == pos.Annex
	})
	switch {
	case s.Shared:
		c.add(ruleShared, pos, "reg %q: GDB takes the type %s of an earlier register, of %d bytes, which is another one", r.Name,
			r.Type, s.Size)
	case said || r.Bits == 8*s.Size:
	case r.Bits%8 != 0 || r.Bits == 0:
		c.add(ruleBits, pos, "reg %q has %d bits, and its type %s %d bytes", r.Name, r.Bits, r.Type, s.Size)
	default:
		c.add(ruleSize, pos, "reg %q has %d bits, but its type %s has %d", r.Name, r.Bits, r.Type, 8*s.Size)
	}
}

// typable tells whether GDB's expressions can name a register.
func typable(name string) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}
