package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tracewell/internal/demo"
	"tracewell/internal/text"
	"tracewell/tracepoint"
)

// demoCommand is "tracewell demo".
type demoCommand struct {
	Output string `short:"o" default:"tracewell-demo.tf" placeholder:"FILE" help:"The trace file to write (${default}). The program is put beside it, under the same name without .tf."`
}

// Examples implements exampler.
func (*demoCommand) Examples() string {
	return `  tracewell demo                                 # takes a second, needs neither gdb nor a compiler
  tracewell demo -o /tmp/run.tf
`
}

// demoTime is how long the demonstration may take before it is given up; the program runs for less than a second.
const demoTime = 30 * time.Second

// Run implements kong's command.
func (c *demoCommand) Run(streams Streams) error {
	ctx, cancel := untilSignalled(false)
	defer cancel()
	ctx, expire := context.WithTimeoutCause(ctx, demoTime, fmt.Errorf("the program has not ended after %v", demoTime))
	defer expire()
	return write(streams, func(out *output) error {
		fmt.Fprintln(out, out.style.Heading("Tracing the demo program: "+demoQuestion))
		d, err := traceDemo(ctx)
		if err != nil {
			return fmt.Errorf("demo: %w", err)
		}
		fmt.Fprintf(out, "the program printed: %s\n", text.Visible(strings.TrimSpace(d.printed)))
		program, err := c.save(d.engine, d.description)
		if err != nil {
			return err
		}
		return c.report(out, program, streams)
	})
}

// save writes the trace file, and the program beside it, whose path it returns.
func (c *demoCommand) save(engine *tracepoint.Engine, description string) (program string, err error) {
	program, ok := strings.CutSuffix(c.Output, ".tf")
	if !ok || filepath.Base(c.Output) == ".tf" {
		program = c.Output + ".program"
	}
	if err := writeTraceFile(c.Output, engine, description); err != nil {
		return "", err
	}
	// A program that is running cannot be written to, but another can take its name.
	draft, remove, err := executable(filepath.Dir(program))
	if err != nil {
		return "", err
	}
	defer remove()
	return program, os.Rename(draft, program)
}

// writeTraceFile saves what an engine holds in a file.
func writeTraceFile(path string, engine *tracepoint.Engine, description string) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffered := bufio.NewWriter(file)
	if err := engine.Save(buffered, description); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return buffered.Flush()
}

// ends is how many frames from either end of the file are printed.
const ends = 6

// report reads the trace file and prints what is in it.
func (c *demoCommand) report(out *output, program string, streams Streams) error {
	t, err := openTrace(c.Output, program, streams)
	if err != nil {
		return err
	}
	defer t.close()
	if t.err != nil {
		return t.err
	}
	writeStatus(out, t.view.File.Header().Status)
	writeTracepoints(out, t)
	fmt.Fprintln(out)
	table, err := newFrameTable(out, t.view, nil)
	if err != nil {
		return err
	}
	count := t.view.File.NumFrames()
	first := min(count, ends)
	last := max(first, count-ends)
	if err := eachFrame(t.view, 0, first, table.add); err != nil {
		return err
	}
	if last > first {
		if err := table.rows.Line(fmt.Sprintf("… %d more …", last-first)); err != nil {
			return err
		}
	}
	if err := eachFrame(t.view, last, count, table.add); err != nil {
		return err
	}
	if err := table.rows.Flush(); err != nil {
		return err
	}
	fmt.Fprint(out, c.next(out, program))
	return nil
}

// next is what to try with the file.
func (c *demoCommand) next(out *output, program string) string {
	file, exec := quoted(c.Output), quoted(program)
	return "\n" + out.style.Heading("The frames are in "+c.Output+", the program in "+program+". Try:") + `
  tracewell show ` + file + ` --exec ` + exec + `
  tracewell show ` + file + ` --exec ` + exec + ` --frame 0
  tracewell info ` + file + ` --json
  gdb -ex ` + quoted("file "+program) + ` -ex ` + quoted("target tfile "+c.Output) + ` -ex 'tfind start' -ex 'print *job' -ex 'print q->depth'
`
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,=@%"
	if strings.Trim(path, plain) == "" && path != "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// executable writes the demo program into a new folder within dir, and returns its path and what removes the folder.
func executable(dir string) (path string, remove func(), err error) {
	folder, err := os.MkdirTemp(dir, "tracewell-demo-")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(folder, "demo")
	if err := os.WriteFile(path, demo.Program(), 0o700); err != nil {
		os.RemoveAll(folder)
		return "", nil, err
	}
	return path, func() { os.RemoveAll(folder) }, nil
}
