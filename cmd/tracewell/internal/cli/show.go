package cli

import (
	"context"
	"errors"
	"fmt"

	"tracewell/internal/progress"
	"tracewell/internal/text"
	frameview "tracewell/view"
	"tracewell/view/survey"
)

// showCommand is "tracewell show".
type showCommand struct {
	File string `arg:"" help:"The trace file; - is standard input."`

	choiceOptions
	manner

	Registers []string `short:"r" placeholder:"NAME" complete:"registers" help:"Print these registers only. Without it the table has a choice of them, --full and --json have all."`
	Exec      string   `placeholder:"ELF" help:"The program that was traced, for the names of its functions, variables and lines. Files of record know it."`
	JSON      bool     `name:"json" help:"Print one JSON object a line: for each frame, or with --stats each tracepoint."`
	pagerOption
	readingOptions
}

// manner is how frames are printed. Without any of these they are the rows of a table.
type manner struct {
	Full  bool     `xor:"manner" help:"Print all of each frame, as GDB's tdump does."`
	Diff  bool     `xor:"manner" help:"Print what has changed in each since the frame of the same tracepoint before it."`
	Hex   bool     `help:"Dump the memory of each frame in hexadecimal."`
	Count bool     `xor:"manner" help:"Print only how many they are."`
	Stats bool     `xor:"manner" help:"Print figures of each tracepoint's frames."`
	Value []string `sep:"none" placeholder:"EXPR" help:"With figures and a histogram of a value, as in --where. Implies --stats."`
}

// Examples implements exampler.
func (*showCommand) Examples() string {
	return `  tracewell show run.tf                          # every frame in a table
  tracewell show run.tf --frame 7                # one in full, as GDB's tdump shows it
  tracewell show run.tf --frames 100: -r rdi,rax # from frame 100 on, two registers
  tracewell show run.tf --exec ./server          # with names for addresses
  tracewell show run.tf --where 'n > 3 && $rip == 0x401131' --last 10
  tracewell show run.tf --tracepoint 2 --diff    # what changed from hit to hit
  tracewell show run.tf --exec ./server --range push --count
  tracewell show run.tf --value n                # figures of a value, with a histogram
  tracewell show run.tf --json | jq .registers.rip
`
}

// Run implements kong's command.
func (c *showCommand) Run(streams Streams) error {
	if len(c.Value) > 0 && (c.Full || c.Diff || c.Count) {
		return errors.New("--value prints figures, and can't be used together with --full, --diff and --count")
	}
	opts, err := c.options()
	if err != nil {
		return err
	}
	t, err := openTrace(c.File, c.Exec, streams, opts...)
	if err != nil {
		return err
	}
	defer t.close()
	if len(c.Registers) > 0 {
		if err := t.view.Select(c.Registers); err != nil {
			return err
		}
	}
	choice, err := c.choice(t)
	if err != nil {
		return errors.Join(err, t.err)
	}
	bar := c.bar(streams, t, choice)
	defer bar.Done()
	choice.Progress = bar.Set
	var damage damages
	err = c.write(streams, func(ctx context.Context, out *output) error {
		if c.Count {
			n, err := choice.count(ctx, t.view)
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
		if table, ok := p.(*frameTable); ok && out.lines > 0 {
			choice.Progress = table.keepUp(out)
		}
		err = choice.each(ctx, t.view, func(frame frameview.Frame) error {
			damage.note(frame)
			return p.add(frame)
		})
		bar.Done()
		if err != nil {
			return err
		}
		return p.flush()
	})
	choice.warn(streams.Err, t.name)
	return errors.Join(err, damage.err(t.name), t.err)
}

// printer returns what prints frames in the manner that was asked for.
func (c *showCommand) printer(out *output, t *traceFile) (frameWriter, error) {
	switch {
	case c.Stats || len(c.Value) > 0:
		return newStatistics(out, t.view, c.Value, c.JSON)
	case c.JSON && c.Diff:
		return &objectPrinter{newJSONFrames(out, t.view), survey.NewComparison(t.view)}, nil
	case c.JSON:
		return newJSONFrames(out, t.view), nil
	case c.Diff:
		return newChangePrinter(out, t.view), nil
	case c.Full || c.Frame != nil:
		return &framePrinter{out: out, view: t.view, reader: t.view.NewReader()}, nil
	}
	table, err := newFrameTable(out, t.view, c.Registers)
	if err == nil {
		table.hex = c.Hex
	}
	return table, err
}

// bar returns one for going over frames, nil if what is printed meanwhile may be on the terminal that it would be on.
func (c *showCommand) bar(streams Streams, t *traceFile, choice *frameChoice) *progress.Bar {
	stat, err := streams.Out.Stat()
	if !c.Count && !c.Stats && len(c.Value) == 0 && (err != nil || !stat.Mode().IsRegular()) {
		return nil
	}
	return progress.Start(streams.Err, progress.Work{
		Name: "going over " + text.Visible(t.name), Total: int64(choice.End - choice.First), Unit: progress.Frames,
	})
}

// objectPrinter prints frames as JSON, with what has changed in them.
type objectPrinter struct {
	*jsonFrames
	comparison *survey.Comparison
}

func (p *objectPrinter) add(frame frameview.Frame) error {
	since, changes, ok, err := p.comparison.Compare(frame)
	if err != nil {
		return err
	}
	p.line = p.append(p.line[:0], frame)
	p.line = p.line[:len(p.line)-1] // the brace that ends the object
	if p.line, err = appendChanged(p.line, p.view, since, changes, ok); err != nil {
		return err
	}
	p.line = append(p.line, '}', '\n')
	_, err = p.out.Write(p.line)
	return err
}

// framePrinter prints all of each frame, with a line between them.
type framePrinter struct {
	out    *output
	view   *frameview.View
	reader *frameview.Reader
	some   bool
}

func (p *framePrinter) add(frame frameview.Frame) error {
	if p.some {
		fmt.Fprintln(p.out)
	}
	p.some = true
	return writeFrame(p.out, p.view, p.reader, frame)
}

func (p *framePrinter) flush() error { return nil }

// damages counts the frames that could not be read whole.
type damages struct {
	count int
	first error
}

func (d *damages) note(frame frameview.Frame) {
	if frame.Damaged == nil {
		return
	}
	if d.count++; d.count == 1 {
		d.first = fmt.Errorf("frame %d: %w", frame.Number, frame.Damaged)
	}
}

// err is what there is to say of them, nil without any.
func (d *damages) err(name string) error {
	switch d.count {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: %w", name, d.first)
	}
	return fmt.Errorf("%s: %d frames are damaged, the first is %w", name, d.count, d.first)
}
