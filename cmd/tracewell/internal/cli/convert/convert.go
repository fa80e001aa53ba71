// Package convert is "tracewell convert": a table of formats, and between reading and writing nothing but the choice of frames.
//
// There are two conversions, which have only the command line in common. Trace files have frames that can be picked and sorted:
// each operand becomes a source, gather makes one tfile.Content of all sources, and the destination writes that. Execution traces
// are streams of lines, of which nothing is kept, so that a simulator can be piped through: an execution copies records. The
// content of the first bytes decides which of the two it is, unless --from does.
//
// Formats of other tools (view/export) are written from frames as JSON and CSV are: the table has a function that begins a writer
// of frames. They have options of their own in Command, which are rejected with any other format.
//
// A file is replaced only when the new one is whole and on the disk (internal/wholefile). Ctrl-C, SIGTERM and SIGHUP remove what is
// half written and leave an existing file as it was. Into a pipe or a device the bytes go as they come. A destination that is also
// read is rejected, also under another name: os.SameFile compares the two.
//
// The exit status is 0 if all of the input has been converted. It is 2 after an error, and also if a part of the input could not be
// read, although what could be read has then been written: a script must not take a part for the whole. Lines of an execution
// trace that are no records are such a part, unless --max-bad allows as many.
package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/itrace/dialects"
	"tracewell/symbol"
	"tracewell/tfile"
	"tracewell/tfile/edit"
	"tracewell/trace"
	"tracewell/view"
)

