package tfile

// Severity is what GDB makes of something in a file, the worst last.
type Severity uint8

// The severities.
const (
	Odd      Severity = iota // GDB takes it as it is meant; other readers may not
	Misreads                 // GDB takes it for something else than what is meant, or passes over it
	Refuses                  // GDB does not open the file, or does not show the frame
	Crashes                  // GDB ends with an internal error
)

// String gives the severity as one word: odd, misreads, refuses or crashes.
func (s Severity) String() string { return [...]string{"odd", "misreads", "refuses", "crashes"}[s] }

// Rule is something that a trace file has to keep.
type Rule struct {
	Name     string // such as "unknown-line"
	Severity Severity
	Advice   string // what to do about a breach
}

// The rules that Open looks at. They are shared and nobody's to change.
var (
	RuleUnknownLine = &Rule{"unknown-line", Odd,
		"nothing, if a later version of the format has such lines: GDB 13.1 warns of it and passes over it, as its manual says"}
	RuleBadLine = &Rule{"malformed-line", Misreads,
		"write the line anew or remove it: what it defines is lost"}
	RuleStatusReply = &Rule{"status-reply", Misreads,
		"leave out the T: GDB 13.1 takes it for the digit of a run that is over, and passes over the item behind the digit"}
	RuleLongLine = &Rule{"long-line", Refuses,
		"make the line 999 bytes at most: spread a target description over more lines, shorten a source string"}
	RuleRegisterSize = &Rule{"register-size", Refuses,
		"add an R line with the length of a register block, in hexadecimal"}
	RuleLargeRegisters = &Rule{"large-registers", Crashes,
		"correct the R line: GDB 13.1 keeps a register block on its stack, which 8 MB overflow"}
	RuleUndefined = &Rule{"undefined", Crashes,
		"add the T piece of the tracepoint, or remove its other pieces"}
	RuleByteOrder = &Rule{"byte-order", Misreads,
		"tell the reader the byte order (in GDB: set endian), or correct the architecture of the target description"}
	RuleDecimalSize = &Rule{"decimal-size", Refuses,
		"write the size in the R line in hexadecimal: GDB's manual says decimal, but GDB does not read it so"}
	RuleConcatenated = &Rule{"concatenated", Misreads,
		"take the files apart: GDB reads the first only"}
	RuleLost = &Rule{"lost", Refuses,
		"keep the frames on both sides (tracewell check --fix): GDB finds none behind the damage"}
	RuleHidden = &Rule{"frames-behind-end", Misreads,
		"keep the frames behind the end marker (tracewell check --fix), if they are not remains: GDB ends at the marker"}
	RuleTrailing = &Rule{"trailing-bytes", Misreads,
		"cut the file behind its end marker: nothing reads what follows"}
)
