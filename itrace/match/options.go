package match

import (
	"slices"

	"tracewell/arch"
	"tracewell/itrace"
)

// Options say how to compare. The zero value compares by meaning, all that there is, with a window of one record, so that no effect
// may come late.
type Options struct {
	Window         int64   // records that are compared at once: an effect may come one record less late; 0 is 1, none late
	FirstOnly      bool    // stop at the first difference
	Boot           int64   // instructions at the beginning of each trace that are not compared
	Start          *uint64 // compare from the first instruction at this address on, in each trace
	StartCommon    bool    // Start is where both traces first go the same way, found in their first 64 KiB
	SkipEqual      bool    // of records of one trace that differ in nothing but the time only the first counts
	SkipRest       bool    // what one trace has behind the end of the other does not count
	Fields         []Field // compared besides
	Aliases        []Alias
	Ignores        []Ignore
	Rules          []Rule // off without being named
	Without        []Rule // of those that are on, these are off
	Profile        string // what the options are called together, for the report
	Rounds         int    // of a loop that RuleWaiting leaves out in one place, at most; 0 is any number
	AllowUnknown   int64  // lines that may be unreadable
	MaxDifferences int    // that are listed; 0 is 100. All are counted
	Described      int    // of these, those that are listed with what surrounds them; 0 is 20
	Consequences   int    // that are listed; 0 is none. All are counted
	Context        int    // instructions shown before a difference, at most 1024; 0 is 8
	Following      int    // instructions shown from a difference on, and behind a stretch, as far as they have been read; 0 is 4
	Lookahead      int    // instructions looked at, at most, to find where two traces go on together; 0 is 65536

	// Progress is passed, now and then, how many bytes of the two traces have been read.
	Progress func(reference, other int64)
}

// Field is a field of records that makes no difference unless asked for.
type Field string

// The fields that can be asked for.
const (
	FieldTime      Field = "time" // with its scale
	FieldID        Field = "id"
	FieldDisasm    Field = "disasm"
	FieldPrivilege Field = "privilege" // of accesses to memory
	FieldSecurity  Field = "security"  // s or ns, where both traces tell
)

// Fields are all fields that can be asked for.
var Fields = []Field{FieldTime, FieldID, FieldDisasm, FieldPrivilege, FieldSecurity}

// class is that of the differences that the field makes.
func (f Field) class() Class {
	return map[Field]Class{FieldTime: ClassTime, FieldID: ClassID, FieldDisasm: ClassDisassembly, FieldPrivilege: ClassMemory,
		FieldSecurity: ClassMode}[f]
}

// Rule is a difference between producers that is none between executions. Each counts how often it made one equal or left one out.
type Rule string

// The rules.
const (
	// RuleZero leaves out what is written to registers that read as zero.
	RuleZero Rule = "zero"
	// RuleChanges leaves out writes of the value that a register held already where the other trace does not tell these.
	RuleChanges Rule = "changes"
	// RuleTrapped leaves out instructions that had an exception where the other trace does not tell these.
	RuleTrapped Rule = "trapped"
	// RuleAligned takes loads for equal whose addresses are in the same word of 4 bytes: buses read words.
	RuleAligned Rule = "aligned"
	// RuleCounters leaves out what instructions write that read a counter or the identity of the machine, where these are registers
	// of control and status.
	RuleCounters Rule = "counters"
	// RuleFlow leaves of instructions their addresses, and nothing of effects.
	RuleFlow Rule = "flow"
	// RuleBoxing takes a single in a register of doubles for what it is: bits above it that are all set are not told by all.
	RuleBoxing Rule = "boxing"
	// RuleCompressed takes a compressed instruction for the one of 32 bits that it stands for.
	RuleCompressed Rule = "compressed"
	// RuleWidth takes numbers of 64 bits that extend one of 32 by its sign for that: addresses, and what is in registers.
	RuleWidth Rule = "width"
	// RuleLanes takes the words that a bus carries for the accesses of a program within them.
	RuleLanes Rule = "lanes"
	// RuleExceptions leaves out instructions of one trace that had an exception without being marked for it.
	RuleExceptions Rule = "exceptions"
	// RuleInterrupts leaves out the runs of an interrupt's handler that one trace has at another place than the other.
	RuleInterrupts Rule = "interrupts"
	// RuleExtraInterrupt leaves out one run of a handler that the other trace has nowhere, with RuleInterrupts.
	RuleExtraInterrupt Rule = "extra-interrupt"
	// RuleWaiting leaves out more rounds of loops that wait, and instructions that do.
	RuleWaiting Rule = "waiting"
	// RuleReserved leaves out that a conditional store failed in one trace, with the rounds that come of it.
	RuleReserved Rule = "lrsc"
)

