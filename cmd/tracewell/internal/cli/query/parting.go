package query

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/jsontext"
	"tracewell/internal/progress"
	"tracewell/internal/regularfile"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/parting"
	"tracewell/itrace/program"
	"tracewell/symbol/debuginfo"
	"tracewell/view/wire"
)

// partingCommand is "tracewell query parting".
//
// match compares instructions of the same code. Of two versions nearly every address differs, so this question compares what a
// programmer sees: calls and lines.
//
// It does not embed asking, which is for one trace with an index: both traces are read once from their beginning, and a position to
// begin at would be another in each of them.
type partingCommand struct {
	Reference string          `arg:"" help:"The execution trace of the reference version, compressed or not; - is standard input."`
	Other     string          `arg:"" help:"The execution trace of the other version."`
	Exec      []string        `sep:"none" required:"" placeholder:"ELF" help:"The program of the reference; given twice, that of the reference and that of the other version."`
	Rename    []string        `sep:"none" placeholder:"OLD=NEW" help:"A function OLD of the reference is NEW in the other version. May be repeated."`
	By        string          `enum:"line,function" default:"line" help:"Compare the calls and the lines that were executed (line), or only the calls (function)."`
	CPU       *int32          `name:"cpu" placeholder:"N" help:"Compare processor N; otherwise the one that executes the first instruction."`
	Dialect   []flags.Dialect `sep:"none" placeholder:"NAME" complete:"dialects" help:"The format of the traces; given twice, that of the reference, and that of the other; without it the format is detected: ${dialects}."`
	Limit     flags.Count     `short:"n" name:"limit" placeholder:"N" default:"0" help:"Print the first N partings (0: all)."`
	JSON      bool            `name:"json" help:"Print JSON."`
}

// Examples implements flags.Exampler.
func (*partingCommand) Examples() string {
	return `  tracewell query parting old.log new.log --exec old.elf --exec new.elf
  tracewell query parting old.log new.log --exec old.elf --exec new.elf --rename push=enqueue
  tracewell query parting debug.log fast.log --exec debug.elf --exec fast.elf --by function
`
}

// Run implements kong's command. Like match it ends with status 1 if the two are not the same.
func (c *partingCommand) Run(streams console.Streams) error {
	// One program is enough for two runs of it that parted for another reason, such as a device.
	if len(c.Exec) > 2 || len(c.Dialect) > 2 {
		return errors.New("--exec and --dialect can be given twice: for the reference, and for the other version")
	}
	if c.Reference == "-" && c.Other == "-" {
		return errors.New("only one of the traces can be standard input")
	}
	// A name may contain an equals sign in C++ only behind "operator", which nobody renames.
	o := parting.Options{CPU: c.CPU, Renamed: make(map[string]string)}
	for _, rename := range c.Rename {
		before, now, ok := strings.Cut(rename, "=")
		if !ok || before == "" || now == "" {
			return fmt.Errorf("--rename: %s: OLD=NEW is required", text.Quote(rename))
		}
		o.Renamed[before] = now
	}
	for side := range o.Sides {
		s, closer, err := c.side(c.Exec[min(side, len(c.Exec)-1)])
		if err != nil {
			return err
		}
		defer closer.Close()
		o.Sides[side] = s
	}
	// Lines of one version alone would be partings, each of them.
	for side := range o.Sides {
		// A build for a release has often no debug information; where both have none one message is enough.
		if f := o.Sides[side].Program.File; o.Sides[side].Line != nil && !f.HasDWARF() {
			fmt.Fprintf(streams.Err, "tracewell: %s has no lines, so only calls are compared: %s\n", text.Visible(f.Path()), f.WhyNoDWARF())
			o.Sides[0].Line, o.Sides[1].Line = nil, nil
		}
	}
	// The traces may be of different producers: each is read in its own dialect.
	var sources [2]parting.Source
	names := [2]string{c.Reference, c.Other}
	for side, name := range names {
		reader, file, err := c.open(name, side, streams)
		if err != nil {
			return err
		}
		defer file.Close()
		sources[side] = reader
	}
	// All is known only at the end: a parting that is met again is counted with the first.
	r, err := parting.Compare(o, sources)
	if err != nil {
		return err
	}
	if err := c.complain(r, names, streams.Err); err != nil {
		return err
	}
	err = console.Write(streams, func(out *console.Output) error {
		d := wire.DescribeVersions(r, o.Sides)
		if d.Partings = first(d.Partings, c.Limit); c.JSON {
			return jsontext.Write(out, d, "")
		}
		return c.print(out, d)
	})
	// The status is that of match, so that scripts and git bisect run can use either.
	if err == nil && r.Parts() {
		return console.ErrFinding
	}
	return err
}

