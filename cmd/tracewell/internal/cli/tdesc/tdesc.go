// Package tdesc is "tracewell tdesc": target descriptions of files and stubs, checked, laid out, printed and compared.
//
// A description tells GDB which registers a machine has, their order in the g packet, sizes and types. GDB ignores one that
// breaks a rule as a whole, with a warning, and goes on with what it knows of the architecture: what a stub's author then sees
// are wrong registers. The command check finds all reasons at once, and without GDB. All commands read a file, standard input,
// the description in a trace file, or that of a running stub (input.DescriptionOptions); what a document includes is looked for
// at the same place.
//
// The exit status is 1 for findings of check and for a difference of diff, and 2 where a document cannot be read or parsed.
package tdesc

import (
	"errors"
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/text"
	"tracewell/tdesc"
	"tracewell/tdesc/check"
	"tracewell/view/wire"
)

// Command is "tracewell tdesc".
type Command struct {
	Check  tdescCheckCommand  `cmd:"" help:"Report what is wrong with a description, and what GDB does about it."`
	Layout tdescLayoutCommand `cmd:"" help:"Print the offset of each register in the g packet."`
	Print  tdescPrintCommand  `cmd:"" help:"Print a description: as one XML document, a table or JSON."`
	Diff   tdescDiffCommand   `cmd:"" help:"Compare the meaning of two descriptions."`
}