// Rules are all rules, with what they do, and whether they are in force without being named.
var Rules = []struct {
	Rule Rule
	Help string
	On   bool
}{
	{RuleZero, "leave out what is written to registers that read as zero", true},
	{RuleChanges, "leave out writes of the value that was there, if one trace tells only changes", true},
	{RuleTrapped, "leave out instructions that had an exception, if one trace does not tell them", true},
	{RuleAligned, "compare the addresses of loads by words of 4 bytes", false},
	{RuleCounters, "leave out what is read from counters and identity registers", false},
	{RuleFlow, "compare the addresses of instructions and nothing else", false},
	{RuleBoxing, "compare of NaN-boxed singles what is in the box", false},
	{RuleCompressed, "compare compressed opcodes as the ones of 32 bits that they stand for", false},
	{RuleWidth, "compare sign-extended numbers of 32 bits by these", false},
	{RuleLanes, "compare accesses with words of a bus around them by the bytes accessed", false},
	{RuleExceptions, "leave out an instruction that only an exception can have followed, if one trace lacks it", false},
	{RuleInterrupts, "leave out runs of interrupt handlers that are at another place in the other trace", false},
	{RuleExtraInterrupt, "besides, leave out one run that the other trace has nowhere", false},
	{RuleWaiting, "leave out extra rounds of loops that only ask and leave nothing behind, and extra instructions that wait", false},
	{RuleReserved, "leave out that a conditional store failed in one trace, its result and the rounds that come of it", false},
}

// applies reports whether a rule is in force.
func (o *Options) applies(rule Rule) bool {
	on := slices.Contains(o.Rules, rule)
	for _, r := range Rules {
		on = on || r.Rule == rule && r.On && !slices.Contains(o.Without, rule)
	}
	return on
}

// Alias is another name of a register: Name is taken for Same.
type Alias arch.Alias

// Ignore is a rule by which records, or bits of them, make no difference. Of the fields that are set all must fit.
type Ignore struct {
	Text string // as the user wrote it, by which the report names it

	Kind     itrace.Kind // Unknown is any
	Accesses Access      // of memory
	Register string      // its name in lower case; * stands for any characters
	Mask     uint64      // of the register only these bits; 0 is the whole record
	Memory   *Range      // of addresses that are accessed
	PC       *Range      // of instructions, with all their effects
}

// Access is the directions of accesses to memory that a rule is about.
type Access uint8

// The directions.
const (
	Any Access = iota
	Reads
	Writes
)

// Range is addresses from First to Last, both included.
type Range struct{ First, Last uint64 }

// Contains reports whether an address is in the range.
func (r Range) Contains(addr uint64) bool { return r.First <= addr && addr <= r.Last }

// withDefaults returns the options with what the zero value stands for.
func (o Options) withDefaults() Options {
	if o.Window <= 0 {
		o.Window = 1
	}
	if o.Described <= 0 {
		o.Described = 20
	}
	if o.MaxDifferences <= 0 {
		o.MaxDifferences = 100
	}
	if o.Context <= 0 {
		o.Context = 8
	}
	o.Context = min(o.Context, mostHistory)
	if o.Following <= 0 {
		o.Following = 4
	}
	o.Following = min(o.Following, mostHistory)
	if o.Lookahead <= 0 {
		o.Lookahead = 1 << 16
	}
	return o
}

func (o *Options) compares(f Field) bool { return slices.Contains(o.Fields, f) }
