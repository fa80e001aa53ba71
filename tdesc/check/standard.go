package check

import (
	"slices"
	"strconv"
	"strings"

	"tracewell/tdesc"
)

// Rules of standard features.
var (
	ruleArchitecture = newRule("architecture-unknown", tdesc.Rejects,
		"write the name as GDB's command 'set architecture' lists it, such as i386:x86-64 or riscv:rv32")
	ruleNoArchitecture = newRule("architecture-missing", tdesc.Misreads,
		"name the architecture; without, GDB takes that of the program or the one it was built for, and rejects what does not fit")
	ruleIgnored = newRule("registers-ignored", tdesc.Misreads, "lay out the g packet as GDB does for the architecture by itself, "+
		"or use a GDB that is new enough: 15 for Alpha")
	ruleMissingFeature = newRule("standard-feature-missing", tdesc.Rejects,
		"put the registers that GDB needs into a feature of this name, or leave out all registers to have GDB's usual ones")
	ruleMissingRegister = newRule("standard-register-missing", tdesc.Rejects,
		"add the register under this name, in whatever size; GDB needs all of them to use the feature")
	ruleUnequal = newRule("standard-register-size", tdesc.Rejects,
		"give the registers of the feature the same bitsize, and those that are not GDB's a feature of their own")
	ruleForgotten = newRule("standard-register-forgotten", tdesc.Misreads, "add the register: GDB 13 only takes the description "+
		"because another of its features makes it forget what lacks, and it has no value for the register")
	ruleValued = newRule("standard-register-ignored", tdesc.Misreads,
		"add the register under this name; GDB makes nothing of the feature without, and does not say so")
	ruleVital = newRule("standard-register-crash", tdesc.Crashes,
		"add the register under this name; GDB fails an assertion without")
	ruleCrashes  = newRule("standard-feature-crash", tdesc.Crashes, "put the registers into a feature with a name of your own")
	ruleUseless  = newRule("standard-feature-useless", tdesc.Misreads, "add the other feature, or leave this one out")
	ruleRequires = newRule("standard-feature-requires", tdesc.Rejects, "add the other feature, or leave this one out")
	ruleExcludes = newRule("standard-feature-excludes", tdesc.Rejects, "leave one of the two out")
	ruleForeign  = newRule("standard-feature-unknown", tdesc.Misreads,
		"correct the name, or name a feature of your own by your own domain: GDB makes nothing of it")
	ruleObsolete = newRule("standard-feature-obsolete", tdesc.Odd, "use the feature that has taken its place")
)

// need is how much GDB needs a register.
type need uint8

const (
	needed   need = iota // GDB rejects the description without
	optional             // it does as well without
	valued               // it ignores the feature without
	vital                // it crashes without
)

var needs = map[byte]need{'?': optional, '~': valued, '!': vital}

// want is a register that a feature has.
type want struct {
	names  []string // any of them, in lower case
	need   need
	leader *want // needed only if that one is there; nil for none
	rival  *want // needed only if that one is not there; nil for none
}

// wants reads the registers of a feature.
func (f *feature) wants() []*want {
	var all []*want
	grouped := false
	var leader, first, rival *want
	for word := range strings.FieldsSeq(f.registers) {
		word, begins := strings.CutPrefix(word, "[")
		word, ends := strings.CutSuffix(word, "]")
		word, instead := strings.CutPrefix(word, "{")
		word, ended := strings.CutSuffix(word, "}")
		grouped = grouped || begins
		if instead {
			rival = first
		}
		kind := needs[word[0]]
		if kind != needed {
			word = word[1:]
		}
		for _, name := range expand(word) {
			w := &want{names: strings.Split(name, "|"), need: kind, leader: leader, rival: rival}
			if grouped && leader == nil {
				w.need, leader, first = optional, w, w
			}
			all = append(all, w)
		}
		if ends {
			grouped, leader = false, nil
		}
		if ended {
			rival = nil
		}
	}
	return all
}