// tdescCheckCommand is "tracewell tdesc check". It reports every breach that it finds, where the other commands stop at the first
// error.
type tdescCheckCommand struct {
	File string `arg:"" help:"${tdescSource}"`
	input.DescriptionOptions
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Examples implements flags.Exampler.
func (*tdescCheckCommand) Examples() string {
	return `  tracewell tdesc check target.xml               # includes are looked for beside it
  tracewell tdesc check localhost:1234           # what a stub serves
  tracewell tdesc check target.xml --json | jq '.findings[] | select(.severity == "rejects")'
`
}

// Run implements kong's command. The exit status is 1 for findings and 2 for a document that cannot be parsed to its end. Rules
// that only GDB's manual has count with --strict=manual only.
func (c *tdescCheckCommand) Run(streams console.Streams) error {
	doc, err := c.Open(c.File, streams)
	if err != nil {
		return err
	}
	defer doc.Close()
	// The document is checked as text: a parsed one has lost the places, and whatever the parser passes over.
	report := check.Document(doc.Text, doc.Options)
	err = console.Write(streams, func(out *console.Output) error {
		if c.JSON {
			return console.WriteIndented(out, wire.DescribeReport(report))
		}
		writeReport(out, doc.Name, report)
		return nil
	})
	switch {
	case err != nil:
		return err
	case report.Verdict == check.Unreadable:
		return console.ErrTold
	case report.Verdict == check.Findings:
		return console.ErrFinding
	}
	return nil
}

// writeReport prints one finding per line, as compilers do, so that editors find the place. Positions are those in the document
// that breaks the rule, which may be an included one. The advice stands below the first breach of each rule: a generated
// description breaks the same rule for every register.
func writeReport(out *console.Output, name string, report *check.Report) {
	advised := make(map[*tdesc.Rule]bool)
	for _, f := range report.Findings {
		fmt.Fprintf(out, "%s:%s: %s: %s [%s]\n", text.Visible(name), text.Visible(f.Pos.String()),
			out.Style.Heading(severityText[f.Rule.Severity]), text.Visible(f.Text), f.Rule.Name)
		if !advised[f.Rule] {
			fmt.Fprintf(out, "    %s\n", out.Style.Faint(f.Rule.Advice))
		}
		advised[f.Rule] = true
	}
	switch report.Verdict {
	case check.WellFormed:
		registers := 0
		for range report.Target.Registers() {
			registers++
		}
		fmt.Fprintf(out, "%s: well-formed: %s in %s\n", text.Visible(name), text.Plural(registers, "register"),
			text.Plural(len(report.Target.Features), "feature"))
	case check.Findings:
		fmt.Fprintf(out, "%s: %s; the worst: %s\n", text.Visible(name), text.Plural(len(report.Findings), "finding"),
			severityText[report.Worst()])
	case check.Unreadable:
		fmt.Fprintf(out, "%s: unreadable\n", text.Visible(name))
	}
}

// severityText is what GDB 13 does about a finding. GDB has no severities of its own: it warns, and goes on without the
// description.
var severityText = map[tdesc.Severity]string{
	tdesc.Odd: "odd", tdesc.Misreads: "GDB misreads it", tdesc.Rejects: "GDB rejects it", tdesc.Crashes: "GDB crashes",
}

// tdescLayoutCommand is "tracewell tdesc layout". The usual mistake of a stub's author is a register block that does not fit the
// description.
type tdescLayoutCommand struct {
	File string `arg:"" help:"${tdescSource}"`
	input.DescriptionOptions
	JSON bool `name:"json" help:"Print a JSON array with an object for each register."`
}

// Examples implements flags.Exampler.
func (*tdescLayoutCommand) Examples() string {
	return `  tracewell tdesc layout target.xml              # offsets and sizes as GDB computes them
  tracewell tdesc layout localhost:1234 --json | jq '.[] | select(.name == "rip").offset'
`
}

// Run implements kong's command. Offsets are bytes in the reply to g; GDB counts only registers with a number, in the order of
// numbers.
func (c *tdescLayoutCommand) Run(streams console.Streams) error {
	target, err := c.Parse(c.File, streams)
	if err != nil {
		return err
	}
	layout, err := target.Layout()
	if err != nil {
		return err
	}
	return console.Write(streams, func(out *console.Output) error {
		if c.JSON {
			return console.WriteIndented(out, wire.DescribeLayout(layout))
		}
		// The total is the number of bytes that a stub has to send for g, twice as many in hexadecimal digits.
		return errors.Join(writeLayout(out, layout), console.WriteLine(out, "%s in %s", text.Plural(layout.Size, "byte"),
			text.Plural(len(layout.Slots), "register")))
	})
}

// tdescPrintCommand is "tracewell tdesc print". What it prints is a document again, so a stub's description can be saved and
// edited, and given to replay --tdesc for a trace file that has none.
type tdescPrintCommand struct {
	File string `arg:"" help:"${tdescSource}"`
	input.DescriptionOptions
	Table bool `xor:"form" help:"Print a table of the registers."`
	JSON  bool `name:"json" xor:"form" help:"Print one JSON object."`
}

// Examples implements flags.Exampler.
func (*tdescPrintCommand) Examples() string {
	return `  tracewell tdesc print target.xml               # one document, includes expanded, in canonical form
  tracewell tdesc print localhost:1234 > saved.xml
  tracewell tdesc print target.xml --table
  tracewell tdesc print target.xml --json | jq '.features[].registers[].name'
`
}

// Run implements kong's command. The document is in a canonical form: includes expanded, attributes in one order, numbers written
// out, so that two of them can be compared line by line, and served by a stub as a single annex.
func (c *tdescPrintCommand) Run(streams console.Streams) error {
	target, err := c.Parse(c.File, streams)
	if err != nil {
		return err
	}
	return console.Write(streams, func(out *console.Output) error {
		switch {
		case c.JSON:
			return console.WriteIndented(out, wire.DescribeDescription(target))
		case c.Table:
			return writeDescription(out, target)
		}
		// The bytes go out as they are, without escapes: the output is for files and programs.
		_, err := out.Write(target.XML())
		return err
	})
}

// tdescDiffCommand is "tracewell tdesc diff". Either side may be a document, a trace file or a running stub.
type tdescDiffCommand struct {
	First  string `arg:"" help:"${tdescSource}"`
	Second string `arg:"" help:"The description to compare it with."`
	input.DescriptionOptions
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Examples implements flags.Exampler.
func (*tdescDiffCommand) Examples() string {
	return `  tracewell tdesc diff old.xml new.xml
  tracewell tdesc diff saved.xml localhost:1234  # has the stub changed?
`
}

// Run implements kong's command. Two documents that mean the same may differ in text: includes, order of attributes, numbers that
// follow from the position. The exit status is 1 when the meaning differs.
func (c *tdescDiffCommand) Run(streams console.Streams) error {
	a, err := c.Parse(c.First, streams)
	if err != nil {
		return err
	}
	b, err := c.Parse(c.Second, streams)
	if err != nil {
		return err
	}
	differences := tdesc.Diff(a, b)
	err = console.Write(streams, func(out *console.Output) error {
		if c.JSON {
			return console.WriteIndented(out, wire.DescribeDifferences(differences))
		}
		for _, d := range differences {
			fmt.Fprintln(out, text.Visible(d.String()))
		}
		return nil
	})
	if err == nil && len(differences) > 0 {
		return console.ErrFinding
	}
	return err
}
