package report

import (
	"cmp"
	"fmt"
	"strings"

	"tracewell/internal/text"
	"tracewell/itrace/match"
)

// phrase says what a difference of a class is. %s stands for prefix and Difference.What, or for thing where that is empty.
type phrase struct {
	prefix, thing string

	both  string // both traces have a record, or the class has no sides
	lost  string // the other trace has nothing; empty for as both
	added string // the reference has nothing
	noted bool   // Difference.Note, if there is one, says it all
}

// phrases are those of the known classes.
var phrases = map[match.Class]phrase{
	match.ClassPC:      {both: "another instruction follows"},
	match.ClassOpcode:  {both: "another opcode"},
	match.ClassMode:    {both: "another mode of the processor"},
	match.ClassSkipped: {both: "executed on one side only"},
	match.ClassTrapped: {both: "an exception of the instruction on one side only"},
	match.ClassEvent: {
		prefix: "the ", thing: "an exception or interrupt",
		both: "%s differs", lost: "%s is missing", added: "%s comes in addition",
	},
	match.ClassRegister: {
		prefix: "register ", thing: "a register",
		both: "%s has another value", lost: "%s is not written", added: "%s is written besides",
	},
	match.ClassMemory: {
		prefix: "the ", thing: "an access to memory",
		both: "%s differs", lost: "%s is missing", added: "%s comes in addition",
	},
	match.ClassMissing: {both: "instructions are missing", noted: true},
	match.ClassExtra:   {both: "there are extra instructions", noted: true},
	match.ClassReordered: {
		thing: "an effect",
		both:  "%s comes in another order",
	},
	match.ClassHandler: {both: "a handler runs on one side only", noted: true},
	match.ClassLoop:    {both: "a loop goes round more often on one side", noted: true},
	match.ClassTail: {both: "one trace goes on where the other has ended", lost: "the trace ends early",
		added: "the trace goes on"},
	match.ClassTime:        {both: "another time"},
	match.ClassID:          {both: "another number of the instruction"},
	match.ClassDisassembly: {both: "another disassembly"},
}

// valueWidth is how many characters of an expected value are shown: as many as 128 bits have digits, and a few more.
const valueWidth = 48

// nameWidth is how many characters of the name of a file, a register or a rule are shown, and noteWidth of a note.
const (
	nameWidth = 200
	noteWidth = 400
)

// Summary says in a line what a difference is.
func Summary(d *match.Difference) string {
	p, ok := phrases[d.Class]
	if !ok {
		p.both = printable("a difference of class "+string(d.Class), nameWidth)
	}
	words := printable(d.Note, noteWidth)
	if !p.noted || words == "" {
		words = p.words(d) + values(d)
	}
	if d.CPU != 0 {
		words += fmt.Sprintf(", on cpu %d", d.CPU)
	}
	return words
}

// words says what a difference is without the values.
func (p *phrase) words(d *match.Difference) string {
	words := p.both
	switch {
	case d.Other == nil && d.Reference != nil:
		words = cmp.Or(p.lost, p.both)
	case d.Reference == nil && d.Other != nil:
		words = cmp.Or(p.added, p.both)
	}
	thing := p.thing
	if d.What != "" {
		thing = p.prefix + printable(d.What, nameWidth)
	}
	switch {
	case strings.Contains(words, "%s"):
		words = strings.Replace(words, "%s", thing, 1)
	case thing != "":
		words += ", " + thing
	}
	return words
}

// values says what was expected and what there is, and the note.
func values(d *match.Difference) (words string) {
	expected, got := markDifference(d.Expected, d.Got, valueWidth)
	if d.Expected == d.Got {
		return note(d)
	}
	if d.Expected != "" || d.Got != "" && d.Reference != nil {
		words += ", expected " + cmp.Or(flat(expected), "nothing")
	}
	if d.Got != "" || d.Expected != "" && d.Other != nil {
		words += ", got " + cmp.Or(flat(got), "nothing")
	}
	return words + note(d)
}

// note is what the comparison says besides.
func note(d *match.Difference) string {
	if d.Note == "" {
		return ""
	}
	return "; " + printable(d.Note, noteWidth)
}

// Extent says how large a stretch is; it is empty for a difference of single records.
func Extent(d *match.Difference) string {
	if d.Groups == 0 && d.Records == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s", text.Plural(d.Groups, "instruction"), text.Plural(d.Records, "record"))
}

// Headline is the verdict in a sentence, with what it is founded on.
func Headline(r *match.Report) string {
	ref, oth := name(r, reference), name(r, other)
	switch r.Verdict {
	case match.Equal:
		return fmt.Sprintf("%s is equal to %s: %s compared", oth, ref, countsText(r.Compared))
	case match.Different:
		text := fmt.Sprintf("%s differs from %s", oth, ref)
		if words := Result(r); words != "" {
			text += ": " + words
		}
		return text
	}
	return fmt.Sprintf("%s could not be compared with %s: %s", oth, ref, Result(r))
}

// Result is what the verdict is founded on: the first difference, or the reason of a failure. It is empty for traces that are
// equal.
func Result(r *match.Report) (words string) {
	switch r.Verdict {
	case match.Equal:
		return ""
	case match.Different:
		if len(r.Differences) > 0 {
			words = Summary(&r.Differences[0])
		}
		if n := Total(r); n > 1 {
			words += fmt.Sprintf(" (the first of %d differences)", n)
		}
		return words
	}
	return printable(cmp.Or(r.Reason, "no reason is known"), noteWidth)
}

// name is that of a trace.
func name(r *match.Report, side int) string {
	return cmp.Or(printable(r.Traces[side].File, nameWidth), [2]string{"the reference", "the other trace"}[side])
}

// columnName is that of a trace, short enough to stand over a column: its end, which tells more than where it is.
func columnName(r *match.Report, side int) string {
	words := []rune(name(r, side))
	if len(words) <= columnNameWidth {
		return string(words)
	}
	return "…" + string(words[len(words)-columnNameWidth+1:])
}

// columnNameWidth is how many characters of a file's name stand over a column.
const columnNameWidth = 24

// Total counts the differences, also those that are not described.
func Total(r *match.Report) (n int64) {
	for _, count := range r.Counts {
		n += count
	}
	return max(n, int64(len(r.Differences)))
}

// place tells where a record is, behind the file and the line.
func place(p *match.Position) string {
	return fmt.Sprintf("instruction %d, byte %d", p.Instruction, p.Offset)
}

// printable makes a text of unknown origin fit to be shown, in width characters at most.
func printable(s string, width int) string {
	return flat(fit([]span{{text: text.Visible(clip(s))}}, width))
}

// clip cuts a text that is far longer than anybody reads.
func clip(s string) string {
	if len(s) > clipBytes {
		return s[:clipBytes] + "…"
	}
	return s
}

// clipBytes is how much of a line is looked at.
const clipBytes = 1 << 14