func (w *want) in(have map[string]bool) bool {
	return slices.ContainsFunc(w.names, func(name string) bool { return have[name] })
}

// expand gives the names that first-last stands for: those in which a number counts up, with the same before and after it.
func expand(word string) []string {
	first, last, ranged := strings.Cut(word, "-")
	if !ranged {
		return []string{word}
	}
	begin, from, end := numbered(first)
	_, to, _ := numbered(last)
	var names []string
	for i := from; i <= to; i++ {
		names = append(names, begin+strconv.Itoa(i)+end)
	}
	return names
}

// numbered takes a name apart at its last number.
func numbered(name string) (begin string, number int, end string) {
	stop := strings.LastIndexAny(name, "0123456789") + 1
	start := stop
	for start > 0 && name[start-1] >= '0' && name[start-1] <= '9' {
		start--
	}
	number, _ = strconv.Atoi(name[start:stop])
	return name[:start], number, name[stop:]
}

// familyOf finds the family of a description by its architecture, or else by the features that it has and how many of
// their registers there are; nil if GDB asks nothing of it.
func familyOf(t *tdesc.Target) *family {
	var best *family
	fewest := never
	for i := range families {
		f := &families[i]
		if t.Architecture != "" {
			if f.has(t.Architecture) {
				return f
			}
			continue
		}
		if missing, ok := f.fits(t); ok && missing < fewest {
			best, fewest = f, missing
		}
	}
	return best
}

// fits tells whether a description has any feature that the family requires, and how many registers it lacks of those.
func (f *family) fits(t *tdesc.Target) (missing int, ok bool) {
	for _, name := range slices.Concat(f.required...) {
		if feature := t.Feature(prefix + name); feature != nil {
			ok = true
			missing += len(f.feature(name).missing(feature)[needed])
		}
	}
	return missing, ok
}

// has tells whether an architecture belongs to the family. As to GDB, the case of its letters does not matter.
func (f *family) has(architecture string) bool {
	architecture = strings.ToLower(architecture)
	for _, name := range f.architectures {
		begin, open := strings.CutSuffix(name, "*")
		if name == architecture || open && strings.HasPrefix(architecture, begin) {
			return true
		}
	}
	return false
}

func (f *family) feature(name string) *feature {
	for i := range f.features {
		if f.features[i].name == name {
			return &f.features[i]
		}
	}
	return nil
}

// standard checks the features that GDB knows.
func (c *checker) standard() {
	t := c.in.Target
	f := familyOf(t)
	if f == nil || !hasRegisters(t) {
		return
	}
	if f.since > 0 {
		c.add(ruleIgnored, c.in.Architecture(), "GDB 13 takes no registers from a description for %s", f.name)
		return
	}
	for _, alternatives := range f.required {
		if !slices.ContainsFunc(alternatives, func(name string) bool { return t.Feature(prefix+name) != nil }) {
			c.add(ruleMissingFeature, c.in.Architecture(), "%s needs the feature %s", f.name,
				prefix+strings.Join(alternatives, " or "+prefix))
		}
	}
	seen := make(map[string]bool)
	for _, feature := range t.Features {
		name, ours := strings.CutPrefix(feature.Name, prefix)
		if !ours || seen[name] {
			continue
		}
		seen[name] = true
		if known := f.feature(name); known != nil {
			c.feature(f, known, feature)
			continue
		}
		c.add(ruleForeign, c.in.Feature(feature), "GDB has no feature %s for %s", feature.Name, f.name)
	}
}

func hasRegisters(t *tdesc.Target) bool {
	for range t.Registers() {
		return true
	}
	return false
}

