package check

import (
	"cmp"
	"encoding/binary"
	"strings"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/tdesc"
	descriptions "tracewell/tdesc/check"
	"tracewell/tfile"
)

// severities is what the severity of a breach in a description is for the trace file that has the description: GDB 13.1 opens
// a file whose description it rejects, with the registers of its own machine.
var severities = map[tdesc.Severity]tfile.Severity{
	tdesc.Odd: tfile.Odd, tdesc.Misreads: tfile.Misreads, tdesc.Rejects: tfile.Misreads, tdesc.Crashes: tfile.Crashes,
}

// description checks the target description, and what the R line says against it.
func (c *checker) description() {
	if c.header.Description == "" {
		c.outside(ruleNoDescription, c.file.DefinitionsEnd(), "no target description says which registers there are")
		return
	}
	report := descriptions.Document([]byte(c.header.Description), tdesc.Options{})
	starts := c.descriptionLines()
	for _, f := range report.Findings {
		rule := tfile.Rule{Name: "description-" + f.Rule.Name, Severity: severities[f.Rule.Severity], Advice: f.Rule.Advice}
		// The document is the tdesc lines joined by LF, so that line n of the document is the n-th of these lines,
		// whatever stands between them in the file.
		at := starts[min(max(f.Pos.Line-1, 0), len(starts)-1)]
		if i := c.add(&rule, at, "target description: %s", f.Text); i < most {
			c.findings[i].Offset += int64(len("tdesc ") + max(f.Pos.Column-1, 0))
		}
	}
	if report.Verdict == descriptions.Unreadable {
		return
	}
	layout, err := report.Target.Layout()
	if err != nil {
		return // too large for any register block, which has been told
	}
	// A description that GDB rejects still says what the writer of the file meant, and is used for all further checks.
	c.target, c.layout, c.counter = report.Target, layout, layout.ProgramCounter()
	c.registerSize()
	c.needsRegisters = registersNeeded[c.machine().Unwinding]
}

// registersNeeded has the rule that frames without registers break where GDB 13.1 cannot do without. Elsewhere it makes a stack
// frame of the pc that it infers.
var registersNeeded = map[arch.Unwinding]*tfile.Rule{
	arch.UnwindsFrames: ruleComplaint, arch.UnwindsAlways: ruleComplaint, arch.UnwindsOrDies: ruleCrashingFrame,
}

// machine is that of the architecture that the description names.
func (c *checker) machine() *arch.Machine {
	return cmp.Or(arch.ByArchitecture(c.target.Architecture), arch.Unknown)
}

// order tells of big-endian frames. GDB 13.1 takes them for little endian, even if the architecture of the description has but
// the one order, as long as neither a program nor its user says otherwise.
func (c *checker) order() {
	if c.header.Order == binary.BigEndian && c.header.Description != "" && c.options.Program == nil {
		c.outside(ruleBigEndian, c.file.DefinitionsEnd()+1, "the frames are big endian")
	}
}

// descriptionLines are the offsets of the lines that make up the description.
func (c *checker) descriptionLines() []int64 {
	var starts []int64
	for _, d := range c.file.Definitions() {
		if strings.HasPrefix(d.Text, "tdesc ") {
			starts = append(starts, d.Offset)
		}
	}
	return starts
}

// registerSize compares what the R line says with the layout that the description makes.
func (c *checker) registerSize() {
	size, at := c.header.RegisterSize, c.last["R"]
	switch {
	case size <= 0 || c.layout.Size == 0 || size == c.layout.Size:
	case size > c.layout.Size:
		c.add(ruleLong, at, "register blocks have %d bytes, the registers of the target description %d", size, c.layout.Size)
	default:
		// A block that ends between two registers is what record writes for a run that asks for the first registers
		// only.
		lost, first, cut := 0, "", false
		for i := range c.layout.Slots {
			if s := &c.layout.Slots[i]; s.Offset+s.Size > size {
				if lost == 0 {
					first = s.Reg.Name
				}
				lost++
				cut = cut || s.Offset < size
			}
		}
		if !cut {
			return // it is all that was collected, and GDB shows it so
		}
		c.add(ruleShort, at, "register blocks have %d bytes, the registers of the target description %d: %s from %s on %s unavailable",
			size, c.layout.Size, text.Plural(lost, "register"), first, are(lost))
	}
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// narrow reports whether the target has addresses of 32 bits, as far as its program counter tells.
// A wide one tells nothing: machines of 64 bits run programs with addresses of 32, too.
func (c *checker) narrow() bool {
	return c.counter != nil && c.counter.Size == 4
}
