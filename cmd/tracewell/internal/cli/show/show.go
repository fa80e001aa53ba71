// Package show is "tracewell show" and "tracewell info": the frames of a trace file, and what else it holds.
//
// show goes from the options to the output in four steps:
//
//   - input.Reading opens the file, compressed or not and in any format that holds frames, and the program with the symbols.
//   - choiceOptions become a frameChoice: frame numbers, tracepoints and addresses of this file, and a compiled condition.
//   - Command.printer returns the printing.FrameWriter of the form that is wanted: table, whole frames, changes, JSON, statistics,
//     counted stacks.
//   - survey.Choice reads the frames in the order that is wanted, and passes those that meet all conditions to the writer.
//
// Memory does not grow with the output. Beside the index, which has the offset and the tracepoint of every frame, a frame or
// two are in memory at a time. A table holds its first rows back to find the widths of its columns, statistics have bounds of
// their own, and
// --last holds the numbers of the frames, not the frames.
//
// The exit status is 0 also if no frame meets the conditions: that is an answer and no finding. It is 2 if the command line or a
// name in it is wrong, and if a part of the file cannot be read; then the intact part has been printed. A reader that closes the
// pipe early, such as head, or a user who quits the pager, ends the output without an error. Ctrl-C with a pager ends the output
// and leaves the pager running. Without a pager it ends the process, which has nothing to clean up: both commands only read, and a
// compressed file is unpacked into memory or a file without a name.
package show

import (
	"context"
	"errors"
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/figures"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/view"
	"tracewell/view/survey"
	"tracewell/view/wire"
)

// Command is "tracewell show". Which frames are shown (choiceOptions) is independent of how they are shown (manner, --json), except
// that --frame implies --full.
type Command struct {
	File string `arg:"" help:"The trace file; - is standard input."`

	choiceOptions
	manner
	flags.Stacks
	figures.Options

	Registers []string `short:"r" placeholder:"NAME" complete:"registers" help:"Print only these registers (default: a selection in the table, all with --full and --json)."`
	Exec      string   `placeholder:"ELF" help:"The program that was traced, for the names of its functions, variables and lines. Files that record wrote contain its path."`
	JSON      bool     `name:"json" help:"Print one JSON object per line: for each frame, or with --stats for each tracepoint, with --stacks for each stack."`
	console.Paging
	input.Reading
}

