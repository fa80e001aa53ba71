package check

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
)

// Verdict is the outcome of a check.
type Verdict string

// The verdicts.
const (
	WellFormed Verdict = "well-formed" // nothing was found
	Findings   Verdict = "findings"
	Unreadable Verdict = "unreadable" // the file could not be opened as a trace file at all; never of a Report
)

// Finding is a breach of a rule.
type Finding struct {
	tfile.Finding
	Line  int // of the definition line, counted from 1 as editors do, so that the first is line 2; 0 in the frames
	Frame int // the first frame that has it, counted from 0; -1 in the definitions
	Count int // how many lines or frames have it; those after the first are not told one by one
}

// Report is what a check has found.
type Report struct {
	Verdict  Verdict
	Findings []Finding // by offset

	checker *checker // for Fix
}

// Worst is the worst severity among the findings, tfile.Odd if there are none.
func (r *Report) Worst() tfile.Severity {
	worst := tfile.Odd
	for _, f := range r.Findings {
		worst = max(worst, f.Rule.Severity)
	}
	return worst
}

// Options are what a check can make use of.
type Options struct {
	Program  *Program         // that was traced; nil if not known
	Source   io.ReaderAt      // the file itself, for a last frame that is cut off; may be nil
	Size     int64            // of Source in bytes
	Progress func(done int64) // is told how many frames are done, about every thousand; may be nil
}

// progressFrames is how many frames are checked or written between two calls of Options.Progress.
const progressFrames = 1 << 10

// File checks an open trace file. opened is the error that tfile.Open gave beside it, nil for none: a *tfile.FormatError
// becomes a finding. The error is that of reading the file.
func File(f *tfile.File, opened error, options Options) (*Report, error) {
	c := newChecker(f, options)
	// What the lines define decides what frames may hold, and their number is held against the status at last.
	c.definitions()
	c.ending(opened)
	if err := c.frames(); err != nil {
		return nil, err
	}
	c.status()
	report := &Report{Verdict: WellFormed, Findings: c.findings, checker: c}
	slices.SortStableFunc(report.Findings, func(a, b Finding) int { return cmp.Compare(a.Offset, b.Offset) })
	if len(report.Findings) > 0 {
		report.Verdict = Findings
	}
	return report, nil
}

// most is how many findings a report has. Only a file made for it has more.
const most = 1000

// checker is the state of a check.
type checker struct {
	file    *tfile.File
	header  tfile.Header
	options Options

	target  *tdesc.Target // nil without a description that can be read
	layout  *tdesc.Layout // of register blocks; nil without a description that can be read
	counter *tdesc.Slot   // the program counter; nil if not known
	objects []tfile.Object
	lines   lineIndex
	// needsRegisters is broken by frames without registers, on architectures where GDB 13.1 cannot do without; else nil.
	needsRegisters *tfile.Rule
	tracepoints    map[trace.Number]*tracepoint
	mentions       map[trace.Key]*mention
	variables      map[trace.VariableNumber]*trace.Variable
	names          map[string]trace.VariableNumber
	last           map[string]int64 // by keyword: offset of the last line that has it, of those of which one counts

	broken   map[trace.Number]*damage // frames that cannot be read to their end, by tracepoint
	regular  map[trace.Number]bool    // tracepoints with frames whose registers can be read as the R line has them
	nameless map[int32]*Finding       // variables that frames have values of and no line defines

	truncated bool // the file ends in the frames, without an end marker

	findings []Finding
	folded   map[fold]int // index in findings
	walk     walk
}

// fold is what findings of frames are counted together by.
// A rule that a stub breaks it breaks in every frame, and a report of a million lines helps nobody.
type fold struct {
	rule *tfile.Rule
	of   trace.Number
}

func newChecker(f *tfile.File, options Options) *checker {
	return &checker{
		walk: walk{order: f.Header().Order},
		file: f, header: f.Header(), options: options,
		objects:     tfile.Objects(f.Header().Description),
		tracepoints: make(map[trace.Number]*tracepoint),
		mentions:    make(map[trace.Key]*mention),
		variables:   make(map[trace.VariableNumber]*trace.Variable),
		names:       make(map[string]trace.VariableNumber),
		last:        make(map[string]int64),
		broken:      make(map[trace.Number]*damage),
		regular:     make(map[trace.Number]bool),
		nameless:    make(map[int32]*Finding),
		folded:      make(map[fold]int),
	}
}

// add reports a breach at an offset in the definitions, and returns where in c.findings that is.
func (c *checker) add(rule *tfile.Rule, offset int64, format string, args ...any) int {
	return c.append(Finding{
		Finding: tfile.Finding{Offset: offset, Rule: rule, Text: fmt.Sprintf(format, args...)},
		Line:    c.lines.number(offset), Frame: -1, Count: 1,
	})
}

// addFolded is add for a rule that many lines may break: the first is told, the others are counted.
func (c *checker) addFolded(rule *tfile.Rule, offset int64, format string, args ...any) {
	if !c.again(fold{rule, 0}, 1) {
		c.folded[fold{rule, 0}] = c.add(rule, offset, format, args...)
	}
}

// outside is add for what is not in a line.
func (c *checker) outside(rule *tfile.Rule, offset int64, format string, args ...any) {
	c.append(Finding{Finding: tfile.Finding{Offset: offset, Rule: rule, Text: fmt.Sprintf(format, args...)}, Frame: -1, Count: 1})
}

// append adds a finding, unless there are enough, and returns its index or most.
func (c *checker) append(f Finding) int {
	if len(c.findings) >= most {
		return most
	}
	c.findings = append(c.findings, f)
	return len(c.findings) - 1
}

// again counts a breach that has been reported already, and reports whether it has.
// A finding beyond the limit of a report is counted nowhere.
func (c *checker) again(key fold, count int) bool {
	i, known := c.folded[key]
	if known && i < len(c.findings) {
		c.findings[i].Count += count
	}
	return known
}

// addFrame reports a breach in the frame that is walked, once for each tracepoint.
func (c *checker) addFrame(rule *tfile.Rule, at int, format string, args ...any) {
	w := &c.walk
	key := fold{rule, w.number}
	if c.again(key, 1) {
		return
	}
	c.folded[key] = c.append(Finding{
		Finding: tfile.Finding{Offset: w.frame.Offset() + int64(at), Rule: rule, Text: fmt.Sprintf(format, args...)},
		Frame:   w.index, Count: 1,
	})
}
