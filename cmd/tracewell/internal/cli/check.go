package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/tfile/check"
)

// checkCommand is "tracewell check".
type checkCommand struct {
	File string `arg:"" help:"The trace file; - is standard input."`
	Fix  string `placeholder:"OUT" help:"Write what can be saved to another file, compressed if it ends in .gz or .zst."`
	Exec string `placeholder:"ELF" help:"The program that was traced, for what GDB makes of its tracepoints."`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Examples implements exampler.
func (*checkCommand) Examples() string {
	return `  tracewell check run.tf
  tracewell check run.tf --exec ./server         # the tracepoints against the program
  tracewell check run.tf --fix saved.tf          # with what can be saved in a file that GDB opens
  tracewell check run.tf --json | jq '.findings[] | select(.severity != "odd")'
`
}

// Run implements kong's command. The exit status is 1 for findings, odd ones included, and 2 for what is no trace file or
// is damaged by compression. It is that of the file itself, whatever --fix made of it.
func (c *checkCommand) Run(streams Streams) error {
	if c.Fix == "-" {
		return errors.New("--fix -: the findings go to standard output; name a file")
	}
	if err := keepApart(c.Fix, []string{c.File, c.Exec}, streams); err != nil {
		return fmt.Errorf("--fix: %w", err)
	}
	source, err := openTraceBytes(c.File, streams)
	if err != nil {
		return err
	}
	defer source.Close()
	examined, err := c.examine(source, streams)
	if err != nil {
		return err
	}
	if err := write(streams, func(out *output) error { return c.report(out, source.name, examined) }); err != nil {
		return err
	}
	if c.Fix != "" && examined.report != nil {
		if err := c.fix(examined, source.name, streams); err != nil {
			return err
		}
	}
	switch {
	case examined.verdict() == check.Unreadable || source.damage != nil:
		return errTold
	case examined.verdict() == check.Findings:
		return errFinding
	}
	return nil
}

// examination is what came out of a check.
type examination struct {
	report *check.Report // nil for what is no trace file
	reason error         // why it is none
	frames int
}

func (e *examination) verdict() check.Verdict {
	if e.report == nil {
		return check.Unreadable
	}
	return e.report.Verdict
}

// examine checks a trace file. The error is that it could not be read; that it is no trace file is a result.
func (c *checkCommand) examine(source *packedFile, streams Streams) (*examination, error) {
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
	file, err := check.Open(func(opts ...tfile.Option) (*tfile.File, error) { return source.index(streams, opts...) })
	if file == nil {
		if errors.Is(err, tfile.ErrNotTraceFile) {
			return &examination{reason: err}, nil
		}
		return nil, err
	}
	if source.damage != nil {
		warn(streams.Err, source.name, []string{source.damage.Error()})
	}
	bar := progress.Start(streams.Err, progress.Work{
		Name: "checking " + text.Visible(source.name), Total: int64(file.NumFrames()), Unit: progress.Frames,
	})
	options.Progress = bar.Set
	report, err := check.File(file, err, options)
	bar.Done()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.name, err)
	}
	return &examination{report: report, frames: file.NumFrames()}, nil
}

// fix writes what can be saved, tells what was changed, and what is still found in the outcome.
func (c *checkCommand) fix(e *examination, name string, streams Streams) error {
	bar := progress.Start(streams.Err, progress.Work{
		Name: "writing " + text.Visible(c.Fix), Total: int64(e.frames), Unit: progress.Frames,
	})
	ctx, stop := untilInterrupted()
	defer stop()
	method, _ := packed.BySuffix(c.Fix)
	var changes []check.Change
	err := packed.Write(c.Fix, method, func(w io.Writer) (err error) {
		changes, err = e.report.Fix(&interruptible{w, ctx}, bar.Set)
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

// recheck tells what is wrong with the file that fix wrote.
func (c *checkCommand) recheck(streams Streams) error {
	source, err := openTraceBytes(c.Fix, streams)
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
		fmt.Fprintf(streams.Err, "tracewell: %s:%s: not mended: %s: %s [%s]\n", text.Visible(source.name), place(f),
			severityWords[f.Rule.Severity], text.Visible(f.Text), f.Rule.Name)
	}
	verdict := string(outcome.report.Verdict)
	if n := len(outcome.report.Findings); n > 0 {
		verdict = text.Plural(n, "finding") + " left"
	}
	fmt.Fprintf(streams.Err, "tracewell: %s: %s, %s\n", text.Visible(source.name), text.Plural(outcome.frames, "frame"), verdict)
	return nil
}