// manner is how frames are printed. Without any of these they are the rows of a table. kong rejects two options of one xor group.
// Run rejects --value with others itself, because it may be combined with --stats, and the options of flags.Stacks, which record
// has as well. --hex is for the table: --full dumps memory in
// any case, and the other forms ignore it.
type manner struct {
	Full  bool     `xor:"manner" help:"Print all of each frame, as GDB's tdump does, and the backtrace if the stack was collected."`
	Diff  bool     `xor:"manner" help:"Print how each frame differs from the previous frame of its tracepoint."`
	Hex   bool     `help:"Dump the memory of each frame in hexadecimal."`
	Raw   bool     `help:"Print the members of strings, vectors, maps and other library types, as GDB's print/r does, and not what they contain."`
	Count bool     `xor:"manner" help:"Print only the number of frames."`
	Stats bool     `xor:"manner" help:"Print statistics of the frames of each tracepoint."`
	Value []string `sep:"none" placeholder:"EXPR" help:"Add statistics and a histogram of an expression, written as in --where. Implies --stats."`
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell show run.tf                          # every frame in a table
  tracewell show run.tf --frame 7                # one in full, as GDB's tdump shows it
  tracewell show run.tf --frames 100: -r rdi,rax # from frame 100 on, two registers
  tracewell show run.tf --exec ./server          # with names for addresses
  tracewell show run.tf --where 'n > 3 && $rip == 0x401131' --last 10
  tracewell show run.tf --tracepoint 2 --diff    # what changed from hit to hit
  tracewell show run.tf --exec ./server --range push --count
  tracewell show run.tf --value n                # figures of a value, with a histogram
  tracewell show run.tf --stacks --top 5         # how often each stack of calls was there
  tracewell show run.tf --folded | flamegraph.pl > run.svg
  tracewell show run.tf --count-by 'q->kind' --quantiles 'q->length' # how often, and how much, by key
  tracewell show run.tf --json | jq .registers.rip
`
}

// Run implements kong's command. A file that is damaged is shown as far as it can be read; the damage is the error, so the exit
// status is 2. The choice is made before anything is printed, as an unknown tracepoint or symbol shall leave standard output
// empty.
func (c *Command) Run(streams console.Streams) error {
	if len(c.Value) > 0 && (c.Full || c.Diff || c.Count) {
		return errors.New("--value prints figures, and can't be used together with --full, --diff and --count")
	}
	// kong's xor groups cannot name the options of another struct.
	if c.Options.Given() && (c.Full || c.Diff || c.Count || c.Stats || len(c.Value) > 0 || c.Hex || c.Counted()) {
		return errors.New("--count-by and other figures take the place of the frames: they can't be used together with " +
			"--full, --diff, --count, --stats, --value, --hex and --stacks")
	}
	if c.Counted() && (c.Full || c.Diff || c.Count || c.Stats || len(c.Value) > 0) {
		return errors.New("--stacks can't be used together with --full, --diff, --count, --stats and --value")
	}
	if err := c.Stacks.Check(c.JSON, c.Options.Given()); err != nil {
		return err
	}
	t, err := c.OpenTrace(c.File, c.Exec, streams)
	if err != nil {
		return err
	}
	defer t.Close()
	// Before anything is printed: shapes are found once for each type.
	t.View.Shapes.Raw = c.Raw
	// All forms of output go by this selection, also what --diff compares.
	if len(c.Registers) > 0 {
		if err := t.View.Select(c.Registers); err != nil {
			return err
		}
	}
	choice, err := c.choice(t)
	if err != nil {
		return errors.Join(err, t.Err)
	}
	bar := c.bar(streams, t, choice)
	defer bar.Done() // also after an error; Done may be called again
	// The bar is on standard error and is removed before the first error or the total is printed below it.
	choice.Progress = bar.Set
	var damage printing.Damages
	err = c.Write(streams, func(ctx context.Context, out *console.Output) error {
		if c.Count {
			n, err := choice.count(ctx, t.View)
			bar.Done()
			if err == nil {
				fmt.Fprintln(out, n)
			}
			return err
		}
		p, err := c.printer(out, t)
		if err != nil {
			return err
		}
		// Rows wait until the width of each column is known. On a terminal they are printed after a while all the same.
		if table, ok := p.(*printing.FrameTable); ok && out.Lines > 0 {
			choice.Progress = table.KeepUp(out)
		}
		// A damaged frame is shown as far as it goes and does not end the output; the exit status tells of it.
		err = choice.each(ctx, t.View, func(frame view.Frame) error {
			damage.Note(frame)
			return p.Add(frame)
		})
		bar.Done()
		if err != nil {
			return err
		}
		return p.Flush()
	})
	// This warning, and the errors that are returned, appear on the terminal when the pager has ended.
	choice.warn(streams.Err, t.Name)
	return errors.Join(err, damage.Err(t.Name), t.Err)
}

// printer returns the writer of frames that the options choose. xor tags of manner exclude most combinations; of the others --value
// comes first, because it implies --stats, and --full is meant by --frame, as a table of one row would be a poor answer.
func (c *Command) printer(out *console.Output, t *input.TraceFile) (printing.FrameWriter, error) {
	switch {
	// Figures are by key, whatever the tracepoint; --stats are by tracepoint. Figures with --json are objects, too, so this comes in
	// front of what --json means for frames.
	case c.Options.Given():
		return figures.NewFileWriter(out, t.View, &c.Options, int(c.Top), c.JSON)
	case c.Counted(): // --folded and --by imply --stacks
		counter := printing.NewStackCounter(out, c.Stacks, c.JSON)
		counter.Adopt(t.View)
		return counter, nil
	case c.Stats || len(c.Value) > 0:
		return newStatistics(out, t.View, c.Value, c.JSON)
	case c.JSON && c.Diff:
		return &objectPrinter{wire.NewJSONFrames(out, t.View), survey.NewComparison(t.View)}, nil
	case c.JSON:
		return wire.NewJSONFrames(out, t.View), nil
	case c.Diff:
		return newChangePrinter(out, t.View), nil
	case c.Full || c.Frame != nil:
		return &framePrinter{out: out, view: t.View, reader: t.View.NewReader()}, nil
	}
	table, err := printing.NewFrameTable(out, t.View, c.Registers)
	if err == nil {
		table.Hex = c.Hex
	}
	return table, err
}

// bar returns a progress bar for reading the chosen frames. It is nil, which shows nothing, if frames are printed to a terminal
// or a pipe: a pipe may end in a pager, which draws on the same terminal.
func (c *Command) bar(streams console.Streams, t *input.TraceFile, choice *frameChoice) *progress.Bar {
	stat, err := streams.Out.Stat()
	figures := c.Count || c.Stats || c.Counted() || len(c.Value) > 0 || c.Options.Given()
	if !figures && (err != nil || !stat.Mode().IsRegular()) {
		return nil
	}
	return progress.Start(streams.Err, progress.Work{
		Name: "going over " + text.Visible(t.Name), Total: int64(choice.End - choice.First), Unit: progress.Frames,
	})
}

// objectPrinter prints frames as JSON objects with the members "since" and "changed" of wire.ChangedFrame, one object per line as
// in all other JSON output of frames, so that a program can read the first before the last has been found.
type objectPrinter struct {
	*wire.JSONFrames
	comparison *survey.Comparison
}

// Add implements printing.FrameWriter. The object of the frame is written first and opened again for the members of the comparison:
// frames are many, so none is built as a value and encoded.
func (p *objectPrinter) Add(frame view.Frame) error {
	since, changes, ok, err := p.comparison.Compare(frame)
	if err != nil {
		return err
	}
	p.Line = p.Append(p.Line[:0], frame)
	p.Line = p.Line[:len(p.Line)-1] // the brace that ends the object
	if p.Line, err = wire.AppendChanges(p.Line, p.View, since, changes, ok); err != nil {
		return err
	}
	p.Line = append(p.Line, '}', '\n')
	_, err = p.Out.Write(p.Line)
	return err
}

// framePrinter prints all of each frame, with an empty line between two.
type framePrinter struct {
	out    *console.Output
	view   *view.View
	reader *view.Reader
	some   bool // a frame has been printed
}

// Add implements printing.FrameWriter.
func (p *framePrinter) Add(frame view.Frame) error {
	if p.some {
		fmt.Fprintln(p.out)
	}
	p.some = true
	return writeFrame(p.out, p.view, p.reader, frame)
}

// Flush implements printing.FrameWriter. Each frame has been written whole.
func (p *framePrinter) Flush() error { return nil }