// side opens the program of a version. It is needed in any case: without symbols the two versions have nothing in common, and
// without its code many producers do not tell what is a call.
func (c *partingCommand) side(path string) (s parting.Side, closer io.Closer, err error) {
	file, err := debuginfo.Open(path, debuginfo.Options{})
	if err != nil {
		return s, nil, err
	}
	if s.Program = program.New(file, 0); s.Program.Set == nil {
		file.Close()
		return s, nil, fmt.Errorf("%s: calls of this architecture cannot be told yet", text.Visible(path))
	}
	if c.By == "line" {
		s.Line, s.Source = s.Program.Line, sources()
	}
	return s, file, nil
}

// Sources are wanted for their texts only, by which lines of both versions are brought together; a user without them gets the same
// answer in most cases, so a file that cannot be read is no error.

// largestSource is how many bytes of a file of the source are read: generated ones are large.
const largestSource = 16 << 20

// sources reads files of the source once each. One that is not there, as on another machine, is nil.
func sources() func(path string) []string {
	read := make(map[string][]string)
	return func(path string) []string {
		lines, known := read[path]
		if !known {
			if content, err := regularfile.Read(path, largestSource); err == nil {
				lines = strings.Split(string(content), "\n")
			}
			read[path] = lines
		}
		return lines
	}
}