// Command is "tracewell convert".
type Command struct {
	Files      []string          `arg:"" name:"file" help:"The files to read, which are merged if there are several, and last the file to write; - is standard input or output."`
	From       string            `placeholder:"FORMAT" complete:"formats" help:"The format of what is read: ${readFormats}. Without it the format is detected."`
	To         string            `placeholder:"FORMAT" complete:"formats" help:"The format to write: ${writeFormats}, followed by .gz or .zst to compress. Without it the suffix of the name determines the format; without a suffix it is tf, or matcher for an execution trace."`
	Frames     *flags.FrameRange `placeholder:"A:B" help:"Only frames A to B, both included; either may be omitted."`
	Tracepoint []trace.Number    `short:"t" placeholder:"N" complete:"tracepoints" help:"Only frames of tracepoint N; may be given several times."`
	Where      string            `placeholder:"COND" help:"Only frames for which a C condition over collected values and registers is true."`
	Part       int               `placeholder:"N" help:"If a file contains several trace files in a row, read only the Nth, counted from 1; without it they are merged."`
	ByTime     bool              `help:"Sort the frames by $$trace_timestamp, which every frame must contain."`
	Exec       string            `placeholder:"ELF" help:"The program that was traced, for names in --where, JSON and CSV. Files that record wrote contain its path."`
	MaxBad     *flags.Count      `placeholder:"N" help:"Accept N lines in an execution trace that are not records (0). They are kept in any case."`
	Registers  []string          `short:"r" placeholder:"NAME" complete:"registers" help:"Write only these registers into JSON, CSV, Parquet and Perfetto (default: all that were collected)."`
	CTF        string            `enum:"gdb,typed" default:"gdb" placeholder:"LAYOUT" help:"The layout of a CTF trace: gdb, as GDB writes and reads it, or typed: an event for each frame, with a clock and typed fields."`
	Flow       string            `placeholder:"EXPR" help:"Perfetto: join frames in which this expression has the same value by arrows."`
	Value      string            `placeholder:"EXPR" help:"pprof and folded: add up the values of this expression, beside or instead of the hits."`
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell convert run.tf run.tf.zst                 # compressed; every command reads it so
  tracewell convert run.tf run.txt                    # as text, to read and compare; and back
  tracewell convert run.tf run.jsonl --exec ./server  # a JSON object a line for each frame
  tracewell convert a.tf b.tf both.tf                 # two files of one experiment in one
  tracewell convert run.tf cut.tf --frames 100:200 --tracepoint 3
  ssh host cat run.tf.gz | tracewell convert - run/   # a folder: the Common Trace Format
  tracewell convert iss.log iss.jsonl.gz              # an execution trace as JSON lines; and back
  tracewell convert qemu.log qemu.log.zst --to qemu   # the same bytes, compressed so that any place of them can be read
  iss prog.elf | tracewell convert - - --to json | jq -c 'select(.kind == "memory")'
`
}

// conversion is what is to be written, with the state of writing it. It is made by convertFrames and used by one goroutine.
type conversion struct {
	command *Command // for the options of its format
	streams console.Streams
	name    string // of what is written, for messages
	from    string // the name of what is read, if that is one file, else name
	content tfile.Content
	whole   tfile.Content     // that content was cut out of, nil if it was not
	number  func(i int) int   // the number that frame i of content had before it was cut out
	bytes   *input.PackedFile // of the trace file that is kept as it is, nil if one is written anew
	program *symbol.Program
	looked  bool     // for a program that nobody has named
	names   []string // of the registers that are wanted, none for all
	warned  bool     // of what names cannot be used
	bar     *progress.Bar
	damage  printing.Damages // frames in it that cannot be read
}

// Run implements kong's command. The formats, and that no input would be overwritten, are checked before anything is opened:
// standard input can be read once only, and so would be lost to a misspelt --to. Operands are then opened in order; whether they
// are trace files or execution traces is known when all are open.
func (c *Command) Run(streams console.Streams) error {
	inputs, out := c.Files[:len(c.Files)-1], c.Files[len(c.Files)-1]
	if len(inputs) == 0 {
		return fmt.Errorf("convert needs a file to read and one to write, and %s is the only one (see tracewell convert --help)", out)
	}
	if err := console.KeepApart(out, append([]string{c.Exec}, inputs...), streams); err != nil {
		return err
	}
	if err := c.checkFormats(out); err != nil {
		return err
	}
	var operands []*operand
	for _, path := range inputs {
		o, err := openOperand(path, c.From, streams)
		if err != nil {
			return err
		}
		defer o.close()
		operands = append(operands, o)
	}
	if slices.ContainsFunc(operands, func(o *operand) bool { return o.dialect != nil }) {
		return c.convertExecution(operands, out, streams)
	}
	return c.convertFrames(operands, out, streams)
}

// checkFormats refuses, before anything is read, what cannot be a format in any case. Names of all formats are accepted here;
// whether the format fits the input is checked when that is known.
func (c *Command) checkFormats(out string) error {
	all := withOthers(nil)
	readable := slices.DeleteFunc(slices.Clone(all), func(f *format) bool { return !f.readable() })
	_, to := packed.BySuffix(c.To)
	from := c.From
	if name, _, set := strings.Cut(from, ":"); set && formatNamed(name, ExecutionFormats) != nil {
		from = name // with options of the dialect behind it
	}
	switch {
	case c.To != "" && formatNamed(strings.TrimPrefix(to, "."), all) == nil:
		return fmt.Errorf("--to: %w", unknownFormat(c.To, WriteFormats()))
	case c.From != "" && formatNamed(from, all) == nil:
		return fmt.Errorf("--from: %w", unknownFormat(c.From, ReadFormats()))
	case c.From != "" && formatNamed(from, readable) == nil:
		return fmt.Errorf("--from: %s is written only; what can be read is %s", c.From, ReadFormats())
	case c.To == "" && out == "-":
		return fmt.Errorf("standard output has no suffix: say by --to what to write (%s)", WriteFormats())
	}
	return nil
}

// checkOptions rejects options that belong to another format than the one that is written. Whoever gives one expects it to have an
// effect, and would otherwise look for it in the output.
func (c *Command) checkOptions(format string) error {
	for _, option := range []struct {
		given   bool
		name    string
		formats []string
	}{
		{c.Flow != "", "--flow", []string{"perfetto"}},
		{c.Value != "", "--value", []string{"pprof", "folded"}},
		{c.CTF == typedLayout, "--ctf", []string{"ctf"}},
	} {
		if option.given && !slices.Contains(option.formats, format) {
			return fmt.Errorf("%s is for %s, and %s is written", option.name, strings.Join(option.formats, " and "), format)
		}
	}
	return nil
}

// convertFrames writes trace files as one in another format. The destination is chosen and checked first, so that an error about
// it comes before the inputs are read. Damage of an input does not end the conversion: what is intact is written, and the damage
// is returned with all other errors at the end.
func (c *Command) convertFrames(operands []*operand, out string, streams console.Streams) error {
	target, err := chooseDestination(out, c.To, Formats, nil, streams)
	if i := slices.IndexFunc(operands, (*operand).unclear); err != nil && i >= 0 && errors.Is(err, errForeign) {
		return fmt.Errorf("%s %s", operands[i].name, dialects.All.Undetected(operands[i].head))
	}
	if err != nil {
		return err
	}
	switch {
	case c.MaxBad != nil:
		return fmt.Errorf("--max-bad is for execution traces, and %s is none", operands[0].name)
	case len(c.Registers) > 0 && !target.format.chooses && c.CTF != typedLayout:
		return fmt.Errorf("--registers is for JSON, CSV, Parquet and Perfetto, and %s has all of them", target.format.Name)
	}
	if err := c.checkOptions(target.format.Name); err != nil {
		return err
	}
	conv := &conversion{
		command: c, streams: streams, name: target.title(), names: c.Registers, number: func(i int) int { return i },
	}
	if c.Exec != "" {
		if conv.program, err = symbol.Open(c.Exec, symbol.Options{}); err != nil {
			return err
		}
	}
	sources, err := openSources(operands, c.From, streams)
	if err != nil {
		if o := operands[0]; len(operands) == 1 && o.unclear() {
			return fmt.Errorf("%w; nor is %s an execution trace: it %s", err, o.name, dialects.All.Undetected(o.head))
		}
		return err
	}
	defer closeSources(sources)
	if err := c.gather(conv, sources, target.format); err != nil {
		return err
	}
	if conv.from = conv.name; len(sources) == 1 {
		conv.from = sources[0].name
	}
	// Writing comes before the errors of reading are returned: what is intact is to be saved.
	var problems []error
	for _, s := range sources {
		problems = append(problems, s.err)
	}
	err = target.write(conv)
	return errors.Join(append(problems, conv.damage.Err(conv.from), err)...)
}

// gather puts together what is to be written from what was read. One file that is neither cut nor sorted stays as it is where
// the format can keep it, byte for byte: lines and blocks that Tracewell does not know survive, and a checksum stays the same.
// Merging comes before cutting, so that --frames counts the frames of the merged file, as the result of a merge would be cut.
func (c *Command) gather(conv *conversion, sources []*source, f *format) error {
	parts, err := c.parts(sources)
	if err != nil {
		return err
	}
	conv.content = parts[0].Content
	if len(sources) == 1 && !c.ByTime && c.Part == 0 && !c.cuts() && f.keeps != nil && f.keeps(sources[0]) {
		conv.bytes = sources[0].bytes
		return nil
	}
	if len(parts) > 1 || c.ByTime {
		if err := c.merge(conv, parts); err != nil {
			return err
		}
	}
	return c.cut(conv)
}

// parts are the trace files that are wanted of those that the sources hold. With several sources --part applies to each of them.
func (c *Command) parts(sources []*source) ([]edit.Part, error) {
	var parts []edit.Part
	for _, s := range sources {
		switch {
		case c.Part == 0:
			parts = append(parts, s.parts...)
		case c.Part < 0 || c.Part > len(s.parts):
			return nil, fmt.Errorf("--part %d: %s holds %s", c.Part, s.name, text.Plural(len(s.parts), "trace file"))
		default:
			parts = append(parts, s.parts[c.Part-1])
		}
	}
	return parts, nil
}

// cuts reports whether some frames only are wanted.
func (c *Command) cuts() bool {
	return c.Frames != nil || len(c.Tracepoint) > 0 || c.Where != ""
}

// merge joins the parts into one content, in the order of the command line or by time. What had to be renumbered is reported, since
// numbers in notes and scripts no longer apply.
func (c *Command) merge(conv *conversion, parts []edit.Part) error {
	order, frames := edit.ByFile, 0
	if c.ByTime {
		order = edit.ByTime
	}
	for _, p := range parts {
		frames += p.Content.NumFrames()
	}
	bar := progress.Start(conv.streams.Err, progress.Work{Name: "sorting", Total: int64(frames), Unit: progress.Frames})
	content, changes, err := edit.Merge(parts, order, bar.Set)
	bar.Done()
	if err != nil {
		return err
	}
	for _, change := range changes {
		fmt.Fprintf(conv.streams.Err, "tracewell: %s\n", text.Visible(change.String()))
	}
	conv.content = content
	return nil
}

// cut leaves the frames that the options choose. Only their numbers are kept in memory; frames are read again when they are
// written.
func (c *Command) cut(conv *conversion) error {
	if !c.cuts() {
		return nil
	}
	choice := edit.Choice{Tracepoints: c.Tracepoint}
	count := conv.content.NumFrames()
	if c.Frames != nil {
		var err error
		if choice.First, choice.End, err = c.Frames.In(count); err != nil {
			return err
		}
	}
	warnLacking := func() {}
	if c.Where != "" {
		var err error
		if choice.Keep, warnLacking, err = c.where(conv); err != nil {
			return err
		}
	}
	bar := progress.Start(conv.streams.Err, progress.Work{Name: "searching", Total: int64(count), Unit: progress.Frames})
	choice.Progress = bar.Set
	selected, err := edit.Select(conv.content, choice)
	bar.Done()
	warnLacking()
	if err != nil {
		return err
	}
	conv.whole, conv.content, conv.number = conv.content, selected, selected.Original
	return nil
}

// where makes of the condition the function that keeps frames, and one that tells afterwards where it could not be computed.
func (c *Command) where(conv *conversion) (keep func(int, tfile.Frame) (bool, error), tell func(), err error) {
	v, err := conv.view()
	if err != nil {
		return nil, nil, err
	}
	condition, err := v.Condition(c.Where)
	if err != nil {
		return nil, nil, fmt.Errorf("--where: %w", err)
	}
	// One reader serves all frames, since they are gone over one after the other.
	reader := v.NewReader()
	keep = func(i int, f tfile.Frame) (bool, error) {
		reader.Set(v.Paired(v.Of(i, f)))
		return condition.Match(reader), nil
	}
	tell = func() {
		for _, lack := range condition.Lacking() {
			fmt.Fprintf(conv.streams.Err, "tracewell: --where: %s\n", text.Visible(lack.String()))
		}
	}
	return keep, tell, nil
}

// view gives what is to be written its names: those of the program that the command line names, or else of the one that the file
// says was traced. What names cannot be used is told once.
func (c *conversion) view() (*view.View, error) {
	var warnings []string
	if c.program == nil && !c.looked {
		c.looked = true
		var err error
		if c.program, err = input.RecordedProgram(c.content.Header()); err != nil {
			warnings = append(warnings, err.Error())
		}
	}
	v, more := view.New(c.content, c.program)
	if c.whole != nil {
		whole, _ := view.New(c.whole, c.program)
		v.ChosenFrom(whole, c.number)
	}
	warnings = append(warnings, more...)
	if !c.warned {
		console.Warn(c.streams.Err, c.name, warnings)
		c.warned = true
	}
	if len(c.names) == 0 {
		return v, nil
	}
	return v, v.Select(c.names)
}