// feature checks a feature of the description against what GDB wants of it.
func (c *checker) feature(f *family, known *feature, given *tdesc.Feature) {
	pos := c.in.Feature(given)
	if known.useless != "" && c.in.Target.Feature(prefix+known.useless) == nil {
		c.add(ruleUseless, pos, "the feature %s means nothing to GDB without %s", given.Name, prefix+known.useless)
		return
	}
	lacking := ruleMissingRegister
	if c.forgets(f, known) {
		lacking = ruleForgotten
	}
	missing := known.missing(given)
	for _, level := range []struct {
		need need
		rule *tdesc.Rule
	}{{needed, lacking}, {valued, ruleValued}, {vital, ruleVital}} {
		if names := missing[level.need]; len(names) > 0 {
			c.add(level.rule, pos, "the feature %s lacks %s", given.Name, list(names))
		}
	}
	if known.crashes {
		c.add(ruleCrashes, pos, "GDB 13 does not bear the feature %s on this architecture", given.Name)
	}
	c.sizes(known, given)
	c.others(known, given)
	if known.instead != "" {
		c.add(ruleObsolete, pos, "the feature %s is obsolete; %s has taken its place", given.Name, prefix+known.instead)
	}
}

// sizes compares the registers of a feature with the first of those that have to be of one size.
func (c *checker) sizes(known *feature, given *tdesc.Feature) {
	if known.equal == anySize {
		return
	}
	needs := make(map[string]bool)
	for _, w := range known.wants() {
		for _, name := range w.names {
			needs[name] = w.need == needed
		}
	}
	var first *tdesc.Register
	for _, r := range given.Registers {
		switch {
		case known.equal == equalNeeded && !needs[strings.ToLower(r.Name)]:
		case first == nil:
			first = r
		case r.Bits != first.Bits:
			c.add(ruleUnequal, c.in.Register(r), "reg %q has %d bits, but %q has %d", r.Name, r.Bits, first.Name, first.Bits)
			return
		}
	}
}

// forgets tells whether another feature makes GDB forget what a feature lacks.
func (c *checker) forgets(f *family, known *feature) bool {
	return slices.ContainsFunc(f.features, func(other feature) bool {
		given := c.in.Target.Feature(prefix + other.name)
		return given != nil && slices.Contains(other.forgets, known.name) && len(other.missing(given)[needed]) == 0
	})
}

// others checks what a feature wants of other features.
func (c *checker) others(known *feature, given *tdesc.Feature) {
	t, pos := c.in.Target, c.in.Feature(given)
	if other := t.Feature(prefix + known.useless); known.beside != "" && other != nil {
		there := feature{registers: known.beside}
		if names := there.missing(other)[needed]; len(names) > 0 {
			c.add(ruleMissingRegister, pos, "the feature %s needs %s in %s", given.Name, list(names), other.Name)
		}
	}
	for _, name := range known.requires {
		if t.Feature(prefix+name) == nil {
			c.add(ruleRequires, pos, "the feature %s needs %s beside it", given.Name, prefix+name)
		}
	}
	for _, name := range known.excludes {
		if t.Feature(prefix+name) != nil {
			c.add(ruleExcludes, pos, "the feature %s cannot be beside %s", given.Name, prefix+name)
		}
	}
}

// missing are the registers that a feature of a description lacks, by how much GDB needs them.
func (f *feature) missing(feature *tdesc.Feature) map[need][]string {
	have := make(map[string]bool)
	for _, r := range feature.Registers {
		have[strings.ToLower(r.Name)] = true
	}
	missing := make(map[need][]string)
	for _, w := range f.wants() {
		if !w.in(have) && (w.leader == nil || w.leader.in(have)) && (w.rival == nil || !w.rival.in(have)) {
			name := strings.Join(w.names, " or ")
			if w.rival != nil && len(missing[w.need]) == 0 {
				name = strings.Join(w.rival.names, " or ") + ", or else " + name
			}
			missing[w.need] = append(missing[w.need], name)
		}
	}
	return missing
}

// list joins names, and stops after some.
func list(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
	}
	return strings.Join(names, ", ")
}