// open opens a trace, which may be larger than memory: nothing of it is kept but what the comparison looks ahead. The reader of the
// reference shows how far it has come.
func (c *partingCommand) open(name string, side int, streams console.Streams) (parting.Source, io.Closer, error) {
	file, err := input.OpenPacked(name, streams)
	if err != nil {
		return nil, nil, err
	}
	// Of a damaged file what could be unpacked is compared, as by other questions.
	if file.Damage != nil {
		fmt.Fprintf(streams.Err, "tracewell: %v\n", file.Damage)
	}
	// The last of --dialect is that of all traces behind it, as for match.
	var o input.ExecutionOptions
	if n := len(c.Dialect); n > 0 {
		o.Dialect = c.Dialect[min(side, n-1)]
	}
	d, err := o.DialectOf(file)
	if err == nil && d == nil {
		err = fmt.Errorf("%s is not an execution trace", text.Visible(file.Name))
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	reader := itrace.NewReader(io.NewSectionReader(file, 0, file.Size()), d)
	if side > 0 { // one bar is enough: both are read at the same pace
		return reader, file, nil
	}
	bar := progress.Start(streams.Err, progress.Work{Name: "comparing " + text.Visible(file.Name), Total: file.Size()})
	return &shownReader{reader, bar}, file, nil
}

// shownReader is a reader that shows how far it has come. The bar ends with the trace, before anything is printed: the comparison
// reads both traces to their ends.
type shownReader struct {
	*itrace.Reader
	bar *progress.Bar
}

// Read implements parting.Source.
func (r *shownReader) Read(records []itrace.Record) (int, error) {
	n, err := r.Reader.Read(records)
	_, done := r.Position()
	if r.bar.Set(done); err != nil {
		r.bar.Done()
	}
	return n, err
}

// complain reports what makes the answer worth less, on standard error and before the answer. A trace of another program than
// --exec would part everywhere, or nowhere.
func (c *partingCommand) complain(r *parting.Result, names [2]string, messages io.Writer) error {
	for side, t := range r.Traces {
		name := text.Visible(names[side])
		if t.Instructions == 0 {
			return fmt.Errorf("%s has no instructions", name)
		}
		// A program that is loaded elsewhere than it was linked for has no symbol at any address that is executed.
		known := false
		for i := range t.Walker.Table.Sites {
			s := &t.Walker.Table.Sites[i]
			known = known || s.Count > 0 && t.Walker.Table.Program.At(s.PC) >= 0
		}
		if !known {
			return fmt.Errorf("%s executes no function of %s on processor %d; is it the program, where it was linked for?", name,
				text.Visible(c.Exec[min(side, len(c.Exec)-1)]), t.CPU)
		}
		if t.Others && c.CPU == nil {
			fmt.Fprintf(messages, "tracewell: %s has several processors, of which %d is compared; --cpu takes another\n", name, t.CPU)
		}
		// Gaps make calls that are none, which part wherever they are.
		if n := t.Walker.Missed + t.Walker.Unmatched + t.Walker.Untold; n > 0 {
			fmt.Fprintf(messages, "tracewell: %s: %d times it cannot be told what led from one instruction to the next\n", name, n)
		}
	}
	return nil
}

// print prints the first parting with its calls, and a table of all. The first is what people look for, as all behind it may be its
// consequence; the table tells whether it is.
func (c *partingCommand) print(out *console.Output, v wire.VersionComparison) error {
	if len(v.Partings) == 0 {
		fmt.Fprintf(out, "the runs do not part: %d and %d instructions\n", v.Reference.Instructions, v.Other.Instructions)
	} else if err := c.partings(out, v); err != nil {
		return err
	}
	for _, side := range [2]struct {
		name string
		only []wire.VersionOnly
	}{{c.Reference, v.Reference.Only}, {c.Other, v.Other.Only}} {
		// A function that one version calls in place of another is often the other one renamed: --rename then tells so.
		// Those that were not executed are no part of what the runs did.
		var names []string
		for _, f := range side.only { // JSON has all of them
			if f.Calls > 0 {
				names = append(names, fmt.Sprintf("%s (%s)", f.Function, text.Plural(f.Calls, "call")))
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(out, "functions only in %s: %s\n", text.Visible(side.name), text.Visible(strings.Join(names, ", ")))
		}
	}
	return nil
}

// partings prints where the runs part. The numbers of instructions in the heading are positions for "query at" and "query
// registers", which show what the values were there.
func (c *partingCommand) partings(out *console.Output, v wire.VersionComparison) error {
	p := &v.Partings[0]
	fmt.Fprintln(out, out.Style.Heading(text.Visible(fmt.Sprintf("the runs part in %s, in front of instruction %d of %s and %d of %s",
		cmp.Or(p.Function, "no function"), p.Reference.Instruction, c.Reference, p.Other.Instruction, c.Other))))
	row := func(t *text.Table, cells ...string) error {
		for i, cell := range cells {
			cells[i] = text.Visible(cell)
		}
		return t.Row(console.CellsOf(cells))
	}
	if err := c.stack(out, p, row); err != nil {
		return err
	}
	table := text.NewTable(out, out.Width, out.Style, append(right("count"), text.Column{Title: "function"},
		text.Column{Title: "reference"}, text.Column{Title: "other"})...)
	// Both columns say what was done instead of the other: a hyphen says that it was more, and nothing was left out.
	for _, p := range v.Partings {
		other := steps(&p.Other)
		if p.Rest {
			other += ", and nothing alike up to the end of the function"
		}
		if err := row(table, number(p.Count), p.Function, steps(&p.Reference), other); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	// Two programs that have little in common part in ever new ways.
	if v.NotListed > 0 {
		fmt.Fprintf(out, "%s more, which are too different to be listed\n", text.Plural(v.NotListed, "parting"))
	}
	return nil
}

// stack prints the calls that are active at a parting. Where they come from is another line in each version.
func (c *partingCommand) stack(out *console.Output, p *wire.VersionParting, row func(*text.Table, ...string) error) error {
	if len(p.Stack) == 0 {
		return nil
	}
	table := text.NewTable(out, out.Width, out.Style, text.Column{Title: "active function"}, text.Column{Title: "reference at"},
		text.Column{Title: "other at"})
	for i, call := range p.Stack {
		// Each function is shown with the line where it calls the next one, the last with the line where it parts.
		here := [2]*wire.CodePlace{&p.Reference.CodePlace, &p.Other.CodePlace}
		if i+1 < len(p.Stack) {
			here = [2]*wire.CodePlace{p.Stack[i+1].Reference, p.Stack[i+1].Other}
		}
		if err := row(table, call.Function, lineOf(here[0]), lineOf(here[1])); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}

// lineOf is a place as its line, else its address. The folders of a file would leave no room for anything else in a table, and are
// other ones for each version.
func lineOf(p *wire.CodePlace) string {
	switch {
	case p == nil:
		return ""
	case p.File == "":
		return p.Address
	}
	return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line)
}

// shortest is how many steps a row has; JSON has more.
const shortest = 6

// steps are what one run did, as a list of lines and calls: lines by their numbers, since the row already has the function.
// The file is told with the first of its lines alone. Counts of instructions are those of the first time.
func steps(s *wire.VersionStretch) string {
	var words []string
	file := ""
	for _, e := range s.Steps[:min(len(s.Steps), shortest)] {
		// A function without lines has none to print, but its calls.
		at := fmt.Sprint(e.Line)
		if name := filepath.Base(e.File); e.Line > 0 && name != file {
			at, file = name+":"+at, name
		}
		switch e.Kind {
		case "line":
			words = append(words, at)
		case "loop":
			if e.Last != e.Line {
				at += fmt.Sprintf("-%d", e.Last)
			}
			words = append(words, fmt.Sprintf("%s (%d rounds)", at, e.Rounds))
		case "call":
			words = append(words, fmt.Sprintf("calls %s (%s)", e.Function, text.Plural(e.Instructions, "instruction")))
			file = "" // the name of a function stands between, so the file is repeated
		case "return":
			words = append(words, "returns")
		case "end":
			words = append(words, "the trace ends")
		}
	}
	// What is cut off says how much it is, as a stretch may be most of a function.
	if more := s.StepsNotShown + int64(max(len(s.Steps)-shortest, 0)); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return cmp.Or(strings.Join(words, ", "), "-")
}
