// Package check is "tracewell check": what is wrong with a trace file, as lines or JSON, and what can be saved of it.
//
// The file is read twice, by tfile.Open for the index and by tfile/check for the frames, and never kept in memory if it is a plain
// file. The rules, with what GDB does about a breach of each, are in tfile and tfile/check; this package only prints.
//
// Findings have the form of a compiler's messages: file, place, severity and text, and the rule in brackets at the end. --json
// has the same findings as one object, whose shape is in view/wire.
package check

import (
	"errors"
	"fmt"
	"io"
	"os"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/tfile/check"
)

// Command is "tracewell check".
type Command struct {
	File string `arg:"" help:"The trace file; - is standard input."`
	Fix  string `placeholder:"OUT" help:"Write a repaired copy to another file, compressed if its name ends in .gz or .zst."`
	Exec string `placeholder:"ELF" help:"The program that was traced, to check the tracepoints against it as GDB does."`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell check run.tf
  tracewell check run.tf --exec ./server         # the tracepoints against the program
  tracewell check run.tf --fix saved.tf          # with what can be saved in a file that GDB opens
  tracewell check run.tf --json | jq '.findings[] | select(.severity != "odd")'
`
}

// Run implements kong's command. Findings go to standard output; changes by --fix, and what it could not repair, to standard
// error, so that the output is the same with --fix and without. The exit status is 1 for findings, odd ones included, and 2 for
// what is no trace file or is damaged by compression. It is that of the file itself, whatever --fix made of it.
func (c *Command) Run(streams console.Streams) error {
	if c.Fix == "-" {
		return errors.New("--fix -: the findings go to standard output; name a file")
	}
	if err := console.KeepApart(c.Fix, []string{c.File, c.Exec}, streams); err != nil {
		return fmt.Errorf("--fix: %w", err)
	}
	source, err := input.OpenTraceBytes(c.File, streams)
	if err != nil {
		return err
	}
	defer source.Close()
	examined, err := c.examine(source, streams)
	if err != nil {
		return err
	}
	if err := console.Write(streams, func(out *console.Output) error { return c.report(out, source.Name, examined) }); err != nil {
		return err
	}
	if c.Fix != "" && examined.report != nil {
		if err := c.fix(examined, source.Name, streams); err != nil {
			return err
		}
	}
	// Told: the reason is in the report, or among the warnings, and is not repeated.
	switch {
	case examined.verdict() == check.Unreadable || source.Damage != nil:
		return console.ErrTold
	case examined.verdict() == check.Findings:
		return console.ErrFinding
	}
	return nil
}

// examination is the result of a check, which the report prints and the exit status follows: a report, or the reason why the file
// is not a trace file.
type examination struct {
	report *check.Report // nil for what is no trace file
	reason error         // why it is none
	frames int           // in the file, as far as it can be read
}

// verdict is that of the report; a file that is not a trace file is unreadable.
func (e *examination) verdict() check.Verdict {
	if e.report == nil {
		return check.Unreadable
	}
	return e.report.Verdict
}

// examine checks a trace file. Its error means that the file could not be read; a file that is read but is not a trace file is a
// result, since that is what the user asked. With --exec addresses of tracepoints are looked up in the program, as GDB's "target
// tfile" does.
func (c *Command) examine(source *input.PackedFile, streams console.Streams) (*examination, error) {
	options := check.Options{Source: source, Size: source.Size()}
	if c.Exec != "" {
		program, err := os.Open(c.Exec)
		if err != nil {
			return nil, err
		}
		defer program.Close()
		if options.Program, err = check.ReadProgram(program); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Exec, err)
		}
	}
	file, err := check.Open(func(opts ...tfile.Option) (*tfile.File, error) { return source.Index(streams, opts...) })
	if file == nil {
		if errors.Is(err, tfile.ErrNotTraceFile) {
			return &examination{reason: err}, nil
		}
		return nil, err
	}
	// A compressed file that is cut off is checked as far as it could be unpacked. The exit status says that it is not whole.
	if source.Damage != nil {
		console.Warn(streams.Err, source.Name, []string{source.Damage.Error()})
	}
	// The index has been read behind a bar of its own; the second pass reads the frames.
	bar := progress.Start(streams.Err, progress.Work{
		Name: "checking " + text.Visible(source.Name), Total: int64(file.NumFrames()), Unit: progress.Frames,
	})
	options.Progress = bar.Set
	report, err := check.File(file, err, options)
	bar.Done()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.Name, err)
	}
	return &examination{report: report, frames: file.NumFrames()}, nil
}

// fix writes a repaired copy, and reports each change with the offset in the original. The copy replaces a file of its name only
// when it is whole, and Ctrl-C leaves nothing behind. It is then checked in turn: a repair that GDB rejects would be worse than
// none.
func (c *Command) fix(e *examination, name string, streams console.Streams) error {
	bar := progress.Start(streams.Err, progress.Work{
		Name: "writing " + text.Visible(c.Fix), Total: int64(e.frames), Unit: progress.Frames,
	})
	ctx, stop := console.UntilInterrupted()
	defer stop()
	// The copy is compressed as its name says, whatever the original is.
	method, _ := packed.BySuffix(c.Fix)
	var changes []check.Change
	err := packed.Write(c.Fix, method, func(w io.Writer) (err error) {
		changes, err = e.report.Fix(console.Interruptible(ctx, w), bar.Set)
		return err
	})
	bar.Done()
	if err != nil {
		return err
	}
	for _, change := range changes {
		fmt.Fprintf(streams.Err, "tracewell: %s:%d: %s\n", text.Visible(name), change.Offset, text.Visible(change.Text))
	}
	if status, err := os.Stat(c.Fix); err != nil || !status.Mode().IsRegular() {
		return err // what went into a pipe or a device cannot be read again
	}
	return c.recheck(streams)
}

// recheck checks the file that fix wrote, by reading it again from the disk, and reports what is still wrong. Findings that are
// left are no failure: some damage can only be kept, such as memory that was never collected.
func (c *Command) recheck(streams console.Streams) error {
	source, err := input.OpenTraceBytes(c.Fix, streams)
	if err != nil {
		return err
	}
	defer source.Close()
	outcome, err := c.examine(source, streams)
	if err != nil {
		return err
	}
	if outcome.report == nil {
		return outcome.reason
	}
	for _, f := range outcome.report.Findings {
		fmt.Fprintf(streams.Err, "tracewell: %s:%s: not mended: %s: %s [%s]\n", text.Visible(source.Name), place(f),
			severityWords[f.Rule.Severity], text.Visible(f.Text), f.Rule.Name)
	}
	verdict := string(outcome.report.Verdict)
	if n := len(outcome.report.Findings); n > 0 {
		verdict = text.Plural(n, "finding") + " left"
	}
	fmt.Fprintf(streams.Err, "tracewell: %s: %s, %s\n", text.Visible(source.Name), text.Plural(outcome.frames, "frame"), verdict)
	return nil
}
